package route_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestStrictFilterInterface: the filter of an interface is the larger of its own and all's, and
// the interface that drops is the one by which enough packets came, or to which a source sends
// that is answered by another; otherwise it is one of several.
func TestStrictFilterInterface(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(x, y *netstate.HostSnapshot)
		by     string
	}{
		{"only one received as many", func(x, _ *netstate.HostSnapshot) {
			x.Reading.End.Interfaces[0].RxPackets, x.Reading.End.Interfaces[1].RxPackets = 102, 870
		}, "eth1"},
		{"the filter of one is loose", func(x, _ *netstate.HostSnapshot) {
			x.Reading.Snapshot.Sysctls["net.ipv4.conf.eth0.rp_filter"] = "2"
			x.Reading.End.Interfaces[0].RxPackets, x.Reading.End.Interfaces[1].RxPackets = 5000, 900
		}, "eth1"},
		{"each must have dropped some", func(x, _ *netstate.HostSnapshot) {
			x.Reading.End.Interfaces[0].RxPackets, x.Reading.End.Interfaces[1].RxPackets = 600, 600
		}, "eth0 and eth1"},
		{"a peer sends from an address that is answered by the other", func(x, y *netstate.HostSnapshot) {
			x.Reading.End.Interfaces[0].RxPackets, x.Reading.End.Interfaces[1].RxPackets = 9000, 9000
			y.Reading.Snapshot.Sysctls["net.ipv4.conf.all.arp_announce"] = "2"
			y.Reading.Snapshot.Interfaces[1].Addresses = []string{"10.72.0.2/24"}
			y.Reading.Snapshot.Interfaces[0].Addresses = nil
			y.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth1", Address: "10.73.0.1",
				MAC: x.Reading.Snapshot.Interfaces[1].MAC, State: "REACHABLE"}}
		}, "eth1"},
		{"a neighbour of one is answered by the other", func(x, _ *netstate.HostSnapshot) {
			x.Reading.End.Interfaces[0].RxPackets, x.Reading.End.Interfaces[1].RxPackets = 9000, 9000
			x.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth1", Address: "10.72.0.7",
				MAC:   diagnosetest.Stranger,
				State: "STALE"}, {Interface: "eth0", Address: "10.72.0.8", MAC: diagnosetest.Stranger, State: "STALE"}}
		}, "eth1"},
		{"what the other received was for other hosts", func(x, _ *netstate.HostSnapshot) {
			x.Reading.End.Interfaces[0].RxPackets, x.Reading.End.Interfaces[1].RxPackets = 890, 870
			x.Reading.End.Interfaces[0].RxOtherhost = 30
		}, "eth1"},
		{"nothing tells which", func(x, _ *netstate.HostSnapshot) {
			x.Reading.End.Interfaces[0].RxPackets, x.Reading.End.Interfaces[1].RxPackets = 9000, 9000
		}, "one of eth0 and eth1"},
	} {
		x, y := diagnosetest.TwoHosts()
		x.Reading.End.SNMP["TcpExt.IPReversePathFilter"] = 769
		test.change(&x, &y)
		var causes []string
		for _, f := range diagnose.Hosts([]netstate.HostSnapshot{x, y}).Findings {
			switch f.ID {
			case "strict-rp-filter":
				if by(f) != test.by || f.Confidence != record.Certain {
					t.Errorf("%s: %+v", test.name, f)
				}
			case "rp-filter-drop":
				if by(f) != test.by || f.ExplainedBy != "strict-rp-filter" {
					t.Errorf("%s: %+v", test.name, f)
				}
			}
			if f.ExplainedBy == "" {
				causes = append(causes, f.ID)
			}
		}
		if !slices.Equal(causes, []string{"strict-rp-filter"}) {
			t.Errorf("%s: found %v", test.name, causes)
		}
	}
}

// by names the interfaces of a filter.
func by(f record.Finding) string {
	a := f.Args.(cause.Filter)
	if names := strings.Join(a.Interfaces, " and "); !a.OneOf {
		return names
	}
	return "one of " + strings.Join(a.Interfaces, " and ")
}

// back is the sender to which a route back is advised; invalid: there is none.
func back(f record.Finding) (to netip.Addr) {
	for _, s := range f.Steps {
		if s.Hint != nil {
			if is, ok := s.Hint.Is.(hint.RouteBack); ok {
				to = is.To
			}
		}
	}
	return to
}

// far is the address of a sender to which there is no route.
var far = netip.MustParseAddr("198.51.100.7")

