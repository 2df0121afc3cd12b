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

// Engine holds one end of each of a trial's flows. It serves one trial. All methods
// may be called from several goroutines.
type Engine struct {
	*flowset.Set[end]
	isWorker bool // it is a worker process, and starts no others
	part     part // which of a flow's connections are in this process
	access   socket.Access
}

// end is one end of a flow, in this process (rrFlow) or in worker processes
// (processGroup).
type end interface {
	flowset.Flow
	// listen gets ready to respond; nil: a shared listener serves the flow.
	listen(ctx context.Context) (*flowset.Listener, error)
	// connect opens the connections, or fails the flow. first is called when the first
	// of them is open.
	connect(ctx context.Context, timeout time.Duration, first func())
}

// WorkerCommand is the verb that makes this program a worker process.
const WorkerCommand = "transaction-worker"

// New makes an engine without flows.
func New() *Engine {
	e := &Engine{part: part{step: 1}}
	e.Set = flowset.New(e.newEnd)
	return e
}

// WithAccess has worker processes, whose ports are their own, take only connections that access
// allows. It is called before flows are requested.
func (e *Engine) WithAccess(access socket.Access) { e.access = access }

// Listen gets ready to respond: with a socket for each request, on a port that the
// kernel chooses, at request.Local (invalid: every address of the host); a request with
// a cookie gets none, and its connections are to be offered. The replies are in the
// requests' order.
func (e *Engine) Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening {
	return e.Set.Listen(requests, func(f end) (*flowset.Listener, error) { return f.listen(ctx) })
}

// Connect opens the connections of each request's flow and returns when all are open,
// one could not be opened, or none has opened for the time of timeout (0: as long as
// the kernel tries). The replies are in the requests' order; see flowset.Set.Connect
// for the order of opening.
func (e *Engine) Connect(ctx context.Context, requests []message.FlowRequest, timeout time.Duration) []message.Opened {
	return e.Set.Connect(ctx, requests, func(ctx context.Context, f end, first func()) func() {
		f.connect(ctx, timeout, first)
		return nil
	})
}

// Admit accepts a client that has shown a cookie at a shared listener. False: no
// flow of this engine awaits it.
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

// Offer hands over a connection that has shown a flow's cookie at a shared
// listener. False: no flow of this engine awaits it, and it is still the caller's.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	f, ok := e.Claim(cookie)
	if ok {
		f.(*rrFlow).acceptOffered(conn)
	}
	return ok
}

// isUnderWay says that transactions may be in flight: it is between the start and the stop.
func (e *Engine) isUnderWay() bool {
	select {
	case <-e.Started():
		return sched.Now() < e.Signals.Stop.Load()
	default:
		return false
	}
}
