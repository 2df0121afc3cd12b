package route_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestDiscardingRoutes: what a person discards is likely a mistake; a default route that yields to
// any other keeps lookups in its table.
func TestDiscardingRoutes(t *testing.T) {
	for _, test := range []struct {
		table    int
		to, text string
		want     string
	}{
		{facts.MainTable, "198.51.100.0/24", "blackhole 198.51.100.0/24", "blackhole-route nas likely"},
		{facts.MainTable, "198.51.100.0/24", "blackhole 198.51.100.0/24 proto bird metric 32",
			"blackhole-route nas possible"},
		{facts.MainTable, "0.0.0.0/0", "unreachable default metric 100", "blackhole-route nas likely"},
		{10, "198.51.100.0/24", "unreachable 198.51.100.0/24 metric 4278198272", "blackhole-route nas likely"},
		{10, "0.0.0.0/0", "unreachable default metric 4278198272", ""},
		{10, "::/0", "unreachable default dev lo metric 4278198272 pref medium", ""},
		{facts.MainTable, "::/0", "unreachable default metric 4294967295 error -101", ""},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.Snapshot.Routes = []netstate.RouteEntry{netstate.ParseRoute(test.table, test.to, test.text)}
		if got := diagnosetest.Names(diagnose.Hosts([]netstate.HostSnapshot{s}).Findings); got != test.want {
			t.Errorf("table %d: %s: found %q, want %q", test.table, test.text, got, test.want)
		}
	}
}

// TestEmptyTables: a rule for all packets may lead to a table that is filled later.
func TestEmptyTables(t *testing.T) {
	for _, test := range []struct {
		rule netstate.RuleEntry
		want string
	}{
		{netstate.RuleEntry{Priority: 220, Table: 220}, ""},
		{netstate.RuleEntry{Priority: 100, From: "192.0.2.16/32", Table: 101}, "rule-without-routes nas likely"},
		{netstate.RuleEntry{Priority: 100, To: "198.51.100.0/24", Table: 101}, "rule-without-routes nas likely"},
		{netstate.RuleEntry{Priority: 100, From: "192.0.2.16/32", Table: facts.MainTable}, ""},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.Snapshot.Rules = []netstate.RuleEntry{{Table: facts.LocalTable}, test.rule,
			{Priority: 32766, Table: facts.MainTable}}
		if got := diagnosetest.Names(diagnose.Hosts([]netstate.HostSnapshot{s}).Findings); got != test.want {
			t.Errorf("%+v: found %q, want %q", test.rule, got, test.want)
		}
	}
}

// TestOmittedRoutes: nothing is concluded from a route that is absent in a snapshot without all of
// them, and that is said.
func TestOmittedRoutes(t *testing.T) {
	waiting := func(x, y *netstate.HostSnapshot) {
		x.Reading.Snapshot.Sysctls["net.ipv4.conf.all.rp_filter"] = "0"
		y.Reading.Snapshot.Interfaces[1].Addresses = []string{"198.51.100.7/24"}
		y.State.Notable = []netstate.Connection{{Local: "198.51.100.7:9", Remote: "10.72.0.1:80", State: "SYN-SENT",
			Info: &netstate.TCPInfo{Retransmits: 2}}}
	}
	for id, change := range map[string]func(x, y *netstate.HostSnapshot){
		"return-route-missing": waiting,
		"rule-without-routes": func(x, _ *netstate.HostSnapshot) {
			x.Reading.Snapshot.Rules = []netstate.RuleEntry{{Priority: 100, From: "10.72.0.1/32", Table: 101},
				{Priority: 32766, Table: facts.MainTable}}
		},
		"gateway-off-link": func(x, _ *netstate.HostSnapshot) {
			x.Reading.Snapshot.Routes = append(x.Reading.Snapshot.Routes, netstate.ParseRoute(facts.MainTable,
				"0.0.0.0/0",
				"default via 203.0.113.1 dev eth0"))
		},
		"strict-rp-filter": func(_, y *netstate.HostSnapshot) { // of ARP requests whose sender has no route
			y.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth1", Address: "10.73.0.1",
				State: "INCOMPLETE"}}
			y.Reading.Snapshot.Interfaces[0].Addresses = append(y.Reading.Snapshot.Interfaces[0].Addresses,
				"198.51.100.7/32")
		},
	} {
		for _, omitted := range []int{0, 9} {
			x, y := diagnosetest.TwoHosts()
			change(&x, &y)
			x.Reading.Snapshot.RoutesOmitted = omitted
			e := diagnose.Hosts([]netstate.HostSnapshot{x, y})
			if found := strings.Contains(diagnosetest.Names(e.Findings), id); found != (omitted == 0) {
				t.Errorf("%s, %d routes left out: found %s", id, omitted, diagnosetest.Names(e.Findings))
			}
			said := slices.Contains(e.Unevaluated, record.Unevaluated{Rule: id, Host: "x",
				Part: facts.EveryRoute, Why: "every route: 9 routes left out of the snapshot"})
			if said != (omitted > 0 && id != "strict-rp-filter") { // which goes by counters as well
				t.Errorf("%s, %d routes left out: not evaluated %+v", id, omitted, e.Unevaluated)
			}
		}
	}
}
