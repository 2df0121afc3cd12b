//go:build !portable

package transaction

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// TestEarlyClient: a client that shows a flow's cookie before the flow has its
// threads is not accepted, and nothing breaks.
func TestEarlyClient(t *testing.T) {
	e := engine(t)
	cookie := message.Cookie{9}
	f := newFlow(e, message.FlowRequest{ID: "f1", Spec: flow.Spec{Protocol: flow.UDPRR}, Cookie: cookie})
	g := newFlow(e, message.FlowRequest{ID: "f2", Spec: flow.Spec{Protocol: flow.RR}, Cookie: message.Cookie{8}})
	e.Add(f, g)
	if e.Expects(cookie) || f.Claim(cookie) || e.Admit(cookie, handshake.Client{}) {
		t.Error("a client is accepted for a flow without threads")
	}
	if err := f.makeWorkers(); err != nil || !e.Expects(cookie) {
		t.Errorf("no client is accepted: %v", err)
	}
	if g.Claim(message.Cookie{8}) {
		t.Error("a connection is accepted for a flow without threads")
	}
}

// TestOwnPortWithCookie: at a worker process's port, a connection without a cookie waits
// and one with another cookie is closed, and neither keeps the flow's own from its place.
func TestOwnPortWithCookie(t *testing.T) { openOwnPort(t) }

// TestOwnPortUnderSYNCookies: the same where the kernel hands connections over before
// their first data, because it sends SYN cookies: the flow's own may show its cookie late.
func TestOwnPortUnderSYNCookies(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "sh", "-c", "ip link set lo up && echo 2 > /proc/sys/net/ipv4/tcp_syncookies")
		openOwnPort(t)
	})
}

func openOwnPort(t *testing.T) {
	e := engine(t)
	e.isWorker = true
	request := requests(1, message.FlowRequest{Cookie: message.Cookie{6}, Local: loopback})[0]
	l := e.Listen(t.Context(), []message.FlowRequest{request})[0]
	if l.Error != nil {
		t.Fatal(l.Error)
	}
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", l.Local.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	write := func(conn net.Conn, data []byte) {
		if _, err := conn.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	dial()
	late, cookie := dial(), greeting.CookieFrame(request.Cookie)
	write(late, cookie[:3])
	wrong := dial()
	write(wrong, greeting.CookieFrame(message.Cookie{7}))
	_ = wrong.SetReadDeadline(time.Now().Add(waitAtMost))
	if _, err := wrong.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection with another cookie is not closed: %v", err)
	}
	if e.Settled() {
		t.Error("the flow has its connection before any showed the cookie")
	}
	write(late, cookie[3:])
	eventually(t, "the flow has its connection", e.Settled)
	if end := e.Read()[0]; end.Error != nil || end.Transactions.Connections != 1 {
		t.Errorf("%+v, %+v", end, end.Transactions)
	}
}

// TestOwnPortAccess: a worker process of a serving host takes connections at the server's
// addresses, from those that it allows.
func TestOwnPortAccess(t *testing.T) {
	address := netip.MustParseAddr
	for name, c := range map[string]struct {
		access         socket.Access
		listens        netip.Addr
		refused, taken [2]netip.Addr // to, from
	}{
		"from": {
			socket.Access{At: []netip.Addr{loopback}, From: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}},
			loopback,
			[2]netip.Addr{loopback, address("127.0.0.3")}, [2]netip.Addr{loopback, address("127.0.0.2")},
		},
		"at": {
			socket.Access{At: []netip.Addr{loopback, address("127.0.0.2")}}, netip.IPv6Unspecified(),
			[2]netip.Addr{address("127.0.0.3"), loopback}, [2]netip.Addr{address("127.0.0.2"), loopback},
		},
	} {
		for _, protocol := range []string{flow.RR, flow.UDPRR} {
			t.Run(name+" "+protocol, func(t *testing.T) {
				e, opener := engine(t), engine(t)
				e.isWorker = true
				request := requests(1, message.FlowRequest{Spec: flow.Spec{Protocol: protocol},
					Cookie: message.Cookie{6}})[0]
				l := e.handle(task{Listen: &assignment{Request: request, Access: c.access}}).Listening
				if l.Error != nil || l.Local.Addr() != c.listens {
					t.Fatalf("listening: %+v, want %s", l, c.listens)
				}
				open := func(ends [2]netip.Addr, timeout time.Duration) *message.Error {
					o := request
					o.Remote, o.Local = netip.AddrPortFrom(ends[0], l.Local.Port()), ends[1]
					return opener.Connect(t.Context(), []message.FlowRequest{o}, timeout)[0].Error
				}
				// Over TCP the connection is open before it is reset.
				if err := open(c.refused, 300*time.Millisecond); err == nil && protocol == flow.UDPRR || e.Settled() {
					t.Errorf("what is not allowed is accepted: %v, %+v", err, e.Read()[0])
				}
				if err := open(c.taken, waitAtMost); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the flow has its connection", e.Settled)
				if _, remote := e.All()[0].(*rrFlow).Addrs(); remote.Addr() != c.taken[1] {
					t.Errorf("the connection is from %s, want %s", remote, c.taken[1])
				}
			})
		}
	}
}

