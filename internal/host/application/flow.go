package application

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
)

const (
	// maxOpening is how many sessions open connections concurrently.
	maxOpening = 64
	// backOff is how long a session without a pace waits after a failure, so as not to flood a server that
	// refuses connections.
	backOff = 20 * time.Millisecond
	// longestReason limits the text of a failure, in characters.
	longestReason = 200
	// mostFailures consecutive failures per session mean that the server is gone.
	mostFailures = 3
)

// appFlow is one end of a flow of an application protocol.
type appFlow struct {
	flowset.State // its addresses are those of the first connection
	engine        *Engine
	protocol      Protocol
	isClient      bool
	counts        counts
	recorder      *recorder
	arrivals      atomic.Pointer[arrivals] // set when transactions begin
	tls           clientTLS

	mu       sync.Mutex // held for assignments only
	sessions []Session
	conns    map[*Conn]struct{}
	served   map[*served]struct{} // a server's connections
	accepted chan net.Conn        // connections accepted by a shared listener
	inFlight map[*Exchange]struct{}
	closed   bool
	failure  string // the latest failure of a transaction
}

func (e *Engine) newFlow(request message.FlowRequest) *appFlow {
	return &appFlow{
		State: flowset.State{Request: request}, engine: e, protocol: registered[request.Protocol],
		isClient: request.Remote.IsValid(), recorder: newRecorder(), conns: map[*Conn]struct{}{},
		served:   map[*served]struct{}{},
		accepted: make(chan net.Conn), inFlight: map[*Exchange]struct{}{},
	}
}

// host returns the server's name or address with its port, as the server knows it: without an IPv6 zone, which
// has a meaning on this host only (RFC 4007, section 11.2).
func (f *appFlow) host() string {
	host := cmp.Or(f.Request.Host, f.Request.Remote.String())
	if at, err := netip.ParseAddrPort(host); err == nil {
		return netip.AddrPortFrom(at.Addr().WithZone(""), at.Port()).String()
	}
	return host
}

// overUDP reports whether the protocol runs over UDP.
func (f *appFlow) overUDP() bool { return flow.Of(f.Request.Protocol).Transport == flow.UDP }

// connections returns the number of sessions of the flow.
func (f *appFlow) connections() int { return max(1, f.Request.Connections) }

// opened counts a connection and returns it; if the flow has been closed, it closes the connection.
func (f *appFlow) opened(conn net.Conn, raw syscall.RawConn) *Conn {
	c := &Conn{Conn: conn, f: f, raw: raw}
	f.counts.opened.Add(1)
	f.mu.Lock()
	closed := f.closed
	f.conns[c] = struct{}{}
	f.mu.Unlock()
	if closed {
		c.Close()
	}
	return c
}

// forget removes a connection that is being closed. TCP closes with RST, so that nothing is left in TIME_WAIT.
func (f *appFlow) forget(c *Conn) {
	f.counts.closed.Add(1)
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = socket.ResetOnClose(tcp)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}

// connect makes one uncounted transaction per session or, if connections are not kept, on one session, to see
// that the server answers. It calls first after the first transaction.
func (f *appFlow) connect(ctx context.Context, timeout time.Duration, first func()) {
	var sessions []Session
	for range f.connections() {
		sessions = append(sessions, f.protocol.Session(&Dialer{f}))
	}
	f.mu.Lock()
	f.sessions = sessions
	f.mu.Unlock()
	if err := f.probe(ctx, sessions[0], timeout); err != nil {
		f.Fail("%w", f.openError(err, timeout))
		return
	}
	first()
	if f.Request.PerConnection == 0 {
		if err := f.openRest(ctx, sessions[1:], timeout); err != nil {
			f.Fail("%w", f.openError(err, timeout))
		}
	}
	if f.Failure() != nil {
		return
	}
	f.mu.Lock()
	var one *Conn
	for c := range f.conns {
		one = c
		break
	}
	f.mu.Unlock()
	local, remote := netEnds(one, f.Request)
	f.Open(local, remote, nil)
	f.counts.received.Store(0)
	f.counts.written.Store(0)
}