// TestFilteredRequests: an address of a known host that does not answer ARP requests, because
// its strict filter drops them.
func TestFilteredRequests(t *testing.T) {
	asks := func(y *netstate.HostSnapshot) {
		y.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth1", Address: "10.73.0.1",
			State: "INCOMPLETE"}}
	}
	// y has no address in eth1's subnet, so that it asks from eth0's.
	elsewhere := func(_, y *netstate.HostSnapshot) {
		asks(y)
		y.Reading.Snapshot.Interfaces[1].Addresses = nil
	}
	for _, test := range []struct {
		name   string
		change func(x, y *netstate.HostSnapshot)
		found  string
	}{
		{"from another subnet's address", elsewhere, "strict-rp-filter x likely"},
		{"from any address, as arp_announce=0 lets it", func(_, y *netstate.HostSnapshot) {
			asks(y)
		}, "strict-rp-filter x likely"},
		{"from one without a route, as arp_announce=0 lets it", func(_, y *netstate.HostSnapshot) {
			asks(y)
			y.Reading.Snapshot.Interfaces[0].Addresses = append(y.Reading.Snapshot.Interfaces[0].Addresses,
				"198.51.100.7/32")
		}, "strict-rp-filter x likely"},
		{"it is y's gateway", func(x, y *netstate.HostSnapshot) {
			elsewhere(x, y)
			y.Reading.Snapshot.Routes = append(y.Reading.Snapshot.Routes, netstate.ParseRoute(facts.MainTable,
				"0.0.0.0/0",
				"default via 10.73.0.1 dev eth1"),
				netstate.ParseRoute(facts.MainTable, "10.73.0.1/32", "10.73.0.1 dev eth1 scope link"))
		}, "strict-rp-filter x likely"},
		{"from an address of the subnet", func(_, y *netstate.HostSnapshot) {
			asks(y)
			y.Reading.Snapshot.Sysctls["net.ipv4.conf.all.arp_announce"] = "2"
		}, "neighbour-failed y possible"},
		{"the filter is loose", func(x, y *netstate.HostSnapshot) {
			elsewhere(x, y)
			x.Reading.Snapshot.Sysctls["net.ipv4.conf.eth1.rp_filter"] = "2"
		}, "neighbour-failed y possible"},
		{"a rule has the answer leave by eth1", func(x, y *netstate.HostSnapshot) {
			elsewhere(x, y)
			x.Reading.Snapshot.Rules = []netstate.RuleEntry{{Priority: 100, From: "10.73.0.1/32", Table: 101},
				{Priority: 32766, Table: facts.MainTable}}
			x.Reading.Snapshot.Routes = append(x.Reading.Snapshot.Routes,
				netstate.ParseRoute(101, "10.72.0.0/24", "10.72.0.0/24 dev eth1"))
		}, "neighbour-failed y possible"},
		{"a rule of another source has it leave by eth1", func(x, y *netstate.HostSnapshot) {
			elsewhere(x, y)
			x.Reading.Snapshot.Rules = []netstate.RuleEntry{{Priority: 100, From: "10.72.0.1/32", Table: 101},
				{Priority: 32766, Table: facts.MainTable}}
			x.Reading.Snapshot.Routes = append(x.Reading.Snapshot.Routes,
				netstate.ParseRoute(101, "10.72.0.0/24", "10.72.0.0/24 dev eth1"))
		}, "strict-rp-filter x likely"},
		{"a rule goes by what is not known", func(x, y *netstate.HostSnapshot) {
			elsewhere(x, y)
			x.Reading.Snapshot.Rules = []netstate.RuleEntry{{Priority: 100, Table: 101, Other: true},
				{Priority: 32766, Table: facts.MainTable}}
		}, "neighbour-failed y possible"},
		{"no request arrives", func(x, y *netstate.HostSnapshot) {
			elsewhere(x, y)
			x.Reading.End.Interfaces[1].RxPackets = 100
		}, "neighbour-failed y possible"},
		{"no host is known to have the address", func(x, y *netstate.HostSnapshot) {
			elsewhere(x, y)
			y.Reading.Snapshot.Neighbours[0].Address = "10.73.0.9"
		}, "neighbour-failed y possible"},
	} {
		x, y := diagnosetest.TwoHosts()
		test.change(&x, &y)
		findings := diagnose.Hosts([]netstate.HostSnapshot{x, y}).Findings
		if got := diagnosetest.Names(findings); got != test.found {
			t.Errorf("%s: found %s", test.name, got)
		}
		if test.name == "from one without a route, as arp_announce=0 lets it" &&
			back(findings[0]) != far {
			t.Errorf("%s: %+v", test.name, findings[0].Steps)
		}
		if f := findings[0]; f.ID == "strict-rp-filter" && !slices.ContainsFunc(f.Facts, func(one fact.Fact) bool {
			is, ok := one.Is.(fact.DroppedRequest)
			return ok && is.Peer == "y" && is.From[0].To == netip.MustParseAddr("10.72.0.2")
		}) {
			t.Errorf("%s: %+v", test.name, f.Facts)
		}
	}
}

