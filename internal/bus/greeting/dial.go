package greeting

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// KeepAlive detects within half a minute that a peer has vanished.
var KeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// Dial connects to a server, from a source address if it is valid; timeout bounds the
// wait for an answer. A server that has vanished later is noticed within half a minute.
// The error says why there is no connection, and names start, the command that starts
// such a server, where nothing listens.
func Dial(ctx context.Context, address string, source netip.Addr, timeout time.Duration, start string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout, KeepAliveConfig: KeepAlive}
	if source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: source.AsSlice(), Zone: source.Zone()}
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, syscall.ECONNREFUSED):
		err = fmt.Errorf("%w: nothing listens there; start %s on that host", Cause(err), start)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		err = fmt.Errorf("%w: this host has no route, or the neighbour does not answer", Cause(err))
	case TimedOut(err):
		err = fmt.Errorf("no answer within %v: the host is down, or a firewall drops packets to this port", timeout)
	default:
		err = Cause(err)
	}
	return nil, fmt.Errorf("reaching %s: %w", address, err)
}

// Cause is what package net has wrapped in words that repeat the addresses.
func Cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err
}

// TimedOut says that a deadline of a connection has passed.
func TimedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
