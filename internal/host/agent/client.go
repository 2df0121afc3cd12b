package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/counters"
	"linerate/internal/host/traffic"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

const (
	// idle is how long a client may send no request while none is being handled.
	idle = 30 * time.Second
	// soon is how far ahead a client may schedule its trial.
	soon = 15 * time.Second
	// samples is how many light readings a window may have.
	samples = 600
	// largestWindow is the most memory that one of a client's connections may
	// have the kernel set aside, each direction.
	largestWindow = 64 << 20
	// clientThreads is how many threads one of a client's flows may have for each
	// processor.
	clientThreads = 4
	// longestID bounds what a client may call its flows.
	longestID = 64
)

// Client serves a conductor that is not trusted with the host: it accepts the flows
// that were agreed on and moves their bytes, within bounds, and does and reports nothing
// else. It opens no connections.
type Client struct {
	agent  *agent
	bounds message.Bounds
	others func() record.OtherFlows
	// every is the interval of watch's checks, idle how long no request may arrive.
	every, idle time.Duration

	answering sync.WaitGroup

	mu       sync.Mutex // guards the following
	left     bool       // nothing is answered any more
	busy     int        // requests that are being answered
	last     time.Time  // when the latest was answered
	hasFlows bool       // the current trial has its flows
	summary  Summary
}

// Summary is what a client's session moved.
type Summary struct {
	Windows int // trials that were carried out to their end
	// Of the last one: how long it was, and what the flows moved in it.
	WindowS           float64
	Flows             int
	Received, Written int64
}

// NewClient makes a client that has been accepted. The others are what other clients of
// this process have moved so far.
func NewClient(bounds message.Bounds, others func() record.OtherFlows) (*Client, error) {
	reader, err := counters.New()
	if err != nil {
		return nil, err
	}
	g := &Client{
		agent:  &agent{node: record.NodeServer, reader: reader},
		bounds: bounds, others: others, every: 2 * time.Second, idle: idle, last: time.Now(),
	}
	g.agent.client = g
	return g, nil
}

// Serve answers the client's requests until the stream or ctx ends, or the client
// has stayed too long; the error says how. It is called once.
func (g *Client) Serve(ctx context.Context, stream net.Conn) error {
	defer g.Discard()
	stay := g.bounds.Stay()
	ctx, cancel := context.WithTimeoutCause(ctx, stay, fmt.Errorf("stayed longer than %v", stay))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go g.watch(ctx, end)
	// Joining waits for the client, and only the end of its stream ends that.
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	handlers := g.agent.traffic()
	delete(handlers, "connect")
	handlers["listen"] = handle(g.listen)
	handlers["ready"] = handle(g.ready)
	handlers["window"] = handle(g.window)
	handlers["close"] = handle(g.close)
	for verb, h := range handlers {
		handlers[verb] = g.noted(h)
	}
	hello, err := g.agent.hello()
	if err != nil {
		return err
	}
	hello.Interfaces, hello.Bounds = nil, &g.bounds
	err = answer(ctx, stream, bus.Silence, handlers, hello)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// noted keeps count of what is being answered.
func (g *Client) noted(h bus.Handler) bus.Handler {
	return func(ctx context.Context, request []byte) (any, error) {
		g.mu.Lock()
		if g.left {
			g.mu.Unlock()
			return nil, bus.Coded(message.Gone, errors.New("this server has ended the client's session"))
		}
		g.busy++
		g.answering.Add(1)
		g.mu.Unlock()
		defer func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.busy, g.last = g.busy-1, time.Now()
			g.answering.Done()
		}()
		return h(ctx, request)
	}
}

// Discard ends the client's flows, waits for what is still being answered, and gives
// everything back. Serve does so by itself.
func (g *Client) Discard() {
	g.mu.Lock()
	g.left = true
	g.mu.Unlock()
	g.agent.closeEngine() // ends a window
	g.answering.Wait()
	g.agent.closeEngine() // one that was just being made
	g.agent.reader.Close()
}

