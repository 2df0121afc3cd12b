package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"linerate/internal/bus/greeting"
	"linerate/internal/kernel/netlink"
)

// Complete returns address with its port, which is byDefault if address has none. It fails if address
// is not ADDRESS or ADDRESS:PORT.
func Complete(address, byDefault string) (string, error) {
	text := strings.TrimSpace(address)
	if scheme, _, is := strings.Cut(text, "://"); is {
		return "", fmt.Errorf("%q: expected ADDRESS or ADDRESS:PORT, without %s://", address, scheme)
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		// Without a port: a name, an IPv4 address, or an IPv6 address in brackets
		// or bare.
		host, port = text, byDefault
		if inner, opens := strings.CutPrefix(text, "["); opens && strings.HasSuffix(inner, "]") {
			host = strings.TrimSuffix(inner, "]")
		}
		if strings.ContainsAny(host, "[]") || strings.Count(host, ":") == 1 {
			return "", fmt.Errorf("%q: expected ADDRESS or ADDRESS:PORT, an IPv6 address with a port as [ADDRESS]:PORT",
				address)
		}
	}
	if host == "" || port == "" {
		return "", fmt.Errorf("%q: expected ADDRESS or ADDRESS:PORT", address)
	}
	if strings.Trim(host, "0123456789") == "" {
		return "", fmt.Errorf("%q is a number: a port is written with its address, as ADDRESS:%s", address, host)
	}
	if n, err := net.LookupPort("tcp", port); err != nil || n == 0 {
		return "", fmt.Errorf("%q: port %q: expected 1 to 65535, or a name of /etc/services", address, port)
	}
	a, err := netip.ParseAddr(host)
	if err != nil && strings.Contains(host, ":") {
		return "", fmt.Errorf("%q: expected an IPv6 address, or ADDRESS:PORT", address)
	}
	if err != nil && strings.ContainsFunc(host, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-._", c)
	}) {
		return "", fmt.Errorf("%q: expected a host name or an address", address)
	}
	if err != nil && strings.Contains(host, ".") && strings.Trim(host, "0123456789.") == "" {
		return "", fmt.Errorf("%q is no IPv4 address: expected four numbers from 0 to 255", host)
	}
	if err == nil && a.Is6() && a.IsLinkLocalUnicast() && a.Zone() == "" {
		return "", fmt.Errorf("%q: a link-local address needs the interface of this host, such as %s%%eth0",
			address, host)
	}
	return net.JoinHostPort(host, port), nil
}

// greet connects to a server from a source address, if that is valid, and has introduce
// exchange greetings with it. It returns the server's name.
func greet(ctx context.Context, address string, source netip.Addr, introduce func(io.ReadWriter) (name string,
	err error)) (net.Conn, string, error) {
	at, err := Complete(address, DefaultPort)
	if err != nil {
		return nil, "", err
	}
	stream, err := greeting.Dial(ctx, at, source, connectTimeout, "linerate serve")
	if err != nil {
		return nil, "", withIperf3(ctx, at, source, withBrackets(address, withHop(err)))
	}
	at = stream.RemoteAddr().String()
	// Ctrl-C ends the wait for an answer.
	stop := context.AfterFunc(ctx, func() { stream.Close() })
	var name string
	if err = stream.SetDeadline(time.Now().Add(connectTimeout)); err == nil {
		name, err = introduce(stream)
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

// withIperf3 adds to an error how to measure with the iperf3 server of the same host, if
// linerate's port is closed there and iperf3's is open.
func withIperf3(ctx context.Context, at string, source netip.Addr, err error) error {
	host, port, wrong := net.SplitHostPort(at)
	if wrong != nil || port != DefaultPort || !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	stream, refused := greeting.Dial(ctx, net.JoinHostPort(host, iperf3Port), source, time.Second, "iperf3 -s")
	if refused != nil {
		return err
	}
	stream.Close()
	return fmt.Errorf("%w\nPort %s, that of iperf3, is open there: linerate measure --iperf3 %s", err, iperf3Port, host)
}

// withHop adds to an error of a peer that does not answer what this host's neighbour table has of it,
// or of the gateway towards it.
func withHop(err error) error {
	silent, is := errors.AsType[*greeting.UnreachedError](err)
	if !is || !silent.Peer.IsValid() || !netlink.Available {
		return err
	}
	conn, wrong := netlink.Dial()
	if wrong != nil {
		return err
	}
	defer conn.Close()
	n, wrong := conn.NextHop(silent.Peer.Addr().Unmap())
	// not what was set by hand
	if wrong == nil && n.MAC != "" && slices.Contains([]string{"REACHABLE", "STALE", "DELAY", "PROBE"}, n.State) {
		silent.Hop, silent.State = n.Address, n.State
	}
	return err
}

// withBrackets adds to an error how an IPv6 address and a port are written, if the address
// may have been meant so.
func withBrackets(address string, err error) error {
	a, wrong := netip.ParseAddr(address)
	last := strings.LastIndex(address, ":")
	port, noPort := strconv.ParseUint(address[last+1:], 10, 16)
	if wrong != nil || a.Is4() || noPort != nil || port < 1000 {
		return err
	}
	return fmt.Errorf("%w\nIf %d is a port: [%s]:%[2]d", err, port, strings.TrimSuffix(address[:last], ":"))
}

// greetingError says why a peer cannot be measured with.
func greetingError(ctx context.Context, at string, err error) error {
	const another = "the program that listens at %s is not linerate serve: %s"
	refused, isRefused := errors.AsType[greeting.Refused](err)
	unknown, isUnknown := errors.AsType[greeting.UnknownPeerError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isRefused:
		return fmt.Errorf("the server at %s: %w", at, refused)
	case isUnknown && unknown.Iperf3:
		return fmt.Errorf("an iperf3 server listens at %s; measure with: linerate measure --iperf3 %s", at, at)
	case isUnknown:
		return fmt.Errorf(another, at, unknown.Sent)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return fmt.Errorf(another, at, "it closed the connection without an answer")
	case greeting.TimedOut(err):
		return fmt.Errorf(another, at, fmt.Sprintf("it accepted the connection and sent nothing for %v",
			connectTimeout))
	}
	return fmt.Errorf("greeting the server at %s: %w", at, greeting.Cause(err))
}
