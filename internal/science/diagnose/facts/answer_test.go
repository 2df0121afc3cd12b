package facts_test

import (
	"fmt"
	"net/netip"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/sciencetest"
)

// TestIngress: which interfaces may take in what client1 sends to the address of
// server.eth1, by the settings and tables of both. The server sends by eth0 unless the
// fixture routes by source.
func TestIngress(t *testing.T) {
	server := func(name, value string) func(*record.Trial) {
		return func(tr *record.Trial) { tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf."+name] = value }
	}
	for _, c := range []struct {
		name   string
		fix    int
		doctor func(*record.Trial)
		want   string
	}{
		{"kernel defaults", 0, nil, "[eth0 eth1 eth2 eth3]"},
		{"arp_ignore=3 is by scope", 0, server("all.arp_ignore", "3"), "[eth0 eth1 eth2 eth3]"},
		{"the larger of all and eth2 holds", 3, server("eth2.arp_ignore", "0"), "[eth1]"},
		{"arp_ignore=1", 1, nil, "[eth0 eth1]"},
		{"arp_announce=1 asks with any address of the subnet", 1, server("all.arp_announce", "1"), "[eth0 eth1]"},
		{"arp_announce=2", 3, nil, "[eth1]"},
		{"the server has a permanent entry and does not ask", 1, func(tr *record.Trial) {
			tr.Hosts[0].Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.168.1.101",
				MAC: "02:00:00:00:00:01", State: "PERMANENT"}}
			tr.Hosts[0].Before.Neighbours = nil
		}, "[eth1]"},
		{"permanent entries at the client", 2, nil, "[eth1]"},
		{"source routing", 4, nil, "[eth1]"},
		{"arp_filter answers by the route", 0, server("all.arp_filter", "1"), "[eth0]"},
		{"nothing answers by the route for another one's address", 3, server("all.arp_filter", "1"), "[]"},
		{"a strict filter drops all but what comes by the route", 0, server("all.rp_filter", "1"), "[eth0]"},
		{"and all, where that does not answer", 5, nil, "[]"},
		{"no answers at all", 3, server("eth1.arp_ignore", "8"), "[]"},
		{"not recorded", 0, func(tr *record.Trial) { tr.Hosts[0].Snapshot.Sysctls = nil }, "[eth1]"},
		{"one MAC address", 0, func(tr *record.Trial) {
			for i := range tr.Hosts[0].Snapshot.Interfaces {
				tr.Hosts[0].Snapshot.Interfaces[i].MAC = "02:00:00:00:00:01"
			}
		}, "[]"},
	} {
		tr := diagnosetest.Trial(c.fix, "writes")
		if c.doctor != nil {
			c.doctor(&tr)
		}
		over := sciencetest.Study.Topology()
		if got := fmt.Sprint(facts.NewIngress(tr, &over).Interfaces("client1", "server",
			netip.MustParseAddr("192.168.1.16"))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