// watch ends the session of a client that sends no requests, or whose flows exceed the
// bounds.
func (g *Client) watch(ctx context.Context, end context.CancelCauseFunc) {
	const slack = 1 << 20
	before, _ := g.Moved()
	tick := time.NewTicker(g.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		g.mu.Lock()
		waits := g.busy == 0 && time.Since(g.last) > g.idle
		g.mu.Unlock()
		received, _ := g.Moved()
		// A ticker may be late; an honest sender keeps to the rate by itself.
		allowed := 1.5*g.bounds.RateBps/8*g.every.Seconds() + slack
		switch {
		case waits:
			end(fmt.Errorf("sent no request in %v", g.idle))
		case g.bounds.RateBps > 0 && float64(received-before) > allowed:
			end(fmt.Errorf("sent %d bytes in %v, where %s is allowed", received-before, g.every, unit.BitRate(g.bounds.RateBps)))
		}
		before = received
	}
}

// Moved is what the client's flows have received and written so far.
func (g *Client) Moved() (received, written int64) {
	a := g.agent
	a.engineMu.Lock()
	defer a.engineMu.Unlock()
	received, written = a.received, a.written
	if a.engine != nil {
		r, w := a.engine.Moved()
		received, written = received+r, written+w
	}
	return received, written
}

// Flows is how many flows the client has at this moment.
func (g *Client) Flows() int {
	if engine := g.Engine(); engine != nil {
		return engine.Flows()
	}
	return 0
}

// Summary is the session so far.
func (g *Client) Summary() Summary {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.summary
}

// Engine has the flows of the client's current trial; nil: there is none.
func (g *Client) Engine() *traffic.Engine { return g.agent.current() }

