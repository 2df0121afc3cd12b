package greeting

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"
)

// KeepAlive is a configuration that detects within half a minute that a peer has vanished.
var KeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// Dial connects to a server, from the address source if it is valid. timeout bounds the wait for an
// answer. A server that vanishes later is noticed within half a minute (KeepAlive). The error has one
// line that says what failed, and one that says what to do; start is the command that starts such a
// server.
func Dial(ctx context.Context, address string, source netip.Addr, timeout time.Duration, start string) (
	net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout, KeepAliveConfig: KeepAlive}
	if source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: source.AsSlice(), Zone: source.Zone()}
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("reaching %s: %w", address, context.Cause(ctx))
	}
	return nil, unreached(err, address, source, timeout, start)
}

// unreached says why there is no connection, and on a second line what to do.
func unreached(err error, address string, source netip.Addr, timeout time.Duration, start string) error {
	if name, is := errors.AsType[*net.DNSError](err); is && name.IsNotFound {
		return fmt.Errorf("%w\nCheck its spelling, or use the host's address", Cause(err))
	} else if is {
		return fmt.Errorf("%w\nUse the host's address, or check the name servers of this host", Cause(err))
	}
	why, todo := "", ""
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		why, todo = ": nothing listens there, or a firewall rejects connections to this port", "Start "+start+
			" on that host, or check the port and the firewall"
	case errors.Is(err, syscall.ENETUNREACH):
		why, todo = ": this host, or a router on the path, has no route to this address",
			"Check the address; ip route get ADDRESS names this host's route, and if there is one, a router has none"
	case errors.Is(err, syscall.EHOSTUNREACH), TimedOut(err):
		silent := &UnreachedError{Address: address, within: timeout}
		if !TimedOut(err) {
			silent.rejected = Cause(err)
		}
		if op, ok := errors.AsType[*net.OpError](err); ok {
			silent.Peer, _ = netip.ParseAddrPort(fmt.Sprint(op.Addr)) // not known: invalid
		}
		return silent
	case source.IsValid() && errors.Is(err, syscall.EADDRNOTAVAIL):
		why, todo = ": this host does not have the source address "+source.String(),
			"ip address lists those that it has"
	default:
		return fmt.Errorf("reaching %s: %w", address, Cause(err))
	}
	return fmt.Errorf("reaching %s: %w%s\n%s", address, Cause(err), why, todo)
}

// UnreachedError means that a peer did not answer in time, or that it cannot be reached (EHOSTUNREACH).
// The second line of its text says what to do.
type UnreachedError struct {
	Address string         // as it was dialled
	Peer    netip.AddrPort // the address that was tried; invalid: not known
	// Hop is the peer, or the gateway towards it, if this host's neighbour table has a MAC address for
	// it. State is the state of that entry. Invalid: not known.
	Hop    netip.Addr
	State  string
	within time.Duration
	// rejected is EHOSTUNREACH, because this host got no answer to ARP or an ICMP message; nil:
	// there was no answer at all.
	rejected error
}

func (e *UnreachedError) Unwrap() error { return e.rejected }

func (e *UnreachedError) Error() string {
	text := fmt.Sprintf("reaching %s: no answer within %v\n", e.Address, e.within)
	if e.rejected != nil {
		text = fmt.Sprintf("reaching %s: %v\n", e.Address, e.rejected)
	}
	answers, protocol := "has answered", "ARP"
	if e.State == "REACHABLE" {
		answers = "answers"
	}
	if e.Hop.Is6() {
		protocol = "neighbour discovery"
	}
	const stray = "the answers go elsewhere (a wrong neighbour entry or route there)"
	switch {
	case !e.Hop.IsValid() && e.rejected != nil:
		return text + "No answer to ARP or neighbour discovery, or a router or firewall rejects packets to it by " +
			"ICMP: check that the host is up and has this address; ip route get names the next hop, ip neighbour " +
			"says who answers"
	case !e.Hop.IsValid():
		return text + "The host is down, or a firewall drops packets to this port"
	case e.rejected != nil && e.Hop == e.Peer.Addr():
		return text + fmt.Sprintf(
			"It %s %s (ip neighbour: %s): a firewall there rejects connections to this port by ICMP", answers,
			protocol, e.State)
	case e.rejected != nil:
		return text + fmt.Sprintf(
			"The gateway %s %s %s (ip neighbour: %s): a router behind it cannot reach the host, or a firewall "+
				"rejects connections to this port by ICMP",
			e.Hop, answers, protocol, e.State)
	case e.Hop == e.Peer.Addr():
		text += fmt.Sprintf("It %s %s (ip neighbour: %s): a firewall drops packets to this port, or %s", answers,
			protocol, e.State, stray)
	default:
		text += fmt.Sprintf(
			"The gateway %s %s %s (ip neighbour: %s): the host behind it is down, a firewall drops packets to this "+
				"port, or %s",
			e.Hop, answers, protocol, e.State, stray)
	}
	return text + "; see linerate doctor --probe " + e.Peer.Addr().String()
}

// Cause returns what package net has wrapped in texts that repeat the addresses. For a name that cannot
// be looked up, its text says why.
func Cause(err error) error {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return &nameError{name}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err
}

// TimedOut reports whether err means that a deadline of a connection has passed.
func TimedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// nameError says why a name has no address.
type nameError struct{ *net.DNSError }

func (e *nameError) Unwrap() error { return e.DNSError }

func (e *nameError) Error() string {
	server := "the DNS server " + strings.TrimSuffix(e.Server, ":53")
	// A failed exchange with the server has package net's words of it: "dial udp SERVER: connect: WHY".
	last := strings.LastIndex(e.Err, ": ")
	switch {
	case e.IsNotFound:
		return e.Name + ": no such host"
	case e.Server == "":
		return fmt.Sprintf("%s: the name cannot be looked up: %s", e.Name, e.Err)
	case e.IsTimeout:
		return fmt.Sprintf("%s: the name cannot be looked up: %s does not answer", e.Name, server)
	case last > 0:
		return fmt.Sprintf("%s: the name cannot be looked up: %s is unreachable (%s)", e.Name, server, e.Err[last+2:])
	}
	return fmt.Sprintf("%s: the name cannot be looked up: %s: %s", e.Name, server, e.Err)
}
