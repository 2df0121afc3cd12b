package client

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/iperf3"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// reach opens the control connection.
func (t *Test) reach(ctx context.Context) error {
	dialer := net.Dialer{
		Timeout: t.timeout(),
		// A server that has vanished is noticed within half a minute.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	if l := t.order.Flow.Local; l.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: l.AsSlice(), Zone: l.Zone()}
	}
	conn, err := dialer.DialContext(ctx, "tcp", t.order.Server)
	if err != nil {
		return fmt.Errorf("reaching %s: %w", t.order.Server, t.unreached(ctx, err))
	}
	t.control = conn
	t.server, t.local = addrPort(conn.RemoteAddr()), addrPort(conn.LocalAddr()).Addr()
	if t.order.Flow.Local.IsValid() {
		t.order.Flow.Local = t.local // as connected: with the zone, where it has one
	}
	return nil
}

// unreached says why there is no connection.
func (t *Test) unreached(ctx context.Context, err error) error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused: nothing listens there; start iperf3 -s on that host")
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return fmt.Errorf("%w: there is no way from this host", cause(err))
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no answer within %v: the host is off, or a firewall drops what goes to this port", t.timeout())
	}
	return cause(err)
}

// cause is what package net has wrapped in words that repeat the addresses.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err
}

// say writes within the time limit.
func (t *Test) say(write func() error) error {
	if err := t.control.SetWriteDeadline(time.Now().Add(t.timeout())); err != nil {
		return err
	}
	return write()
}

// hear waits for a state; limit 0: for as long as it takes.
func (t *Test) hear(limit time.Duration) heard {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	if err := t.control.SetReadDeadline(until); err != nil {
		return heard{err: err}
	}
	state, err := iperf3.ReadState(t.control)
	return heard{state, err}
}

// welcome shows the cookie and waits for the server's first word, at which it is
// found out whether it is one.
func (t *Test) welcome(ctx context.Context) error {
	err := t.say(func() error { _, err := t.control.Write(t.cookie[:]); return err })
	h := heard{err: err}
	if err == nil {
		h = t.hear(t.timeout())
	}
	switch {
	case h.err == nil && h.state == iperf3.ParamExchange:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case h.err == nil && h.state == iperf3.AccessDenied:
		return fmt.Errorf("the iperf3 server at %s is busy with another test: it serves one client at a time", t.server)
	case h.err == nil && h.state == iperf3.ServerError:
		return t.refused("after it was shown the cookie", h)
	case hungUp(h.err) && t.isLinerate(ctx):
		return fmt.Errorf("linerate serve listens at %s: leave --iperf3 out to measure with it, or name its iperf3 port", t.server)
	case hungUp(h.err):
		return fmt.Errorf("the server at %s closed the connection without an answer: it is busy with another test, or something else than iperf3", t.server)
	case timedOut(h.err):
		return fmt.Errorf("the server at %s took the connection and said nothing for %v: something else than iperf3, or an iperf3 that is stuck", t.server, t.timeout())
	case h.err != nil:
		return fmt.Errorf("something else than iperf3 listens at %s: %w", t.server, cause(h.err))
	}
	return fmt.Errorf("something else than iperf3 listens at %s: it began with %v", t.server, h.state)
}

// isLinerate asks whether what hung up on iperf3's cookie understands our own
// greeting.
func (t *Test) isLinerate(ctx context.Context) bool {
	dialer := net.Dialer{Timeout: t.timeout()}
	conn, err := dialer.DialContext(ctx, "tcp", t.server.String())
	if err != nil {
		return false
	}
	defer conn.Close()
	const moment = 2 * time.Second
	if conn.SetDeadline(time.Now().Add(moment)) != nil {
		return false
	}
	_, err = greeting.Introduce(conn, "")
	_, refused := errors.AsType[greeting.Refused](err)
	return err == nil || refused
}

func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// refused says what the server said instead of what it should have, and when.
func (t *Test) refused(when string, h heard) error {
	what := ""
	switch {
	case hungUp(h.err):
		what = "closed the connection"
		if t.order.Login != nil {
			what += "; newer servers do so when they do not accept user, password or clock (theirs and ours may be 10 s apart)"
		}
	case timedOut(h.err):
		what = fmt.Sprintf("said nothing for %v", t.timeout())
	case h.err != nil:
		what = "cannot be understood: " + cause(h.err).Error()
	case h.state == iperf3.ServerError:
		what = "refuses: " + t.reason()
	case h.state == iperf3.AccessDenied:
		what = "denies access"
	case h.state == iperf3.ServerTerminate:
		what = "was stopped"
	default:
		what = fmt.Sprintf("said %v, which does not belong there", h.state)
	}
	return fmt.Errorf("the iperf3 server at %s %s, %s", t.server, what, when)
}

// reason reads what follows a server's error.
func (t *Test) reason() string {
	if err := t.control.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return err.Error()
	}
	code, errno, err := iperf3.ReadServerError(t.control)
	if err != nil {
		return "it does not say why"
	}
	text := code.String()
	switch {
	case code == iperf3.CodeAuthentication && t.order.Login == nil:
		text += ": it wants a user (--iperf3-user)"
	case code == iperf3.CodeAuthentication && !t.order.Login.PKCS1:
		text += ": wrong user or password, clocks more than 10 s apart, or a server before 3.17, which needs --iperf3-pkcs1"
	case code == iperf3.CodeAuthentication:
		text += ": wrong user or password, or clocks more than 10 s apart"
	}
	if errno != 0 {
		text += fmt.Sprintf(" (there: %v)", syscall.Errno(errno))
	}
	return text
}

// token is what proves who comes.
func token(login *message.Iperf3Login) (string, error) {
	block, _ := pem.Decode(login.PublicKey)
	if block == nil {
		return "", errors.New("the iperf3 server's public key is not in PEM form")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("the iperf3 server's public key: %w", err)
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return "", fmt.Errorf("the iperf3 server's public key is %T: expected RSA", parsed)
	}
	padding := iperf3.OAEP
	if login.PKCS1 {
		padding = iperf3.PKCS1
	}
	return iperf3.Credentials{User: login.User, Password: login.Password, At: time.Now()}.Encode(key, padding)
}

// largestDatagram is the most payload that goes into one packet on the way of the
// control connection.
func (t *Test) largestDatagram() int {
	mtu := 1500
	if raw, err := t.control.(*net.TCPConn).SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			if info, err := sock.TCPInfo(int(fd)); err == nil && info.PMTU > 0 {
				mtu = int(info.PMTU)
			}
		})
	}
	headers := 28 // IPv4 and UDP
	if t.server.Addr().Is6() {
		headers = 48
	}
	return max(min(mtu-headers, iperf3.MaxUDPLength), iperf3.MinUDPLength)
}
