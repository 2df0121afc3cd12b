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
	"syscall"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// reach opens the control connection.
func (t *Test) reach(ctx context.Context) error {
	conn, err := greeting.Dial(ctx, t.request.Server, t.request.Flow.Local, t.timeout(), "iperf3 -s")
	if err != nil {
		return err
	}
	t.control = &control{conn.(*net.TCPConn), t.timeout()}
	t.server, t.local = socket.AddrPort(conn.RemoteAddr()), socket.AddrPort(conn.LocalAddr()).Addr()
	if t.request.Flow.Local.IsValid() {
		t.request.Flow.Local = t.local // the address in use, with its zone if it has one
	}
	return nil
}

// control is a control connection whose writes time out after limit.
type control struct {
	*net.TCPConn
	limit time.Duration
}

func (c *control) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.TCPConn.Write(b)
}

// hear waits for a state; limit 0: without a timeout.
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

// welcome sends the cookie and waits for the server's first state, which shows whether it is an iperf3 server.
func (t *Test) welcome(ctx context.Context) error {
	_, err := t.control.Write(t.cookie[:])
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
		return t.refused("after it was sent the cookie", h)
	case h.err != nil && !greeting.TimedOut(h.err) && t.isLinerate(ctx):
		return fmt.Errorf(
			"linerate serve listens at %s: leave --iperf3 out to measure with it, or name its iperf3 port", t.server)
	case hungUp(h.err):
		return fmt.Errorf(
			"the server at %s closed the connection without an answer: it is busy with another test, or something "+
				"else than iperf3", t.server)
	case greeting.TimedOut(h.err):
		return fmt.Errorf(
			"the server at %s accepted the connection and sent nothing for %v: something else than iperf3, or an "+
				"iperf3 that hangs", t.server, t.timeout())
	case h.err != nil:
		return fmt.Errorf("something else than iperf3 listens at %s: %w", t.server, greeting.Cause(h.err))
	}
	return fmt.Errorf("something else than iperf3 listens at %s: it began with %v", t.server, h.state)
}

// isLinerate reports whether the peer, which closed the connection on iperf3's cookie, is a linerate server.
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
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// refused returns the error for a server that did not send the expected state; when names the step.
func (t *Test) refused(when string, h heard) error {
	what := ""
	switch {
	case hungUp(h.err):
		what = "closed the connection"
		if t.request.Login != nil {
			what += "; newer servers do so when they do not accept user, password or clock (theirs and ours may be " +
				"10 s apart)"
		}
	case greeting.TimedOut(h.err):
		what = fmt.Sprintf("sent nothing for %v", t.timeout())
	case h.err != nil:
		what = "cannot be understood: " + greeting.Cause(h.err).Error()
	case h.state == iperf3.ServerError:
		what = "refuses: " + t.reason()
	case h.state == iperf3.AccessDenied:
		what = "denies access"
	case h.state == iperf3.ServerTerminate:
		what = "was stopped"
	default:
		what = fmt.Sprintf("sent %v, which is unexpected", h.state)
	}
	return fmt.Errorf("the iperf3 server at %s %s, %s", t.server, what, when)
}

// reason reads the code that follows the state ServerError.
func (t *Test) reason() string {
	if err := t.control.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return err.Error()
	}
	code, errno, err := iperf3.ReadServerError(t.control)
	if err != nil {
		return "it gives no reason"
	}
	text := code.String()
	switch {
	case code == iperf3.CodeAuthentication && t.request.Login == nil:
		text += ": it requires a user (--iperf3-user)"
	case code == iperf3.CodeAuthentication && !t.request.Login.PKCS1:
		text += ": wrong user or password, clocks more than 10 s apart, or a server before 3.17, which needs " +
			"--iperf3-pkcs1"
	case code == iperf3.CodeAuthentication:
		text += ": wrong user or password, or clocks more than 10 s apart"
	}
	if errno != 0 {
		text += fmt.Sprintf(" (its errno: %v)", syscall.Errno(errno))
	}
	return text
}

// token returns the token that authenticates the user.
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
	return iperf3.Credentials{User: login.User, Password: login.Password, At: time.Now()}.Encode(key, login.PKCS1)
}

// largestDatagram returns the largest payload that fits into one packet on the control connection's path.
func (t *Test) largestDatagram() int {
	mtu := 1500
	if raw, err := t.control.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			if info, err := sock.TCPInfo(int(fd)); err == nil && info.PMTU > 0 {
				mtu = int(info.PMTU)
			}
		})
	}
	headers := 28 // IPv4 and UDP headers
	if t.server.Addr().Is6() {
		headers = 48
	}
	return max(min(mtu-headers, iperf3.MaxUDPLength), iperf3.MinUDPLength)
}
