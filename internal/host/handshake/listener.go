package handshake

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// Listener is a UDP port at which flows are accepted. It keeps no state for a client whose address is not
// validated; such a client is sent no more than it sent, and only if it knows the cookie of an expected flow.
type Listener struct {
	conn    *net.UDPConn
	at      netip.AddrPort
	six     bool // an IPv6 socket, which may also receive IPv4
	cookies *cookieStore
}

// Handler decides which clients a Listener accepts.
type Handler struct {
	// Allowed reports whether this host's address at (invalid if the system does not tell) serves the client
	// address from; nil: all are allowed.
	Allowed func(at, from netip.Addr) bool
	// Expects reports whether a flow with this cookie waits for its client.
	Expects func(message.Cookie) bool
	// Accept is called with a client that has shown a flow's cookie.
	Accept func(message.Cookie, Client)
}

// Client is a peer whose address has been validated: it returned our cookie.
type Client struct {
	listener *Listener
	local    netip.Addr // this host's address that the client sent to
	remote   netip.AddrPort
	accepted frame
}

// Listen opens a port at an address, such as "127.0.0.1:0".
func Listen(ctx context.Context, address string) (*Listener, error) {
	d := &Listener{cookies: newCookieStore()}
	config := net.ListenConfig{Control: func(network, _ string, raw syscall.RawConn) error {
		d.six = network == "udp6"
		return socket.WithFD(raw, func(fd int) error {
			// On systems other than Linux, the kernel chooses the source of answers.
			if err := sock.SetRecvPktinfo(fd, d.six); err != nil && !errors.Is(err, errors.ErrUnsupported) {
				return err
			}
			return nil
		})
	}}
	conn, err := config.ListenPacket(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	d.conn = conn.(*net.UDPConn)
	// Only after this port is bound may the flows' sockets share it.
	if err := socket.WithConn(d.conn, sock.SetReusePort); err != nil {
		d.conn.Close()
		return nil, err
	}
	d.at = socket.Unmap(d.conn.LocalAddr().(*net.UDPAddr).AddrPort())
	return d, nil
}

func (d *Listener) Addr() netip.AddrPort { return d.at }

// Close closes the port. Accepted flows continue.
func (d *Listener) Close() { d.conn.Close() }

// Serve answers clients until the listener is closed.
func (d *Listener) Serve(g Handler) {
	buffer, control := make([]byte, FrameBytes+1), make([]byte, 128)
	for {
		n, c, _, from, err := d.conn.ReadMsgUDPAddrPort(buffer, control)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// An ICMP error that one of our answers caused, or no memory.
			time.Sleep(time.Millisecond)
			continue
		}
		f, ok := decode(buffer[:n])
		if !ok || !g.Expects(f.flow) {
			continue
		}
		at, plain, now := sock.PktinfoAddress(control[:c]), socket.Unmap(from), sched.Now()
		if g.Allowed != nil && !g.Allowed(at, plain.Addr()) {
			continue
		}
		switch f.kind {
		case kindHello:
			f.kind, f.cookie = kindChallenge, d.cookies.cookie(plain, f.flow, now)
			_, _, _ = d.conn.WriteMsgUDPAddrPort(f.encode(), sock.Pktinfo(at, d.six), from)
		case kindResponse:
			if d.cookies.valid(f.cookie, plain, f.flow, now) {
				g.Accept(f.flow, Client{d, at, plain, f})
			}
		}
	}
}

// LocalAddr returns the address that the client sent to.
func (c Client) LocalAddr() netip.AddrPort { return c.listener.at }

// RemoteAddr returns the client's address.
func (c Client) RemoteAddr() netip.AddrPort { return c.remote }

// Ready returns the frame to send to the client once the flow has a socket. Until the client receives it, it
// repeats its response over that socket.
func (c Client) Ready() Ready {
	c.accepted.kind = kindReady
	return c.accepted.encode()
}

// Ready is the acceptor's last frame of a handshake.
type Ready []byte

// IsRequestedBy reports whether b comes from an opener that has not received r yet.
func (r Ready) IsRequestedBy(b []byte) bool {
	f, ok := decode(b)
	ready, accepted := decode(r)
	return ok && accepted && f == (frame{kindResponse, ready.flow, ready.cookie})
}

// Dial returns a socket on the listener's port that is connected to the client, with the request's options.
func (c Client) Dial(request message.FlowRequest) (*net.UDPConn, error) {
	local := netip.AddrPortFrom(c.local, c.listener.at.Port())
	if !c.local.IsValid() {
		local = netip.AddrPortFrom(c.listener.at.Addr(), local.Port())
	}
	if zone := c.remote.Addr().Zone(); zone != "" {
		local = netip.AddrPortFrom(local.Addr().WithZone(zone), local.Port())
	}
	dialer := net.Dialer{LocalAddr: net.UDPAddrFromAddrPort(local),
		Control: func(_, _ string, raw syscall.RawConn) error {
			return socket.WithFD(raw, func(fd int) error {
				if err := sock.SetReusePort(fd); err != nil {
					return err
				}
				return socket.Prepare(request, fd)
			})
		}}
	conn, err := dialer.Dial("udp", c.remote.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}
