package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/parameter"
)

// explanations are what follows from what, as "consequence host < cause", sorted.
func explanations(e record.Evaluation) (list []string) {
	for _, f := range e.Findings {
		if f.ExplainedBy != "" {
			list = append(list, fmt.Sprintf("%s %s < %s", f.ID, f.Host, f.ExplainedBy))
		}
	}
	slices.Sort(list)
	return list
}

// opening has a host wait for answers to SYNs.
func opening(s *netstate.HostSnapshot, remotes ...string) {
	for _, remote := range remotes {
		s.State.Notable = append(s.State.Notable, netstate.Connection{Local: "10.72.0.2:40000", Remote: remote,
			State: "SYN-SENT", Info: &netstate.TCPInfo{Retransmits: 3}})
	}
}

// TestPlaces: a finding follows from a cause of the address, route, gateway or interface that it
// depends on, and not from one beside it. x and y are in 10.72.0.0/24 by eth0 and in 10.73.0.0/24
// by eth1.
func TestPlaces(t *testing.T) {
	twice := func(address string) func(x, y *netstate.HostSnapshot) {
		return func(x, y *netstate.HostSnapshot) {
			for _, s := range []*netstate.HostSnapshot{x, y} {
				s.Reading.Snapshot.Interfaces[1].Addresses = append(s.Reading.Snapshot.Interfaces[1].Addresses,
					address+"/24")
			}
		}
	}
	full := func(local string) func(x, y *netstate.HostSnapshot) {
		return func(x, _ *netstate.HostSnapshot) {
			x.State.Listeners = []netstate.Listener{{Protocol: "tcp", Local: local, Queued: 3, Backlog: 2}}
		}
	}
	failing := func(address, dev string) func(x, y *netstate.HostSnapshot) {
		return func(_, y *netstate.HostSnapshot) {
			y.Reading.Snapshot.Neighbours = append(y.Reading.Snapshot.Neighbours,
				netstate.Neighbour{Interface: dev, Address: address, State: "FAILED"})
			y.State.KernelDrops.Rows = append(y.State.KernelDrops.Rows, netstate.KernelDrop{Reason: "NEIGH_FAILED",
				Interface: dev, Direction: "tx", Packets: 40})
		}
	}
	route := func(to, text string) func(x, y *netstate.HostSnapshot) {
		return func(_, y *netstate.HostSnapshot) {
			y.Reading.Snapshot.Routes = append(y.Reading.Snapshot.Routes, netstate.ParseRoute(facts.MainTable, to,
				text))
		}
	}
	waits := func(remotes ...string) func(x, y *netstate.HostSnapshot) {
		return func(_, y *netstate.HostSnapshot) { opening(y, remotes...) }
	}
	unplugged := func(name string) func(x, y *netstate.HostSnapshot) {
		return func(_, y *netstate.HostSnapshot) {
			y.State.NICs = append([]netstate.NIC{{Interface: name, OperState: "down"}}, y.State.NICs...)
		}
	}
	dropping := func(dev int) func(x, y *netstate.HostSnapshot) {
		return func(_, y *netstate.HostSnapshot) {
			c := &y.Reading.End.Interfaces[dev]
			c.RxErrors, c.RxLength, c.RxDropped, c.RxPackets = c.RxErrors+4, c.RxLength+4, c.RxDropped+300, 1000
		}
	}
	for _, test := range []struct {
		name    string
		changes []func(x, y *netstate.HostSnapshot)
		of      string // the finding
		cause   string // empty: it stands alone
	}{
		{"another address is held twice, and the queue is full", []func(x, y *netstate.HostSnapshot){twice("10.73.0.9"),
			full("10.72.0.1:80"), waits("10.72.0.1:80")}, "syn-unanswered y", "accept-queue-full"},
		{"the address is held twice", []func(x, y *netstate.HostSnapshot){twice("10.73.0.9"), waits("10.73.0.9:80")},
			"syn-unanswered y", "address-twice"},
		{"the gateway's address is held twice", []func(x, y *netstate.HostSnapshot){twice("10.73.0.9"),
			route("198.51.100.0/24", "198.51.100.0/24 via 10.73.0.9 dev eth1"), waits("198.51.100.7:80")},
			"syn-unanswered y", "address-twice"},
		{"only another address is held twice", []func(x, y *netstate.HostSnapshot){twice("10.73.0.9"),
			waits("10.72.0.7:80")}, "syn-unanswered y", ""},
		{"one of two addresses is held twice", []func(x, y *netstate.HostSnapshot){twice("10.73.0.9"),
			waits("10.73.0.9:80", "10.72.0.7:80")}, "syn-unanswered y", ""},
		{"the queue of another port is full", []func(x, y *netstate.HostSnapshot){full("0.0.0.0:81"),
			waits("10.72.0.1:80")}, "syn-unanswered y", ""},
		{"the queue of the port is full, of all addresses", []func(x, y *netstate.HostSnapshot){full("0.0.0.0:80"),
			waits("10.72.0.1:80")}, "syn-unanswered y", "accept-queue-full"},
		{"the queue of another address is full", []func(x, y *netstate.HostSnapshot){full("10.73.0.1:80"),
			waits("10.72.0.1:80")}, "syn-unanswered y", ""},
		{"the neighbour does not answer", []func(x, y *netstate.HostSnapshot){failing("10.72.0.7", "eth0"),
			waits("10.72.0.7:80")}, "syn-unanswered y", "neighbour-failed"},
		{"another neighbour does not answer", []func(x, y *netstate.HostSnapshot){failing("10.73.0.7", "eth1"),
			waits("10.72.0.7:80")}, "syn-unanswered y", ""},
		{"the gateway does not answer", []func(x, y *netstate.HostSnapshot){
			route("0.0.0.0/0", "default via 10.72.0.254 dev eth0"), failing("10.72.0.254", "eth0"),
			waits("198.51.100.7:80")}, "syn-unanswered y", "gateway-unresolved"},
		{"the gateway of another route does not answer", []func(x, y *netstate.HostSnapshot){
			route("0.0.0.0/0", "default via 10.72.0.254 dev eth0"), failing("10.72.0.254", "eth0"),
			waits("10.73.0.1:80")}, "syn-unanswered y", ""},
		{"the peer's gateway back does not answer", []func(x, y *netstate.HostSnapshot){func(x,
			y *netstate.HostSnapshot) {
			x.Reading.Snapshot.Routes = append(x.Reading.Snapshot.Routes, netstate.ParseRoute(facts.MainTable,
				"10.72.0.2/32",
				"10.72.0.2 via 10.73.0.254 dev eth1"))
			x.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth1", Address: "10.73.0.254",
				State: "FAILED"}}
		}, waits("10.72.0.1:80")}, "syn-unanswered y", "gateway-unresolved"},
		{"a gateway of the peer to others does not answer", []func(x, y *netstate.HostSnapshot){
			func(x, y *netstate.HostSnapshot) {
				x.Reading.Snapshot.Routes = append(x.Reading.Snapshot.Routes,
					netstate.ParseRoute(facts.MainTable, "198.51.100.0/24", "198.51.100.0/24 via 10.73.0.254 dev eth1"))
				x.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth1", Address: "10.73.0.254",
					State: "FAILED"}}
			}, waits("10.72.0.1:80")}, "syn-unanswered y", ""},
		{"the route discards", []func(x, y *netstate.HostSnapshot){route("198.51.100.0/24", "blackhole 198.51.100.0/24"),
			waits("198.51.100.7:80")}, "syn-unanswered y", "blackhole-route"},
		{"another route discards", []func(x, y *netstate.HostSnapshot){
			route("198.51.100.0/24", "blackhole 198.51.100.0/24"), waits("10.72.0.7:80")}, "syn-unanswered y", ""},
		{"the gateway's interface has no link", []func(x, y *netstate.HostSnapshot){
			route("0.0.0.0/0", "default via 10.72.0.254 dev eth0"), failing("10.72.0.254", "eth0"), unplugged("eth0")},
			"gateway-unresolved y", "link-down"},
		{"another interface has no link", []func(x, y *netstate.HostSnapshot){
			route("0.0.0.0/0", "default via 10.72.0.254 dev eth0"), failing("10.72.0.254", "eth0"), unplugged("eth1")},
			"gateway-unresolved y", ""},
		{"the gateway is a neighbour", []func(x, y *netstate.HostSnapshot){
			route("0.0.0.0/0", "default via 10.72.0.254 dev eth0"), failing("10.72.0.254", "eth0")},
			"neighbour-failed y", "gateway-unresolved"},
		{"the interface of the connection has no link", []func(x, y *netstate.HostSnapshot){unplugged("eth0"),
			waits("10.72.0.1:80")}, "syn-unanswered y", "link-down"},
		{"an interface that it does not leave by has no link", []func(x, y *netstate.HostSnapshot){unplugged("eth1"),
			waits("10.72.0.1:80")}, "syn-unanswered y", ""},
		{"the peer's interface has no link", []func(x, y *netstate.HostSnapshot){func(x, _ *netstate.HostSnapshot) {
			unplugged("eth0")(nil, x)
		}, waits("10.72.0.1:80")}, "syn-unanswered y", "link-down"},
		{"the peer has no link of the same name elsewhere", []func(x, y *netstate.HostSnapshot){
			func(x, _ *netstate.HostSnapshot) { unplugged("eth1")(nil, x) }, waits("10.72.0.1:80")},
			"syn-unanswered y", ""},
		{"a member of the group is dead", []func(x, y *netstate.HostSnapshot){
			route("0.0.0.0/0", "default nhid 1 via 10.72.0.254 dev eth0"), failing("10.72.0.254", "eth0"),
			func(_, y *netstate.HostSnapshot) {
				y.State.Nexthops = []netstate.Nexthop{{ID: 1, Group: []netstate.NexthopMember{{ID: 2}}},
					{ID: 2, Interface: "eth0", Via: "10.72.0.254"}}
			}}, "gateway-unresolved y", "nexthop-dead"},
		{"the peer discards its answers", []func(x, y *netstate.HostSnapshot){func(x, _ *netstate.HostSnapshot) {
			x.Reading.Snapshot.Routes = append(x.Reading.Snapshot.Routes, netstate.ParseRoute(facts.MainTable,
				"10.72.0.2/32",
				"blackhole 10.72.0.2"))
		}, waits("10.72.0.1:80")}, "blackhole-route x", "return-route-missing"},
		{"a wrong entry floods frames", []func(x, y *netstate.HostSnapshot){twice("10.73.0.9"),
			func(_, y *netstate.HostSnapshot) {
				y.Reading.End.Interfaces[0].RxOtherhost, y.Reading.End.Interfaces[0].RxPackets = 500, 1000
			}}, "other-host-frames y", "address-twice"},
		{"frames of the interface are too long", []func(x, y *netstate.HostSnapshot){dropping(0)}, "rx-dropped y",
			"frames-too-long"},
		{"frames of another interface are too long", []func(x, y *netstate.HostSnapshot){dropping(0),
			func(_, y *netstate.HostSnapshot) {
				y.Reading.End.Interfaces[0].RxDropped, y.Reading.End.Interfaces[1].RxDropped,
					y.Reading.End.Interfaces[1].RxPackets = 0, 300, 1000
			}}, "rx-dropped y", ""},
	} {
		x, y := diagnosetest.TwoHosts()
		x.Reading.Snapshot.Sysctls["net.ipv4.conf.all.rp_filter"] = "0"
		for _, change := range test.changes {
			change(&x, &y)
		}
		e := Hosts([]netstate.HostSnapshot{x, y})
		found := false
		for _, f := range e.Findings {
			if f.ID+" "+f.Host == test.of {
				if found = true; f.ExplainedBy != test.cause {
					t.Errorf("%s: %s follows from %q", test.name, test.of, f.ExplainedBy)
				}
			}
		}
		if !found {
			t.Errorf("%s: %s is not found: %s", test.name, test.of, diagnosetest.Names(e.Findings))
		}
	}
}

