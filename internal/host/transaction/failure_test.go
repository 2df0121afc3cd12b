package transaction

import (
	"context"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// peer answers bytes with bytes, as long as obliging says so for the n-th of
// a connection; then it closes that.
func peer(t *testing.T, obliging func(connection, n int) bool) netip.AddrPort {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for i := 0; ; i++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				one := make([]byte, 1)
				for n := 0; ; n++ {
					if _, err := conn.Read(one); err != nil || !obliging(i, n) {
						return
					}
					if _, err := conn.Write(one); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// asker is an engine that has connected to a responder.
func asker(t *testing.T, to netip.AddrPort, request message.FlowRequest) *Engine {
	t.Helper()
	e := engine(t)
	request.ID, request.Remote = "f1", to
	if request.Protocol == "" {
		request.Protocol = flow.RR
	}
	if o := e.Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]; o.Error != nil {
		t.Fatal(o.Error)
	}
	return e
}

// TestLostConnection: it fails its transaction, the flow says why, and the others
// go on.
func TestLostConnection(t *testing.T) {
	for _, request := range []message.FlowRequest{{Spec: flow.Spec{Connections: 5}},
		{Spec: flow.Spec{Connections: 5, Threads: 5}}, {Spec: flow.Spec{Connections: 5, Threads: 2, Poll: new(true)}}} {
		if refused(t, request) {
			continue
		}
		e := asker(t, peer(t, func(connection, n int) bool { return connection != 2 || n < 10 }), request)
		window(time.Hour, e)
		eventually(t, "one is lost", func() bool { return tally(e).Failed == 1 })
		end := e.Read()[0]
		if !end.Alive || !strings.Contains(end.Error.Error(), "1 of 5 connections lost") ||
			end.Transactions.Connections != 4 {
			t.Errorf("%+v, %+v", end, end.Transactions)
		}
		before := tally(e).Done
		eventually(t, "the others go on", func() bool { return tally(e).Done > before+100 })
		if tally(e).Failed != 1 {
			t.Errorf("%+v", tally(e))
		}
	}
}

// TestLostOnSchedule: what was to begin on a connection that is gone has failed; a
// connection of crr that fails behind its schedule goes on with what is due.
func TestLostOnSchedule(t *testing.T) {
	// lost is obliging but for one connection.
	lost := func(which, rounds int, after time.Duration) func(connection, n int) bool {
		return func(connection, n int) bool {
			if connection != which || n < rounds {
				return true
			}
			time.Sleep(after)
			return false
		}
	}
	for name, c := range map[string]struct {
		spec     flow.Spec
		obliging func(connection, n int) bool
		failed   int64 // of the 60 that are due
	}{
		"at once":                   {flow.Spec{Connections: 2}, lost(1, 0, 0), 30},
		"after a moment":            {flow.Spec{Connections: 2}, lost(1, 0, 100*time.Millisecond), 30},
		"after the stop, too":       {flow.Spec{Connections: 2}, lost(1, 0, 400*time.Millisecond), 30},
		"the only one":              {flow.Spec{}, lost(0, 20, 100*time.Millisecond), 40},
		"one transaction at a time": {flow.Spec{Protocol: flow.CRR}, lost(20, 0, 100*time.Millisecond), 1},
		"four at a time": {flow.Spec{Protocol: flow.CRR, Connections: 4},
			lost(20, 0, 100*time.Millisecond), 1},
		"after the stop": {flow.Spec{Protocol: flow.CRR, Connections: 4},
			lost(20, 0, 400*time.Millisecond), 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.spec.Pace = 200
			e := asker(t, peer(t, c.obliging), message.FlowRequest{Spec: c.spec})
			w := window(300*time.Millisecond, e)
			sched.SleepUntil(w.EndNs)
			eventually(t, "all are done or have failed", func() bool { return tally(e).Done+tally(e).Failed >= 60 })
			if got := tally(e); got.Done != 60-c.failed || got.Failed != c.failed {
				t.Errorf("%+v: want %d of 60 failed and the others done", got, c.failed)
			}
		})
	}
}

// TestResponderDies: nothing is left of the flow, and both kinds say so.
func TestResponderDies(t *testing.T) {
	for _, protocol := range flow.Find("threads").Protocols {
		a, r := engine(t), engine(t)
		join(t, a, r, requests(1, message.FlowRequest{Spec: flow.Spec{Connections: 3, Protocol: protocol}}))
		window(time.Hour, a, r)
		eventually(t, "transactions are done", func() bool { return tally(a).Done > 100 })
		r.Close()
		eventually(t, "they fail", func() bool { return tally(a).Failed > 0 && a.Read()[0].Error != nil })
		eventually(t, "the reason is reported", func() bool {
			text := a.Read()[0].Error.Error()
			return strings.Contains(text, "reset") || strings.Contains(text, "refused") ||
				strings.Contains(text, "closed")
		})
		if protocol == flow.CRR {
			before := tally(a).Failed
			eventually(t, "it is tried again", func() bool { return tally(a).Failed > before })
			continue
		}
		eventually(t, "all are lost", func() bool { return tally(a).Connections == 0 && !a.Read()[0].Alive })
	}
}

// TestMutePeer: transactions that are not answered are in no percentile, but they are
// reported, with those that are due meanwhile, and how long the first has waited.
func TestMutePeer(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	for _, spec := range []flow.Spec{{}, {Pace: 200}} {
		e := asker(t, peer(t, func(connection, n int) bool { <-block; return false }), message.FlowRequest{Spec: spec})
		w := window(100*time.Millisecond, e)
		sched.SleepUntil(w.EndNs + 1e6)
		got := tally(e)
		if due := 1 + int64(got.LongestWaitUs/1e6*spec.Pace); got.Done != 0 || got.Waiting != due ||
			got.LongestWaitUs < 50e3 || got.Latency != nil {
			t.Errorf("pace %g: %+v, want %d waiting", spec.Pace, got, due)
		}
	}
}

// TestKnownDelay: no transaction is quicker than the responder.
func TestKnownDelay(t *testing.T) {
	const delay = 10 * time.Millisecond
	slow := func(connection, n int) bool { time.Sleep(delay); return true }
	for _, request := range []message.FlowRequest{{}, {Spec: flow.Spec{Connections: 3}},
		{Spec: flow.Spec{Poll: new(true)}}, {Spec: flow.Spec{Protocol: flow.CRR}}} {
		if refused(t, request) {
			continue
		}
		e := asker(t, peer(t, slow), request)
		w := window(200*time.Millisecond, e)
		sched.SleepUntil(w.EndNs + 1e6)
		// A histogram of three digits may show a little less.
		if d := tally(e).Latency; d == nil || d.MinUs < 0.999*float64(delay.Microseconds()) || d.P50Us < d.MinUs ||
			d.MaxUs < d.P50Us {
			t.Errorf("%+v: %+v, want at least %v each", request, d, delay)
		}
	}
}

// TestStall: a responder stalls once for a part of the window. Nothing is sent
// meanwhile on the only connection; the schedule goes on all the same,
// and those that had to wait show in the percentiles as they waited.
func TestStall(t *testing.T) {
	const stall = 400 * time.Millisecond
	once := func(connection, n int) bool {
		if n == 20 {
			time.Sleep(stall)
		}
		return true
	}
	for _, request := range []message.FlowRequest{{Spec: flow.Spec{Pace: 200}},
		{Spec: flow.Spec{Pace: 200, Poll: new(true)}}} {
		if refused(t, request) {
			continue
		}
		e := asker(t, peer(t, once), request)
		w := window(time.Second, e)
		sched.SleepUntil(w.EndNs)
		eventually(t, "the backlog is worked off", func() bool { return tally(e).Waiting == 0 })
		d := tally(e).Latency
		// 80 of 200 were to begin in the stall, and waited 400 ms and less: the
		// tenth that waited longest did so for more than 300 ms.
		if d == nil || d.Count < 150 || d.P90Us < 250e3 || d.MaxUs < 0.999*float64(stall.Microseconds()) {
			t.Errorf("%+v: %+v", request, d)
		}
	}
}

// TestNothingListens: what keeps a flow from opening is reported in a network's words.
func TestNothingListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	l.Close()
	for _, request := range []message.FlowRequest{
		{}, {Spec: flow.Spec{Connections: 50}}, {Spec: flow.Spec{Protocol: flow.CRR}},
		{Spec: flow.Spec{Protocol: flow.UDPRR}}, {Spec: flow.Spec{Protocol: flow.UDPRR, Connections: 50}},
	} {
		request.ID, request.Remote = "f1", at
		e := engine(t)
		o := e.Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]
		if !strings.Contains(o.Error.Error(), "refused") || !strings.Contains(o.Error.Error(), at.String()) {
			t.Errorf("%+v", o)
		}
		if end := e.Read()[0]; end.Alive || end.Error.Error() != o.Error.Error() {
			t.Errorf("%+v", end)
		}
	}
}

