package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"linerate/internal/kernel"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// Prepare sets the options that a socket needs before it connects or listens. Accepted connections inherit
// those of the listener except TCP_NODELAY, which package net sets on every connection. The caller must keep a
// rate cap that the system cannot (sock.CanPace).
func Prepare(request message.FlowRequest, fd int) error {
	if flow.Of(request.Protocol).Transport == flow.TCP {
		if err := prepareTCP(request, fd); err != nil {
			return err
		}
	}
	send, receive := request.Buffers()
	if err := sock.SetBuffers(fd, int(send), int(receive)); err != nil {
		return fmt.Errorf(
			"setting buffers of %d bytes to send and %d to receive (SO_SNDBUF, SO_RCVBUF; 0: left alone): %w", send,
			receive, err)
	}
	if d := request.DSCP; d != nil {
		if err := sock.SetTrafficClass(fd, d.TrafficClass()); err != nil {
			return fmt.Errorf("setting DSCP %s (IP_TOS, IPV6_TCLASS): %w", d, err)
		}
	}
	if !request.Remote.IsValid() {
		return nil
	}
	// One port may serve flows to different destinations.
	if request.LocalPort != 0 {
		if err := sock.SetReuseAddress(fd); err != nil {
			return fmt.Errorf("setting SO_REUSEADDR: %w", err)
		}
	}
	// connect(2) then chooses the port, since it knows between which ends the port must be free.
	if request.Local.IsValid() && (request.BindNoPort == nil || *request.BindNoPort) {
		if err := sock.SetBindAddressNoPort(fd); err != nil {
			return fmt.Errorf("setting IP_BIND_ADDRESS_NO_PORT: %w", err)
		}
	}
	return nil
}

func prepareTCP(request message.FlowRequest, fd int) error {
	if request.MSS != 0 {
		if err := sock.SetMaxSeg(fd, request.MSS); err != nil {
			return fmt.Errorf("setting the maximum segment size (TCP_MAXSEG) to %d bytes: %w; Linux takes 88 to 32767",
				request.MSS, err)
		}
	}
	if name := request.CongestionControl; name != "" {
		if err := sock.SetCongestionControl(fd, name); err != nil {
			if errors.Is(err, syscall.ENOENT) {
				err = kernel.Lacking(err.Error())
			}
			return fmt.Errorf("setting congestion control %q (TCP_CONGESTION): %w; %s", name, err, congestionHint(err))
		}
	}
	if rate := request.RateCap; rate != 0 && sock.CanPace {
		if err := sock.SetPacingRate(fd, uint64(min(max(rate/8, 1), 1e15))); err != nil {
			return fmt.Errorf("setting a rate cap of %.0f bit/s (SO_MAX_PACING_RATE): %w", float64(rate), err)
		}
	}
	return nil
}

// PrepareAccepted is Prepare for a connection from a listener without the request's options. What must be
// negotiated at opening, the opener negotiates: it has the same request, and its segment size applies in both
// directions.
func PrepareAccepted(request message.FlowRequest, fd int) error {
	request.MSS = 0
	_, window := request.Buffers()
	if err := Prepare(request, fd); err != nil || window == 0 {
		return err
	}
	// Otherwise the window granted at first would remain the largest.
	if err := sock.SetWindowClamp(fd, int(window)); err != nil {
		return fmt.Errorf("setting a window of %d bytes (TCP_WINDOW_CLAMP): %w", window, err)
	}
	return nil
}

// PrepareConn is PrepareAccepted for a connection of package net.
func PrepareConn(request message.FlowRequest, conn *net.TCPConn) error {
	return WithConn(conn, func(fd int) error { return PrepareAccepted(request, fd) })
}

func congestionHint(err error) string {
	switch {
	case errors.Is(err, syscall.EPERM):
		return "it is not in net.ipv4.tcp_allowed_congestion_control of this network namespace, and others need " +
			"CAP_NET_ADMIN"
	case errors.Is(err, syscall.ENOENT):
		return "it is not in net.ipv4.tcp_available_congestion_control and its kernel module cannot be loaded; " +
			"which of those may be used without CAP_NET_ADMIN is in net.ipv4.tcp_allowed_congestion_control"
	}
	return "see net.ipv4.tcp_allowed_congestion_control; others need CAP_NET_ADMIN"
}

// Control runs Prepare on a socket that package net has just made.
func Control(request message.FlowRequest) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		return WithFD(raw, func(fd int) error { return Prepare(request, fd) })
	}
}

// WithFD calls f with the descriptor, which stays open until f returns.
func WithFD(raw syscall.RawConn, f func(fd int) error) error {
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// WithConn is WithFD for an open connection, listener or file.
func WithConn(conn syscall.Conn, f func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	return WithFD(raw, f)
}

// AddrPort returns a as requests write it: IPv4 unmapped, even from an IPv6 socket.
func AddrPort(a net.Addr) netip.AddrPort {
	if of, ok := a.(interface{ AddrPort() netip.AddrPort }); ok {
		return Unmap(of.AddrPort())
	}
	return netip.AddrPort{}
}

// Unmap returns a with an IPv4-mapped IPv6 address turned into IPv4.
func Unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// AddrName formats an address to bind to.
func AddrName(a netip.Addr) string {
	if a.IsValid() {
		return a.String()
	}
	return "any address"
}

// TryCongestionControl returns an error if the kernel does not have the congestion control.
func TryCongestionControl(ctx context.Context, name string) error {
	made := net.ListenConfig{Control: Control(message.FlowRequest{Spec: flow.Spec{CongestionControl: name}})}
	l, err := made.Listen(ctx, "tcp", "127.0.0.1:0")
	if err == nil {
		return l.Close()
	}
	there, unread := proc.Sysctls{}.Read("net.ipv4.tcp_available_congestion_control")
	if !errors.Is(err, syscall.ENOENT) || unread != nil {
		return nil // opening the connection reports other errors
	}
	return fmt.Errorf("congestion control %q, this host has %s%s", name, there,
		LoadCongestionControl(name, "this host"))
}

// LoadCongestionControl returns the end of a message about a congestion control that a host lacks: the command
// to load its module; empty if no module has such a name.
func LoadCongestionControl(name, host string) string {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return fmt.Sprintf("; to load it, if the kernel of %s has the module: modprobe tcp_%.40s (as root there)",
		host, name)
}
