package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"linerate/internal/bus/greeting"
)

// complete completes an address with the default port.
func complete(address string) (string, error) { return completeWith(address, DefaultPort) }

func completeWith(address, byDefault string) (string, error) {
	text := strings.TrimSpace(address)
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		// Without a port: a name, an IPv4 address, or an IPv6 address in brackets
		// or bare.
		host, port = text, byDefault
		if inner, opens := strings.CutPrefix(text, "["); opens && strings.HasSuffix(inner, "]") {
			host = strings.TrimSuffix(inner, "]")
		}
		if strings.ContainsAny(host, "[]") || strings.Count(host, ":") == 1 {
			return "", fmt.Errorf("%q: expected ADDRESS or ADDRESS:PORT, an IPv6 address with a port as [ADDRESS]:PORT", address)
		}
	}
	if host == "" || port == "" {
		return "", fmt.Errorf("%q: expected ADDRESS or ADDRESS:PORT", address)
	}
	return net.JoinHostPort(host, port), nil
}

// reach opens the control connection and introduces this conductor. It returns
// the server's name.
func reach(ctx context.Context, o Options) (net.Conn, string, error) {
	stream, err := dial(ctx, o.Addresses[0], o.source(0))
	if err != nil {
		return nil, "", err
	}
	at := stream.RemoteAddr().String()
	// Ctrl-C ends the waiting for an answer.
	stop := context.AfterFunc(ctx, func() { stream.Close() })
	var name string
	err = stream.SetDeadline(time.Now().Add(connectTimeout))
	if err == nil {
		name, err = greeting.Introduce(stream, o.Token)
	}
	if err == nil {
		err = stream.SetDeadline(time.Time{})
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		stream.Close()
		return nil, "", greetingError(ctx, at, err)
	}
	return stream, name, nil
}

// dialError says why there is no connection.
func dialError(ctx context.Context, err error) error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused: nothing listens there; start linerate serve on that host")
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return fmt.Errorf("%w: there is no way from this host", cause(err))
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no answer within %v: the host is off, or a firewall drops what goes to this port", connectTimeout)
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

// greetingError says why a connection is of no use.
func greetingError(ctx context.Context, at string, err error) error {
	const another = "another program than linerate serve listens at %s: %s"
	var timeout net.Error
	refused, isRefused := errors.AsType[greeting.Refused](err)
	unknown, isUnknown := errors.AsType[greeting.UnknownPeerError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isRefused:
		return fmt.Errorf("the server at %s: %w", at, refused)
	case isUnknown:
		return fmt.Errorf(another, at, unknown.Sent)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf(another, at, "it closed the connection without an answer")
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf(another, at, fmt.Sprintf("it took the connection and said nothing for %v", connectTimeout))
	}
	return fmt.Errorf("greeting the server at %s: %w", at, cause(err))
}