// TestNothingIsLeft: after Close there are no more goroutines and descriptors than
// before, whatever the flows were doing.
func TestNothingIsLeft(t *testing.T) {
	exercise := func() {
		for _, request := range []message.FlowRequest{
			{}, {Spec: flow.Spec{Connections: 10}}, {Spec: flow.Spec{Connections: 2, Threads: 2, Poll: new(true)}},
			{Spec: flow.Spec{Protocol: flow.CRR, Connections: 4}},
			{Spec: flow.Spec{Pace: 100, Connections: 3}}, {Spec: flow.Spec{Request: 1 << 20, Response: 1 << 20}},
			{Spec: flow.Spec{Protocol: flow.UDPRR}}, {Spec: flow.Spec{Protocol: flow.UDPRR, Connections: 10}},
			{Spec: flow.Spec{Protocol: flow.UDPRR, Poll: new(true)}},
		} {
			if refused(t, request) {
				continue
			}
			a, r := engine(t), engine(t)
			join(t, a, r, requests(2, request))
			window(time.Hour, a, r)
			eventually(t, "transactions are done", func() bool { return tally(a).Done > 5 })
			idle, unused := engine(t), engine(t)
			join(t, idle, unused, requests(1, request)) // never started
			unused.Listen(context.Background(), requests(3, message.FlowRequest{Local: loopback}))
			for _, e := range []*Engine{a, r, unused, idle} {
				e.Close()
			}
		}
	}
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	exercise()
	goroutines, open := runtime.NumGoroutine(), count()
	exercise()
	// Package caused stores its counts meanwhile, and has its directory and file open for that.
	eventually(t, "descriptors are closed", func() bool { return count() <= open })
	eventually(t, "goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
}
