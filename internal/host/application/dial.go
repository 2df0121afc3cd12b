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
	"linerate/internal/model/record"
)

// Dialer opens the connections of one session.
type Dialer struct {
	f *appFlow
}

// Spec is the flow's options.
func (d *Dialer) Spec() flow.Spec { return d.f.Request.Spec }

// Host is the server's name or address with its port, without the zone of an IPv6 address.
func (d *Dialer) Host() string { return d.f.host() }

// Late counts an answer that came after its transaction was given up, or a second time.
func (d *Dialer) Late() {
	if !d.f.engine.Signals.Quit.Load() {
		d.f.counts.late.Add(1)
	}
}

// lookUp is where the next connection goes, and notes how long the look-up of a name took.
func (d *Dialer) lookUp(ctx context.Context, x *Exchange) (message.FlowRequest, error) {
	request := d.f.Request
	if request.Host == "" {
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

// Conn is a connection of a client, which counts what it carries.
type Conn struct {
	net.Conn
	f        *appFlow
	raw      syscall.RawConn // of TCP; nil: of UDP
	received atomic.Uint64   // bytes
	resent   atomic.Uint32   // segments sent again until the latest reading
	closing  atomic.Bool
}

// TCP opens a connection and notes how long it took.
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
		_ = tcp.SetNoDelay(*request.NoDelay) // what it is without
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

// UDP opens a socket that is connected to the server.
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

// agreed is a socket to which linerate's server has agreed. Once it has answered the flow, no
// answer is no sign of a firewall, and a timeout as any other.
func (d *Dialer) agreed(ctx context.Context, request message.FlowRequest) (*net.UDPConn, error) {
	conn, err := handshake.Dial(ctx, request, time.Until(deadline(ctx)))
	if errors.Is(err, handshake.ErrNoAnswer) && d.f.IsOpen() {
		err = context.DeadlineExceeded
	}
	return conn, err
}

// Packets is a socket for QUIC, and where its packets go. It counts as a connection.
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

// marked is a socket whose packets have the flow's codepoint: a library for QUIC that can
// set ECN of each packet would set the whole traffic class with it.
func (f *appFlow) marked(packets net.PacketConn) net.PacketConn {
	if f.Request.DSCP == nil {
		return packets
	}
	return struct{ net.PacketConn }{packets}
}

// udpSocket is a socket whose packets a library moves by batches.
type udpSocket struct {
	*net.UDPConn
	as *Conn
}

func (s *udpSocket) Close() error { return s.as.Close() }

// TLS makes a TLS connection of one that is open.
func (d *Dialer) TLS(ctx context.Context, x *Exchange, c net.Conn, alpn ...string) (*tls.Conn, error) {
	began := sched.Now()
	conn := tls.Client(c, d.f.clientTLS(alpn...))
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	x.Phase(record.PhaseTLS, began)
	return conn, nil
}

// TLSConfig is what TLS of a connection uses.
func (d *Dialer) TLSConfig(alpn ...string) *tls.Config { return d.f.clientTLS(alpn...) }

// deadline is when ctx ends by itself; it always does.
func deadline(ctx context.Context) time.Time {
	at, _ := ctx.Deadline()
	return at
}

// Read and Write count payload: what TLS and the protocol add is in it.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(uint64(max(0, n)))
	c.f.counts.received.Add(int64(max(0, n)))
	return n, err
}

// Received is how many bytes have been read so far.
func (c *Conn) Received() uint64 { return c.received.Load() }

// Usable reports whether the peer has not ended the connection, as far as this host's kernel
// knows: the next reading may have what came before.
func (c *Conn) Usable() bool {
	state := uint8(record.TCPEstablished) // of UDP, and where the system does not say
	if c.raw != nil {
		_ = socket.WithFD(c.raw, func(fd int) error {
			info, err := sock.TCPInfo(fd)
			if err == nil {
				state = info.State
			}
			return err
		})
	}
	return state == record.TCPEstablished
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

// retransmitted is how many segments the connection has sent again, SYNs among them;
// 0 over UDP, and where the system does not say.
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

// Ended notes in x what the connection sent again in the transaction, which ends.
func (c *Conn) Ended(x *Exchange) {
	now := c.retransmitted()
	before := c.resent.Swap(now)
	x.resent += int64(now - min(now, before))
}

// addrs are the two ends of the connection.
func (c *Conn) addrs() (local, remote netip.AddrPort) {
	return socket.AddrPort(c.LocalAddr()), socket.AddrPort(c.RemoteAddr())
}
