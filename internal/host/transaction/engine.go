package transaction

import (
	"context"
	"net"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// Engine has one end of each flow of a trial. It is used for one trial. All methods may be called
// concurrently.
type Engine struct {
	*flowset.Set[end]
	isWorker bool // whether this is a worker process, which starts no others
	part     part // the flow's connections in this process
	access   socket.Access
}

// end is one end of a flow: in this process (rrFlow) or in worker processes (processGroup).
type end interface {
	flowset.Flow
	// listen prepares to respond. Nil: a shared listener serves the flow.
	listen(ctx context.Context) (*flowset.Listener, error)
	// connect opens the connections, or fails the flow. It calls first when the first connection is
	// open.
	connect(ctx context.Context, timeout time.Duration, first func())
}

// WorkerCommand is the command-line verb that runs this program as a worker process.
const WorkerCommand = "transaction-worker"

// New returns an engine without flows.
func New() *Engine {
	e := &Engine{part: part{step: 1}}
	e.Set = flowset.New(e.newEnd)
	return e
}

// WithAccess makes worker processes, which listen on their own ports, only accept connections that
// access allows. It must be called before flows are requested.
func (e *Engine) WithAccess(access socket.Access) { e.access = access }

// Listen prepares to respond to each request. It opens a socket on a port that the kernel selects,
// at request.Local (zero: every address of the host). A request with a cookie gets no socket; its
// connections arrive through Offer. The replies are in the order of the requests.
func (e *Engine) Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening {
	return e.Set.Listen(requests, func(f end) (*flowset.Listener, error) { return f.listen(ctx) })
}

// Connect opens the connections of each request's flow. It returns when all are open, when one
// could not be opened, or when none has opened within timeout (0: as long as the kernel tries). The
// replies are in the order of the requests; see flowset.Set.Connect for the order of opening.
func (e *Engine) Connect(ctx context.Context, requests []message.FlowRequest, timeout time.Duration) []message.Opened {
	return e.Set.Connect(ctx, requests, func(ctx context.Context, f end, first func()) func() {
		f.connect(ctx, timeout, first)
		return nil
	})
}

// Admit accepts a client that has sent a cookie to a shared UDP listener. It returns false if no
// flow of this engine expects it.
func (e *Engine) Admit(cookie message.Cookie, c handshake.Client) bool {
	if cookie.IsZero() {
		return false
	}
	for _, f := range e.All() {
		if f.Expects(cookie) {
			return f.(*rrFlow).acceptClient(c)
		}
	}
	return false
}

// Offer passes a connection that has sent a flow's cookie to a shared listener. It returns false if
// no flow of this engine expects it; the caller then keeps the connection.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	f, ok := e.Claim(cookie)
	if ok {
		f.(*rrFlow).acceptOffered(conn)
	}
	return ok
}

// isUnderWay reports whether transactions may be in flight: the time is between the start and the
// stop.
func (e *Engine) isUnderWay() bool {
	select {
	case <-e.Started():
		return sched.Now() < e.Signals.Stop.Load()
	default:
		return false
	}
}
