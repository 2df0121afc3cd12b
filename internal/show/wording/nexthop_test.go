package wording

import (
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestNexthopGroups: a group of nexthop objects is found whose members lead nowhere, more surely
// where it sends to them all the same.
func TestNexthopGroups(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*netstate.HostSnapshot)
		want   string // confidence; empty: nothing is found
		row    string
	}{
		"both answer": {func(*netstate.HostSnapshot) {}, "", ""},
		"one does not answer": {func(s *netstate.HostSnapshot) {
			s.Reading.Snapshot.Neighbours[1].State = "FAILED"
		}, record.Likely, "member 2 of group 10 (weight 3): its gateway 192.0.2.3 on eth0 is FAILED"},
		"another's entry": {func(s *netstate.HostSnapshot) {
			s.Reading.Snapshot.Neighbours[1] = netstate.Neighbour{Interface: "eth1", Address: "192.0.2.3",
				State: "FAILED"}
		}, "", ""},
		"of a resilient group": {func(s *netstate.HostSnapshot) {
			s.Reading.Snapshot.Neighbours[1].State, s.State.Nexthops[2].Resilient = "FAILED", true
		}, record.Certain, "what is hashed to it is lost"},
		"none answers": {func(s *netstate.HostSnapshot) {
			s.Reading.Snapshot.Neighbours[0].State, s.Reading.Snapshot.Neighbours[1].State = "FAILED", "INCOMPLETE"
		}, record.Certain, "100 %"},
		"no link": {func(s *netstate.HostSnapshot) {
			s.State.Nexthops[0].Flags = []string{"dead", "linkdown"}
		}, record.Likely, "25 % of the weights"},
		"discarding": {func(s *netstate.HostSnapshot) {
			s.State.Nexthops[1] = netstate.Nexthop{ID: 2, Flags: []string{"blackhole"}}
		}, record.Likely, "flag blackhole"},
		"weights that cannot be": {func(s *netstate.HostSnapshot) {
			s.State.Nexthops[2].Group = []netstate.NexthopMember{{ID: 1, Weight: -5}, {ID: 9, Weight: 1 << 62},
				{ID: 2, Weight: 1 << 62}}
			s.Reading.Snapshot.Neighbours[0].State = "FAILED"
		}, record.Likely, "0 % of the weights"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.Snapshot.Routes = []netstate.RouteEntry{
			netstate.ParseRoute(254, "198.51.100.0/24", "198.51.100.0/24 proto static nhid 10")}
		s.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.0.2.2",
			MAC: "02:00:00:00:00:02", State: "REACHABLE"}, {Interface: "eth0", Address: "192.0.2.3",
			MAC: "02:00:00:00:00:03", State: "STALE"}}
		s.State.Nexthops = []netstate.Nexthop{{ID: 1, Interface: "eth0", Via: "192.0.2.2"},
			{ID: 2, Interface: "eth0", Via: "192.0.2.3"},
			{ID: 10, Group: []netstate.NexthopMember{{ID: 1, Weight: 1}, {ID: 2, Weight: 3}}}}
		test.change(&s)
		var found []record.Finding
		for _, f := range Findings(diagnose.Hosts([]netstate.HostSnapshot{s}).Findings, true) {
			if f.ID == "nexthop-dead" {
				found = append(found, f)
			}
		}
		switch {
		case test.want == "":
			if len(found) > 0 {
				t.Errorf("%s: %+v", name, found)
			}
		case len(found) != 1 || found[0].Confidence != test.want ||
			!strings.Contains(strings.Join(found[0].Evidence, "\n"), test.row) ||
			!strings.Contains(strings.Join(found[0].Evidence, "\n"), "198.51.100.0/24"):
			t.Errorf("%s: %+v", name, found)
		case name == "one does not answer" && (len(found[0].Settings) != 1 ||
			len(found[0].Settings[0].Nexthop.Group) != 1):
			t.Errorf("%s: settings %+v", name, found[0].Settings)
		}
	}
}
