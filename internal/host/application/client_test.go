package application_test

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"linerate/internal/host/application"
	"linerate/internal/host/handshake"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// awaiting is a server's engine with a flow over UDP, and what a client requests of it.
func awaiting(t *testing.T, spec flow.Spec) (*application.Engine, message.FlowRequest) {
	t.Helper()
	e := engine(t)
	l, err := handshake.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go l.Serve(handshake.Handler{Expects: e.Expects, Accept: func(cookie message.Cookie, c handshake.Client) {
		e.Admit(cookie, c)
	}})
	request := message.FlowRequest{ID: "f", Spec: spec, Cookie: message.Cookie{1}}
	if reply := e.Listen(t.Context(), []message.FlowRequest{request})[0]; reply.Error != nil {
		t.Fatal(reply.Error)
	}
	request.Remote, request.Sends = l.Addr(), true
	return e, request
}

// socketOf is a client's socket that the server has admitted.
func socketOf(t *testing.T, request message.FlowRequest) *net.UDPConn {
	t.Helper()
	conn, err := handshake.Dial(t.Context(), request, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// admitted is a server's engine with a flow over UDP, and a client's socket that it has
// admitted.
func admitted(t *testing.T, spec flow.Spec) (*application.Engine, *net.UDPConn) {
	t.Helper()
	e, request := awaiting(t, spec)
	return e, socketOf(t, request)
}

// query asks for an address.
var query = append([]byte{0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}, "\x01a\x04test\x00\x00\x01\x00\x01"...)

// TestWaitingAnswers: of queries over one socket, the server takes as many as the flow has in
// flight over a connection; those of other connections are not this one's.
func TestWaitingAnswers(t *testing.T) {
	e, conn := admitted(t, flow.Spec{Protocol: flow.DNS, Connections: 1000, Pipeline: 2,
		Think: unit.Duration(10 * time.Second)})
	for range 50 {
		if _, err := conn.Write(query); err != nil {
			t.Fatal(err)
		}
	}
	const most = 3 // two that wait, and one that was read
	taken := func() int { return int(e.Read()[0].ReceivedBytes) / len(query) }
	eventually(t, "queries are taken", func() bool { return taken() >= most })
	time.Sleep(100 * time.Millisecond)
	if n := taken(); n > most {
		t.Errorf("%d of 50 queries were taken, want %d", n, most)
	}
}

// TestCountedOnce: what an admitted socket carries is counted once.
func TestCountedOnce(t *testing.T) {
	e, conn := admitted(t, flow.Spec{Protocol: flow.DNS})
	answer, answered := make([]byte, 1500), 0
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := conn.Write(query); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(answer)
		if err != nil {
			t.Fatal(err)
		}
		answered += n
	}
	eventually(t, "all is counted", func() bool {
		end := e.Read()[0]
		return end.ReceivedBytes > 0 &&
			end.WrittenBytes >= int64(answered)
	})
	if end := e.Read()[0]; end.ReceivedBytes != int64(10*len(query)) || end.WrittenBytes != int64(answered) {
		t.Errorf("%d bytes received, %d written; want %d and %d", end.ReceivedBytes, end.WrittenBytes,
			10*len(query), answered)
	}
}

// wired is a connected socket for QUIC.
type wired struct{ net.Conn }

func (w wired) WriteTo(b []byte, _ net.Addr) (int, error) { return w.Write(b) }

func (w wired) ReadFrom(b []byte) (int, net.Addr, error) {
	n, err := w.Read(b)
	return n, w.RemoteAddr(), err
}

// TestOneConnectionOfASocket: over a client's socket there is one connection of HTTP/3, whose
// end frees the server's socket.
func TestOneConnectionOfASocket(t *testing.T) {
	e, conn := admitted(t, flow.Spec{Protocol: flow.HTTP3, Connections: 1000})
	over := &quic.Transport{Conn: wired{conn}}
	t.Cleanup(func() { over.Close() })
	dial := func() (*quic.Conn, error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return over.Dial(ctx, conn.RemoteAddr(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h3"}}, nil)
	}
	first, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dial(); err == nil {
		t.Error("a second connection over the same socket was accepted")
	}
	if err := first.CloseWithError(0, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server's socket is closed", func() bool { return e.Read()[0].Transactions.Connections == 0 })
	if err := e.Read()[0].Error; err != nil {
		t.Error(err)
	}
}

// TestManySockets: a flow goes on over any number of sockets, one after another.
func TestManySockets(t *testing.T) {
	for name, c := range map[string]struct {
		spec    flow.Spec
		timeout time.Duration
		sockets int64
	}{
		"a connection for each request": {flow.Spec{Protocol: flow.HTTP3, PerConnection: 1}, patience, 120},
		"a timeout of each query": {flow.Spec{Protocol: flow.DNS, Think: unit.Duration(60 * time.Millisecond)},
			50 * time.Millisecond, 40},
	} {
		t.Run(name, func(t *testing.T) {
			server, request := awaiting(t, c.spec)
			client := engine(t)
			request.Timeout = unit.Duration(c.timeout)
			if o := client.Connect(t.Context(), []message.FlowRequest{request}, patience)[0]; o.Error != nil {
				t.Fatal(o.Error)
			}
			window(server, time.Minute)
			window(client, time.Minute)
			for n := range c.sockets {
				eventually(t, "the server has accepted another", func() bool {
					return server.Read()[0].Transactions.Opened > n
				})
			}
			if n := server.Read()[0].Transactions.Connections; n > int64(application.MostOpen(c.spec)) {
				t.Errorf("%d sockets are open", n)
			}
			if x := client.Read()[0].Transactions; x.Failed != 0 || x.Done == 0 && x.Unanswered == 0 {
				t.Errorf("%+v", x)
			}
		})
	}
}

// TestClosedSocket: the server closes its socket when the client's is closed, of which the next
// answer learns.
func TestClosedSocket(t *testing.T) {
	e, conn := admitted(t, flow.Spec{Protocol: flow.DNS, Think: unit.Duration(50 * time.Millisecond)})
	if _, err := conn.Write(query); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server's socket is closed", func() bool { return e.Read()[0].Transactions.Connections == 0 })
}

// TestSilentSocketsMakeRoom: of as many sockets as a flow may have, the one that has been
// silent longest is closed for another.
func TestSilentSocketsMakeRoom(t *testing.T) {
	spec := flow.Spec{Protocol: flow.DNS}
	e, request := awaiting(t, spec)
	speaks := socketOf(t, request)
	for range 3 * application.MostOpen(spec) {
		if _, err := speaks.Write(query); err != nil {
			t.Fatal(err)
		}
		if err := speaks.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := speaks.Read(make([]byte, 1500)); err != nil {
			t.Fatal(err)
		}
		socketOf(t, request)
	}
	if n := e.Read()[0].Transactions.Connections; n != int64(application.MostOpen(spec)) {
		t.Errorf("%d sockets are open, want %d", n, application.MostOpen(spec))
	}
}

// TestLaterTimeouts: a server that has answered the flow and accepts no further socket does
// not answer: the client's error names no firewall.
func TestLaterTimeouts(t *testing.T) {
	server, request := awaiting(t, flow.Spec{Protocol: flow.HTTP3, PerConnection: 1})
	client := engine(t)
	request.Timeout = unit.Duration(500 * time.Millisecond)
	if o := client.Connect(t.Context(), []message.FlowRequest{request}, patience)[0]; o.Error != nil {
		t.Fatal(o.Error)
	}
	server.Close()
	window(client, time.Minute)
	eventually(t, "the client's flow fails", func() bool { return client.Read()[0].Error != nil })
	end := client.Read()[0]
	if x := end.Transactions; x.Failed != 0 || x.Unanswered == 0 ||
		!strings.HasSuffix(end.Error.Text, "no answer within 500ms") {
		t.Errorf("%+v: %v", x, end.Error)
	}
}
