package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/budget"
	"linerate/internal/host/counters"
	"linerate/internal/host/socket"
	"linerate/internal/host/traffic"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

const (
	// idle is how long a client may send no request while none is being handled.
	idle = 30 * time.Second
	// soon is how far ahead a client may schedule its trial.
	soon = 15 * time.Second
	// moment is how long a request may take that waits for nothing but this host.
	moment = 10 * time.Second
	// longestID bounds what a client may call its flows.
	longestID = 64
)

// Client serves a conductor that is not trusted with the host. It accepts the flows that were
// agreed on, moves their data within its budget, and does and reports nothing else. It opens
// no connections.
type Client struct {
	agent   *agent
	account *budget.Account
	bounds  message.Bounds
	others  func() netstate.OtherFlows
	// every is the interval of watch's checks, idle how long no request may arrive.
	every, idle time.Duration
	counted     int // interfaces and queueing disciplines of this host

	answering sync.WaitGroup
	turn      chan struct{} // has an element while flows are made or closed
	alone     chan struct{} // has an element while a request is answered that others wait for
	readings  *budget.Lease // of the largest window: the connection keeps room for its reply

	mu      sync.Mutex    // guards the following
	left    bool          // nothing is answered any more
	busy    int           // requests that are being handled
	last    time.Time     // when the latest was handled
	trial   *budget.Lease // of the current trial's flows; nil: it has none
	summary Summary
}

// Summary says what the session of a client did.
type Summary struct {
	Asked   bool // the client has requested flows
	Windows int  // trials that were carried out to their end
	// Of the last trial: the length of its window in seconds, the number of flows, and the
	// bytes that they received and wrote in it.
	WindowS           float64
	Flows             int
	Received, Written int64
	// Refused is the reason why a request was refused: it exceeded the bounds, or asked for
	// something that this host does not have or permit; nil: no request was.
	Refused error
}

// NewClient returns a Client for a conductor that has been accepted. account is its share of
// the budget, and access restricts the connections that worker processes accept. others
// returns what the other clients of this process have moved so far.
func NewClient(account *budget.Account, bounds message.Bounds, access socket.Access,
	others func() netstate.OtherFlows) (*Client, error) {
	reader, err := counters.New()
	if err != nil {
		return nil, err
	}
	g := &Client{
		agent:   &agent{node: record.NodeServer, reader: reader, access: access},
		account: account, readings: account.Lease(), turn: make(chan struct{}, 1), alone: make(chan struct{}, 1),
		bounds: bounds, others: others, every: 2 * time.Second, idle: idle, last: time.Now(),
	}
	g.agent.client = g
	return g, nil
}

// RequestBytes returns the maximum size of a client's request, in bytes: that with the flows
// of a trial.
func RequestBytes(b message.Bounds) int { return 4<<10 + b.Flows<<10 }

// limits say how long a request of a verb may take, and whether one at a time is answered of
// those that are.
func (g *Client) limits(verb string) (limit time.Duration, alone bool) {
	switch verb {
	case message.Listen.Name:
		return moment, true
	case message.Window.Name:
		return soon + time.Duration(g.bounds.DurationS*float64(time.Second)) + moment, true
	case message.Ready.Name:
		return idle + moment, false
	}
	return moment, false
}

