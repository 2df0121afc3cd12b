package traffic

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"linerate/internal/kernel"
	"linerate/internal/model/record"
)

// prepare sets what has to be there before a socket connects or listens. What a
// listener has, the connections it accepts inherit (except TCP_NODELAY, which
// package net sets on every connection: see settle).
func prepare(order record.FlowOrder, fd int) error {
	if order.MSS != 0 {
		if err := kernel.SetMaxSegment(fd, order.MSS); err != nil {
			return fmt.Errorf("setting the maximum segment size (TCP_MAXSEG) to %d bytes: %w; Linux takes 88 to 32767", order.MSS, err)
		}
	}
	if name := order.CongestionControl; name != "" {
		if err := kernel.SetCongestionControl(fd, name); err != nil {
			return fmt.Errorf("setting congestion control %q (TCP_CONGESTION): %w; %s", name, err, congestionHint(err))
		}
	}
	if size := int(order.Window); size != 0 {
		if err := kernel.SetBuffers(fd, size); err != nil {
			return fmt.Errorf("setting a window of %d bytes (SO_SNDBUF, SO_RCVBUF): %w", size, err)
		}
	}
	if rate := order.RateCap; rate != 0 {
		if err := kernel.SetPacingRate(fd, uint64(rate/8)); err != nil {
			return fmt.Errorf("setting a rate cap of %.0f bit/s (SO_MAX_PACING_RATE): %w", float64(rate), err)
		}
	}
	return nil
}

// prepareAccepted is prepare for a connection from a listener that knew nothing
// of the order. What had to be agreed when it was opened, the opener has asked
// for: it has the same order, and its segment size holds both ways.
func prepareAccepted(order record.FlowOrder, fd int) error {
	order.MSS = 0
	if err := prepare(order, fd); err != nil || order.Window == 0 {
		return err
	}
	// The window that was granted at first would stay the largest.
	if err := kernel.SetWindowClamp(fd, int(order.Window)); err != nil {
		return fmt.Errorf("setting a window of %d bytes (TCP_WINDOW_CLAMP): %w", order.Window, err)
	}
	return nil
}

func congestionHint(err error) string {
	switch {
	case errors.Is(err, syscall.EPERM):
		return "it is not in net.ipv4.tcp_allowed_congestion_control of this network namespace, and others need CAP_NET_ADMIN"
	case errors.Is(err, syscall.ENOENT):
		return "it is not in net.ipv4.tcp_available_congestion_control and its kernel module cannot be loaded; " +
			"which of those may be used without CAP_NET_ADMIN is in net.ipv4.tcp_allowed_congestion_control"
	}
	return "see net.ipv4.tcp_allowed_congestion_control; others need CAP_NET_ADMIN"
}

// control runs prepare on a socket that package net has just made.
func control(order record.FlowOrder, connects bool) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		return onSocket(raw, func(fd int) error {
			if connects && order.Local.IsValid() {
				if err := kernel.SetBindAddressNoPort(fd); err != nil {
					return fmt.Errorf("setting IP_BIND_ADDRESS_NO_PORT: %w", err)
				}
			}
			return prepare(order, fd)
		})
	}
}

// onSocket calls f with the descriptor, which stays open meanwhile.
func onSocket(raw syscall.RawConn, f func(fd int) error) error {
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// endpoint is an open connection and what the kernel granted it.
type endpoint struct {
	conn       *net.TCPConn
	raw        syscall.RawConn
	congestion string
	send, recv int // socket buffers as the kernel reports them; 0: not ordered
}

// settle completes the options of a connection that is open and checks that the
// kernel honours them.
func settle(order record.FlowOrder, conn *net.TCPConn) (*endpoint, error) {
	// The kernel's default is Nagle's algorithm; package net turns it off.
	if err := conn.SetNoDelay(order.NoDelay != nil && *order.NoDelay); err != nil {
		return nil, fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	p := &endpoint{conn: conn, raw: raw}
	return p, onSocket(raw, func(fd int) error {
		// Not every system can say; an order that needs it has failed before.
		p.congestion, _ = kernel.CongestionControl(fd)
		if order.CongestionControl != "" && p.congestion != order.CongestionControl {
			return fmt.Errorf("congestion control is %q, although %q was set", p.congestion, order.CongestionControl)
		}
		if order.Window != 0 {
			if p.send, p.recv, err = kernel.Buffers(fd); err != nil {
				return fmt.Errorf("reading SO_SNDBUF and SO_RCVBUF: %w", err)
			}
		}
		if order.MSS != 0 {
			if info, err := kernel.TCPInfo(fd); err == nil && int(info.SndMSS) > order.MSS {
				return fmt.Errorf("the kernel sends segments of %d bytes, although the maximum was set to %d", info.SndMSS, order.MSS)
			}
		}
		return nil
	})
}