// openRest makes one transaction per session, at most maxOpening concurrently. It stops at the first failure
// and returns it.
func (f *appFlow) openRest(ctx context.Context, sessions []Session, timeout time.Duration) (failure error) {
	var mu sync.Mutex
	failed := func(err error) bool {
		mu.Lock()
		defer mu.Unlock()
		failure = cmp.Or(failure, err)
		return failure != nil
	}
	places := make(chan struct{}, maxOpening)
	var opening sync.WaitGroup
	for _, s := range sessions {
		places <- struct{}{}
		if failed(ctx.Err()) {
			break
		}
		opening.Go(func() {
			defer func() { <-places }()
			failed(f.probe(ctx, s, timeout))
		})
	}
	opening.Wait()
	return failure
}

// probe makes one uncounted transaction.
func (f *appFlow) probe(ctx context.Context, s Session, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, f.within(timeout))
	defer cancel()
	var x Exchange
	x.due = sched.Now()
	if err := s.Do(ctx, &x); err != nil {
		return err
	}
	if x.failed {
		f.note(x.outcome) // the server answers; later answers are counted by outcome
	}
	return nil
}

// within returns how long a transaction that opens a connection may take.
func (f *appFlow) within(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return f.timeout()
	}
	return timeout
}

// openError returns why not all connections could be opened, and how many were.
func (f *appFlow) openError(err error, timeout time.Duration) error {
	f.mu.Lock()
	open, local := len(f.conns), f.Request.Local
	for c := range f.conns {
		at, _ := c.addrs()
		local = at.Addr()
		break
	}
	f.mu.Unlock()
	if exhausted := socket.Exhausted(f.Request, local, open, err); exhausted != nil {
		return exhausted
	}
	err = fmt.Errorf("%s to %s: %w", f.Request.Protocol, f.Request.Remote, f.reason(err, f.within(timeout)))
	if n := f.connections(); n > 1 && f.Request.PerConnection == 0 {
		err = fmt.Errorf("%w (%d of %d connections were open by then)", err, open, n)
	}
	return err
}

// timeout returns how long a transaction may take.
func (f *appFlow) timeout() time.Duration {
	if t := time.Duration(f.Request.Timeout); t > 0 {
		return t
	}
	return flow.DefaultTimeout
}

// run makes the flow's transactions until it stops.
func (f *appFlow) run() {
	e := f.engine
	if f.Failure() != nil || !e.WaitStart() {
		return
	}
	due := newArrivals(&e.Signals, f.Request.Spec)
	f.arrivals.Store(due)
	var making sync.WaitGroup
	for _, s := range f.sessions {
		for range max(1, f.Request.Pipeline) {
			making.Go(func() { f.transact(s, due) })
		}
	}
	making.Wait()
}

// transact makes transactions in a session, one after another.
func (f *appFlow) transact(s Session, arrivals *arrivals) {
	for {
		due, ok := arrivals.take()
		if !ok {
			return
		}
		err := f.transaction(s, due)
		if err != nil && f.Request.Pace == 0 {
			f.engine.Signals.Sleep(sched.Now() + int64(backOff))
		}
	}
}

func (f *appFlow) transaction(s Session, due int64) error {
	ctx, cancel := context.WithTimeout(f.engine.Context(), f.timeout())
	defer cancel()
	x := &Exchange{due: due, began: sched.Now()}
	if f.Request.Pace > 0 {
		x.phases[record.PhaseWait] = x.began - due
	}
	f.begin(x)
	err := s.Do(ctx, x)
	f.end(x)
	if x.ended == 0 {
		x.ended = sched.Now()
	}
	if f.engine.Signals.Quit.Load() {
		return err
	}
	f.counts.stamp()
	signals := &f.engine.Signals
	within := x.ended >= signals.Begin.Load() && x.ended < signals.End.Load()
	refusal, refused := errors.AsType[*Refusal](err)
	if refused {
		x.Answer(refusal.Code, true)
	} else if err != nil {
		f.counts.failures.Add(1)
		outcome := f.failed(err)
		if within {
			f.recorder.answer(outcome)
		}
		return err
	}
	f.counts.failures.Store(0)
	f.counts.done.Add(1)
	if x.failed {
		f.counts.errors.Add(1)
	}
	if within {
		f.recorder.answer(x.outcome)
		f.recorder.done(x)
	}
	return err
}

// begin and end maintain the set of transactions in flight.
func (f *appFlow) begin(x *Exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight[x] = struct{}{}
}

func (f *appFlow) end(x *Exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.inFlight, x)
}