// TestFilterFix: the loose filter helps senders to which there is a route, and no others.
func TestFilterFix(t *testing.T) {
	route := func(to, text string) netstate.RouteEntry {
		return netstate.ParseRoute(facts.MainTable, to, text)
	}
	routeless := func(_, y *netstate.HostSnapshot) {
		y.Reading.Snapshot.Interfaces[1].Addresses = append(y.Reading.Snapshot.Interfaces[1].Addresses,
			"198.51.100.7/32")
	}
	neighbour := func(x, _ *netstate.HostSnapshot) {
		x.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth1", Address: "10.72.0.7",
			MAC:   diagnosetest.Stranger,
			State: "STALE"}}
	}
	for _, test := range []struct {
		name        string
		change      func(x, y *netstate.HostSnapshot)
		loose, back bool
	}{
		{"nothing is known of the senders", func(_, _ *netstate.HostSnapshot) {}, false, false},
		{"one is answered by the other interface", neighbour, true, false},
		{"a default route leads to all", func(x, _ *netstate.HostSnapshot) {
			x.Reading.Snapshot.Routes = append(x.Reading.Snapshot.Routes,
				route("0.0.0.0/0", "default via 10.72.0.254 dev eth0"))
		}, true, false},
		{"no route leads to one", routeless, false, true},
		{"a route discards what is sent to it", func(x, y *netstate.HostSnapshot) {
			routeless(x, y)
			x.Reading.Snapshot.Routes = append(x.Reading.Snapshot.Routes,
				route("198.51.100.0/24", "blackhole 198.51.100.0/24"))
		}, false, true},
		{"no route leads to one, and another is answered", func(x, y *netstate.HostSnapshot) {
			routeless(x, y)
			neighbour(x, y)
		}, true, true},
		{"a neighbour has no route", func(x, _ *netstate.HostSnapshot) {
			x.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth1", Address: "198.51.100.7",
				MAC: diagnosetest.Stranger, State: "STALE"}}
		}, false, true},
	} {
		x, y := diagnosetest.TwoHosts()
		x.Reading.End.Interfaces[0].RxPackets, x.Reading.End.Interfaces[1].RxPackets = 9000, 9000
		x.Reading.End.SNMP[facts.FilterCounter] = 769
		test.change(&x, &y)
		f := diagnose.Hosts([]netstate.HostSnapshot{x, y}).Findings[0]
		if f.ID != "strict-rp-filter" || len(f.Changes()) > 0 != test.loose || (back(f) == far) != test.back {
			t.Errorf("%s: %s: %+v", test.name, f.ID, f.Steps)
		}
	}
}

// TestFilterBefore: what was dropped since the boot may have been dropped by a filter of another
// mode than that of now.
func TestFilterBefore(t *testing.T) {
	for _, test := range []struct {
		mode          string
		before, grown int64
		overS         float64
		want          string // rule, and whether it is since the boot; empty: nothing is found
	}{
		{"2", 2361, 0, 3, ""},
		{"2", 2361, 5, 3, "loose-rp-filter false"},
		{"2", 2361, 0, 0, "loose-rp-filter true"},
		{"1", 2361, 0, 3, "strict-rp-filter true"},
		{"1", 0, 5, 3, "strict-rp-filter false"},
	} {
		x, y := diagnosetest.TwoHosts()
		x.Reading.Snapshot.Sysctls["net.ipv4.conf.all.rp_filter"] = test.mode
		x.OverS = test.overS
		x.Reading.Begin.SNMP[facts.FilterCounter], x.Reading.End.SNMP[facts.FilterCounter] = test.before,
			test.before+test.grown
		got := ""
		for _, f := range diagnose.Hosts([]netstate.HostSnapshot{x, y}).Findings {
			if strings.HasSuffix(f.ID, "e-rp-filter") || f.ID == "strict-rp-filter" {
				got += fmt.Sprint(f.ID, " ", f.Boot)
			}
		}
		if got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
