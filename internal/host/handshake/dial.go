package handshake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// Datagrams of the opener and their answers may be lost. They are resent, at first after the first time, later
// after up to the second.
const (
	retryFirst = 50 * time.Millisecond
	retryMax   = 500 * time.Millisecond
	// defaultTimeout is how long an opener tries if no timeout is given.
	defaultTimeout = 10 * time.Second
)

// ErrNoAnswer means that the acceptor did not answer in time.
var ErrNoAnswer = errors.New("no answer")

// Dial opens a flow: it connects a socket with the request's options and performs the handshake with the
// acceptor. Timeout 0 means ten seconds.
func Dial(ctx context.Context, request message.FlowRequest, timeout time.Duration) (*net.UDPConn, error) {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dialer := Dialer(request)
	c, err := dialer.DialContext(ctx, "udp", request.Remote.String())
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UDPConn)
	// Ending the context ends the wait for an answer.
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	hello := frame{kind: kindHello, flow: request.Cookie}
	challenge, err := exchange(ctx, conn, hello, kindChallenge)
	if err == nil {
		_, err = exchange(ctx, conn, frame{kind: kindResponse, flow: request.Cookie, cookie: challenge.cookie},
			kindReady)
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	if err == nil {
		err = ctx.Err()
	}
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, syscall.ECONNREFUSED):
		err = errors.New(
			"connection refused (ICMP port unreachable): nothing listens there, or a firewall rejects UDP to this port")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("%w to UDP datagrams within %v: a firewall may let TCP through alone", ErrNoAnswer, timeout)
	case ctx.Err() != nil:
		err = context.Canceled
	}
	conn.Close()
	return nil, err
}

// Dialer returns a dialer whose sockets are connected and have the request's options. One port may serve
// several destinations, as with TCP: the kernel delivers a datagram to the socket connected to its source. A
// datagram that reaches another socket before that is connected lacks its flow's cookie.
func Dialer(request message.FlowRequest) *net.Dialer {
	dialer := &net.Dialer{Control: socket.Control(request)}
	if request.Local.IsValid() || request.LocalPort != 0 {
		dialer.LocalAddr = &net.UDPAddr{IP: request.Local.AsSlice(), Zone: request.Local.Zone(),
			Port: int(request.LocalPort)}
	}
	return dialer
}

// exchange repeats a frame until the answer comes.
func exchange(ctx context.Context, conn *net.UDPConn, say frame, want kind) (frame, error) {
	question, buffer := say.encode(), make([]byte, FrameBytes+1)
	again := retryFirst
	for ctx.Err() == nil {
		// A network that is not up yet or is congested is no reason to give up.
		if _, err := conn.Write(question); err != nil && !socket.NotSent(err) {
			return frame{}, err
		}
		deadline := time.Now().Add(again)
		again = min(2*again, retryMax)
		for ctx.Err() == nil {
			if err := conn.SetReadDeadline(deadline); err != nil {
				return frame{}, err
			}
			if ctx.Err() != nil {
				break
			}
			n, err := conn.Read(buffer)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return frame{}, err
			}
			// Anything else is late or not meant for this flow.
			if f, ok := decode(buffer[:n]); ok && f.kind == want && f.flow == say.flow &&
				(want == kindChallenge || f.cookie == say.cookie) {
				return f, nil
			}
		}
	}
	return frame{}, ctx.Err()
}