// waiting returns how many transactions are in flight or overdue at a time, and how long the oldest of them has
// waited.
func (f *appFlow) waiting(at int64) (n int64, longestNs int64) {
	if a := f.arrivals.Load(); a != nil {
		if due, first := a.overdue(at); due > 0 {
			n, longestNs = due, at-first
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for x := range f.inFlight {
		longestNs = max(longestNs, at-x.due)
	}
	return n + int64(len(f.inFlight)), longestNs
}

// failed counts a transaction without an answer, and returns the kind of failure.
func (f *appFlow) failed(err error) (kind string) {
	f.note(f.reason(err, f.timeout()).Error())
	if timedOut(err) {
		f.counts.unanswered.Add(1)
		return "timeout"
	}
	f.counts.failed.Add(1)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "no port"
	}
	return "failed"
}

// timedOut reports whether err means that the transaction timed out.
func timedOut(err error) bool {
	var timed net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timed) && timed.Timeout()
}

// reason describes the failure of a transaction that had a timeout.
func (f *appFlow) reason(err error, timeout time.Duration) error {
	if timedOut(err) {
		return fmt.Errorf("no answer within %v", timeout)
	}
	// The text may contain what the server sent.
	return errors.New(plain.Short(socket.Reason(err, f.Request.Remote.Addr()).Error(), longestReason))
}

// note stores the latest failure.
func (f *appFlow) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failure = text
}

func (f *appFlow) Count(out *message.FlowEnd) {
	t := f.counts.counted()
	out.ReceivedBytes, out.WrittenBytes = f.counts.received.Load(), f.counts.written.Load()
	out.FirstNs, out.LastNs = f.counts.first.Load(), f.counts.last.Load()
	out.AtNs = sched.Now()
	waiting, longest := f.waiting(out.AtNs)
	t.Waiting, t.LongestWaitUs = waiting, float64(longest)/1e3
	out.Transactions = &t
}

// Describe adds the distributions, once the window has ended, and whether the server still answers.
func (f *appFlow) Describe(out *message.FlowEnd) {
	window := f.engine.Window()
	if f.isClient && window.EndNs != 0 && out.AtNs >= window.EndNs {
		f.recorder.describe(out.Transactions)
	}
	if stop := f.engine.Signals.Stop.Load(); f.isClient && stop != 0 && out.AtNs >= stop {
		out.Transactions.Connections = f.established()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.counts.failures.Load(); f.isClient && n >= mostFailures*int64(f.connections()) {
		out.Alive = false
		out.Error = &message.Error{Code: message.Deadline,
			Text: fmt.Sprintf("%d transactions in a row failed; the latest: %s", n, f.failure)}
	}
	// The kernel's data covers one connection; it is the flow's only if there was no other.
	if len(f.conns) != 1 || f.counts.opened.Load() != 1 || f.closed {
		return
	}
	for c := range f.conns {
		if c.raw == nil {
			continue
		}
		_ = socket.WithFD(c.raw, func(fd int) error {
			info, err := sock.TCPInfo(fd)
			if err == nil {
				out.Info = &info
			}
			out.CongestionControl, _ = sock.CongestionControl(fd)
			return err
		})
	}
}

// established returns how many connections the server has not closed; the client itself notices only at their
// next use.
func (f *appFlow) established() (n int64) {
	f.mu.Lock()
	conns := slices.Collect(maps.Keys(f.conns))
	f.mu.Unlock()
	for _, c := range conns {
		if c.Usable() {
			n++
		}
	}
	return n
}

// Sample returns the bytes received and, at the client, the transactions done so far.
func (f *appFlow) Sample() (out netstate.FlowSample) {
	out.ReceivedBytes = f.counts.received.Load()
	if f.isClient {
		out.Done = f.counts.done.Load()
	}
	return out
}

// Moved returns the bytes that all connections have received and written.
func (f *appFlow) Moved() (received, written int64) {
	return f.counts.received.Load(), f.counts.written.Load()
}

// Close closes the flow's connections and waits until nothing reads from them.
func (f *appFlow) Close() {
	f.mu.Lock()
	f.closed = true
	sessions := f.sessions
	var conns []net.Conn
	for c := range f.conns {
		conns = append(conns, c)
	}
	for c := range f.served {
		conns = append(conns, c)
	}
	f.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
	for _, s := range sessions {
		s.Close()
	}
	f.State.Close()
}