// TestSameTime: what was counted before the readings alone does not follow from a cause that
// counts between them, nor the reverse.
func TestSameTime(t *testing.T) {
	for _, test := range []struct {
		name                              string
		filteredBefore, filtered          int64
		retransmittedBefore, retransmited int64
		follows                           bool
	}{
		{"both between the readings", 0, 500, 0, 500, true},
		{"both before", 500, 0, 500, 0, true},
		{"retransmissions before the drops", 0, 500, 500, 0, false},
		{"drops before the retransmissions", 500, 0, 0, 500, false},
	} {
		x, y := diagnosetest.TwoHosts()
		x.Reading.Begin.SNMP = map[string]int64{facts.FilterCounter: test.filteredBefore,
			"Tcp.RetransSegs": test.retransmittedBefore, "Tcp.OutSegs": 1000}
		x.Reading.End.SNMP = map[string]int64{facts.FilterCounter: test.filteredBefore + test.filtered,
			"Tcp.RetransSegs": test.retransmittedBefore + test.retransmited, "Tcp.OutSegs": 2000}
		got := explanations(Hosts([]netstate.HostSnapshot{x, y}))
		if follows := strings.Contains(strings.Join(got, "; "),
			"tcp-retransmissions x < strict-rp-filter"); follows != test.follows {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestCausesOfTheirOwn: what is set on a host, and would be found without the other cause, does not
// follow from it. The cost of two bounds on the window is that of the tighter one.
func TestCausesOfTheirOwn(t *testing.T) {
	off := false
	parameters := func(scaling, rmem string) func(*netstate.HostSnapshot) {
		return func(s *netstate.HostSnapshot) {
			s.State.Parameters["net.ipv4.tcp_window_scaling"], s.State.Parameters["net.ipv4.tcp_rmem"] = scaling, rmem
		}
	}
	slow := func(offered int64) func(*netstate.HostSnapshot) {
		return func(s *netstate.HostSnapshot) {
			n := &s.State.NICs[0]
			n.SpeedMbps, n.OfferedMbps, n.Duplex = 100, offered, "half"
			s.State.LLDP = []netstate.LLDPNeighbour{{Interface: "eth0", Media: "100BASE-TX", SpeedMbps: 100,
				Duplex: "full"}}
		}
	}
	for name, test := range map[string]struct {
		change func(*netstate.HostSnapshot)
		want   string      // the findings, with what they follow from
		costs  fact.Window // of each that has a cost
	}{
		"scaling off": {parameters("0", "4096 131072 6291456"), "window-scaling-off",
			fact.Window{LowBytes: 65535, HighBytes: 65535}},
		"small buffer": {parameters("1", "4096 16384 32768"), "receive-buffer-small",
			fact.Window{LowBytes: 16384, HighBytes: 32768}},
		"scaling off and small buffer": {parameters("0", "4096 16384 32768"),
			"window-scaling-off, receive-buffer-small", fact.Window{LowBytes: 16384, HighBytes: 32768}},
		"scaling off and buffer twice": {parameters("0", "4096 16384 262144"),
			"window-scaling-off, receive-buffer-small", fact.Window{LowBytes: 65535, HighBytes: 65535}},
		"both ends do not negotiate": {func(s *netstate.HostSnapshot) {
			s.State.NICs[0].Autoneg = &off
			s.State.LLDP = []netstate.LLDPNeighbour{{Interface: "eth0", Media: "1000BASE-T", SpeedMbps: 1000,
				Duplex: "half", Autoneg: &off}}
		}, "lldp-link, autoneg-off", fact.Window{}},
		"slow by the other end": {slow(1000), "half-duplex, speed-below-best of lldp-link, lldp-link", fact.Window{}},
		"slow by this end":      {slow(100), "half-duplex, speed-below-best, lldp-link", fact.Window{}},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		test.change(&s)
		var got []string
		for _, f := range Hosts([]netstate.HostSnapshot{s}).Findings {
			text := f.ID
			if f.ExplainedBy != "" {
				text += " of " + f.ExplainedBy
			}
			got = append(got, text)
			if test.costs != (fact.Window{}) && !slices.Contains(f.Facts, fact.Fact{Host: "nas", Is: test.costs}) {
				t.Errorf("%s: %s: %+v, want %+v", name, f.ID, f.Facts, test.costs)
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}

	for _, r := range Rules() {
		for _, p := range parameter.Rules() {
			if slices.Contains(slices.Concat(r.Explains, r.AtPeers), p.ID) {
				t.Errorf("%s explains %s, the value of a parameter, which is a cause of its own", r.ID, p.ID)
			}
		}
	}
}
