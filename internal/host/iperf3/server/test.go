package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"linerate/internal/host/budget"
	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/plain"
	"linerate/internal/model/unit"
)

const (
	// grace is how much longer than agreed a test may take: the client announces the end over a network that
	// the test may have filled.
	grace = 30 * time.Second
	// remains is how long receive buffers are still read after the test: their data arrived before the end.
	remains = 5 * time.Millisecond
	day     = int64(24 * time.Hour)
	// stopPatience is how long a client may take to read why its test ends.
	stopPatience = 500 * time.Millisecond
	// maxResults limits a client's results: those of every stream, and a title.
	maxResults = 256 << 10
	// answerAfter is when a client is refused for its token: a fixed time, so that it does not reveal what is
	// wrong.
	answerAfter = 200 * time.Millisecond
)

// test is the test of one client.
type test struct {
	server *server
	conn   *net.TCPConn
	from   netip.AddrPort
	cookie iperf3.Cookie
	p      iperf3.Parameters
	// inside is called when the client is accepted and no longer counts as pending. It returns false if its
	// connection was closed to make room for another.
	inside func() bool

	arrivals chan arrival            // TCP streams
	asks     chan *net.UDPConn       // UDP streams
	askers   map[netip.AddrPort]bool // clients of the UDP streams so far; guarded by the server's mu
	heard    chan heard

	flows   atomic.Pointer[engine] // the same engine, for Moved and Flows
	engine  engine                 // nil until the client opens its streams
	streams []*testStream          // in the order of the engine's flows
	series  []tick
	skipped tick // counts of the omitted time

	began, ended int64          // begin and end of the counted time, on the clock of package socket
	cpu          iperf3.CPUTime // used since began
}

// heard is a message from the control connection.
type heard struct {
	state iperf3.State
	err   error
}

func newTest(s *server, conn *net.TCPConn, cookie iperf3.Cookie) *test {
	return &test{
		server: s, conn: conn, cookie: cookie, from: socket.AddrPort(conn.RemoteAddr()),
		arrivals: make(chan arrival, 2*iperf3.MaxStreams), asks: make(chan *net.UDPConn, 2*iperf3.MaxStreams),
		askers: map[netip.AddrPort]bool{}, heard: make(chan heard, 1),
	}
}

// conduct serves the client from its cookie to the end and reports the session.
func (t *test) conduct() {
	began := time.Now()
	err := t.serve()
	if errors.Is(err, errNotClient) {
		socket.Reset(t.conn)
		return
	}
	var refused Refused
	switch {
	case errors.As(err, &refused):
		_ = t.conn.SetWriteDeadline(time.Now().Add(patience))
		_ = iperf3.WriteServerError(t.conn, refused.Code, 0)
		t.part()
	case err != nil:
		_ = socket.ResetOnClose(t.conn)
	}
	t.conn.Close()
	v := Session{From: t.from, Version: plain.Short(t.p.ClientVersion, 20), Began: began, Err: err}
	if t.ended > t.began {
		v.RanS = float64(t.ended-t.began) / 1e9
		v.Flows = len(t.streams)
		for _, s := range t.streams {
			bytes := max(0, s.final.Bytes-s.omitted.Bytes)
			if s.sends {
				v.Sent += bytes
			} else {
				v.Received += bytes
			}
		}
	}
	t.server.report(v)
}

// part lets the client read the last state: closing a connection with unread data would reset it.
func (t *test) part() {
	_ = t.conn.CloseWrite()
	_ = t.conn.SetReadDeadline(time.Now().Add(stopPatience))
	_, _ = io.CopyN(io.Discard, t.conn, maxResults)
}

// errNotClient means that the peer is no iperf3 client; it is not reported.
var errNotClient = errors.New("no client")

