package bgp

import (
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/message"
)

var request = message.BGPRequest{
	AS: 65001, RouterID: netip.MustParseAddr("0.0.0.1"), Metric: 20,
	Announce: []netip.Prefix{netip.MustParsePrefix("10.0.200.1/32"), netip.MustParsePrefix("fd00::/64")},
	Sessions: []message.BGPSession{{Interface: "eth0", Address: netip.MustParseAddr("fe80::1"), AS: 65101},
		{Interface: "eth1", Address: netip.MustParseAddr("fe80::2"), AS: 65102}},
}

const protocolBIRD = 12 // RTPROT_BIRD

// TestConfig: each network in its family's table, each neighbour on its interface, and
// what was learned goes on only from a router.
func TestConfig(t *testing.T) {
	text := Config(request)
	for _, want := range []string{
		"router id 0.0.0.1;",
		"own_ipv4 {\n  ipv4;\n  route 10.0.200.1/32 blackhole;\n}",
		"own_ipv6 {\n  ipv6;\n  route fd00::/64 blackhole;\n}",
		"neighbor fe80::1 as 65101;\n  interface \"eth0\";",
		"neighbor fe80::2 as 65102;\n  interface \"eth1\";",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	const passing = "export where source = RTS_STATIC || source = RTS_BGP;"
	if strings.Contains(text, passing) {
		t.Errorf("a host that is no router passes routes on:\n%s", text)
	}
	router := request
	router.Transit = true
	if text := Config(router); strings.Count(text, passing) != 4 { // two families, two sessions
		t.Errorf("a router passes its routes on %d times, want 4:\n%s", strings.Count(text, passing), text)
	}
}

// TestHeld: a route counts as there when a daemon has made it, by all its interfaces.
func TestHeld(t *testing.T) {
	to := func(text string) netip.Prefix { return netip.MustParsePrefix(text) }
	routes := []netlink.Route{
		{To: to("10.0.0.1/32"), Table: netlink.TableMain, Protocol: protocolBIRD, Interfaces: []string{"eth1", "eth0"},
			Text: "both"},
		{To: to("10.0.0.2/32"), Table: netlink.TableMain, Protocol: protocolBIRD, Interfaces: []string{"eth1"},
			Text: "one"},
		{To: to("10.0.0.3/32"), Table: netlink.TableMain, Protocol: 2 /* RTPROT_KERNEL */, Interfaces: []string{"eth1"},
			Text: "other"},
	}
	both := []string{"eth0", "eth1"}
	found := Held(routes, []message.RouteWanted{{To: to("10.0.0.1/32"), Interfaces: both},
		{To: to("10.0.0.2/32"), Interfaces: both}, {To: to("10.0.0.3/32"), Interfaces: both[1:]}})
	if got, want := strings.Join(found.Missing, "; "),
		"10.0.0.2/32 by eth0, eth1; it is by eth1; 10.0.0.3/32 by eth1"; got != want {
		t.Errorf("missing %q, want %q", got, want)
	}
	if strings.Join(found.Routes, " ") != "both one" {
		t.Errorf("the daemon's routes are %q", found.Routes)
	}
}
