package arp_test

import (
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// A request with a sender address of another subnet that has no answer.
func TestWrongSourceUnanswered(t *testing.T) {
	tr := diagnosetest.Trial(4, "writes")
	s := &tr.Hosts[0].Snapshot
	s.Interfaces[1].Addresses = []string{"10.9.9.9/24"}
	s.Sysctls["net.ipv4.conf.all.arp_announce"] = "0"
	s.Lookups = append(s.Lookups, record.RouteLookup{Source: "10.9.9.9", Destination: "192.168.1.101",
		Interface: "eth0"})
	s.Neighbours = []record.Neighbour{{Interface: "eth0", Address: "192.168.1.101", State: "FAILED"}}
	f := diagnosetest.Find(t, diagnose.Diagnose(tr, &diagnosetest.Topo), "arp-wrong-source")
	diagnosetest.Contains(t, f.Evidence,
		"192.168.1.101 is FAILED on server.eth0, asked with sender address 10.9.9.9 of eth1")
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
				record.Neighbour{Interface: "eth0", Address: address, MAC: near, State: "REACHABLE"})
		}
	}
	trial.Switches[0].FDB = []record.FDBEntry{{MAC: near, Interface: "gi7"}, {MAC: other, Interface: "gi8"}}
	for _, f := range diagnose.Diagnose(trial, over) {
		if text := strings.Join(f.Evidence, "\n"); f.ID == "arp-flux" &&
			strings.Contains(text, "sg300 has "+near+" behind port gi7") &&
			strings.Contains(text, "its other ports: gi8 ("+other+")") {
			return
		}
	}
	t.Errorf("no finding of ARP flux with the ports: %+v", diagnose.Diagnose(trial, over))
}

// With arp_filter on, arp_ignore=1 on top of it would make addresses unreachable.
func TestFluxUnderFilter(t *testing.T) {
	tr := diagnosetest.Trial(0, "writes")
	tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_filter"] = "1"
	fix := diagnosetest.Find(t, diagnose.Diagnose(tr, &diagnosetest.Topo), "arp-flux").Fix
	if !strings.HasPrefix(fix[0], "on server: ip route replace 192.168.1.0/24 dev eth1 src 192.168.1.16") {
		t.Errorf("not source routing: %q", fix)
	}
	filter, ignore := -1, -1
	for i, line := range fix {
		if line == "or, instead of source routing: on server: sysctl -w net.ipv4.conf.all.arp_filter=0" {
			filter = i
		}
		if strings.HasSuffix(line, "arp_ignore=1") {
			ignore = i
		}
	}
	if filter < 0 || ignore != filter+1 {
		t.Errorf("arp_ignore without arp_filter=0 before it: %q", fix)
	}
	tr.Hosts[0].Snapshot.Lookups = nil // no route decision is known: nothing to route by
	diagnosetest.Contains(t, diagnosetest.Find(t, diagnose.Diagnose(tr, &diagnosetest.Topo), "arp-flux").Fix[:1],
		"sysctl -w net.ipv4.conf.all.arp_filter=0")
}