func (t *test) serve() error {
	s := t.server
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	if err := t.agree(ctx); err != nil {
		return err
	}
	dismiss, err := s.options.Admit(t, t.from.Addr(), t.takes())
	if err != nil {
		return refuse(iperf3.CodeAccessDenied, "%s", err.Error())
	}
	defer dismiss()
	if !t.inside() {
		return errNotClient
	}
	err = socket.DetectLoss(t.conn)
	if err == nil {
		err = t.conn.SetDeadline(time.Time{})
	}
	if err != nil {
		return err
	}
	// Reading ends when the server does. What is written before the results fits into any buffer.
	defer context.AfterFunc(ctx, func() {
		_ = t.conn.SetWriteDeadline(time.Now().Add(stopPatience))
		_ = t.conn.SetReadDeadline(time.Now())
	})()
	go t.listen(ctx)
	defer func() {
		if t.engine != nil {
			t.engine.Close()
		}
	}()
	if err := t.gather(ctx); err != nil {
		return t.broken(err)
	}
	if err := t.run(ctx); err != nil {
		return t.broken(err)
	}
	return t.broken(t.exchange(ctx))
}

// takes returns what the test's streams take of the server's budget.
func (t *test) takes() budget.Use {
	list := make([]message.FlowRequest, t.p.Streams())
	for i := range list {
		list[i] = t.request(i)
	}
	return budget.OfFlows(list)
}

// agree requests the parameters and checks them against the limits.
func (t *test) agree(ctx context.Context) error {
	o := t.server.options
	if !o.Allowed(t.from.Addr()) {
		return refuse(iperf3.CodeAuthentication, "%s is not among the addresses that this server allows", t.from.Addr())
	}
	if o.Closed != "" {
		return refuse(iperf3.CodeAuthentication, "%s", o.Closed)
	}
	if err := iperf3.WriteState(t.conn, iperf3.ParamExchange); err != nil {
		return errNotClient
	}
	if err := iperf3.ReadJSON(t.conn, iperf3.MaxParametersBytes, &t.p); err != nil {
		return errNotClient
	}
	if o.Users != nil {
		if why := o.Guesses.Refused(t.from.Addr()); why != "" {
			return refuse(iperf3.CodeAuthentication, "%s", why)
		}
		late := time.After(answerAfter)
		guess, err := o.Users.check(t.p.AuthToken, time.Now())
		why := o.Guesses.Judge(t.from.Addr(), !guess)
		if err != nil {
			why = cmp.Or(why, err.Error())
			select {
			case <-late:
			case <-ctx.Done():
			}
		}
		if why != "" {
			return refuse(iperf3.CodeAuthentication, "%s", why)
		}
	}
	return check(&t.p, o.Bounds)
}

// listen reads the client's states until one ends the test.
func (t *test) listen(ctx context.Context) {
	for {
		state, err := iperf3.ReadState(t.conn)
		select {
		case t.heard <- heard{state, err}:
		case <-ctx.Done():
			return
		}
		if err != nil || state == iperf3.TestEnd {
			return
		}
	}
}

// unexpected returns the error for a client that sends anything at all here.
func (h heard) unexpected() error {
	switch {
	case h.err != nil:
		return gone(h.err)
	case h.state == iperf3.ClientTerminate:
		return errInterrupted
	case h.state == iperf3.Done:
		return errors.New("the client left before its test was over")
	}
	return refuse(iperf3.CodeMessage, "%v came where it means nothing", h.state)
}

var errInterrupted = errors.New("the client was interrupted")

func gone(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the client left before its test was over")
	}
	return fmt.Errorf("the client has gone: %w", err)
}

// broken tells the client that the server has ended the test.
func (t *test) broken(err error) error {
	if err != nil && t.server.ctx.Err() != nil {
		_ = iperf3.WriteState(t.conn, iperf3.ServerTerminate)
		t.part()
		return errors.New("the server was stopped")
	}
	return err
}

