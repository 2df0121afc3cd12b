package application_test

import (
	"bufio"
	"crypto/tls"
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

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// modes are the ways in which requests of a codec are made: on loops, and in sessions.
var modes = []flow.Spec{{}, {TLS: flow.TLSFull, Insecure: new(true)}}

// secured is accepting, with TLS if the flow has it.
func secured(t *testing.T, spec flow.Spec, serve func(c net.Conn)) netip.AddrPort {
	certified := httptest.NewTLSServer(nil)
	t.Cleanup(certified.Close)
	return accepting(t, func(_ int, c net.Conn) {
		if spec.TLS != "" {
			c = tls.Server(c, &tls.Config{Certificates: certified.TLS.Certificates})
		}
		serve(c)
	})
}

// TestPipelinedRequests: as many requests as the flow says are unanswered at a time. Those that a server did not begin
// before it closed the connection are made again, and none fails.
func TestPipelinedRequests(t *testing.T) {
	t.Parallel()
	const depth, each = 4, 10
	for _, spec := range modes {
		var most atomic.Int64
		to := secured(t, spec, func(c net.Conn) {
			requests := bufio.NewReader(c)
			for n := 1; n <= each; n++ {
				if _, err := http.ReadRequest(requests); err != nil {
					return
				}
				// What has arrived with this request is unanswered, too.
				waiting, _ := requests.Peek(requests.Buffered())
				most.Store(max(most.Load(), int64(1+strings.Count(string(waiting), "GET "))))
				last := ""
				if n == each {
					last = "Connection: close\r\n"
				}
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n%sContent-Length: 2\r\n\r\nok", last)
			}
			// Closing with unread requests would send RST, which destroys the answers (RFC 9112, section 9.6).
			_ = c.(interface{ CloseWrite() error }).CloseWrite()
			_, _ = io.Copy(io.Discard, c)
		})
		spec.Protocol, spec.Pipeline = flow.HTTP, depth
		x := served(t, spec, to, 500*time.Millisecond)
		if x.Failed != 0 || x.Unanswered != 0 || x.Done < 3*each || x.Opened < 3 || most.Load() != depth {
			t.Errorf("tls %q: %d at a time, %+v %v", spec.TLS, most.Load(), x, x.Application.Outcomes)
		}
	}
}

// TestSurplusEndsTheConnection: bytes behind an answer belong to no request, and the connection is not used again.
func TestSurplusEndsTheConnection(t *testing.T) {
	t.Parallel()
	for _, spec := range modes {
		to := secured(t, spec, func(c net.Conn) {
			for requests := bufio.NewReader(c); ; {
				if _, err := http.ReadRequest(requests); err != nil {
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nsurplus")
			}
		})
		spec.Protocol = flow.HTTP
		x := served(t, spec, to, 500*time.Millisecond)
		if x.Failed != 0 || x.Unanswered != 0 || x.Done < 5 || x.Opened < x.Done {
			t.Errorf("tls %q: %+v %v", spec.TLS, x, x.Application.Outcomes)
		}
	}
}

// TestNothingFollowsTheLast: what a server sends behind the answer that ends the connection is no answer, however long
// that one is.
func TestNothingFollowsTheLast(t *testing.T) {
	t.Parallel()
	for _, spec := range modes {
		for _, size := range []int{10, 40_000, 100_000} {
			to := secured(t, spec, func(c net.Conn) {
				requests := bufio.NewReader(c)
				for n := range 3 {
					if _, err := http.ReadRequest(requests); err != nil {
						return
					}
					if n == 0 { // the one that opens the connection
						_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
					}
				}
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s%s", size,
					strings.Repeat("b", size), "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
				_, _ = io.Copy(io.Discard, c)
			})
			spec.Protocol, spec.Pipeline, spec.Pace = flow.HTTP, 2, 0
			x := served(t, spec, to, 500*time.Millisecond)
			if x.Application.Outcomes["500"] > 0 || x.Done == 0 {
				t.Errorf("tls %q, %d bytes: %v", spec.TLS, size, x.Application.Outcomes)
			}
		}
	}
}

// TestAnswersAreTheirs: each of many transactions of a session gets its own answer, whichever of them reads it.
func TestAnswersAreTheirs(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	spec := modes[1]
	to := secured(t, spec, func(c net.Conn) {
		for requests := bufio.NewReader(c); ; {
			if _, err := http.ReadRequest(requests); err != nil {
				return
			}
			asked.Add(1)
			fmt.Fprintf(c, "HTTP/1.1 %d OK\r\nContent-Length: 0\r\n\r\n", 200+asked.Load()%2)
		}
	})
	spec.Protocol, spec.Pipeline = flow.HTTP, 16
	x := served(t, spec, to, time.Second)
	first, second := x.Application.Outcomes["200"], x.Application.Outcomes["201"]
	if between := first - second; x.Failed != 0 || x.Unanswered != 0 || x.Done < 100 || between < -17 || between > 17 {
		t.Errorf("%d and %d: %+v", first, second, x)
	}
}

// TestBodies: requests and answers of every framing are complete, and counted.
func TestBodies(t *testing.T) {
	t.Parallel()
	const size = 300_000
	body := strings.Repeat("b", size)
	for name, answer := range map[string]func(http.ResponseWriter){
		"length": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", fmt.Sprint(size))
			_, _ = io.WriteString(w, body)
		},
		"chunks": func(w http.ResponseWriter) {
			for part := range 10 {
				_, _ = io.WriteString(w, body[part*size/10:(part+1)*size/10])
				w.(http.Flusher).Flush()
			}
		},
		"until the end": func(w http.ResponseWriter) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n"+body)
				conn.Close()
			}
		},
	} {
		for _, spec := range modes {
			t.Run(name+spec.TLS, func(t *testing.T) {
				t.Parallel()
				var wrong, asked atomic.Int64
				s := serving(t, spec, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					if n, err := io.Copy(io.Discard, r.Body); n != size || err != nil {
						wrong.Add(1)
					}
					answer(w)
				}))
				spec.Protocol, spec.Request, spec.Connections = flow.HTTP, size, 2
				e, err := asking(t, spec, addressOf(t, s.URL))
				if err != nil {
					t.Fatal(err)
				}
				window(e, time.Second)
				x := after(t, e, time.Second)
				received, written := e.Moved()
				if x.Failed+x.Unanswered+x.Application.Errors+wrong.Load() != 0 || x.Done < 5 ||
					received < x.Done*size || written < x.Done*size {
					t.Errorf("%d of %d requests were not whole; %d bytes received, %d written: %+v %v", wrong.Load(),
						asked.Load(), received, written, x, x.Application.Outcomes)
				}
				if until := name == "until the end"; until != (x.Opened >= x.Done) {
					t.Errorf("%d connections for %d requests", x.Opened, x.Done)
				}
			})
		}
	}
}

