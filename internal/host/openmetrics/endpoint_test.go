package openmetrics

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"linerate/internal/host/budget"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
)

// served serves a handler at a loopback port while the test runs.
func served(t *testing.T, h http.Handler) (at string) {
	t.Helper()
	e, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(ctx, e.listener, h) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return e.listener.Addr().String()
}

// somethingServed has been refused, and has what is in use.
func somethingServed() Serving {
	b := budget.New(1, message.Bounds{Flows: 2, Connections: 4, DurationS: 1})
	account, _ := b.Admit(netip.MustParseAddr("192.0.2.1"))
	_, _ = b.Admit(netip.MustParseAddr("192.0.2.1"))
	_ = account.Lease().Take(budget.Use{budget.Flows: 2, budget.Memory: 1000})
	_ = account.Lease().Take(budget.Use{budget.Flows: 3})
	return Serving{Budget: b, Received: 1000, Written: 2000, Sessions: 5, Refused: 2, Pending: 3}
}

// TestServing: what a server has in use, and what it refused, by the bound.
func TestServing(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(serving(somethingServed))
	answer := httptest.NewRecorder()
	handler(registry).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, Path, nil))
	for _, want := range []string{
		"linerate_serve_clients_in_use 1", "linerate_serve_clients_limit 1", "linerate_serve_flows_in_use 2",
		"linerate_serve_client_flows_limit 2",
		"linerate_serve_memory_in_use_bytes 1000", `linerate_serve_refusals_total{bound="clients"} 1`,
		`linerate_serve_refusals_total{bound="flows"} 1`,
		`linerate_serve_refusals_total{bound="memory"} 0`, "linerate_serve_receive_bytes_total 1000",
		"linerate_serve_transmit_bytes_total 2000",
		"linerate_serve_sessions_total 5", "linerate_serve_refused_sessions_total 2",
		"linerate_serve_pending_connections 3",
	} {
		if !strings.Contains("\n"+answer.Body.String(), "\n"+want+"\n") {
			t.Errorf("no %q in\n%s", want, answer.Body)
		}
	}
	lint(t, answer.Body)
	b := somethingServed().Budget
	for r, m := range resources {
		if b.All[r] > 0 != (m.all != nil) || b.Each[r] > 0 != (m.each != nil) {
			t.Errorf("%v: bounds %d and %d, and a metric of %v and %v", budget.Resource(r), b.All[r], b.Each[r],
				m.all != nil, m.each != nil)
		}
	}
}

// lint has promlint look at metrics.
func lint(t *testing.T, metrics io.Reader) {
	t.Helper()
	problems, err := promlint.New(metrics).Lint()
	if err != nil {
		t.Error(err)
	}
	for _, p := range problems {
		t.Errorf("promlint: %s: %s", p.Metric, p.Text)
	}
}

// TestOtherSources: a source that opens connections closes its own, and one that sends
// half a request, or reads nothing, keeps no other from reading.
func TestOtherSources(t *testing.T) {
	large := strings.Repeat("x", 4<<20)
	at := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, large) }))
	var d net.Dialer
	d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}
	var first net.Conn
	for i := range 3 * mostConnections {
		conn, err := d.DialContext(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if first == nil {
			first = conn
		}
		request := "GET /metrics HTTP/1.1\r\nHost: x\r\n"
		if i%2 == 0 {
			request += "\r\n" // and the answer is not read
		}
		_, _ = io.WriteString(conn, request)
	}
	for range 3 {
		answer, err := http.Get("http://" + at + Path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil || n != int64(len(large)) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	// The oldest of the source was closed for the newer ones.
	_ = first.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.Copy(io.Discard, first); err == nil {
		t.Error("the first connection ended without an error: it was served to its end")
	} else if timeout, is := err.(net.Error); is && timeout.Timeout() {
		t.Error("the first connection is still open")
	}
}

// TestHalfARequest: a connection without a whole header is closed.
func TestHalfARequest(t *testing.T) {
	t.Parallel()
	at := served(t, http.NotFoundHandler())
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /metrics HTTP/1.1\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(4 * headerTimeout))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		if timeout, is := err.(net.Error); is && timeout.Timeout() {
			t.Errorf("open %v after half a header", 4*headerTimeout)
		}
	}
}

// TestNothingElse: other paths and methods have no answer but a status, and a header that is too
// long is refused.
func TestNothingElse(t *testing.T) {
	at := served(t, handler(prometheus.NewRegistry()))
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n":                                                        "404",
		"GET /debug/pprof/ HTTP/1.1\r\nHost: x\r\n\r\n":                                            "404",
		"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n":                           "405",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 2*mostHeader) + "\r\n\r\n": "431",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n":         "200",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\r\n\r\n": "400",
	} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		go func() { _, _ = io.WriteString(conn, request) }()
		line, err := bufio.NewReader(conn).ReadString('\n')
		if fields := strings.Fields(line); err != nil || len(fields) < 2 || fields[1] != want {
			t.Errorf("%.40q: %q, %v, want %s", request, line, err, want)
		}
		conn.Close()
	}
}

// TestPaced: however many scrape, one is answered at a time, with a pause after it.
func TestPaced(t *testing.T) {
	const takes = 20 * time.Millisecond
	var now, most, answered atomic.Int64
	h := newPaced(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(takes)
		answered.Add(1)
		now.Add(-1)
	}))
	began := time.Now()
	ctx, end := context.WithTimeout(t.Context(), time.Second)
	defer end()
	var clients sync.WaitGroup
	for range 2 * mostConnections {
		clients.Go(func() {
			for ctx.Err() == nil {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, Path, nil).WithContext(ctx))
			}
		})
	}
	clients.Wait()
	if bound := int64(time.Since(began)/((1+pauseShare)*takes)) + 1; answered.Load() < 2 || answered.Load() > bound ||
		most.Load() != 1 {
		t.Errorf("%d requests were answered in %v, %d at a time; want at most %d, one at a time", answered.Load(),
			time.Since(began), most.Load(), bound)
	}
}

// TestPacedCPU: what connections and readings use of all CPUs counts, not only the time in the handler.
func TestPacedCPU(t *testing.T) {
	at := served(t, newPaced(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
				}
			})
		}
		all.Wait()
		_, _ = w.Write(make([]byte, 1<<20)) // written after the handler has returned
	})))
	ctx, end := context.WithTimeout(t.Context(), 3*time.Second)
	defer end()
	began, used := time.Now(), proc.TotalCPUTime()
	var clients sync.WaitGroup
	for range mostConnections {
		clients.Go(func() {
			for ctx.Err() == nil {
				request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+Path, nil)
				if answer, err := http.DefaultClient.Do(request); err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
			}
		})
	}
	clients.Wait()
	// Also the CPU time of the clients, which are in this process.
	if share := float64(proc.TotalCPUTime()-used) / float64(time.Since(began)); share > 0.3 {
		t.Errorf("scrapes take %.2f of a CPU, want a fifth", share)
	}
}

// TestPort: the URL is that of the port.
func TestPort(t *testing.T) {
	e, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if want := fmt.Sprintf("http://%s/metrics", e.listener.Addr()); e.URL() != want {
		t.Errorf("%s, want %s", e.URL(), want)
	}
	if again, err := Listen(t.Context(), e.listener.Addr().String()); err == nil {
		again.Close()
		t.Error("the port was opened twice")
	}
}
