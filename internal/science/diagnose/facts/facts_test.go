package facts_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestInside: networks of containers are each host's own, and a bridge without ports is no link
// that is down.
func TestInside(t *testing.T) {
	hosts := []record.HostSnapshot{diagnosetest.HostNamed("a", 1), diagnosetest.HostNamed("b", 2)}
	for i := range hosts {
		s := &hosts[i]
		s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
			record.InterfaceSnapshot{Interface: "docker0", Kind: "bridge", Up: true, MTU: 1500 - 50*i,
				MAC: "02:42:00:00:00:01", Addresses: []string{"172.17.0.1/16"}},
			record.InterfaceSnapshot{Interface: "veth1", Kind: "veth", Master: "docker0", Up: true, MTU: 1500 - 50*i})
		s.State.NICs = append(s.State.NICs, record.NIC{Interface: "docker0"})
		s.Reading.Snapshot.Routes = []record.RouteEntry{
			record.ParseRoute(254, "", "blackhole 10.244.7.0/26 proto bird")}
	}
	for _, f := range diagnose.Hosts(hosts).Findings {
		if f.ID != "blackhole-route" || f.Confidence != record.Possible {
			t.Errorf("%+v", f)
		}
	}
	// With a port to a network it is one.
	for i := range hosts {
		hosts[i].Reading.Snapshot.Interfaces[0].Master, hosts[i].Reading.Snapshot.Interfaces[0].Addresses = "docker0",
			nil
	}
	if got := diagnosetest.Names(diagnose.Hosts(hosts).Findings); !strings.Contains(got, "address-twice") ||
		!strings.Contains(got, "mtu-differs") {
		t.Error(got)
	}
}

// TestSpelled: evidence has addresses as ip(8) prints them, and the fix of different MTUs is the
// smaller one, which needs nothing of a switch.
func TestSpelled(t *testing.T) {
	a, b := diagnosetest.HostNamed("a", 1), diagnosetest.HostNamed("b", 2)
	b.Reading.Snapshot.Sysctls = map[string]string{"net.ipv4.conf.all.arp_ignore": "0"}
	b.Reading.Snapshot.Interfaces[0].MTU = 9000
	b.Reading.Snapshot.Interfaces[0].Addresses = []string{"192.0.2.2/24", "192.0.2.1/24", "fe80::1/64"}
	b.Reading.Snapshot.Interfaces = append(b.Reading.Snapshot.Interfaces, record.InterfaceSnapshot{Interface: "eth1",
		MAC: diagnosetest.Stranger, MTU: 9000, Up: true, Addresses: []string{"192.0.2.3/24"}})
	b.Reading.Snapshot.Routes = []record.RouteEntry{
		record.ParseRoute(facts.MainTable, "0.0.0.0/0", "default via 198.51.100.1 dev eth0")}
	want := map[string]string{
		"mtu-differs":            "on b: ip link set dev eth0 mtu 1500",
		"address-twice":          "b.eth0: 192.0.2.1/24, 02:00:00:00:00:02",
		"same-subnet-interfaces": "eth0: 192.0.2.2/24 and 192.0.2.1/24; eth1: 192.0.2.3/24",
		"gateway-off-link":       "eth0: 192.0.2.2/24, 192.0.2.1/24 and fe80::1/64",
	}
	for _, f := range diagnose.Hosts([]record.HostSnapshot{a, b}).Findings {
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
