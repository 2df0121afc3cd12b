package socket

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/caused"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// ListenAddress returns where a request's listener is: at request.Local (invalid: all addresses of the host),
// on a port that the kernel chooses.
func ListenAddress(request message.FlowRequest) string {
	if request.Local.IsValid() {
		return net.JoinHostPort(request.Local.String(), "0")
	}
	return ":0"
}

// Listen opens a TCP listener at ListenAddress with a request's options. It disables keep-alive probes, which
// would be foreign packets in a quiet flow, and MPTCP, whose listeners do not pass on their options.
func Listen(ctx context.Context, request message.FlowRequest) (*net.TCPListener, error) {
	config := net.ListenConfig{Control: Control(request), KeepAlive: -1}
	config.SetMultipathTCP(false)
	l, err := config.Listen(ctx, "tcp", ListenAddress(request))
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// Dial opens a TCP connection with a request's options, within timeout (0: as long as the kernel tries). Use
// ConnectError to explain its errors.
func Dial(ctx context.Context, request message.FlowRequest, timeout time.Duration) (*net.TCPConn, error) {
	dialer := net.Dialer{Timeout: timeout, Control: Control(request), KeepAlive: -1}
	dialer.SetMultipathTCP(false)
	if request.Local.IsValid() || request.LocalPort != 0 {
		dialer.LocalAddr = &net.TCPAddr{IP: request.Local.AsSlice(), Port: int(request.LocalPort),
			Zone: request.Local.Zone()}
	}
	conn, err := dialer.DialContext(ctx, "tcp", request.Remote.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// Hold binds a UDP or TCP port (0: any free one) of an address until held is closed.
func Hold(protocol string, at netip.AddrPort) (held io.Closer, port uint16, err error) {
	if protocol == flow.UDP {
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
		if err != nil {
			return nil, 0, err
		}
		return conn, AddrPort(conn.LocalAddr()).Port(), nil
	}
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return nil, 0, err
	}
	return listener, AddrPort(listener.Addr()).Port(), nil
}

// AcceptAll accepts connections until ctx ends or the listener is closed. It returns nil when ctx has ended.
func AcceptAll(ctx context.Context, l *net.TCPListener, handle func(*net.TCPConn)) error {
	for {
		conn, err := Accept(ctx, l)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		handle(conn)
	}
}

// acceptAgain is the pause after an error of accept.
const acceptAgain = 20 * time.Millisecond

// Accept accepts a connection. It fails only when ctx has ended or the listener is closed: other errors are
// temporary, those of a process that is out of descriptors or memory, and those that the network reports for the
// new connection (accept(2), Error handling). A server that ended with them could be ended from outside.
func Accept(ctx context.Context, l interface{ AcceptTCP() (*net.TCPConn, error) }) (*net.TCPConn, error) {
	for {
		conn, err := l.AcceptTCP()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil, context.Cause(ctx)
		case err == nil || errors.Is(err, net.ErrClosed):
			return conn, err
		}
		select {
		case <-time.After(acceptAgain):
		case <-ctx.Done():
		}
	}
}

// DetectLoss makes reading a control connection fail half a minute after its peer vanished: after the last data
// received or the first that is not acknowledged. Keep-alive probes are not sent while data, such as a reply or
// a ping of the bus, is unacknowledged; TCP_USER_TIMEOUT (tcp(7)) covers that on Linux.
func DetectLoss(conn *net.TCPConn) error {
	k := greeting.KeepAlive
	if err := conn.SetKeepAliveConfig(k); err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	timeout := k.Idle + time.Duration(k.Count)*k.Interval
	var failed error
	err = raw.Control(func(fd uintptr) { failed = sock.SetUserTimeout(int(fd), timeout) })
	return errors.Join(err, failed)
}

// Reset closes a connection at once with RST, so that neither end continues to send buffered data or stays in
// TIME_WAIT (SO_LINGER, socket(7)).
func Reset(conn *net.TCPConn) {
	_ = ResetOnClose(conn)
	_ = conn.Close()
}

// ResetOnClose has a connection closed with RST when it is closed.
func ResetOnClose(conn *net.TCPConn) error {
	caused.Add(caused.Reset)
	return conn.SetLinger(0)
}
