package wording

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// found is the finding of a trial with an ID, with its words.
func found(t *testing.T, trial record.Trial, id string) record.Finding {
	t.Helper()
	return diagnosetest.Find(t, Findings(diagnose.Diagnose(trial, &diagnosetest.Topo), false), id)
}

// Evidence and fix speak of these hosts, ports and addresses.
func TestEvidence(t *testing.T) {
	flux := found(t, diagnosetest.Trial(0, "writes"), "arp-flux")
	diagnosetest.Contains(t, flux.Evidence,
		"client2 holds 192.168.1.16 (server.eth1), 192.168.1.17 (server.eth2) and 192.168.1.18 (server.eth3) at "+
			"the address of server.eth0, 02:00:00:01:00:01")
	diagnosetest.Contains(t, flux.Evidence,
		"server.eth0 took in 100 % of what reached server, but 25 % was for its own address")
	diagnosetest.Contains(t, flux.Evidence, "net.ipv4.conf.all.arp_ignore=0")
	diagnosetest.Contains(t, flux.Fix, "sysctl -w net.ipv4.conf.all.arp_ignore=1")
	diagnosetest.Contains(t, flux.Fix, "on client1: ip neigh flush to 192.168.1.0/24 dev eth0")

	egress := found(t, diagnosetest.Trial(3, "reads"), "same-subnet-one-egress")
	diagnosetest.Contains(t, egress.Evidence,
		"packets from 192.168.1.16 (eth1), 192.168.1.17 (eth2) and 192.168.1.18 (eth3) to 192.168.1.101 and "+
			"192.168.1.102 leave by server.eth0")
	diagnosetest.Contains(t, egress.Evidence,
		"server.eth0 sent 100 % of the traffic, though 25 % came from its address")
	diagnosetest.Contains(t, egress.Fix, "ip route replace 192.168.1.0/24 dev eth1 src 192.168.1.16 table 101")
	diagnosetest.Contains(t, egress.Fix, "ip rule add from 192.168.1.18 lookup 103")

	filter := found(t, diagnosetest.Trial(5, "writes"), "rp-filter-drop")
	diagnosetest.Contains(t, filter.Evidence, "client1 gets no answer to its ARP requests for 192.168.1.16 (FAILED)")
	diagnosetest.Contains(t, filter.Evidence, "net.ipv4.conf.all.rp_filter=1")
	diagnosetest.Contains(t, filter.Fix, "sysctl -w net.ipv4.conf.all.rp_filter=2")

	source := found(t, diagnosetest.Trial(1, "writes"), "arp-wrong-source")
	diagnosetest.Contains(t, source.Evidence, "server asked for client")
	diagnosetest.Contains(t, source.Fix, "sysctl -w net.ipv4.conf.all.arp_announce=2")
}

// The fix takes routing tables that the host does not use, and its gateway.
func TestFixFitsTheHost(t *testing.T) {
	tr := diagnosetest.Trial(3, "reads")
	s := &tr.Hosts[0].Snapshot
	s.Rules = append(s.Rules, netstate.RuleEntry{Priority: 100, Table: 101})
	s.Routes = append(s.Routes, netstate.ParseRoute(254, "", "default via 192.168.1.1 dev eth0"))
	fix := found(t, tr, "same-subnet-one-egress").Fix
	diagnosetest.Contains(t, fix, "dev eth1 src 192.168.1.16 table 102")
	diagnosetest.Contains(t, fix, "ip route replace default via 192.168.1.1 dev eth1 table 102")
}

// TestSpelled: evidence has addresses as ip(8) prints them, and the fix of different MTUs is the
// smaller one, which needs nothing of a switch.
func TestSpelled(t *testing.T) {
	a, b := diagnosetest.HostNamed("a", 1), diagnosetest.HostNamed("b", 2)
	b.Reading.Snapshot.Sysctls = map[string]string{"net.ipv4.conf.all.arp_ignore": "0"}
	b.Reading.Snapshot.Interfaces[0].MTU = 9000
	b.Reading.Snapshot.Interfaces[0].Addresses = []string{"192.0.2.2/24", "192.0.2.1/24", "fe80::1/64"}
	b.Reading.Snapshot.Interfaces = append(b.Reading.Snapshot.Interfaces, netstate.InterfaceSnapshot{Interface: "eth1",
		MAC: diagnosetest.Stranger, MTU: 9000, Up: true, Addresses: []string{"192.0.2.3/24"}})
	b.Reading.Snapshot.Routes = []netstate.RouteEntry{
		netstate.ParseRoute(254, "0.0.0.0/0", "default via 198.51.100.1 dev eth0")}
	want := map[string]string{
		"mtu-differs":            "on b: ip link set dev eth0 mtu 1500",
		"address-twice":          "b.eth0: 192.0.2.1/24, 02:00:00:00:00:02",
		"same-subnet-interfaces": "eth0: 192.0.2.2/24 and 192.0.2.1/24; eth1: 192.0.2.3/24",
		"gateway-off-link":       "eth0: 192.0.2.2/24, 192.0.2.1/24 and fe80::1/64",
	}
	for _, f := range Findings(diagnose.Hosts([]netstate.HostSnapshot{a, b}).Findings, false) {
		if line := want[f.ID]; line != "" && slices.Contains(slices.Concat(f.Evidence, f.Fix), line) {
			delete(want, f.ID)
		}
		if strings.ContainsAny(strings.Join(f.Evidence, ""), "[]") {
			t.Errorf("%s: %q", f.ID, f.Evidence)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
