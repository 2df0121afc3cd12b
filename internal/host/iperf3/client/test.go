// Package client runs tests with an iperf3 server: it negotiates a test on the control connection, opens its
// streams, and ends it. The streams are ordinary flows: those of TCP belong to package stream, those of UDP to
// package datagram with iperf3's header. So they start, are read and stop like a trial's flows, by this host's
// clock.
//
// It does not interpret the figures, and cannot make the server count over our window. Package iperf3 has the
// protocol; docs/iperf3.md says what can be known.
package client

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/datagram"
	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
	"linerate/internal/host/stream"
	"linerate/internal/host/traffic"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
	"linerate/internal/version"
)

// flows are the streams of a test.
type flows = traffic.FlowEngine

// Test is one test with a server. It is a FlowEngine: its flows are started, read and closed like others of a
// trial.
type Test struct {
	flows
	request message.Iperf3Request
	control *control
	server  netip.AddrPort
	local   netip.Addr
	cookie  iperf3.Cookie
	params  iperf3.Parameters
	began   int64          // when the server said that the test is running
	cpu     iperf3.CPUTime // of this process at that time

	heard  chan heard    // the state that ends the test, or why none came
	broken chan struct{} // closed when it came unexpectedly
	ended  chan struct{} // closed when TEST_END was sent, or could not be

	mu      sync.Mutex              // guards the fields below
	ending  bool                    // TEST_END is being sent, or was
	unsaid  error                   // the error of that
	elapsed int64                   // length of the test until then
	failure error                   // why the test broke off
	omitted map[string]iperf3.Count // the flows' counts when the window began
	over    bool                    // the control connection is no longer usable
}

// heard is a message from the control connection.
type heard struct {
	state iperf3.State
	err   error
}

// outputIntervals limits, in streams × seconds, the tests whose server output is requested: it lists every
// stream in every second.
const outputIntervals = 600

// Open negotiates a test with a server and opens its streams. When it returns, the server has begun: what it
// sends is being received; this host sends after Start.
func Open(ctx context.Context, request message.Iperf3Request) (*Test, message.Iperf3Opened, error) {
	t := &Test{request: request, cookie: iperf3.NewCookie(), heard: make(chan heard, 1), broken: make(chan struct{}),
		ended: make(chan struct{}), omitted: map[string]iperf3.Count{}}
	if err := t.reach(ctx); err != nil {
		return nil, message.Iperf3Opened{}, err
	}
	// Cancelling ends the wait and tells the server.
	stop := context.AfterFunc(ctx, t.terminate)
	opened, err := t.begin(ctx)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		t.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, message.Iperf3Opened{}, err
	}
	go t.listen()
	return t, opened, nil
}

func (t *Test) timeout() time.Duration { return time.Duration(t.request.TimeoutNs) }

// begin runs the protocol from the cookie to the running test.
func (t *Test) begin(ctx context.Context) (opened message.Iperf3Opened, err error) {
	if err := t.welcome(ctx); err != nil {
		return opened, err
	}
	if t.params, err = t.parameters(); err != nil {
		return opened, err
	}
	if err := iperf3.WriteJSON(t.control, t.params); err != nil {
		return opened, t.refused("after it was sent the parameters", heard{err: err})
	}
	if h := t.hear(t.timeout()); h.state != iperf3.CreateStreams || h.err != nil {
		return opened, t.refused("after it was sent the parameters", h)
	}
	opened.Server = t.server
	switch t.request.Flow.Protocol {
	case flow.UDP:
		t.flows = datagram.New()
	default:
		t.flows = stream.New()
	}
	for n := range t.params.Streams() {
		request := t.request.Flow
		request.Remote, request.Sends = t.server, !t.params.ServerSends(n)
		request.ID = fmt.Sprintf("w%d", n+1)
		if !request.Sends {
			request.ID = fmt.Sprintf("r%d", n+1-t.request.Writes)
		}
		local, err := t.stream(ctx, request)
		if err != nil {
			return opened, fmt.Errorf("stream %d of %d: %w", n+1, t.params.Streams(), err)
		}
		opened.Flows = append(opened.Flows, message.Opened{ID: request.ID, Local: local, Remote: t.server})
		opened.Streams = append(opened.Streams, iperf3.StreamID(n))
	}
	for _, want := range []iperf3.State{iperf3.TestStart, iperf3.TestRunning} {
		if h := t.hear(t.timeout()); h.state != want || h.err != nil {
			return opened, t.refused("after the streams were open", h)
		}
	}
	t.began, t.cpu = sched.Now(), iperf3.UsedCPU()
	return opened, nil
}

