package transaction

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/model/message"
)

// Engine holds one end of each of a trial's flows. It serves one trial. All methods
// may be called from several goroutines.
type Engine struct {
	*flowset.Set[end]
	isWorker bool // it is a worker process, and starts no others
}

// end is one end of a flow, in this process (rrFlow) or in worker processes
// (processGroup).
type end interface {
	flowset.Flow
	// listen gets ready to respond.
	listen(ctx context.Context) message.Listening
	// connect opens the connections. first is called when the first of them is open.
	connect(ctx context.Context, timeout time.Duration, out *message.Opened, first func())
}

// WorkerCommand is the verb that makes this program a worker process.
const WorkerCommand = "transaction-worker"

// New makes an engine without flows.
func New() *Engine { return &Engine{Set: flowset.New[end]()} }

// Listen gets ready to respond: with a socket for each request, on a port that the
// kernel chooses, at request.Local (invalid: every address of the host); a request with
// a cookie gets none, and its connections are to be offered. The replies are in the
// requests' order.
func (e *Engine) Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening {
	out := make([]message.Listening, len(requests))
	for i, request := range requests {
		out[i] = e.addListening(ctx, e.newEnd(request), request.ID)
	}
	return out
}

func (e *Engine) addListening(ctx context.Context, f end, id string) message.Listening {
	if !e.Add(f) {
		return message.Listening{ID: id, Error: bus.Failure(flowset.ErrClosed)}
	}
	return f.listen(ctx)
}

// Connect opens the connections of each request's flow and returns when all are open,
// one could not be opened, or none has opened for the time of timeout (0: as long as
// the kernel tries). The replies are in the requests' order; see flowset.Set.Connect
// for the order of opening.
func (e *Engine) Connect(ctx context.Context, requests []message.FlowRequest, timeout time.Duration) []message.Opened {
	ends := make([]end, len(requests))
	for i, request := range requests {
		ends[i] = e.newEnd(request)
	}
	return e.Set.Connect(ctx, ends, func(ctx context.Context, f end, out *message.Opened, first func()) func() {
		f.connect(ctx, timeout, out, first)
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

// hasStarted says that transactions may be under way.
func (e *Engine) hasStarted() bool {
	select {
	case <-e.Started():
		return true
	default:
		return false
	}
}

// pathName is "from → to" of a flow's first connection.
func pathName(from, to netip.AddrPort) string { return fmt.Sprintf("%s → %s", from, to) }
