// Package traffic generates the flows of a trial on one host and counts them. It passes each
// request to the engine of the flow's protocol, and serves the agent as if there were one
// engine: flows of several protocols start, are read, and end together.
//
// It does not choose the hosts of a flow, computes no rates and takes no readings on its own.
// docs/traffic.md says what is counted where.
package traffic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/application"
	_ "linerate/internal/host/application/dns" // registers its protocols, as the next ones do
	_ "linerate/internal/host/application/mail"
	_ "linerate/internal/host/application/memcached"
	_ "linerate/internal/host/application/redis"
	_ "linerate/internal/host/application/web"
	"linerate/internal/host/datagram"
	"linerate/internal/host/flowset"
	"linerate/internal/host/foreign"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/host/stream"
	"linerate/internal/host/transaction"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// A FlowEngine holds one end of each of a trial's flows of some protocols. Its methods are safe
// for concurrent use.
type FlowEngine interface {
	// Listen and Connect open flows. The replies are in the order of the requests. A request
	// that fails reports that in its reply and does not affect the others.
	Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening
	Connect(ctx context.Context, requests []message.FlowRequest, timeout time.Duration) []message.Opened
	// Abandon stops waiting for the named flows, because their openers have given up.
	Abandon(unused []string)
	// Settled reports whether every flow is open or has failed.
	Settled() bool
	// Start schedules the traffic and returns at once. Only the first call has an effect.
	Start(w message.WindowRequest)
	// Shorten brings forward the end of the window and the stop of the senders.
	Shorten(endNs, stopNs int64)
	// Read returns the current state of every flow. Light returns the few values that may be
	// read during a window.
	Read() []message.FlowEnd
	Light() []netstate.FlowSample
	// Flows returns the number of flows. Moved returns the bytes that all of them have received
	// and written so far.
	Flows() int
	Moved() (received, written int64)
	// Busy returns an upper bound of the CPU time of each worker, in ns. New workers are
	// appended.
	Busy() []int64
	// Close ends every flow and waits until nothing of the engine is left. The counts remain
	// readable.
	Close()
}

// Engine serves one trial.
type Engine struct {
	ctx         context.Context // ends with Close
	cancel      context.CancelFunc
	stream      *stream.Engine
	datagram    *datagram.Engine
	transaction *transaction.Engine
	application *application.Engine

	mu      sync.Mutex
	engines []FlowEngine
	serving map[string]FlowEngine // by protocol
	tools   *foreign.Engine       // nil: no other program is ever started
	cpu     cpuShare
}

// New returns an engine without flows.
func New() *Engine {
	e := &Engine{stream: stream.New(), datagram: datagram.New(), transaction: transaction.New(),
		application: application.New()}
	e.engines = []FlowEngine{e.stream, e.datagram, e.transaction, e.application}
	e.serving = map[string]FlowEngine{flow.TCP: e.stream, flow.UDP: e.datagram, flow.RR: e.transaction,
		flow.UDPRR: e.transaction, flow.CRR: e.transaction}
	for _, name := range application.Registered() {
		e.serving[name] = e.application
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.cpu.cpu, e.cpu.at = proc.TotalCPUTime(), sched.Now()
	return e
}

// WithTools makes the engine also serve requests that name another program. Otherwise it starts
// no program. It returns e.
func (e *Engine) WithTools() *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tools == nil && e.ctx.Err() == nil {
		e.tools = foreign.New()
		e.engines = append(e.engines, e.tools)
	}
	return e
}

// WithAccess makes worker processes accept only connections that access allows. It must be
// called before flows are requested.
func (e *Engine) WithAccess(access socket.Access) { e.transaction.WithAccess(access) }

// Printed returns what the other programs have printed; see foreign.Engine.
func (e *Engine) Printed(ctx context.Context, r message.ToolsRequest) []message.Printed {
	e.mu.Lock()
	tools := e.tools
	e.mu.Unlock()
	if tools == nil {
		return nil
	}
	return tools.Printed(ctx, r)
}

// engineOf is the engine of a request's protocol, or that of other programs. A
// request with options that cannot be has none.
func (e *Engine) engineOf(request message.FlowRequest) (FlowEngine, error) {
	e.mu.Lock()
	tools := e.tools
	e.mu.Unlock()
	err := request.Check()
	switch protocol := flow.Of(request.Protocol).Name; {
	case request.Process != "" && tools == nil:
		return nil, bus.Coded(message.NotPermitted, errors.New("no other programs are started here"))
	case err != nil:
		return nil, err
	case request.Process != "" && !foreign.ServedHere(request):
		return tools, nil
	case e.serving[protocol] == nil:
		return nil, fmt.Errorf("no engine has protocol %q", protocol)
	default:
		return e.serving[protocol], nil
	}
}

// Include adds an engine with flows that no request opened, because their peer accepts none.
// Closing e closes them too.
func (e *Engine) Include(c FlowEngine) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return flowset.ErrClosed
	}
	e.engines = append(e.engines, c)
	return nil
}

// all is every engine there is.
func (e *Engine) all() []FlowEngine {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.engines)
}