// serving is a server of HTTP/1.1 for the flows of a spec.
func serving(t *testing.T, spec flow.Spec, handler http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	if spec.TLS == "" {
		s.Start()
	} else {
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	return s
}

// TestThreadsShareAPace: the threads of a flow together keep its pace, and each makes requests.
func TestThreadsShareAPace(t *testing.T) {
	t.Parallel()
	for _, spec := range modes {
		var mu sync.Mutex
		from := map[string]int{}
		s := serving(t, spec, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			from[r.RemoteAddr]++
		}))
		spec.Protocol, spec.Connections, spec.Threads, spec.Pace = flow.HTTP, 7, 3, 210
		x := served(t, spec, addressOf(t, s.URL), 2*time.Second)
		if x.Done < 400 || x.Done > 421 || x.Failed+x.Unanswered != 0 {
			t.Errorf("%d requests of 420: %+v", x.Done, x)
		}
		mu.Lock()
		for at, n := range from {
			if n < 20 || len(from) != 7 {
				t.Errorf("%s made %d requests, of %d connections", at, n, len(from))
			}
		}
		mu.Unlock()
	}
}

// TestThreadsAreJudged: the busy time of a flow is that of its busiest thread, whatever CPUs are idle beside it.
func TestThreadsAreJudged(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	e, err := asking(t, flow.Spec{Protocol: flow.HTTP, Connections: 8, Threads: 2}, addressOf(t, s.URL))
	if err != nil {
		t.Fatal(err)
	}
	if idle := e.Busy(); len(idle) != 2 || idle[0]+idle[1] != 0 {
		t.Errorf("%v before the start, want no time of two threads", idle)
	}
	window(e, time.Hour)
	eventually(t, "both threads have worked", func() bool {
		busy := e.Busy()
		return len(busy) == 2 && min(busy[0], busy[1]) > int64(10*time.Millisecond)
	})
	e.Close()
	if after := e.Busy(); len(after) != 2 || min(after[0], after[1]) <= int64(10*time.Millisecond) {
		t.Errorf("%v after the end, want what was used", after)
	}
}