// run runs the test until the client ends it.
func (t *test) run(ctx context.Context) error {
	if err := iperf3.WriteState(t.conn, iperf3.TestStart); err != nil {
		return gone(err)
	}
	t.began, t.cpu = sched.Now(), iperf3.UsedCPU()
	if err := iperf3.WriteState(t.conn, iperf3.TestRunning); err != nil {
		return gone(err)
	}
	// The client ends the test; otherwise it ends after a day.
	t.engine.Start(message.WindowRequest{StartNs: t.began, BeginNs: t.began, EndNs: t.began + day,
		StopNs: t.began + day})
	defer t.stop()
	var omit, over <-chan time.Time
	if t.p.Omit > 0 {
		omit = time.After(time.Duration(t.p.Omit) * time.Second)
	}
	longest := time.Duration(t.server.options.Bounds.DurationS * float64(time.Second))
	if t.p.Time > 0 {
		longest = time.Duration(t.p.Time+t.p.Omit) * time.Second
	}
	over = time.After(longest + grace)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-omit:
			t.omit()
			second.Reset(time.Second)
		case <-second.C:
			if err := errors.Join(t.note(), t.streamError()); err != nil {
				return err
			}
		case <-over:
			return refuse(iperf3.CodeExpired, "it did not end %v after the time that was agreed", grace)
		case h := <-t.heard:
			if h.err != nil || h.state != iperf3.TestEnd {
				return h.unexpected()
			}
			return nil
		}
	}
}

// omit excludes what was counted so far.
func (t *test) omit() {
	t.began, t.cpu = sched.Now(), iperf3.UsedCPU()
	for i, e := range t.engine.Read() {
		t.streams[i].omitted = iperf3.CountOf(e)
	}
	t.skipped.received, t.skipped.sent = t.engine.Moved()
	t.series = nil
}

// stop ends counting.
func (t *test) stop() {
	t.ended = sched.Now()
	t.cpu = iperf3.UsedCPU().Since(t.cpu)
	t.engine.Stop()
	time.Sleep(remains) // milliseconds
	for i, e := range t.engine.Read() {
		t.streams[i].final = iperf3.CountOf(e)
	}
	t.tick(t.ended)
}

// tick holds the counts of all streams at a time of the test.
type tick struct {
	at             int64
	received, sent int64
}

func (t *test) tick(at int64) {
	received, sent := t.engine.Moved()
	t.series = append(t.series, tick{at: at, received: received - t.skipped.received, sent: sent - t.skipped.sent})
}

// note adds another second to the series, and ends a test that exceeds its rate.
func (t *test) note() error {
	t.tick(sched.Now())
	const over, slack = 5, 4 << 20 // in seconds and bytes
	rate := t.server.options.Bounds.RateBps
	if n := len(t.series); rate > 0 && n > over {
		a, b := t.series[n-1-over], t.series[n-1]
		if got := b.received - a.received; float64(got) > 1.5*rate/8*float64(b.at-a.at)/1e9+slack {
			return refuse(iperf3.CodeTotalRate, "it sent %d bytes in %d s, where %s is allowed", got, over,
				unit.BitRate(rate))
		}
	}
	return nil
}

// exchange exchanges the results of a finished test.
func (t *test) exchange(ctx context.Context) error {
	if err := t.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if ctx.Err() != nil { // the deadline was overwritten
		return ctx.Err()
	}
	if err := iperf3.WriteState(t.conn, iperf3.ExchangeResults); err != nil {
		return gone(err)
	}
	var theirs iperf3.Results
	if err := iperf3.ReadJSON(t.conn, maxResults, &theirs); err != nil {
		return fmt.Errorf("the client's results: %w", err)
	}
	if err := iperf3.WriteJSON(t.conn, t.results(&theirs)); err != nil {
		return gone(err)
	}
	if err := iperf3.WriteState(t.conn, iperf3.DisplayResults); err != nil {
		return gone(err)
	}
	// Wait for the client's Done: the side that closes first keeps the port in TIME_WAIT.
	_, _ = iperf3.ReadState(t.conn)
	return nil
}

// results returns what this end has counted.
func (t *test) results(theirs *iperf3.Results) *iperf3.Results {
	seconds := float64(t.ended-t.began) / 1e9
	r := iperf3.NewResults(t.cpu, seconds)
	for _, s := range t.streams {
		r.Add(s.result(seconds), s.sends, s.congestion)
	}
	if t.p.GetServerOutput != 0 {
		r.ServerOutputText = t.output(theirs)
	}
	return r
}

// Moved returns the bytes that the test's streams have received and sent so far.
func (t *test) Moved() (received, sent int64) {
	if flows := t.flows.Load(); flows != nil {
		return (*flows).Moved()
	}
	return 0, 0
}

func (t *test) Flows() int {
	if flows := t.flows.Load(); flows != nil {
		return (*flows).Flows()
	}
	return 0
}
