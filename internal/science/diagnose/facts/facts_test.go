package facts_test

import (
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestInside: networks of containers are each host's own, and a bridge without ports is no link
// that is down.
func TestInside(t *testing.T) {
	hosts := []netstate.HostSnapshot{diagnosetest.HostNamed("a", 1), diagnosetest.HostNamed("b", 2)}
	for i := range hosts {
		s := &hosts[i]
		s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
			netstate.InterfaceSnapshot{Interface: "docker0", Kind: "bridge", Up: true, MTU: 1500 - 50*i,
				MAC: "02:42:00:00:00:01", Addresses: []string{"172.17.0.1/16"}},
			netstate.InterfaceSnapshot{Interface: "veth1", Kind: "veth", Master: "docker0", Up: true, MTU: 1500 - 50*i})
		s.State.NICs = append(s.State.NICs, netstate.NIC{Interface: "docker0"})
		s.Reading.Snapshot.Routes = []netstate.RouteEntry{
			netstate.ParseRoute(254, "", "blackhole 10.244.7.0/26 proto bird")}
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
