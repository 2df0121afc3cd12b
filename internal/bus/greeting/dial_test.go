package greeting

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCauseOfNames: a name without an address, and a name server that fails, are different
// errors, without the texts of system calls.
func TestCauseOfNames(t *testing.T) {
	const server = "192.0.2.53:53"
	for want, err := range map[string]*net.DNSError{
		"nas: no such host": {Err: "no such host", Name: "nas", Server: server, IsNotFound: true},
		"nas: the name cannot be looked up: the DNS server 192.0.2.53 is unreachable (network is unreachable)": {
			Err: "dial udp 192.0.2.53:53: connect: network is unreachable", Name: "nas", Server: server},
		"nas: the name cannot be looked up: the DNS server 192.0.2.53 does not answer": {
			Err: "read udp 192.0.2.1:7->192.0.2.53:53: i/o timeout", Name: "nas", Server: server, IsTimeout: true},
		"nas: the name cannot be looked up: the DNS server 192.0.2.53: server misbehaving": {
			Err: "server misbehaving", Name: "nas", Server: server, IsTemporary: true},
		"nas: the name cannot be looked up: system error": {
			Err: "system error", Name: "nas"},
	} {
		if got := Cause(&net.OpError{Op: "dial", Net: "tcp", Err: err}); got.Error() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestUnreached: each errno has its own words, and a line with what to do.
func TestUnreached(t *testing.T) {
	errno := func(e syscall.Errno) error { return &net.OpError{Op: "dial", Net: "tcp", Err: e} }
	said := map[string]bool{}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errno(syscall.ENETUNREACH),
			"network is unreachable: this host, or a router on the path, has no route to this address\n"},
		{errno(syscall.EHOSTUNREACH),
			"no route to host\nNo answer to ARP or neighbour discovery, or a router or firewall rejects packets to it"},
		{errno(syscall.ETIMEDOUT), "no answer within 10s\nThe host is down, or a firewall drops packets"},
		{errno(syscall.ECONNREFUSED),
			"connection refused: nothing listens there, or a firewall rejects connections to this port\nStart " +
				"linerate serve on that host"},
		{errno(syscall.EADDRNOTAVAIL), "this host does not have the source address 192.0.2.1\n"},
	} {
		got := unreached(c.err, "nas:5202", netip.MustParseAddr("192.0.2.1"), 10*time.Second, "linerate serve").Error()
		if !strings.HasPrefix(got, "reaching nas:5202: ") || !strings.Contains(got, c.want) || said[got] {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
		said[got] = true
	}
}

// TestNextHop: a peer that answers ARP is not said to be down, nor, if its firewall rejects, to be
// without an answer to ARP.
func TestNextHop(t *testing.T) {
	peer, gateway := netip.MustParseAddrPort("192.0.2.9:5202"), netip.MustParseAddr("198.51.100.1")
	for _, c := range []struct {
		hop         netip.Addr
		state, want string
		down        bool
	}{
		{netip.Addr{}, "", "The host is down, or a firewall", true},
		{peer.Addr(), "REACHABLE",
			"It answers ARP (ip neighbour: REACHABLE): a firewall drops packets to this port, or the answers go " +
				"elsewhere", false},
		{peer.Addr(), "STALE", "It has answered ARP", false},
		{gateway, "REACHABLE",
			"The gateway 198.51.100.1 answers ARP (ip neighbour: REACHABLE): the host behind it is down", true},
		{netip.MustParseAddr("fe80::1"), "DELAY", "The gateway fe80::1 has answered neighbour discovery", true},
	} {
		got := (&UnreachedError{Address: "nas:5202", Peer: peer, Hop: c.hop, State: c.state,
			within: 10 * time.Second}).Error()
		if !strings.HasPrefix(got, "reaching nas:5202: no answer within 10s\n"+c.want) ||
			strings.Contains(got, "down") != c.down || c.hop.IsValid() &&
			!strings.Contains(got, "doctor --probe 192.0.2.9") {
			t.Error(got)
		}
	}
	for hop, want := range map[netip.Addr]string{
		{}: "No answer to ARP or neighbour discovery, or a router or firewall rejects packets to it by " +
			"ICMP: check",
		peer.Addr(): "It answers ARP (ip neighbour: REACHABLE): a firewall there rejects connections to this port " +
			"by ICMP",
		gateway: "The gateway 198.51.100.1 answers ARP (ip neighbour: REACHABLE): a router behind it cannot " +
			"reach the host, or a firewall rejects",
	} {
		err := unreached(&net.OpError{Op: "dial", Addr: net.TCPAddrFromAddrPort(peer),
			Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}, "nas:5202", netip.Addr{}, time.Second,
			"linerate serve")
		silent, is := errors.AsType[*UnreachedError](err)
		if !is || silent.Peer != peer || !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Fatalf("%#v", err)
		}
		if silent.Hop, silent.State = hop, "REACHABLE"; !strings.HasPrefix(err.Error(),
			"reaching nas:5202: no route to host\n"+want) {
			t.Error(err)
		}
	}
}