// Serve answers the client's requests until the stream or ctx ends, or the client breaks a
// rule: it stays too long, is idle too long, or sends too fast. The error says why it ended.
// Serve must be called once only.
func (g *Client) Serve(ctx context.Context, stream net.Conn) error {
	defer g.Discard()
	stay := g.bounds.Stay()
	ctx, cancel := context.WithTimeoutCause(ctx, stay, fmt.Errorf("stayed longer than %v", unit.Duration(stay)))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go g.watch(ctx, end)
	// Joining waits for the client, and only the end of its stream ends that, or a reply that
	// the client does not read.
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	list := permitted(g.agent.handlings(), message.Client)
	for i, h := range list {
		list[i].Handler = g.noted(h)
	}
	hello, err := g.agent.hello()
	if err != nil {
		return err
	}
	g.counted = hello.Counted
	hello.Interfaces, hello.Bounds = nil, &g.bounds
	err = answer(ctx, stream, bus.Silence, func() {}, list, bus.Gate{PendingBytes: RequestBytes(g.bounds),
		Admit: g.admit}, hello)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// ticket is what a request holds until its reply has been sent.
type ticket struct {
	lease *budget.Lease
	alone bool
}

type ticketKey struct{}

// admit takes a request from the budget until its reply has been sent.
func (g *Client) admit(ctx context.Context, _ string, bytes int) (_ context.Context, done func(), err error) {
	t := &ticket{lease: g.account.Lease()}
	if err := t.lease.Take(budget.OfRequest(bytes)); err != nil {
		return nil, nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left {
		t.lease.End()
		return nil, nil, bus.Coded(message.Gone, errors.New("this server has ended the client's session"))
	}
	g.answering.Add(1)
	return context.WithValue(ctx, ticketKey{}, t), func() {
		defer g.answering.Done()
		t.lease.End()
		if t.alone {
			<-g.alone
		}
	}, nil
}

// noted handles a request within its time, and keeps count of what is being handled.
func (g *Client) noted(h bus.Handling) bus.Handler {
	limit, alone := g.limits(h.Name)
	return func(ctx context.Context, request []byte) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		if alone {
			select {
			case g.alone <- struct{}{}:
				ctx.Value(ticketKey{}).(*ticket).alone = true
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		g.mu.Lock()
		g.busy++
		g.mu.Unlock()
		defer func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.busy, g.last = g.busy-1, time.Now()
		}()
		reply, err := h.Handler(ctx, request)
		g.noteRefusal(err)
		return reply, err
	}
}

// noteRefusal enters into the summary why a request was refused.
func (g *Client) noteRefusal(err error) {
	switch bus.CodeOf(err) {
	case message.OutOfBounds, message.NotPermitted, message.Unsupported:
		g.mu.Lock()
		defer g.mu.Unlock()
		g.summary.Refused = err
	}
}

// Discard ends the client's flows, waits for requests that are still being answered, and
// releases everything. Serve calls it.
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
			end(fmt.Errorf("sent %d bytes in %v, where %s is allowed", received-before, g.every,
				unit.BitRate(g.bounds.RateBps)))
		}
		before = received
	}
}

// Moved returns how many bytes the client's flows have received and written so far.
func (g *Client) Moved() (received, written int64) {
	a := g.agent
	a.engineMu.Lock()
	engine := a.engine
	received, written = a.received, a.written
	a.engineMu.Unlock()
	if engine != nil {
		r, w := engine.Moved()
		received, written = received+r, written+w
	}
	return received, written
}

// Flows returns how many flows the client has now.
func (g *Client) Flows() int {
	if engine := g.Engine(); engine != nil {
		return engine.Flows()
	}
	return 0
}

// Summary returns the summary of the session so far.
func (g *Client) Summary() Summary {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.summary
}

// Engine returns the flows of the client's current trial; nil: there is none.
func (g *Client) Engine() *traffic.Engine { return g.agent.current() }

