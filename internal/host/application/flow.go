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
	tls           clientTLS

	mu       sync.Mutex // held for assignments only
	sessions []Session
	loops    []*loop // set when the connections are open
	// Without loops: the schedule and the recorder of the sessions, set when transactions begin.
	arrivals *arrivals
	recorder *recorder
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
		isClient: request.Remote.IsValid(), conns: map[*Conn]struct{}{}, served: map[*served]struct{}{},
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
	f.mu.Lock()
	loops := f.loops
	f.mu.Unlock()
	if f.Failure() != nil || !e.WaitStart() {
		for _, l := range loops {
			l.end()
		}
		return
	}
	var making sync.WaitGroup
	defer making.Wait()
	if len(loops) > 0 {
		for _, l := range loops {
			making.Go(l.run)
		}
		return
	}
	f.mu.Lock()
	f.recorder, f.arrivals = newRecorder(), newArrivals(&e.Signals, f.Request.Spec, 0, 1)
	f.mu.Unlock()
	for _, s := range f.sessions {
		for range max(1, f.Request.Pipeline) {
			making.Go(func() { f.transact(s) })
		}
	}
}

// transact makes transactions in a session, one after another.
func (f *appFlow) transact(s Session) {
	for {
		due, ok := f.arrivals.take()
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
	f.conclude(x, err, f.recorder)
	return err
}

// conclude counts a transaction that has ended, with err if it was not answered.
func (f *appFlow) conclude(x *Exchange, err error, to *recorder) {
	if x.ended == 0 {
		x.ended = sched.Now()
	}
	signals := &f.engine.Signals
	if signals.Quit.Load() {
		return
	}
	f.counts.stamp(x.ended)
	within := x.ended >= signals.Begin.Load() && x.ended < signals.End.Load()
	refusal, refused := errors.AsType[*Refusal](err)
	if refused {
		x.Answer(refusal.Code, true)
	} else if err != nil {
		f.counts.failures.Add(1)
		outcome := f.failed(err)
		if within {
			to.answer(outcome)
		}
		return
	}
	f.counts.failures.Store(0)
	f.counts.done.Add(1)
	if x.failed {
		f.counts.errors.Add(1)
	}
	if within {
		to.answer(x.outcome)
		to.done(x)
	}
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
	count := func(more, since int64) {
		if n += more; more > 0 && since > 0 {
			longestNs = max(longestNs, at-since)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.arrivals != nil {
		count(f.arrivals.overdue(at))
	}
	for _, l := range f.loops {
		count(l.arrivals.overdue(at))
		count(l.waiting())
	}
	for x := range f.inFlight {
		count(1, x.due)
	}
	return n, longestNs
}

// recorders returns what has the times of the flow's transactions.
func (f *appFlow) recorders() (all []*recorder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recorder != nil {
		all = append(all, f.recorder)
	}
	for _, l := range f.loops {
		all = append(all, l.recorder)
	}
	return all
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
	f.mu.Lock()
	t.Polling = len(f.loops) > 0 && flow.On(f.Request.Poll)
	switch {
	case t.Polling:
		t.Wait = record.WaitPoll
	case len(f.loops) > 0:
		t.Wait = record.WaitSleep
	}
	for _, l := range f.loops {
		t.Spun += l.spun()
	}
	f.mu.Unlock()
	out.Transactions = &t
}

// Describe adds the distributions, once the window has ended, and whether the server still answers.
func (f *appFlow) Describe(out *message.FlowEnd) {
	window := f.engine.Window()
	if f.isClient && window.EndNs != 0 && out.AtNs >= window.EndNs {
		describe(f.recorders(), out.Transactions)
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
	if f.counts.opened.Load() != 1 || f.closed || len(f.loops) == 1 && f.loops[0].info(out) || len(f.conns) != 1 {
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

// established returns how many connections the server has not closed. A session notices that only at the next use.
func (f *appFlow) established() (n int64) {
	f.mu.Lock()
	conns := slices.Collect(maps.Keys(f.conns))
	for _, l := range f.loops {
		n += l.established.Load()
	}
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
	sessions, loops := f.sessions, f.loops
	f.mu.Unlock()
	for _, l := range loops {
		l.stop()
	}
	f.mu.Lock()
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

// Release closes the descriptors of the flow's loops, which have ended.
func (f *appFlow) Release() {
	for _, l := range f.loops {
		l.close()
	}
	f.State.Release()
}
