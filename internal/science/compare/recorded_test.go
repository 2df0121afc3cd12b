package compare

import (
	"slices"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestRecorded: whatever both measurements recorded of their hosts and differs is listed; what
// only one has, what flows do not use and what the kernel chooses anew each time is not.
func TestRecorded(t *testing.T) {
	of := func(change func(client, server *netstate.HostReading, f *record.Flow)) *record.Run {
		client := netstate.HostReading{Host: "client"}
		client.Snapshot = netstate.Snapshot{
			Interfaces: []netstate.InterfaceSnapshot{
				{Interface: "eth0", MTU: 1500, Addresses: []string{"10.0.0.2/24", "fe80::1/64"}, SpeedBps: 1e9,
					Driver: "e1000e"},
				{Interface: "docker0", MTU: 1500, Kind: "bridge"},
			},
			Rules: []netstate.RuleEntry{{Priority: 32766, Table: 254}},
			Routes: []netstate.RouteEntry{netstate.ParseRoute(254, "", "default via 10.0.0.1 dev eth0"),
				netstate.ParseRoute(254, "", "172.17.0.0/16 dev docker0")},
			Sysctls: map[string]string{"net.ipv4.tcp_wmem": "4096\t16384\t32768", "net.ipv4.tcp_sack": "1"},
		}
		client.End.Qdiscs = []netstate.QdiscCounters{{Interface: "eth0", Kind: "mq"},
			{Interface: "eth0", Kind: "fq_codel"}, {Interface: "eth0", Kind: "fq_codel"}}
		server := netstate.HostReading{Host: "server",
			Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
				{Interface: "eth0", MTU: 1500}}}}
		f := record.Flow{ID: "w1", From: "client", To: "server", Protocol: "tcp",
			Path: []string{"client.eth0", "server.eth0"}, SenderInfo: &netstate.TCPInfo{Options: 7}}
		if change != nil {
			change(&client, &server, &f)
		}
		return &record.Run{Study: record.MeasureStudy,
			Trials: []record.Trial{{Treatment: "measurement", Flows: []record.Flow{f},
				Hosts: []netstate.HostReading{client, server}}}}
	}
	for _, test := range []struct {
		name   string
		change func(client, server *netstate.HostReading, f *record.Flow)
		want   []record.Difference
	}{
		{"nothing", nil, nil},
		{"a parameter", func(c, _ *netstate.HostReading, _ *record.Flow) {
			c.Snapshot.Sysctls["net.ipv4.tcp_wmem"] = "4096\t16384\t4194304"
		}, []record.Difference{{What: "net.ipv4.tcp_wmem of client", From: "4096 16384 32768",
			To: "4096 16384 4194304"}}},
		{"a parameter that only one has", func(c, _ *netstate.HostReading, _ *record.Flow) {
			c.Snapshot.Sysctls["net.ipv4.tcp_ecn"] = "2"
			delete(c.Snapshot.Sysctls, "net.ipv4.tcp_sack")
		}, nil},
		{"the MTU of the server", func(_, s *netstate.HostReading, _ *record.Flow) {
			s.Snapshot.Interfaces[0].MTU = 1400
		},
			[]record.Difference{{What: "MTU of server.eth0", From: "1500", To: "1400"}}},
		{"a second address", func(c, _ *netstate.HostReading, _ *record.Flow) {
			c.Snapshot.Interfaces[0].Addresses = []string{"10.0.0.2/24", "10.0.0.3/24", "fe80::2/64"}
		}, []record.Difference{{What: "addresses of client.eth0", From: "10.0.0.2/24",
			To: "10.0.0.2/24, 10.0.0.3/24"}}},
		{"speed, driver, kind, bond", func(c, _ *netstate.HostReading, _ *record.Flow) {
			i := &c.Snapshot.Interfaces[0]
			i.SpeedBps, i.Driver, i.Kind, i.Master = 0, "", "veth", "bond0"
		}, []record.Difference{{What: "speed of client.eth0", From: "1 Gbit/s"},
			{What: "kind of client.eth0", To: "veth"}, {What: "driver of client.eth0", From: "e1000e"},
			{What: "master of client.eth0", To: "bond0"}}},
		{"a shaper", func(c, _ *netstate.HostReading, _ *record.Flow) {
			c.Snapshot.Interfaces[0].Shaper = &netstate.Shaper{Kind: "tbf", RateBps: 2e8}
			c.End.Qdiscs = []netstate.QdiscCounters{{Interface: "eth0", Kind: "tbf"}}
		}, []record.Difference{{What: "shaper of client.eth0", To: "tbf 200 Mbit/s"},
			{What: "qdiscs of client.eth0", From: "mq, 2 × fq_codel", To: "tbf"}}},
		{"another interface", func(c, _ *netstate.HostReading, f *record.Flow) { f.Path[0] = "client.docker0" },
			[]record.Difference{{What: "interfaces of client", From: "eth0", To: "docker0"},
				{What: "route of client", From: "default via 10.0.0.1 dev eth0"},
				{What: "route of client", To: "172.17.0.0/16 dev docker0"}}},
		{"an interface without flows", func(c, _ *netstate.HostReading, _ *record.Flow) {
			c.Snapshot.Interfaces = c.Snapshot.Interfaces[:1]
			c.Snapshot.Routes = c.Snapshot.Routes[:1]
		}, nil},
		{"a route and a rule", func(c, _ *netstate.HostReading, _ *record.Flow) {
			c.Snapshot.Routes[0] = netstate.ParseRoute(254, "", "default via 10.0.0.9 dev eth0")
			c.Snapshot.Rules = append(c.Snapshot.Rules, netstate.RuleEntry{Priority: 100, From: "10.0.0.2/32",
				Table: 100})
		}, []record.Difference{{What: "route of client", From: "default via 10.0.0.1 dev eth0"},
			{What: "route of client", To: "default via 10.0.0.9 dev eth0"},
			{What: "rule of client", To: "100: lookup 100 from 10.0.0.2/32"}}},
		{"TCP options", func(_, _ *netstate.HostReading, f *record.Flow) { f.SenderInfo.Options = 4 },
			[]record.Difference{{What: "TCP options of flows", From: "timestamps, SACK, window scaling",
				To: "window scaling"}}},
		{"TCP_INFO that was not read", func(_, _ *netstate.HostReading, f *record.Flow) { f.SenderInfo = nil }, nil},
		{"a host that was not read", func(c, _ *netstate.HostReading, _ *record.Flow) { c.Host = "other" }, nil},
	} {
		if got, _ := differences(of(nil), of(test.change)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	_, hosts := differences(of(nil), of(nil))
	if len(hosts) != 2 || !slices.Equal(hosts[0].Parts, []string{"interfaces", "qdiscs", "routes", "rules",
		"2 kernel parameters"}) || !slices.Equal(hosts[1].Parts, []string{"interfaces"}) {
		t.Errorf("compared were %+v", hosts)
	}
	// Of a lab's hosts linerate made the state.
	lab := func(mtu int) *record.Run {
		run := of(func(c, _ *netstate.HostReading, _ *record.Flow) { c.Snapshot.Interfaces[0].MTU = mtu })
		run.Study = "arp-flux"
		return run
	}
	if got, hosts := differences(lab(1500), lab(9000)); len(got)+len(hosts) != 0 {
		t.Errorf("of a lab: %+v, %+v", got, hosts)
	}
}
