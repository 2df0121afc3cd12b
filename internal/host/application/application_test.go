package application_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

func addressOf(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	return netip.MustParseAddrPort(strings.TrimPrefix(strings.TrimPrefix(text, "http://"), "https://"))
}

// stalling is a web server that answers nothing for the last tenth of each second.
func stalling(t *testing.T) *httptest.Server {
	t.Helper()
	began := time.Now()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if into := time.Since(began) % (500 * time.Millisecond); into > 400*time.Millisecond {
			time.Sleep(500*time.Millisecond - into)
		}
		fmt.Fprint(w, "ok")
	}))
	t.Cleanup(s.Close)
	return s
}

// TestStallIsSeen: of a server that stalls for a fifth of the time, the requests that fall
// due meanwhile are late at an open loop, and at a closed loop hardly any is.
func TestStallIsSeen(t *testing.T) {
	s := stalling(t)
	const length = 2 * time.Second
	share := func(spec flow.Spec) float64 {
		spec.Protocol, spec.Path = flow.HTTP, "/"
		e, err := asking(t, spec, addressOf(t, s.URL))
		if err != nil {
			t.Fatal(err)
		}
		window(e, length)
		x := after(t, e, length)
		if x.Latency == nil || x.Failed+x.Unanswered+x.Application.Errors != 0 {
			t.Fatalf("%+v", x)
		}
		return x.Latency.P90Us
	}
	open, closed := share(flow.Spec{Pace: 400}), share(flow.Spec{})
	if open < 20_000 || closed > open/4 {
		t.Errorf("p90 of %.0f µs in an open loop, %.0f µs in a closed one", open, closed)
	}
}

// TestPoisson: arrivals are as many as the pace says, and as irregular as a Poisson
// process is.
func TestPoisson(t *testing.T) {
	var times []time.Time
	at := make(chan time.Time, 10_000)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { at <- time.Now() }))
	t.Cleanup(s.Close)
	e, err := asking(t, flow.Spec{Protocol: flow.HTTP, Pace: 500, Arrivals: flow.ArrivalsPoisson, Connections: 16},
		addressOf(t, s.URL))
	if err != nil {
		t.Fatal(err)
	}
	for range 16 { // the probes
		<-at
	}
	const length = 2 * time.Second
	window(e, length)
	x := after(t, e, length)
	for len(at) > 0 {
		times = append(times, <-at)
	}
	// 1000 are expected, with a standard deviation of 32.
	if n := len(times); n < 840 || n > 1160 || x.Done < int64(n)-16 {
		t.Fatalf("%d requests came, %d were done", n, x.Done)
	}
	// The share of gaps below a third of the mean is 1 - exp(-1/3) = 28 %; of even ones 0.
	short := 0
	for i := 1; i < len(times); i++ {
		if times[i].Sub(times[i-1]) < 2*time.Millisecond/3 {
			short++
		}
	}
	if share := float64(short) / float64(len(times)); share < 0.15 || share > 0.45 {
		t.Errorf("%.0f %% of the gaps are below a third of the mean", 100*share)
	}
}

// TestOutcomes: answers are counted by their status, errors among them, and what is not
// answered in time is given up.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch i := n.Add(1); {
		case i == 1: // the probe
		case i%10 == 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case i%10 == 7:
			select {
			case <-time.After(2 * time.Second):
			case <-r.Context().Done():
			}
		case i%10 == 9:
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		}
	}))
	t.Cleanup(s.Close)
	e, err := asking(t, flow.Spec{Protocol: flow.HTTP, Timeout: unit.Duration(50 * time.Millisecond)},
		addressOf(t, s.URL))
	if err != nil {
		t.Fatal(err)
	}
	const length = 1500 * time.Millisecond
	window(e, length)
	x := after(t, e, length)
	a := x.Application
	if x.Done < 50 || x.Unanswered < 5 || x.Failed < 5 || a.Errors < 5 {
		t.Fatalf("%+v %+v", x, a)
	}
	for outcome, least := range map[string]int64{"200": 40, "503": 5, "timeout": 5} {
		if a.Outcomes[outcome] < least {
			t.Errorf("%d × %s of %v", a.Outcomes[outcome], outcome, a.Outcomes)
		}
	}
	if end := e.Read()[0]; !end.Alive {
		t.Errorf("a server that answers most requests counts as gone: %v", end.Error)
	}
}

