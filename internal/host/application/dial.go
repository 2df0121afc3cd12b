package application

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// Dialer opens the connections of one session, the client's end of a flow.
type Dialer struct {
	f *appFlow
}

// Spec returns the flow's options.
func (d *Dialer) Spec() flow.Spec { return d.f.Request.Spec }

// Host returns the server's name or address with its port, without the zone of an IPv6 address.
func (d *Dialer) Host() string { return d.f.host() }

// Late counts a duplicate answer, or one to a transaction that was given up.
func (d *Dialer) Late() {
	if !d.f.engine.Signals.Quit.Load() {
		d.f.counts.late.Add(1)
	}
}

// lookUp returns where the next connection goes, and records in x how long resolving a name took.
func (d *Dialer) lookUp(ctx context.Context, x *Exchange) (message.FlowRequest, error) {
	request := d.f.Request
	if !d.f.named() {
		return request, nil
	}
	host, _, err := net.SplitHostPort(request.Host)
	if err != nil {
		return request, err
	}
	began := sched.Now()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return request, err
	}
	x.Phase(record.PhaseName, began)
	at := slices.IndexFunc(found, func(a netip.Addr) bool {
		return a.Unmap().Is4() == request.Remote.Addr().Unmap().Is4()
	})
	request.Remote = netip.AddrPortFrom(found[max(0, at)].Unmap(), request.Remote.Port())
	return request, nil
}

// named reports whether the server is known by a name, which is resolved for each connection.
func (f *appFlow) named() bool {
	_, err := netip.ParseAddrPort(f.Request.Host)
	return f.Request.Host != "" && err != nil
}

// Conn is a client's connection, which counts the bytes it carries.
type Conn struct {
	net.Conn
	f        *appFlow
	raw      syscall.RawConn // TCP only; nil for UDP
	received atomic.Uint64   // bytes
	resent   atomic.Uint32   // segments retransmitted until the latest reading
	closing  atomic.Bool
}

// TCP opens a connection and records in x how long that took.
func (d *Dialer) TCP(ctx context.Context, x *Exchange) (*Conn, error) {
	request, err := d.lookUp(ctx, x)
	if err != nil {
		return nil, err
	}
	began := sched.Now()
	tcp, err := socket.Dial(ctx, request, time.Until(deadline(ctx)))
	if err != nil {
		return nil, err
	}
	x.Phase(record.PhaseConnect, began)
	if request.NoDelay != nil {
		_ = tcp.SetNoDelay(*request.NoDelay) // a failure leaves the default
	}
	if !request.Cookie.IsZero() {
		if err := greeting.SendCookie(tcp, request.Cookie); err != nil {
			socket.Reset(tcp)
			return nil, err
		}
	}
	raw, _ := tcp.SyscallConn()
	c := d.f.opened(tcp, raw)
	x.synSent = int64(c.retransmitted())
	return c, nil
}

// UDP returns a socket connected to the server.
func (d *Dialer) UDP(ctx context.Context, x *Exchange) (*Conn, error) {
	request, err := d.lookUp(ctx, x)
	if err != nil {
		return nil, err
	}
	began := sched.Now()
	var conn net.Conn
	if request.Cookie.IsZero() {
		conn, err = handshake.Dialer(request).DialContext(ctx, "udp", request.Remote.String())
	} else {
		conn, err = d.agreed(ctx, request)
		x.Phase(record.PhaseConnect, began)
	}
	if err != nil {
		return nil, err
	}
	return d.f.opened(conn, nil), nil
}

// agreed returns a socket on which linerate's server has accepted the flow. Once the server has answered,
// missing answers mean an ordinary timeout, not a firewall.
func (d *Dialer) agreed(ctx context.Context, request message.FlowRequest) (*net.UDPConn, error) {
	conn, err := handshake.Dial(ctx, request, time.Until(deadline(ctx)))
	if errors.Is(err, handshake.ErrNoAnswer) && d.f.IsOpen() {
		err = context.DeadlineExceeded
	}
	return conn, err
}

