//go:build linux

package traffic

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/handshake"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// TestDSCP: the packets of a flow have its codepoint on the link, those of both ends,
// over IPv4 and IPv6, with a listener of the flow's own and with one that flows share;
// ECN's bits remain the kernel's.
func TestDSCP(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		kerneltest.Do(t, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_ecn")
		for _, p := range flow.Protocols {
			for _, at := range []string{"127.0.0.1", "::1"} {
				for _, shared := range []bool{false, true} {
					name := fmt.Sprintf("%s to %s, shared listener %t", p.Name, at, shared)
					checkDSCP(t, name, p, netip.MustParseAddr(at), shared)
				}
			}
		}
	})
}

func checkDSCP(t *testing.T, name string, p flow.Protocol, at netip.Addr, shared bool) {
	t.Helper()
	const codepoint = flow.DSCP(46)
	request := message.FlowRequest{ID: "f", Local: at, Spec: flow.Spec{Protocol: p.Name, DSCP: new(codepoint)}}
	if p.Bulk() {
		request.RateCap = 8e6
	}
	opener, acceptor := New(), New()
	defer opener.Close()
	defer acceptor.Close()
	accepting := request
	opening := request
	opening.Sends = true
	if shared {
		request.Cookie = greeting.NewCookie()
		accepting.Cookie, opening.Cookie = request.Cookie, request.Cookie
		accepting.Local = netip.Addr{}
		opening.Remote = sharedListener(t, acceptor, p.Transport, at)
	}
	l := acceptor.Listen(t.Context(), []message.FlowRequest{accepting})[0]
	if l.Error != nil {
		t.Fatalf("%s: %s", name, l.Error)
	}
	if !shared {
		opening.Remote = l.Local
	}
	if o := opener.Connect(t.Context(), []message.FlowRequest{opening}, patience)[0]; o.Error != nil {
		t.Fatalf("%s: %s", name, o.Error)
	}
	if end := acceptor.Ready(t.Context(), patience)[0]; !end.Alive {
		t.Fatalf("%s: %s", name, end.Error)
	}
	packets := capture(t, opening.Remote.Port())
	acceptor.Start(soon())
	opener.Start(soon())
	var there, back int
	capable := false // of ECN: ECT(0), which what is sent again has not (RFC 3168, section 6.1.5)
	for end := time.Now().Add(patience); there < 20 || back < 20 && p.Name != flow.UDP; {
		if time.Now().After(end) {
			t.Fatalf("%s: %d packets there, %d back", name, there, back)
		}
		c, ok := packets()
		// Connections of crr come and go: the kernel answers for some that have no
		// socket, or not yet one of the flow's.
		if !ok || p.Name == flow.CRR && c.payload == 0 {
			continue
		}
		if c.class>>2 != byte(codepoint) {
			t.Errorf("%s: a packet to port %d with %d bytes has the traffic class %#x", name, c.to, c.payload, c.class)
			return
		}
		if c.payload > 0 && c.class&3 == 2 {
			capable = true
		}
		if c.to == opening.Remote.Port() {
			there++
		} else {
			back++
		}
	}
	if p.Name == flow.TCP && !capable {
		t.Errorf("%s: no packet with data has ECN's ECT(0)", name)
	}
}

// sharedListener offers an engine what comes to an address, as a serving host does.
func sharedListener(t *testing.T, acceptor *Engine, transport string, at netip.Addr) netip.AddrPort {
	t.Helper()
	if transport == flow.UDP {
		l, err := handshake.Listen(t.Context(), net.JoinHostPort(at.String(), "0"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		go l.Serve(handshake.Handler{Expects: acceptor.Expects, Accept: func(cookie message.Cookie,
			c handshake.Client) {
			acceptor.Admit(cookie, c)
		}})
		return l.Addr()
	}
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
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
			if err != nil || conn.SetDeadline(time.Time{}) != nil || !acceptor.Offer(peer.Cookie, conn) {
				conn.Close()
			}
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// captured is what a packet says of itself.
type captured struct {
	class   byte
	to      uint16
	payload int
}

// capture reads the packets from and to a port, one at each call; false: another one's,
// or none for a moment.
func capture(t *testing.T, port uint16) func() (captured, bool) {
	t.Helper()
	all := binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(all))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); unix.Close(fd) })
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 128)
	return func() (c captured, ok bool) {
		n, _, err := unix.Recvfrom(fd, b, unix.MSG_TRUNC)
		if err != nil || n < 28 || ctx.Err() != nil {
			return c, false
		}
		transport, protocol := 40, b[6]
		c.class = b[0]<<4 | b[1]>>4
		if b[0]>>4 == 4 {
			transport, protocol, c.class = int(b[0]&15)*4, b[9], b[1]
		}
		header := 8
		if protocol == unix.IPPROTO_TCP {
			header = int(b[transport+12]>>4) * 4
		}
		c.payload = n - transport - header
		from := binary.BigEndian.Uint16(b[transport:])
		c.to = binary.BigEndian.Uint16(b[transport+2:])
		return c, (from == port || c.to == port) && (protocol == unix.IPPROTO_TCP || protocol == unix.IPPROTO_UDP)
	}
}