// TestOwnPortPending: a connection that does not show the flow's cookie in its time is closed,
// and sooner if its source has many.
func TestOwnPortPending(t *testing.T) {
	defer func(was time.Duration) { greetingTimeout = was }(greetingTimeout)
	for _, c := range []struct {
		name    string
		timeout time.Duration
		others  int
	}{{"many", time.Hour, maxPending / 4}, {"long", 100 * time.Millisecond, 1}} {
		greetingTimeout = c.timeout
		e := engine(t)
		e.isWorker = true
		request := requests(1, message.FlowRequest{Cookie: message.Cookie{6}, Local: loopback})[0]
		l := e.Listen(t.Context(), []message.FlowRequest{request})[0]
		if l.Error != nil {
			t.Fatal(l.Error)
		}
		cookie := greeting.CookieFrame(request.Cookie)
		dial := func(shown []byte) net.Conn {
			conn, err := net.Dial("tcp", l.Local.String())
			if err == nil {
				_, err = conn.Write(shown)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		first := dial(cookie[:3])
		for range c.others {
			dial(cookie[:3])
		}
		_ = first.SetReadDeadline(time.Now().Add(waitAtMost))
		if _, err := first.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: it is not closed: %v", c.name, err)
		}
		dial(cookie)
		eventually(t, "the flow has its connection", e.Settled)
		e.Close() // it has read greetingTimeout
	}
}

// TestAssignment: connections that come while others go have each a thread of their own.
func TestAssignment(t *testing.T) {
	const n = 4
	a, r := engine(t), engine(t)
	request := requests(1, message.FlowRequest{Spec: flow.Spec{Connections: n, Threads: n},
		Cookie: message.Cookie{7}})[0]
	if l := r.Listen(t.Context(), []message.FlowRequest{request})[0]; l.Error != nil {
		t.Fatal(l.Error)
	}
	f := r.All()[0].(*rrFlow)
	window(time.Millisecond, a, r) // what goes from now on is not lost: the end is near
	time.Sleep(20 * time.Millisecond)
	for i := range n {
		near, far := pair(t)
		if taken, _ := r.OfferSocket(request.Cookie, far, 0); !taken {
			t.Fatalf("connection %d is not taken", i+1)
		}
		if i == 1 { // its thread leaves
			sock.CloseSocket(near)
			eventually(t, "it is gone", func() bool { return f.active.Load() == 1 })
			continue
		}
		defer sock.CloseSocket(near)
		if _, err := sock.TrySend(near, []byte{1}, false); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is answered", func() bool { n, _ := sock.TryRead(near, make([]byte, 1)); return n == 1 })
	}
	if got := f.active.Load(); got != n-1 {
		t.Errorf("%d connections, want %d", got, n-1)
	}
}

// pair is a TCP connection's two ends.
func pair(t *testing.T) (near, far int) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	own := func(c *net.TCPConn) (fd int) {
		defer c.Close()
		raw, err := c.SyscallConn()
		if err == nil {
			err = socket.WithFD(raw, func(original int) error { fd, err = sock.Dup(original); return err })
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	near, far = own(dialled), own(accepted)
	if err := sock.SetLingerZero(near); err != nil { // nothing is left in TIME_WAIT
		t.Fatal(err)
	}
	return near, far
}