// Packets returns a socket for QUIC and the address to send its packets to. The socket counts as a connection.
func (d *Dialer) Packets(ctx context.Context, x *Exchange) (net.PacketConn, net.Addr, error) {
	request, err := d.lookUp(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	remote := net.UDPAddrFromAddrPort(request.Remote)
	if !request.Cookie.IsZero() {
		conn, err := d.agreed(ctx, request)
		if err != nil {
			return nil, nil, err
		}
		return &connectedPackets{Conn: d.f.opened(conn, nil), raw: conn}, remote, nil
	}
	config := net.ListenConfig{Control: socket.Control(request)}
	at := fmt.Sprintf(":%d", request.LocalPort)
	if request.Local.IsValid() {
		at = netip.AddrPortFrom(request.Local, request.LocalPort).String()
	}
	packets, err := config.ListenPacket(ctx, "udp", at)
	if err != nil {
		return nil, nil, err
	}
	udp := packets.(*net.UDPConn)
	return d.f.marked(&udpSocket{UDPConn: udp, as: d.f.opened(udp, nil)}), remote, nil
}

// marked returns a socket whose packets have the flow's DSCP. A QUIC library that can set ECN per packet would
// otherwise overwrite the whole traffic class.
func (f *appFlow) marked(packets net.PacketConn) net.PacketConn {
	if f.Request.DSCP == nil {
		return packets
	}
	return struct{ net.PacketConn }{packets}
}

// udpSocket is a socket on which a library can send and receive in batches.
type udpSocket struct {
	*net.UDPConn
	as *Conn
}

func (s *udpSocket) Close() error { return s.as.Close() }

// TLS starts TLS on c, an open connection, and records in x how long the handshake took.
func (d *Dialer) TLS(ctx context.Context, x *Exchange, c net.Conn, alpn ...string) (*tls.Conn, error) {
	began := sched.Now()
	conn := tls.Client(c, d.f.clientTLS(alpn...))
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	x.Phase(record.PhaseTLS, began)
	return conn, nil
}

// TLSConfig returns the TLS configuration of a connection.
func (d *Dialer) TLSConfig(alpn ...string) *tls.Config { return d.f.clientTLS(alpn...) }

// deadline returns the deadline of ctx, which always has one.
func deadline(ctx context.Context) time.Time {
	at, _ := ctx.Deadline()
	return at
}

// Read and Write count all bytes, including the overhead of TLS and the protocol.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(uint64(max(0, n)))
	c.f.counts.received.Add(int64(max(0, n)))
	return n, err
}

func (c *Conn) Received() uint64 { return c.received.Load() }

// Usable reports whether, as far as this host's kernel knows, the peer has not closed the connection. Data
// received before the close may still be unread.
func (c *Conn) Usable() bool {
	state := uint8(netstate.TCPEstablished) // for UDP, and where the system cannot tell
	if c.raw != nil {
		_ = socket.WithFD(c.raw, func(fd int) error {
			info, err := sock.TCPInfo(fd)
			if err == nil {
				state = info.State
			}
			return err
		})
	}
	return state == netstate.TCPEstablished
}

func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.f.counts.written.Add(int64(max(0, n)))
	return n, err
}

// Close closes the connection. It may be called again.
func (c *Conn) Close() error {
	if c.closing.Swap(true) {
		return nil
	}
	c.f.forget(c)
	return c.Conn.Close()
}

// retransmitted returns how many segments, SYNs included, the connection has resent; 0 for UDP, and where the
// system cannot tell.
func (c *Conn) retransmitted() (segments uint32) {
	if c.raw == nil {
		return 0
	}
	_ = socket.WithFD(c.raw, func(fd int) error {
		info, err := sock.TCPInfo(fd)
		segments = uint32(info.TotalRetrans)
		return err
	})
	return segments
}

// Ended records in x, at the end of its transaction, how many segments the connection retransmitted meanwhile.
func (c *Conn) Ended(x *Exchange) {
	now := c.retransmitted()
	before := c.resent.Swap(now)
	x.resent += int64(now - min(now, before))
}

// addrs returns the two ends of the connection.
func (c *Conn) addrs() (local, remote netip.AddrPort) {
	return socket.AddrPort(c.LocalAddr()), socket.AddrPort(c.RemoteAddr())
}
