package stream

import (
	"context"
	"net"
	"testing"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// sharedPort is a port whose connections are offered to engines by cookie,
// as a serving host does.
func sharedPort(t *testing.T, engines ...*Engine) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.AcceptTCP()
			if err != nil {
				return
			}
			peer, _, err := greeting.Server{}.Receive(conn)
			taken := false
			for _, e := range engines {
				taken = taken || err == nil && e.Offer(peer.Cookie, conn)
			}
			if !taken {
				conn.Close()
			}
		}
	}()
	return l
}

// joinShared is join over a shared port.
func joinShared(t *testing.T, l *net.TCPListener, opener, acceptor *Engine, like []message.FlowRequest,
	openerSends bool) {
	t.Helper()
	accepting, opening := make([]message.FlowRequest, len(like)), make([]message.FlowRequest, len(like))
	for i, request := range like {
		request.Cookie = greeting.NewCookie()
		accepting[i], opening[i] = request, request
		accepting[i].Sends, opening[i].Sends = !openerSends, openerSends
		opening[i].Remote = socket.AddrPort(l.Addr())
	}
	for _, listening := range acceptor.Listen(context.Background(), accepting) {
		if listening.Error != nil || listening.Local.IsValid() {
			t.Fatalf("%+v: want no socket of its own", listening)
		}
	}
	for _, o := range opener.Connect(context.Background(), opening, patience) {
		if o.Error != nil {
			t.Fatalf("connect %s: %s", o.ID, o.Error)
		}
	}
	for _, end := range ready(t, acceptor) {
		if !end.Alive {
			t.Fatalf("offered %s: %s", end.ID, end.Error)
		}
	}
}

// TestOffer: flows of two engines come to one port, each to its own, in either direction,
// and their cookies are not counted as bytes.
func TestOffer(t *testing.T) {
	for _, openerSends := range []bool{true, false} {
		first, second := engine(t, platform), engine(t, platform)
		l := sharedPort(t, first, second)
		for _, acceptor := range []*Engine{first, second} {
			opener := engine(t, platform)
			joinShared(t, l, opener, acceptor, requests(3, message.FlowRequest{Spec: flow.Spec{RateCap: 80e6}}),
				openerSends)
			for _, e := range []*Engine{opener, acceptor} {
				for _, end := range e.Read() {
					if end.ReceivedBytes != 0 || end.WrittenBytes != 0 {
						t.Fatalf("before anything was sent: %+v", end)
					}
				}
			}
			_, stop := start(100*time.Millisecond, opener, acceptor)
			sender, receiver := opener, acceptor
			if !openerSends {
				sender, receiver = acceptor, opener
			}
			moved(t, receiver)
			eventually(t, "the window ends and all that was written is received", func() bool {
				if sched.Now() <= stop {
					return false // equal counts could be those of a pause between two writes
				}
				received, written := receiver.Read(), sender.Read()
				for i := range received {
					if written[i].WrittenBytes == 0 || received[i].ReceivedBytes != written[i].WrittenBytes {
						return false
					}
				}
				in, _ := receiver.Moved()
				_, out := sender.Moved()
				return in == out && in > 0
			})
		}
	}
}

// TestOfferRefuses: a cookie is good for one connection, and only while its flow
// waits.
func TestOfferRefuses(t *testing.T) {
	pair := func() *net.TCPConn {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: loopback.AsSlice()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		far, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { far.Close() })
		conn, err := l.AcceptTCP()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	e := engine(t, platform)
	like := requests(3, message.FlowRequest{})
	for i := range like {
		like[i].Cookie = greeting.NewCookie()
	}
	e.Listen(context.Background(), like)
	if !e.Offer(like[0].Cookie, pair()) {
		t.Fatal("a flow's own cookie was refused")
	}
	if e.Offer(like[0].Cookie, pair()) {
		t.Error("a cookie was good for two connections")
	}
	if e.Offer(greeting.NewCookie(), pair()) || e.Offer(message.Cookie{}, pair()) {
		t.Error("an unknown cookie was taken")
	}
	e.Abandon([]string{like[1].ID})
	ends := e.Read()
	contains(t, ends[1].Error.Error(), "no client showed the flow's cookie")
	contains(t, ends[2].Error.Error(), "no client has shown the flow's cookie")
	if e.Offer(like[1].Cookie, pair()) {
		t.Error("a flow that was given up took a connection")
	}
	e.Close()
	if e.Offer(like[2].Cookie, pair()) {
		t.Error("a closed engine took a connection")
	}
}

// TestOfferOptions: a connection from a shared port gets what its flow was
// ordered with, although its listener knew nothing of that.
func TestOfferOptions(t *testing.T) {
	needsLinux(t)
	yes := true
	opener, acceptor := engine(t, platform), engine(t, platform)
	l := sharedPort(t, acceptor)
	joinShared(t, l, opener, acceptor,
		requests(1, message.FlowRequest{Spec: flow.Spec{MSS: 600, NoDelay: &yes, Window: 100 << 10, RateCap: 50e6,
			CongestionControl: "reno"}}), false)
	start(200*time.Millisecond, opener, acceptor)
	moved(t, opener)
	sent := acceptor.Read()[0]
	if sent.CongestionControl != "reno" || sent.SndbufBytes < 100<<10 || sent.Info.SndMSS > 600 {
		t.Errorf("the accepted end: %+v, %+v", sent, sent.Info)
	}
}
