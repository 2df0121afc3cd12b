package application_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/host/application"
	"linerate/internal/host/application/dns"
	"linerate/internal/host/application/mail"
	"linerate/internal/host/application/memcached"
	"linerate/internal/host/application/redis"
	"linerate/internal/host/application/web"
	"linerate/internal/model/flow"
	"linerate/internal/model/unit"
)

// asks are clients that have the server begin several answers on a connection, and have sent more than it reads
// before the first of them.
var asks = map[string]func(t *testing.T, conn net.Conn, requests int){
	flow.HTTP: func(t *testing.T, conn net.Conn, _ int) {
		fmt.Fprint(conn, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 2))
	},
	flow.Redis: func(_ *testing.T, conn net.Conn, requests int) {
		fmt.Fprint(conn, strings.Repeat("*1\r\n$4\r\nPING\r\n", requests))
	},
	flow.Memcached: func(_ *testing.T, conn net.Conn, requests int) {
		fmt.Fprint(conn, strings.Repeat("get k\r\n", requests))
	},
	flow.SMTP: func(t *testing.T, conn net.Conn, _ int) {
		fmt.Fprint(conn, "EHLO x\r\nMAIL FROM:<a@example.net>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n\r\nx\r\n.\r\nNOOP\r\n")
	},
	flow.HTTP2: func(t *testing.T, conn net.Conn, requests int) {
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		transport := &http.Transport{Protocols: protocols,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
		for range requests {
			go func() {
				if r, err := transport.RoundTrip(httpRequest(t)); err == nil {
					r.Body.Close()
				}
			}()
		}
	},
	flow.DNSTCP: func(t *testing.T, conn net.Conn, requests int) {
		query := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName("a.test."),
			Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
		message, err := query.Pack()
		if err != nil {
			t.Error(err)
		}
		for range 2 * requests {
			_, _ = conn.Write(append([]byte{byte(len(message) >> 8), byte(len(message))}, message...))
		}
	},
}

func httpRequest(t *testing.T) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://192.0.2.1/", nil)
	if err != nil {
		t.Error(err)
	}
	return r
}

// TestWorkEndsWithItsClient: what a server does for a client ends when its connection does, also if the answer is to
// take an hour.
func TestWorkEndsWithItsClient(t *testing.T) {
	for _, p := range flow.Protocols {
		protocol, ask := p.Name, asks[p.Name]
		switch {
		case !p.Application || p.Transport != flow.TCP || p.Encrypted: // TLS ends as what is in it
			continue
		case ask == nil:
			t.Errorf("%s: no client asks", protocol)
			continue
		}
		for how, linger := range map[string]int{"RST": 0, "FIN": -1} {
			t.Run(protocol+" "+how, func(t *testing.T) { workEnds(t, protocol, ask, linger) })
		}
	}
}

// workEnds has clients ask, and close their connections with so many seconds for what is left to send (SO_LINGER).
func workEnds(t *testing.T, protocol string, ask func(*testing.T, net.Conn, int), linger int) {
	const clients, requests = 40, 8
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving interface {
		Serve(context.Context, *application.Server) error
	} = web.Protocol{}
	switch protocol {
	case flow.DNSTCP:
		serving = dns.Protocol{}
	case flow.SMTP:
		serving = mail.Protocol{}
	case flow.Redis:
		serving = redis.Protocol{}
	case flow.Memcached:
		serving = memcached.Protocol{}
	}
	spec := flow.Spec{Protocol: protocol, Pipeline: requests, Think: unit.Duration(time.Hour), Connections: clients}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serving.Serve(ctx, &application.Server{Spec: spec, Listener: l, Answered: func() {}})
	}()
	rest := settledAt(0)
	conns := make([]net.Conn, clients)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		ask(t, conns[i], requests)
	}
	busy := runtime.NumGoroutine()
	for end := time.Now().Add(5 * time.Second); busy < rest+clients && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
		busy = runtime.NumGoroutine()
	}
	if busy < rest+clients {
		t.Errorf("%s: %d goroutines with %d clients, %d before: the test shows nothing", protocol, busy, clients, rest)
	}
	for _, c := range conns {
		_ = c.(*net.TCPConn).SetLinger(linger)
		c.Close()
	}
	if left := settledAt(rest); left > rest+2 {
		t.Errorf("%s: %d goroutines after the clients had gone, %d before they came", protocol, left, rest)
	}
	cancel()
	l.Close()
	if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) {
		t.Errorf("%s: %v", protocol, err)
	}
}

// settledAt returns the number of goroutines once it is at most so many, or no longer falls.
func settledAt(most int) int {
	n := runtime.NumGoroutine()
	for still := 0; n > most && still < 100; still++ {
		time.Sleep(10 * time.Millisecond)
		if now := runtime.NumGoroutine(); now < n {
			still = 0
			n = now
		}
	}
	return n
}