// TestGone: a server that goes away is noticed, and that it is back.
func TestGone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	first := &http.Server{Handler: ok}
	go first.Serve(l)
	e, failed := asking(t, flow.Spec{Protocol: flow.HTTP}, addressOf(t, l.Addr().String()))
	if failed != nil {
		t.Fatal(failed)
	}
	window(e, time.Hour)
	eventually(t, "requests are done", func() bool { return e.Read()[0].Transactions.Done > 20 })
	first.Close()
	eventually(t, "it is noticed", func() bool { return !e.Read()[0].Alive })
	if text := e.Read()[0].Error.Error(); !strings.Contains(text, "in a row failed") ||
		!strings.Contains(text, "refused") {
		t.Errorf("%q", text)
	}
	again, err := net.Listen("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	second := &http.Server{Handler: ok}
	t.Cleanup(func() { second.Close() })
	go second.Serve(again)
	eventually(t, "it is back", func() bool { return e.Read()[0].Alive })
}

// TestCloseWhileOpening: closing ends what is being opened, of each protocol.
func TestCloseWhileOpening(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // whose connections are never accepted
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	packets, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() })
	for _, p := range flow.Protocols {
		if !p.Application {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			e := engine(t)
			opened := make(chan *message.Error, 1)
			go func() {
				request := message.FlowRequest{ID: "f", Spec: flow.Spec{Protocol: p.Name, Connections: 8}, Sends: true,
					Remote: addressOf(t, l.Addr().String())}
				opened <- e.Connect(t.Context(), []message.FlowRequest{request}, time.Minute)[0].Error
			}()
			time.Sleep(100 * time.Millisecond)
			e.Close()
			select {
			case failed := <-opened:
				if failed == nil {
					t.Error("it is open")
				}
			case <-time.After(patience):
				t.Fatal("opening goes on")
			}
			if x := e.Read()[0].Transactions; x.Connections != 0 {
				t.Errorf("%d connections are left", x.Connections)
			}
		})
	}
}

// TestNamesOfOutcomes: a server cannot make kinds of answers without end.
func TestNamesOfOutcomes(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(200 + int(n.Add(1))%700)
	}))
	t.Cleanup(s.Close)
	e, err := asking(t, flow.Spec{Protocol: flow.HTTP, Connections: 4}, addressOf(t, s.URL))
	if err != nil {
		t.Fatal(err)
	}
	const length = time.Second
	window(e, length)
	x := after(t, e, length)
	if n := len(x.Application.Outcomes); n > 25 {
		t.Errorf("%d kinds of answers", n)
	}
}

// TestSlow: the slowest of each thousand are explained by what took most of their time. The
// server's delay is longer than a busy machine's own: requests that wait for a CPU are as slow
// as they are measured, and would rightly be named.
func TestSlow(t *testing.T) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if n.Add(1)%250 == 0 {
			time.Sleep(500 * time.Millisecond)
		}
	}))
	t.Cleanup(s.Close)
	e, err := asking(t, flow.Spec{Protocol: flow.HTTP, Pace: 600, Connections: 4}, addressOf(t, s.URL))
	if err != nil {
		t.Fatal(err)
	}
	const length = 2 * time.Second
	window(e, length)
	x := after(t, e, length)
	slow := x.Application.Slow
	if slow == nil || slow.LeastUs < 400_000 || slow.Causes[record.SlowPhase(record.PhaseFirstByte)] != slow.Count {
		t.Errorf("%+v of %d requests", slow, x.Done)
	}
}