// stream opens one stream. The server identifies streams by their order.
func (t *Test) stream(ctx context.Context, request message.FlowRequest) (netip.AddrPort, error) {
	if e, ok := t.flows.(*datagram.Engine); ok {
		request.Datagram = unit.Bytes(t.params.Length)
		return openDatagrams(ctx, e, request, t.params.Wide(), t.timeout())
	}
	conn, err := stream.Dial(ctx, request, t.timeout())
	if err != nil {
		return netip.AddrPort{}, err
	}
	local := socket.AddrPort(conn.LocalAddr())
	if err := conn.SetWriteDeadline(time.Now().Add(t.timeout())); err != nil {
		conn.Close()
		return local, err
	}
	if _, err := conn.Write(t.cookie[:]); err != nil {
		conn.Close()
		return local, fmt.Errorf("sending the cookie: %w", greeting.Cause(err))
	}
	if err := conn.SetWriteDeadline(time.Time{}); err != nil {
		conn.Close()
		return local, err
	}
	return local, t.flows.(*stream.Engine).Adopt(request, conn, 0)
}

// parameters returns the test parameters for the server. The server's time limit is a fallback: this side ends
// the test.
func (t *Test) parameters() (iperf3.Parameters, error) {
	o, f := t.request, t.request.Flow
	seconds := func(ns int64) iperf3.Int { return iperf3.Int(math.Ceil(float64(ns) / 1e9)) }
	p := iperf3.Parameters{
		TCP: f.Protocol != flow.UDP, UDP: f.Protocol == flow.UDP,
		Omit: iperf3.Int(o.WarmupNs / 1e9), Time: seconds(o.DurationNs), Parallel: iperf3.Int(max(o.Writes, o.Reads)),
		Reverse: o.Writes == 0, Bidirectional: o.Writes > 0 && o.Reads > 0,
		NoDelay: flow.On(f.NoDelay), MSS: iperf3.Int(f.MSS), Window: iperf3.Int(f.Window),
		Bandwidth: iperf3.Int(f.RateCap), Congestion: f.CongestionControl, Length: iperf3.DefaultLength,
		PacingTimer: 1000, ClientVersion: "linerate " + version.String(),
	}
	if f.DSCP != nil {
		p.TOS = iperf3.Int(f.DSCP.TrafficClass())
	}
	if p.UDP {
		p.Length = iperf3.Int(f.Datagram)
		if p.Length == 0 {
			p.Length = iperf3.Int(t.largestDatagram())
		}
	}
	if int64(p.Streams())*int64(p.Time+p.Omit) <= outputIntervals {
		p.GetServerOutput = 1
	}
	if o.Login != nil {
		var err error
		if p.AuthToken, err = token(o.Login); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Start schedules the flows and the test's end. TEST_END is sent once everything sent has arrived, since the server
// counts until it receives that. The counts at the window's begin are subtracted, as iperf3 does for its omitted time.
func (t *Test) Start(w message.WindowRequest) {
	t.flows.Start(w)
	time.AfterFunc(time.Duration(w.StopNs-sched.Now()), t.end)
	time.AfterFunc(time.Duration(w.BeginNs-sched.Now()), func() {
		ends := t.flows.Read()
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, e := range ends {
			t.omitted[e.ID] = iperf3.CountOf(e)
		}
	})
}

// Shorten ends the test earlier than Start scheduled.
func (t *Test) Shorten(endNs, stopNs int64) {
	t.flows.Shorten(endNs, stopNs)
	time.AfterFunc(time.Duration(stopNs-sched.Now()), t.end)
}

// listen waits for the server's next state. While the test runs there should be none.
func (t *Test) listen() {
	h := t.hear(0)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ending && !t.over {
		t.failure = t.refused("while the test ran", h)
		close(t.broken)
	}
	t.heard <- h
}

// Broken returns a channel that is closed when the server ends the test early; Err says why.
func (t *Test) Broken() <-chan struct{} { return t.broken }

// Err returns why the test ended early; nil if it has not.
func (t *Test) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failure
}

// terminate tells the server that this side was interrupted, and closes the connection.
func (t *Test) terminate() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.control == nil {
		return
	}
	t.over = true
	_ = iperf3.WriteState(&control{t.control.TCPConn, time.Second}, iperf3.ClientTerminate)
	_ = t.control.Close()
}

// Close ends the test, if it has not ended yet, and its flows.
func (t *Test) Close() {
	t.terminate()
	if t.flows != nil {
		t.flows.Close()
	}
}
