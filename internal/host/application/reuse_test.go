package application_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/host/application"
	"linerate/internal/host/application/dns"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// accepting calls serve for each connection to a listener of its own, and numbers them from 1.
func accepting(t *testing.T, serve func(n int, c net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(n, c) }()
		}
	}()
	return addressOf(t, l.Addr().String())
}

// web2 is a server of HTTP/2 with prior knowledge.
func web2(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// served makes the transactions of a flow for so long.
func served(t *testing.T, spec flow.Spec, to netip.AddrPort, length time.Duration) *record.Transactions {
	t.Helper()
	e, err := asking(t, spec, to)
	if err != nil {
		t.Fatal(err)
	}
	window(e, length)
	return after(t, e, length)
}

// idle is how long servers leave a connection open, half of the time between requests.
const idle = 100 * time.Millisecond

// formerr answers queries over TCP with a header alone, and closes a connection that is idle.
func formerr(_ int, c net.Conn) {
	for {
		_ = c.SetReadDeadline(time.Now().Add(idle))
		var length [2]byte
		if _, err := io.ReadFull(c, length[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		_, _ = c.Write([]byte{0, 12, query[0], query[1], 0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0})
	}
}

// TestIdleConnections: a server may end a connection that is idle, and no request fails by
// that. A refusal without its question answers a query of DNS.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.IdleTimeout = idle
	s.Start()
	t.Cleanup(s.Close)
	for protocol, to := range map[string]netip.AddrPort{flow.HTTP: addressOf(t, s.URL),
		flow.DNSTCP: accepting(t, formerr)} {
		x := served(t, flow.Spec{Protocol: protocol, Pace: 5}, to, 10*idle*2)
		if x.Failed != 0 || x.Unanswered != 0 || x.Late != 0 || x.Done < 5 || x.Opened < 4 {
			t.Errorf("%s: %+v", protocol, x)
		}
		if protocol == flow.DNSTCP && x.Application.Outcomes["FORMERR"] != x.Done {
			t.Errorf("%v of %d", x.Application.Outcomes, x.Done)
		}
	}
}

// TestGoAway: a server that limits the requests of a connection answers those that it has
// begun; the others are made over the next connection.
func TestGoAway(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := web2(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%40 == 0 {
			w.Header().Set("Connection", "close") // as GOAWAY
		}
	})
	x := served(t, flow.Spec{Protocol: flow.HTTP2, Pipeline: 10}, addressOf(t, s.URL), time.Second)
	if x.Failed != 0 || x.Unanswered != 0 || x.Opened < 5 || x.Done < 100 {
		t.Errorf("%+v %v", x, x.Application.Outcomes)
	}
}

// TestSilentConnection: a connection over which nothing arrives any more is replaced after a
// timeout.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	s := web2(t, func(http.ResponseWriter, *http.Request) {})
	var silent atomic.Int64 // connections up to this one
	var newest atomic.Int64
	to := accepting(t, func(n int, c net.Conn) {
		newest.Store(int64(n))
		far, err := net.Dial("tcp", addressOf(t, s.URL).String())
		if err != nil {
			return
		}
		defer far.Close()
		go func() { _, _ = io.Copy(far, c) }()
		b := make([]byte, 4096)
		for {
			k, err := far.Read(b)
			if err != nil {
				return
			}
			if int64(n) > silent.Load() {
				_, _ = c.Write(b[:k])
			}
		}
	})
	e, failed := asking(t, flow.Spec{Protocol: flow.HTTP2, Timeout: unit.Duration(100 * time.Millisecond)}, to)
	if failed != nil {
		t.Fatal(failed)
	}
	window(e, time.Hour)
	done := func() int64 { return e.Read()[0].Transactions.Done }
	eventually(t, "requests are done", func() bool { return done() > 20 })
	silent.Store(newest.Load())
	eventually(t, "a request has timed out", func() bool { return e.Read()[0].Transactions.Unanswered > 0 })
	before := done()
	eventually(t, "requests are done again", func() bool { return done() > before+20 })
}

// TestInterimResponses: a response is the final one (RFC 9110, section 15.2).
func TestInterimResponses(t *testing.T) {
	t.Parallel()
	to := accepting(t, func(_ int, c net.Conn) {
		requests := bufio.NewReader(c)
		for {
			if _, err := http.ReadRequest(requests); err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
			time.Sleep(5 * time.Millisecond)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	x := served(t, flow.Spec{Protocol: flow.HTTP}, to, 500*time.Millisecond)
	if x.Opened != 1 || x.Done < 5 || len(x.Application.Outcomes) != 1 || x.Application.Outcomes["200"] == 0 ||
		x.Latency.MinUs < 4000 {
		t.Errorf("%+v %v", x, x.Application.Outcomes)
	}
}

// TestZone: the zone of an address is this host's own.
func TestZone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		kerneltest.Skip(t, err.Error())
	}
	var host atomic.Value
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		host.Store(r.Host)
	}))
	s.Listener.Close()
	s.Listener = l
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	at := addressOf(t, s.URL)
	for _, protocol := range []string{flow.HTTP, flow.HTTP2} {
		if _, err := asking(t, flow.Spec{Protocol: protocol}, netip.AddrPortFrom(at.Addr().WithZone("lo"),
			at.Port())); err != nil || host.Load() != at.String() {
			t.Errorf("%s: %v, host %v", protocol, err, host.Load())
		}
	}
	if _, err := asking(t, flow.Spec{Protocol: flow.HTTP, Path: "/%zz"}, at); err == nil ||
		!strings.Contains(err.Error(), "invalid URL escape") {
		t.Errorf("a path that is none: %v", err)
	}
}