// listen opens a trial's flows, all at once, if they are within the bounds.
func (g *Client) listen(ctx context.Context, requests []message.FlowRequest) ([]message.Listening, error) {
	if len(requests) > g.bounds.Flows {
		return nil, beyond("%d flows: this server allows a client %d", len(requests), g.bounds.Flows)
	}
	sending, connections, errs := 0, 0, []error{}
	cookies, ids := map[message.Cookie]bool{}, map[string]bool{}
	for _, o := range requests {
		errs = append(errs, permitted(o))
		if cookies[o.Cookie] || ids[o.ID] {
			errs = append(errs, fmt.Errorf("flow %.*q is requested twice", longestID, o.ID))
		}
		cookies[o.Cookie], ids[o.ID] = true, true
		if sends(o) {
			sending += pacedEach(o)
		}
		if transacts(o) {
			connections += pacedEach(o)
		}
	}
	if most := max(g.bounds.Connections, g.bounds.Flows); connections > most {
		errs = append(errs, beyond("%d connections: this server allows a client %d", connections, most))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	g.mu.Lock()
	again := g.hasFlows
	g.hasFlows = true
	g.mu.Unlock()
	if again {
		return nil, bus.Coded(message.Busy, errors.New("the trial has its flows already: close it first"))
	}
	for i := range requests {
		if o := &requests[i]; sends(*o) && g.bounds.RateBps > 0 {
			share := unit.BitRate(g.bounds.RateBps / float64(sending))
			if o.RateCap == 0 || o.RateCap > share {
				o.RateCap = share
			}
		}
	}
	return g.agent.listen(ctx, requests)
}

// transacts: the flow is of requests and responses.
func transacts(o message.FlowRequest) bool { return flow.Of(o.Protocol).Transactional() }

// sends: the client's flow has this host send data. Responses are data, too.
func sends(o message.FlowRequest) bool { return o.Sends || transacts(o) }

// pacedEach is how many connections of a flow are paced, each by itself.
func pacedEach(o message.FlowRequest) int {
	if transacts(o) {
		return max(1, o.Connections)
	}
	return 1
}

// beyond is a refusal of more than the server grants to one client.
func beyond(format string, args ...any) error {
	return bus.Coded(message.OutOfBounds, fmt.Errorf(format, args...))
}

// permitted is nil if a client may have a flow like this.
func permitted(o message.FlowRequest) error {
	name := fmt.Sprintf("flow %.*q", longestID, o.ID)
	denied := func(format string) error { return bus.Coded(message.NotPermitted, fmt.Errorf(format, name)) }
	switch {
	case o.Process != "":
		return denied("%s is to be made by another program: this server starts none")
	case o.Cookie.IsZero():
		return denied("%s has no cookie: expected 16 random bytes")
	case o.Remote.IsValid() || o.Local.IsValid():
		return denied("%s has an address: connections come to the server's own port")
	case len(o.ID) > longestID:
		return beyond("%s: a name of %d bytes, expected at most %d", name, len(o.ID), longestID)
	case o.Threads > clientThreads*runtime.NumCPU():
		return beyond("%s: %d threads, this server allows %d", name, o.Threads, clientThreads*runtime.NumCPU())
	}
	for _, size := range []unit.Bytes{o.Window, o.SendBuffer, o.ReceiveBuffer} {
		if size > largestWindow {
			return beyond("%s: a window of %s, this server allows %s", name, size, unit.Bytes(largestWindow))
		}
	}
	if err := o.Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if o.CongestionControl == "" {
		return nil
	}
	// With privileges, the kernel would load any module of that name.
	const key = "net.ipv4.tcp_available_congestion_control"
	there, err := proc.Sysctls{}.Read(key)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !slices.Contains(strings.Fields(there), o.CongestionControl) {
		return bus.Coded(message.Unsupported, fmt.Errorf("%s: congestion control %.40q, the server has %s", name, o.CongestionControl, there))
	}
	return nil
}

func (g *Client) ready(ctx context.Context, r message.ReadyRequest) ([]message.FlowEnd, error) {
	r.TimeoutNs = min(r.TimeoutNs, int64(idle))
	return g.agent.ready(ctx, r)
}

func (g *Client) window(ctx context.Context, r message.WindowRequest) (message.WindowReply, error) {
	allowed := int64(g.bounds.DurationS * 1e9)
	now := sched.Now()
	switch {
	case now > r.StartNs:
		return g.agent.window(ctx, r) // says so
	case r.BeginNs < r.StartNs || r.EndNs <= r.BeginNs || r.StopNs < r.EndNs:
		return message.WindowReply{}, errors.New("the instants of the window are not in order")
	case r.EndNs-r.StartNs > allowed || r.StopNs-r.EndNs > int64(time.Second):
		return message.WindowReply{}, beyond("a trial of %v with its warm-up: this server allows %v",
			time.Duration(r.EndNs-r.StartNs), time.Duration(allowed))
	case r.StartNs-now > int64(soon):
		return message.WindowReply{}, beyond("a trial that begins later than in %v", soon)
	case r.SampleNs < 0 || r.SampleNs > 0 && (r.EndNs-r.BeginNs)/r.SampleNs > samples:
		return message.WindowReply{}, beyond("a sample every %v: this server takes at most %d in a window", time.Duration(r.SampleNs), samples)
	}
	reply, err := g.agent.window(ctx, r)
	if err == nil && reply.LateNs == 0 {
		g.note(reply)
	}
	return reply, err
}

// note enters a finished window into the summary.
func (g *Client) note(reply message.WindowReply) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Summary{Windows: g.summary.Windows + 1, Flows: len(reply.EndFlows)}
	s.WindowS = float64(reply.Reading.End.BeganNs-reply.Reading.Begin.BeganNs) / 1e9
	for i, end := range reply.EndFlows {
		if i < len(reply.BeginFlows) {
			s.Received += end.ReceivedBytes - reply.BeginFlows[i].ReceivedBytes
			s.Written += end.WrittenBytes - reply.BeginFlows[i].WrittenBytes
		}
	}
	g.summary = s
}

func (g *Client) close(ctx context.Context, nothing struct{}) (struct{}, error) {
	_, err := g.agent.close(ctx, nothing)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hasFlows = false
	return nothing, err
}
