package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/sciencetest"
)

// Each treatment of the study has its own causes, and no other's.
func TestTreatments(t *testing.T) {
	const (
		flux   = "arp-flux server certain"
		source = "arp-wrong-source server certain"
		egress = "same-subnet-one-egress server certain"
		filter = "rp-filter-drop server certain"
	)
	for i, want := range [][2]string{ // writes, reads
		{flux, flux + ", " + egress},
		{source, source + ", " + egress},
		{"", egress},
		{"", egress},
		{"", ""},
		{filter, filter},
		{"", ""},
	} {
		for k, direction := range []string{"writes", "reads"} {
			findings := Diagnose(diagnosetest.Trial(i, direction), &diagnosetest.Topo)
			if got := diagnosetest.Names(findings); got != want[k] {
				t.Errorf("%s, %s: found %q, want %q", direction, sciencetest.Fixes[i], got, want[k])
			}
			for _, f := range findings {
				if len(f.Evidence)+len(f.Facts) < 2 || len(f.Treatments) != 1 || slices.Contains(f.Evidence, "") {
					t.Errorf("incomplete: %+v", f)
				}
			}
		}
	}
}

// Records that resemble a cause without having it.
func TestLookalikes(t *testing.T) {
	for _, test := range []struct {
		name   string
		trial  record.Trial
		doctor func(*record.Trial)
		want   string
	}{
		{"interfaces that share a MAC address do not identify one", diagnosetest.Trial(0, "writes"),
			func(t *record.Trial) {
				for h := range t.Hosts {
					for i := range t.Hosts[h].Snapshot.Interfaces {
						if t.Hosts[h].Host == "server" {
							t.Hosts[h].Snapshot.Interfaces[i].MAC = "02:00:00:01:00:01"
						}
					}
				}
			}, ""},
		{"members of a bond", diagnosetest.Trial(0, "writes"), func(t *record.Trial) {
			for i := range t.Hosts[0].Snapshot.Interfaces {
				t.Hosts[0].Snapshot.Interfaces[i].Master = "bond0"
			}
		}, ""},
		{"entries that an administrator made", diagnosetest.Trial(0, "writes"), func(t *record.Trial) {
			diagnosetest.EveryNeighbour(t, func(n *netstate.Neighbour) { n.State = "PERMANENT" })
		}, ""},
		{"rows without a share to confirm them", diagnosetest.Trial(0, "writes"), func(t *record.Trial) {
			t.Hosts[0].Begin.Interfaces, t.Hosts[0].End.Interfaces = nil, nil
		}, "arp-flux server likely"},
		{"settings that were not recorded", diagnosetest.Trial(0, "writes"), func(t *record.Trial) {
			t.Hosts[0].Snapshot.Sysctls = nil
		}, "arp-flux server likely"},
		{"peers that were not asked, but one interface takes all", diagnosetest.Trial(0, "writes"),
			func(t *record.Trial) {
				diagnosetest.EveryNeighbour(t, func(n *netstate.Neighbour) { n.MAC, n.State = "", "NONE" })
			}, "arp-flux server likely"},
		{"arp_ignore=3 looks at scopes only", diagnosetest.Trial(0, "writes"), func(t *record.Trial) {
			t.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.eth0.arp_ignore"] = "3"
		}, "arp-flux server likely"},
		{"a row in the table before the window counts", diagnosetest.Trial(0, "writes"), func(t *record.Trial) {
			for h := range t.Hosts {
				t.Hosts[h].Snapshot.Neighbours = nil
			}
		}, "arp-flux server certain"},
		{"a loose filter wins over a strict one", diagnosetest.Trial(5, "writes"), func(t *record.Trial) {
			t.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.rp_filter"] = "2"
			t.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.eth1.rp_filter"] = "1"
			t.Hosts[0].End.SNMP["TcpExt.IPReversePathFilter"] = 9
		}, "unreachable client1 possible, unreachable client2 possible"},
		{"the filter's counter alone, with no asymmetric route, may be stray packets", diagnosetest.Trial(6, "reads"),
			func(t *record.Trial) {
				t.Hosts[0].End.SNMP["TcpExt.IPReversePathFilter"] = 9
			}, "rp-filter-drop server possible"},
		{"the counter with an asymmetric route is certain", diagnosetest.Trial(5, "writes"), func(t *record.Trial) {
			diagnosetest.EveryNeighbour(t, func(n *netstate.Neighbour) { n.State = "REACHABLE" })
			t.Hosts[0].End.SNMP["TcpExt.IPReversePathFilter"] = 9
		}, "rp-filter-drop server certain"},
		{"flows alone make it likely", diagnosetest.Trial(5, "writes"), func(t *record.Trial) {
			diagnosetest.EveryNeighbour(t, func(n *netstate.Neighbour) { n.State = "REACHABLE" })
		}, "rp-filter-drop server likely"},
		{"sockets bound to their interfaces ignore the route", diagnosetest.Trial(3, "reads"), func(t *record.Trial) {
			for i := range t.Hosts[0].End.Interfaces {
				t.Hosts[0].End.Interfaces[i].TxBytes = t.Hosts[0].Begin.Interfaces[i].TxBytes + 1e8
			}
		}, ""},
		{"a flow that could not connect elsewhere", diagnosetest.Trial(4, "writes"), func(t *record.Trial) {
			t.Flows[3].Connected = false
		}, "unreachable client1 possible"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.doctor(&test.trial)
			if got := diagnosetest.Names(Diagnose(test.trial, &diagnosetest.Topo)); got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

// A host alone: its settings and interfaces are all there is.
func TestSnapshotAlone(t *testing.T) {
	alone := record.Trial{Hosts: []netstate.HostReading{
		{Host: "server", Snapshot: diagnosetest.Trial(0, "writes").Hosts[0].Snapshot}}}
	one := sciencetest.Study.Topology()
	one.Hosts, one.Links = one.Hosts[:1], nil
	if got := diagnosetest.Names(Diagnose(alone, &one)); got != "arp-flux server likely" {
		t.Errorf("defaults: %q", got)
	}
	alone.Hosts[0].Snapshot = diagnosetest.Trial(3, "writes").Hosts[0].Snapshot
	if got := diagnosetest.Names(Diagnose(alone, &one)); got != "" {
		t.Errorf("with the fix: %q", got)
	}
	one.Hosts[0].Name = "client1"
	alone.Hosts[0] = netstate.HostReading{Host: "client1", Snapshot: diagnosetest.Trial(0, "writes").Hosts[1].Snapshot}
	if got := diagnosetest.Names(Diagnose(alone, &one)); got != "" {
		t.Errorf("one interface: %q", got)
	}
	if got := diagnosetest.Names(Diagnose(record.Trial{}, &diagnosetest.Topo)); got != "" {
		t.Errorf("no records: %q", got)
	}
}

// IPv6 has no ARP: a neighbour entry of that family proves nothing here.
func TestIPv6(t *testing.T) {
	tr := diagnosetest.Trial(4, "writes")
	for h := range tr.Hosts {
		for i, p := range tr.Hosts[h].Snapshot.Interfaces {
			tr.Hosts[h].Snapshot.Interfaces[i].Addresses = append(p.Addresses, fmt.Sprintf("fd00::%d%d/64", h, i))
		}
	}
	tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_ignore"] = "0"
	tr.Hosts[1].Snapshot.Neighbours = append(tr.Hosts[1].Snapshot.Neighbours,
		netstate.Neighbour{Interface: "eth0", Address: "fd00::01", MAC: "02:00:00:01:00:01", State: "REACHABLE"},
		netstate.Neighbour{Interface: "eth0", Address: "fd00::1", MAC: "02:00:00:01:00:01", State: "REACHABLE"})
	if got := diagnosetest.Names(Diagnose(tr, &diagnosetest.Topo)); got != "" {
		t.Errorf("found %q", got)
	}
}

// TestEveryRuleIsDocumented: docs/findings.md has a section for each rule of trials, and none for
// another finding.
func TestEveryRuleIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "findings.md"))
	if err != nil {
		t.Fatal(err)
	}
	var sections, ids []string
	for line := range strings.Lines(string(text)) {
		if title, is := strings.CutPrefix(line, "### "); is {
			sections = append(sections, strings.TrimSpace(title))
		}
	}
	for _, r := range Rules() {
		if r.Trial {
			ids = append(ids, r.ID)
		}
	}
	ids = append(ids, "unreachable")
	slices.Sort(sections)
	slices.Sort(ids)
	if !slices.Equal(sections, ids) {
		t.Errorf("docs/findings.md has sections\n%q, and the rules are\n%q", sections, ids)
	}
}