// dispatch has each engine do its share of the requests, side by side, and puts
// the answers in the requests' order.
func dispatch[Answer any](e *Engine, requests []message.FlowRequest,
	do func(FlowEngine, []message.FlowRequest) []Answer, refused func(message.FlowRequest, error) Answer) []Answer {
	out := make([]Answer, len(requests))
	places, shares := map[FlowEngine][]int{}, map[FlowEngine][]message.FlowRequest{}
	for i, request := range requests {
		c, err := e.engineOf(request)
		if err != nil {
			out[i] = refused(request, err)
			continue
		}
		places[c], shares[c] = append(places[c], i), append(shares[c], request)
	}
	var doing sync.WaitGroup
	for c, share := range shares {
		doing.Go(func() {
			for i, answer := range do(c, share) {
				out[places[c][i]] = answer
			}
		})
	}
	doing.Wait()
	return out
}

// Listen prepares to accept the flows of the requests. The replies are in the order of the
// requests.
func (e *Engine) Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening {
	return dispatch(e, requests,
		func(c FlowEngine, share []message.FlowRequest) []message.Listening { return c.Listen(ctx, share) },
		func(o message.FlowRequest, err error) message.Listening {
			return message.Listening{ID: o.ID, Error: bus.Failure(err)}
		})
}

// Connect opens the flows of the requests, and returns when each is open, has failed or has
// taken longer than timeout (0: as long as the kernel tries). The replies are in the order of
// the requests.
func (e *Engine) Connect(ctx context.Context, requests []message.FlowRequest, timeout time.Duration) []message.Opened {
	return dispatch(e, requests,
		func(c FlowEngine, share []message.FlowRequest) []message.Opened {
			return c.Connect(ctx, share, timeout)
		},
		func(o message.FlowRequest, err error) message.Opened {
			return message.Opened{ID: o.ID, Remote: o.Remote, Error: bus.Failure(err)}
		})
}

// Offer hands over a connection that has shown a cookie at a shared listener. It returns false
// if no flow awaits it; the caller then still owns the connection.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	return e.stream.Offer(cookie, conn) || e.transaction.Offer(cookie, conn) || e.application.Offer(cookie, conn)
}

// Expects reports whether a UDP flow awaits a client with this cookie.
func (e *Engine) Expects(cookie message.Cookie) bool {
	return e.datagram.Expects(cookie) || e.transaction.Expects(cookie) || e.application.Expects(cookie)
}

// Admit accepts a client that has shown a cookie at a shared UDP listener. It returns false if
// no flow awaits it.
func (e *Engine) Admit(cookie message.Cookie, c handshake.Client) bool {
	return e.datagram.Admit(cookie, c) || e.transaction.Admit(cookie, c) || e.application.Admit(cookie, c)
}

// OfferSocket is like Offer, for a descriptor whose first shown bytes contain the cookie and
// have not been read yet. It returns taken false if the caller still owns the descriptor, which
// Offer may then accept, and more true if the flow will have further connections at once.
func (e *Engine) OfferSocket(cookie message.Cookie, fd, shown int) (taken, more bool) {
	return e.transaction.OfferSocket(cookie, fd, shown)
}

// Ready waits until every flow is open or has failed, but at most for timeout, and returns the
// state of every flow as Read does. It does not wait for the flows in unused, whose openers
// have given up.
func (e *Engine) Ready(ctx context.Context, timeout time.Duration, unused ...string) []message.FlowEnd {
	engines := e.all()
	for _, c := range engines {
		c.Abandon(unused)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for slices.ContainsFunc(engines, func(c FlowEngine) bool { return !c.Settled() }) {
		select {
		case <-ctx.Done():
			return e.Read()
		case <-e.ctx.Done():
			return e.Read()
		case <-tick.C:
		}
	}
	return e.Read()
}

// Start schedules all traffic and returns at once. Only the first call has an effect.
func (e *Engine) Start(w message.WindowRequest) {
	for _, c := range e.all() {
		c.Start(w)
	}
}

// Shorten brings forward the end of the window and the stop of the senders. Other programs
// continue until Close.
func (e *Engine) Shorten(endNs, stopNs int64) {
	for _, c := range e.all() {
		c.Shorten(endNs, stopNs)
	}
}

// Read returns the current state of every flow.
func (e *Engine) Read() []message.FlowEnd {
	ends := []message.FlowEnd{}
	for _, c := range e.all() {
		ends = append(ends, c.Read()...)
	}
	return ends
}

// Light returns the few values of every flow that are read during a window.
func (e *Engine) Light() []netstate.FlowSample {
	samples := []netstate.FlowSample{}
	for _, c := range e.all() {
		samples = append(samples, c.Light()...)
	}
	return samples
}

// Flows returns the number of flows.
func (e *Engine) Flows() (flows int) {
	return lists.Sum(e.all(), FlowEngine.Flows)
}

// Moved returns the bytes that all flows have received and written so far.
func (e *Engine) Moved() (received, written int64) {
	for _, c := range e.all() {
		r, w := c.Moved()
		received, written = received+r, written+w
	}
	return received, written
}

// Close ends every flow and waits until nothing of the engine is left. The counts remain
// readable. Close may be called again.
func (e *Engine) Close() {
	e.mu.Lock()
	e.cancel()
	e.mu.Unlock()
	for _, c := range e.all() {
		c.Close()
	}
}

// Closed returns a channel that is closed as soon as Close is called.
func (e *Engine) Closed() <-chan struct{} { return e.ctx.Done() }