// TestDueRequestsWait: what was due and found no free connection waits as well.
func TestDueRequestsWait(t *testing.T) {
	t.Parallel()
	for _, arrivals := range []string{"", flow.ArrivalsPoisson} {
		var n atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if n.Add(1) > 2 { // the probes
				<-r.Context().Done()
			}
		}))
		t.Cleanup(s.Close)
		x := served(t, flow.Spec{Protocol: flow.HTTP, Pace: 200, Arrivals: arrivals, Connections: 2},
			addressOf(t, s.URL), time.Second)
		if x.Done != 0 || x.Waiting < 120 || x.Waiting > 300 || x.LongestWaitUs < 500_000 {
			t.Errorf("%q: %+v", arrivals, x)
		}
	}
}

// TestRefusedMails: a refusal is an answer, of a connection as well, after which the next is
// not opened at once; and a mail that is forwarded is accepted.
func TestRefusedMails(t *testing.T) {
	t.Parallel()
	to := accepting(t, func(n int, c net.Conn) {
		if n > 1 {
			_, _ = io.WriteString(c, "421 too many connections\r\n")
			return
		}
		_, _ = io.WriteString(c, "220 ready\r\n")
		lines := bufio.NewScanner(c)
		for data := false; lines.Scan(); {
			reply := "250 ok"
			switch line := lines.Text(); {
			case data && line != ".":
				continue
			case data:
				data = false
			case strings.HasPrefix(line, "RCPT"):
				reply = "251 forwarded"
			case line == "DATA":
				data, reply = true, "354 go on"
			}
			fmt.Fprintf(c, "%s\r\n", reply)
		}
	})
	x := served(t, flow.Spec{Protocol: flow.SMTP, PerConnection: 1}, to, 500*time.Millisecond)
	if refused := x.Application.Outcomes["421"]; x.Failed != 0 || refused == 0 || refused > 50 ||
		x.Application.Errors < refused {
		t.Errorf("refused: %+v %v", x, x.Application.Outcomes)
	}
	e, err := asking(t, flow.Spec{Protocol: flow.SMTP}, to)
	if err == nil || !strings.Contains(err.Error(), "421") {
		t.Errorf("%v: %+v", err, e.Read()[0])
	}
}

// TestForwardedMails: 251 to a recipient is no error (RFC 5321, section 4.3.2).
func TestForwardedMails(t *testing.T) {
	t.Parallel()
	to := accepting(t, func(_ int, c net.Conn) {
		_, _ = io.WriteString(c, "220 ready\r\n")
		replies := map[string]string{"EHLO": "250 ok", "MAIL": "250 ok", "RCPT": "251 forwarded", "DATA": "354 go on",
			".": "250 ok"}
		for lines := bufio.NewScanner(c); lines.Scan(); {
			word, _, _ := strings.Cut(lines.Text(), " ")
			if reply := replies[word]; reply != "" {
				fmt.Fprintf(c, "%s\r\n", reply)
			}
		}
	})
	x := served(t, flow.Spec{Protocol: flow.SMTP}, to, 300*time.Millisecond)
	if x.Failed != 0 || x.Application.Errors != 0 || x.Done < 5 || x.Opened != 1 {
		t.Errorf("%+v %v", x, x.Application.Outcomes)
	}
}

// TestPipelinedThink: over a stream as over datagrams, a server takes its time for several
// answers at once (RFC 7766, section 6.2.1.1).
func TestPipelinedThink(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const think, length = 50 * time.Millisecond, time.Second
	spec := flow.Spec{Protocol: flow.DNSTCP, Pipeline: 10, Think: unit.Duration(think)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- dns.Protocol{}.Serve(ctx, &application.Server{Spec: spec, Listener: l, Answered: func() {}})
	}()
	e, failed := asking(t, spec, addressOf(t, l.Addr().String()))
	if failed != nil {
		t.Fatal(failed)
	}
	window(e, length)
	x := after(t, e, length)
	if single := int64(length / think); x.Done < 3*single || x.Opened != 1 || x.Failed != 0 {
		t.Errorf("%d done, one at a time are %d: %+v", x.Done, single, x)
	}
	e.Close()
	cancel()
	l.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
