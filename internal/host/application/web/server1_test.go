package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

const (
	mostBody   = 1000 // bytes of a request that the servers of these tests accept
	answerBody = 2
)

// listening starts a server on a free port and returns its address.
func listening(t *testing.T, serve func(net.Listener) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = serve(l) })
	t.Cleanup(func() { l.Close(); serving.Wait() })
	return l.Addr().String()
}

// own is the flow's server, behind a listener.
func own(ctx context.Context, l net.Listener, answered func()) error {
	return Protocol{}.Serve(ctx, &application.Server{Listener: l, Answered: answered,
		Spec: flow.Spec{Protocol: flow.HTTP, Request: mostBody, Response: answerBody}})
}

// reference is package net/http with what the flow's server does.
func reference(l net.Listener) error {
	s := &http.Server{MaxHeaderBytes: requestHeader, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, mostBody)); err != nil {
				status := http.StatusBadRequest
				if _, large := errors.AsType[*http.MaxBytesError](err); large {
					status = http.StatusRequestEntityTooLarge
				}
				w.WriteHeader(status)
				return
			}
			w.Header().Set("Content-Length", fmt.Sprint(answerBody))
			if r.Method != http.MethodHead {
				_, _ = io.WriteString(w, strings.Repeat("x", answerBody))
			}
		})}
	return s.Serve(l)
}

// talk sends bytes and returns the statuses of the answers to so many requests at most, and whether the server then
// closes the connection.
func talk(t *testing.T, to, sent string, methods []string) (said string) {
	t.Helper()
	conn, err := net.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go io.WriteString(conn, sent)
	in := bufio.NewReader(conn)
	for _, method := range methods {
		r, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return said + " end"
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return said + " " + err.Error()
		}
		said += fmt.Sprint(" ", r.StatusCode)
		if r.StatusCode == http.StatusOK {
			said += fmt.Sprint("/", len(body))
		}
		if r.Close {
			said += " close"
		}
	}
	_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := in.ReadByte(); err == io.EOF {
		return said + " end"
	}
	return said + " open"
}

// TestAsNetHTTP: requests of all forms are answered as package net/http answers them.
func TestAsNetHTTP(t *testing.T) {
	var answered atomic.Int64
	here := listening(t, func(l net.Listener) error { return own(t.Context(), l, func() { answered.Add(1) }) })
	there := listening(t, reference)
	get, post, head := []string{"GET"}, []string{"POST"}, []string{"HEAD"}
	twice := []string{"GET", "GET"}
	for name, c := range map[string]struct {
		sent    string
		methods []string
	}{
		"common":            {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", get},
		"two":               {strings.Repeat("GET /x?y=z HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n", 2), twice},
		"keep-alive":        {strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n", 2), twice},
		"close":             {strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 2), twice},
		"1.0":               {strings.Repeat("GET / HTTP/1.0\r\n\r\n", 2), twice},
		"1.0, keep-alive":   {strings.Repeat("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 2), twice},
		"absolute":          {"GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n", get},
		"LF":                {"GET / HTTP/1.1\nHost: a\n\n", get},
		"head":              {"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", head},
		"length":            {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n", twice},
		"GET with a body":   {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nabGET / HTTP/1.1\r\nHost: a\r\n\r\n", twice},
		"chunks":            {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", post},
		"both":              {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", post},
		"too large":         {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n" + strings.Repeat("a", 1001), post},
		"no host":           {"GET / HTTP/1.1\r\n\r\n", get},
		"two hosts":         {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", get},
		"lengths differ":    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", post},
		"length of nothing": {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", post},
		"no request":        {"hello\r\n\r\n", get},
		"field of spaces":   {"GET / HTTP/1.1\r\nHost: a\r\nb c: d\r\n\r\n", get},
		"folded":            {"GET / HTTP/1.1\r\nHost: a\r\nb: c\r\n d\r\n\r\n", get},
		"TLS":               {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", get},
	} {
		t.Run(name, func(t *testing.T) {
			want, got := talk(t, there, c.sent, c.methods), talk(t, here, c.sent, c.methods)
			if got != want {
				t.Errorf("%q, net/http: %q", got, want)
			}
		})
	}
	if answered.Load() == 0 {
		t.Error("no answer was counted")
	}
}

// TestTimeouts: a client that does not end a header, and one that is idle, are not waited for longer than they may be.
func TestTimeouts(t *testing.T) {
	for sent, limit := range map[string]time.Duration{"": idleTimeout, "GET / HT": headerTimeout,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab": idleTimeout} {
		synctest.Test(t, func(t *testing.T) {
			here, there := net.Pipe()
			ctx, end := context.WithCancel(t.Context())
			l := &pipes{conns: make(chan net.Conn, 1), ctx: ctx}
			l.conns <- there
			var serving sync.WaitGroup
			serving.Go(func() { _ = own(ctx, l, func() {}) })
			began := time.Now()
			if _, err := io.WriteString(here, sent); err != nil {
				t.Error(err)
			}
			_, _ = io.Copy(io.Discard, here)
			if took := time.Since(began); took < limit || took > limit+time.Second {
				t.Errorf("after %q the server waits for %v, want %v", sent, took, limit)
			}
			end()
			serving.Wait()
			here.Close()
		})
	}
}

// pipes is a listener of connections that are given to it.
type pipes struct {
	conns chan net.Conn
	ctx   context.Context
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (*pipes) Close() error   { return nil }
func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// FuzzPlainRequests: what the server takes for the common form, net/http reads as that: one request without a body,
// after which the connection stays open.
func FuzzPlainRequests(f *testing.F) {
	for _, header := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /x?y HTTP/1.1\r\nhost:a\r\nConnection: keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: \xff\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
	} {
		f.Add([]byte(header))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		end := endOfHeader(b)
		if end == 0 || !isPlain(b[:end]) {
			return
		}
		in := bufio.NewReader(strings.NewReader(string(b)))
		r, err := http.ReadRequest(in)
		if err != nil {
			t.Fatalf("%q: %v", b[:end], err)
		}
		if r.Method != http.MethodGet || r.Close || r.ContentLength != 0 || len(r.TransferEncoding) > 0 ||
			r.Host == "" || !isValid(r) || !r.ProtoAtLeast(1, 1) || in.Buffered() != len(b)-end {
			t.Errorf("%q: %+v, %d of %d bytes left", b[:end], r, in.Buffered(), len(b)-end)
		}
	})
}