// listen opens a trial's flows, all at once, if they are within the budget.
func (g *Client) listen(ctx context.Context, data []byte) ([]message.Listening, error) {
	g.mu.Lock()
	g.summary.Asked = true
	g.mu.Unlock()
	requests, err := decodeFlows(data, g.bounds.Flows)
	if err != nil {
		return nil, err
	}
	var errs []error
	cookies, ids := map[message.Cookie]bool{}, map[string]bool{}
	for _, o := range requests {
		errs = append(errs, mayHave(o))
		if cookies[o.Cookie] || ids[o.ID] {
			errs = append(errs, fmt.Errorf("flow %.*q is requested twice", longestID, o.ID))
		}
		cookies[o.Cookie], ids[o.ID] = true, true
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	leave, err := g.lockFlows(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	g.mu.Lock()
	again := g.trial != nil
	g.mu.Unlock()
	if again {
		return nil, bus.Coded(message.Busy, errors.New("the trial has its flows already: close it first"))
	}
	lease := g.account.Lease()
	if err := lease.Take(budget.OfFlows(requests)); err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.trial = lease
	g.mu.Unlock()
	if g.bounds.RateBps > 0 {
		pace(requests, g.bounds.RateBps)
	}
	return g.agent.trial().Listen(ctx, requests), nil
}

// lockFlows waits until no other request makes or closes flows.
func (g *Client) lockFlows(ctx context.Context) (leave func(), err error) {
	select {
	case g.turn <- struct{}{}:
		return func() { <-g.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// decodeFlows reads a list of requests one by one: the text of a list is much shorter than
// what it decodes to.
func decodeFlows(data []byte, most int) (list []message.FlowRequest, err error) {
	from := json.NewDecoder(bytes.NewReader(data))
	begin, err := from.Token()
	if err == nil && begin != json.Delim('[') {
		err = errors.New("expected a list of flows")
	}
	for err == nil && from.More() {
		if len(list) == most {
			return nil, beyond("more than %d flows: this server allows a client %[1]d", most)
		}
		var o message.FlowRequest
		if err = from.Decode(&o); err == nil {
			list = append(list, o)
		}
	}
	if err == nil {
		_, err = from.Token()
	}
	if err != nil {
		return nil, bus.Coded(message.Invalid, fmt.Errorf("unreadable request: %w", err))
	}
	return list, nil
}

// transacts: the flow is of requests and responses.
func transacts(o message.FlowRequest) bool { return flow.Of(o.Protocol).Transactional() }

// sends: the client's flow has this host send data. Responses are data, too.
func sends(o message.FlowRequest) bool { return o.Sends || transacts(o) }

// beyond is a refusal of more than the server grants to one client.
func beyond(format string, args ...any) error {
	return bus.Coded(message.OutOfBounds, fmt.Errorf(format, args...))
}

// mayHave is nil if a client may have a flow like this.
func mayHave(o message.FlowRequest) error {
	name := fmt.Sprintf("flow %.*q", longestID, o.ID)
	denied := func(format string) error { return bus.Coded(message.NotPermitted, fmt.Errorf(format, name)) }
	switch {
	case o.Process != "":
		return denied("%s is to be made by another program: this server starts none")
	case o.Cookie.IsZero():
		return denied("%s has no cookie: expected 16 random bytes")
	case o.Remote.IsValid() || o.Local.IsValid() || o.Host != "" || o.Foreign:
		return denied("%s has an address: connections come to the server's own port")
	case o.Frame != "" && o.Sends || o.Tuples > 1:
		return denied(
			"%s has this server send Ethernet frames, or receive them from several addresses and ports: it does " +
				"neither")
	case len(o.ID) > longestID:
		return beyond("%s: a name of %d bytes, expected at most %d", name, len(o.ID), longestID)
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
		return bus.Coded(message.Unsupported, fmt.Errorf("%s: congestion control %.40q, the server has %s%s", name,
			o.CongestionControl, there, socket.LoadCongestionControl(o.CongestionControl, "the server")))
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
			unit.Duration(r.EndNs-r.StartNs), unit.Duration(allowed))
	case r.StartNs-now > int64(soon):
		return message.WindowReply{}, beyond("a trial that begins more than %v from now", soon)
	case r.SampleNs < 0:
		return message.WindowReply{}, fmt.Errorf("a sample every %v: expected a positive time, or 0",
			time.Duration(r.SampleNs))
	}
	var samples int64
	if r.SampleNs > 0 {
		samples = (r.EndNs - r.BeginNs) / r.SampleNs
	}
	if err := g.readings.Raise(budget.OfWindow(samples, g.Flows(), g.counted)); err != nil {
		return message.WindowReply{}, err
	}
	// A client gets no more of a window than its flows and counters.
	r.Lookups, r.Watch, r.Marks, r.Sysctls, r.Events, r.KeepLatest, r.Machine = nil, nil, nil, nil, nil, false, false
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
	s := Summary{Asked: true, Windows: g.summary.Windows + 1, Flows: len(reply.EndFlows)}
	s.WindowS = float64(reply.Reading.End.BeganNs-reply.Reading.Begin.BeganNs) / 1e9
	for i, end := range reply.EndFlows {
		if i < len(reply.BeginFlows) {
			s.Received += end.ReceivedBytes - reply.BeginFlows[i].ReceivedBytes
			s.Written += end.WrittenBytes - reply.BeginFlows[i].WrittenBytes
		}
	}
	g.summary = s
}

// close ends the trial's flows, and gives back what they have taken.
func (g *Client) close(ctx context.Context, nothing struct{}) (struct{}, error) {
	leave, err := g.lockFlows(ctx)
	if err != nil {
		return nothing, err
	}
	defer leave()
	if _, err := g.agent.close(ctx, nothing); err != nil {
		return nothing, err
	}
	g.mu.Lock()
	trial := g.trial
	g.trial = nil
	g.mu.Unlock()
	if trial != nil {
		trial.End()
	}
	return nothing, nil
}
