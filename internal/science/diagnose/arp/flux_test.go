package arp_test

import (
	"net/netip"
	"slices"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// A request with a sender address of another subnet that has no answer.
func TestWrongSourceUnanswered(t *testing.T) {
	tr := diagnosetest.Trial(4, "writes")
	s := &tr.Hosts[0].Snapshot
	s.Interfaces[1].Addresses = []string{"10.9.9.9/24"}
	s.Sysctls["net.ipv4.conf.all.arp_announce"] = "0"
	s.Lookups = append(s.Lookups, netstate.RouteLookup{Source: "10.9.9.9", Destination: "192.168.1.101",
		Interface: "eth0"})
	s.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.168.1.101", State: "FAILED"}}
	f := diagnosetest.Find(t, diagnose.Diagnose(tr, &diagnosetest.Topo), "arp-wrong-source")
	want := fact.Fact{Host: "server", Is: fact.Unanswered{Address: netip.MustParseAddr("192.168.1.101"),
		State: "FAILED", Interface: "eth0",
		Sender: fact.At{Address: netip.MustParseAddr("10.9.9.9"), Interface: "eth1"}}}
	if !record.Within([]fact.Fact{want}, f.Facts) {
		t.Errorf("no %+v in %+v", want, f.Facts)
	}
	s.Sysctls["net.ipv4.conf.all.arp_announce"] = "2"
	if got := diagnosetest.Names(diagnose.Diagnose(tr, &diagnosetest.Topo)); got != "" {
		t.Errorf("arp_announce=2, but %s", got)
	}
}

// TestFluxBehindASwitch: the forwarding table of a switch that is read by SNMP is evidence of
// ARP flux beside the neighbour tables.
func TestFluxBehindASwitch(t *testing.T) {
	trial, over := diagnosetest.BehindASwitch(100e6, 0)
	trial.Flows = nil
	const near, other = "00:08:9b:c8:c4:31", "00:08:9b:c8:c4:32"
	for i := range trial.Hosts {
		for _, address := range []string{"192.0.2.15", "192.0.2.16"} {
			trial.Hosts[i].Snapshot.Neighbours = append(trial.Hosts[i].Snapshot.Neighbours,
				netstate.Neighbour{Interface: "eth0", Address: address, MAC: near, State: "REACHABLE"})
		}
	}
	trial.Switches[0].FDB = []netstate.FDBEntry{{MAC: near, Interface: "gi7"}, {MAC: other, Interface: "gi8"}}
	f := diagnosetest.Find(t, diagnose.Diagnose(trial, over), "arp-flux")
	if want := []fact.Fact{{Host: "sg300", Is: fact.SwitchPort{MAC: near, Port: "gi7", Takes: fact.Everything}},
		{Is: fact.OtherPorts{Ports: []fact.SwitchPort{{MAC: other, Port: "gi8"}}}}}; !record.Within(want, f.Facts) {
		t.Errorf("no %+v in %+v", want, f.Facts)
	}
}

// With arp_filter on, arp_ignore=1 on top of it would make addresses unreachable.
func TestFluxUnderFilter(t *testing.T) {
	tr := diagnosetest.Trial(0, "writes")
	tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_filter"] = "1"
	f := diagnosetest.Find(t, diagnose.Diagnose(tr, &diagnosetest.Topo), "arp-flux")
	if r := f.Steps[0].Setting.Route; r == nil || r.Interface != "eth1" || r.To != "192.168.1.0/24" ||
		f.Args.(cause.Flux).Remedy != cause.SourceRouting {
		t.Errorf("not source routing: %+v", f)
	}
	i := slices.IndexFunc(f.Steps, func(s record.Step) bool { return s.Instead })
	if i < 0 || f.Steps[i].Setting.Sysctl[0].Key != "net.ipv4.conf.all.arp_filter" ||
		f.Steps[i+1].Setting.Sysctl[0].Key != "net.ipv4.conf.all.arp_ignore" {
		t.Errorf("arp_ignore without arp_filter=0 before it: %+v", f.Steps)
	}
	tr.Hosts[0].Snapshot.Lookups = nil // no route decision is known: nothing to route by
	f = diagnosetest.Find(t, diagnose.Diagnose(tr, &diagnosetest.Topo), "arp-flux")
	off := setting.Sysctl{Key: "net.ipv4.conf.all.arp_filter", Value: "0"}
	if s := f.Steps[0].Setting.Sysctl; s == nil || s[0] != off {
		t.Errorf("%+v", f.Steps)
	}
}