// answering is a DNS server over UDP. Answers returns what it answers to the n-th query.
func answering(t *testing.T, answers func(n int, query []byte) [][]byte) netip.AddrPort {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		b := make([]byte, 1500)
		for n := 0; ; n++ {
			k, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			for _, answer := range answers(n, append([]byte(nil), b[:k]...)) {
				_, _ = c.WriteTo(answer, from)
			}
		}
	}()
	return addressOf(t, c.LocalAddr().String())
}

// TestAnswersOfDNS: an answer has the ID and the question of its query, whatever the case of the name; the order of
// answers has no meaning; a query whose answer is lost is given up, and the others go on.
func TestAnswersOfDNS(t *testing.T) {
	t.Parallel()
	reply := func(query []byte) []byte {
		query[2] |= 0x80
		return query
	}
	var held []byte
	to := answering(t, func(n int, query []byte) [][]byte {
		other, upper := append([]byte(nil), query...), append([]byte(nil), query...)
		switch n % 20 {
		case 3: // of another query
			other[1] ^= 0x10
			return [][]byte{reply(other), reply(query)}
		case 7: // to another question
			other[14] ^= 1
			return [][]byte{reply(other), reply(query)}
		case 9:
			copy(upper[12:], strings.ToUpper(string(query[12:])))
			upper[12], upper[29] = query[12], query[29]
			return [][]byte{reply(upper)}
		case 11: // lost
			return nil
		case 13: // a query itself, too short ones, and twice
			return [][]byte{query[:12:12], query[:5:5], append(query[:2:2], query[2:]...), reply(query), query}
		case 15:
			held = query
			return nil
		case 16:
			return [][]byte{reply(query), reply(held)}
		}
		return [][]byte{reply(query)}
	})
	x := served(t, flow.Spec{Protocol: flow.DNS, Pipeline: 4, Timeout: unit.Duration(300 * time.Millisecond)}, to,
		2*time.Second)
	lost := x.Unanswered
	if x.Failed != 0 || x.Late == 0 || x.Done < 60 || lost == 0 || lost > x.Done/10 {
		t.Errorf("%+v %v", x, x.Application.Outcomes)
	}
}

// TestNamesOfSeveralLengths: each query is a datagram of its own, whatever was sent with it or before it.
func TestNamesOfSeveralLengths(t *testing.T) {
	t.Parallel()
	to := answering(t, func(_ int, query []byte) [][]byte {
		query[2] |= 0x80
		return [][]byte{query}
	})
	x := served(t, flow.Spec{Protocol: flow.DNS, Pipeline: 8, Connections: 2,
		Names: []string{"a.test", "b.test", "*.a-longer-name.test", "c.test", "d.test", "e.test"}}, to, time.Second)
	if x.Failed+x.Unanswered+x.Late != 0 || x.Done < 100 || x.Opened != 2 {
		t.Errorf("%+v %v", x, x.Application.Outcomes)
	}
}

// TestPhasesOfReconnections: a connection for each request has its time of opening, on loops as in sessions.
func TestPhasesOfReconnections(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	x := served(t, flow.Spec{Protocol: flow.HTTP, PerConnection: 1, Connections: 3}, addressOf(t, s.URL), time.Second)
	phases := map[string]int64{}
	for _, p := range x.Application.Phases {
		phases[p.Phase] = p.Times.Count
	}
	if connect := phases[record.PhaseConnect.String()]; x.Failed+x.Unanswered != 0 || x.Done < 20 ||
		x.Opened < x.Done || connect < x.Latency.Count-1 || phases[record.PhaseFirstByte.String()] < connect {
		t.Errorf("%+v %v", x, phases)
	}
}
