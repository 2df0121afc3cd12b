package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// reason is an error with other words.
type reason struct {
	text string
	err  error
}

func (r *reason) Error() string { return r.text }
func (r *reason) Unwrap() error { return r.err }

// Reason wraps err in words that say what its errno means on a network, followed by the errno's name. It drops
// texts of package net that repeat the addresses.
func Reason(err error, remote netip.Addr) error { return &reason{words(err, remote), err} }

func words(err error, remote netip.Addr) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	resolver := "ARP"
	if remote.Is6() && !remote.Is4In6() {
		resolver = "neighbour discovery"
	}
	switch {
	case errors.Is(err, syscall.EHOSTUNREACH):
		return fmt.Sprintf(
			"no route to host (EHOSTUNREACH): %s got no answer, or a router or firewall rejects packets to it by ICMP",
			resolver)
	case errors.Is(err, syscall.ENETUNREACH):
		return "network is unreachable (ENETUNREACH): no route of this host covers the address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused (ECONNREFUSED): nothing listens there, or a firewall rejects connections to " +
			"this port"
	case errors.Is(err, syscall.ETIMEDOUT):
		return "connection timed out (ETIMEDOUT): the peer did not answer"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "cannot assign requested address (EADDRNOTAVAIL): no port of this host has the local address, or no " +
			"port is free"
	case errors.Is(err, syscall.EADDRINUSE):
		return "address already in use (EADDRINUSE): another socket has this port, for the same two ends or listening"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset by the peer (ECONNRESET)"
	case errors.Is(err, syscall.EPIPE):
		return "the peer closed the connection (EPIPE)"
	case errors.Is(err, io.EOF):
		return "the peer closed the connection instead of answering"
	case errors.Is(err, syscall.EMFILE):
		return "too many open files (EMFILE): raise the limit of open files (ulimit -n)"
	}
	// A wrapped system call reads "connect: invalid argument".
	if call, ok := errors.AsType[*os.SyscallError](err); ok && call == err {
		return fmt.Sprintf("%s: %v", call.Syscall, call.Err)
	}
	return err.Error()
}

// ConnectError wraps err with the connection that failed and the reason. It distinguishes our own timeout from
// the kernel's.
func ConnectError(local netip.Addr, remote netip.AddrPort, timeout time.Duration, err error) error {
	why := words(err, remote.Addr())
	var timed net.Error
	switch {
	case errors.Is(err, syscall.ETIMEDOUT):
	case errors.Is(err, context.Canceled), errors.Is(err, net.ErrClosed):
		why = "abandoned"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		why = fmt.Sprintf("connection timed out: no answer to SYN within %v", timeout)
	}
	return fmt.Errorf("%s: %w", Connecting(local, remote), &reason{why, err})
}

// Connecting describes a connection being made; local is invalid if the kernel chooses it.
func Connecting(local netip.Addr, remote netip.AddrPort) string {
	if !local.IsValid() {
		return fmt.Sprintf("connect to %s", remote)
	}
	return fmt.Sprintf("connect %s → %s", local, remote)
}

// NotSent reports whether err means only that this datagram was not sent, so that the next may succeed.
func NotSent(err error) bool {
	return errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.EAGAIN)
}
