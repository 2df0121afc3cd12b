package diagnose

import (
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
)

// cut is a trial of the fixed server in which client1's flow to 192.168.1.16
// (server.eth1) did not connect.
func cut() record.Trial {
	tr := trial(4, "writes")
	f := &tr.Flows[1]
	f.Connected, f.Alive, f.ReceivedBytes, f.Error, f.Source = false, false, 0, "connect: no route to host", ""
	return tr
}

func neighbour(tr *record.Trial, mac, state string) {
	for _, table := range [][]record.Neighbour{tr.Hosts[1].Snapshot.Neighbours, tr.Hosts[1].Before.Neighbours} {
		for i := range table {
			if table[i].Address == "192.168.1.16" {
				table[i].MAC, table[i].State = mac, state
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	for _, test := range []struct {
		name          string
		doctor        func(*record.Trial)
		want          string
		evidence, fix string
	}{
		{"nothing to see", func(*record.Trial) {}, "unreachable client1 possible",
			"flow f2: client1 does not reach 192.168.1.16 of server: connect: no route to host", "not known"},
		{"no interface may answer", func(tr *record.Trial) {
			neighbour(tr, "", "FAILED")
			tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_ignore"] = "8"
		}, "unreachable server likely", "192.168.1.16 is FAILED on client1.eth0", "net.ipv4.conf.all.arp_ignore=1"},
		{"each interface leaves the answer to the other", func(tr *record.Trial) {
			neighbour(tr, "", "INCOMPLETE")
			tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_filter"] = "1"
			for i, l := range tr.Hosts[0].Snapshot.Lookups {
				if l.Source == "192.168.1.16" {
					tr.Hosts[0].Snapshot.Lookups[i].Interface = "eth0"
				}
			}
		}, "unreachable server likely", "net.ipv4.conf.all.arp_filter=1",
			"or, instead of source routing: on server: sysctl -w net.ipv4.conf.all.arp_filter=0"},
		{"the interface is down", func(tr *record.Trial) {
			neighbour(tr, "", "FAILED")
			tr.Hosts[0].Snapshot.Interfaces[1].Up = false
		}, "unreachable server likely", "server.eth1 holds the address, and is down",
			"on server: ip link set dev eth1 up"},
		{"a wrong MAC address, for good", func(tr *record.Trial) { neighbour(tr, "02:de:ad:be:ef:01", "PERMANENT") },
			"unreachable client1 likely", "02:de:ad:be:ef:01 (PERMANENT), which belongs to no interface that is known",
			"on client1: ip neigh replace 192.168.1.16 lladdr 02:00:00:01:00:02 dev eth0"},
		{"the MAC address of another interface of that host is none", func(tr *record.Trial) {
			neighbour(tr, "02:00:00:01:00:01", "PERMANENT")
		},
			"unreachable client1 possible", "sends by eth0 (route lookup)", "not known"},
		{"no route", func(tr *record.Trial) {
			for i, l := range tr.Hosts[1].Snapshot.Lookups {
				if l.Destination == "192.168.1.16" {
					tr.Hosts[1].Snapshot.Lookups[i].Error = "network is unreachable"
				}
			}
		}, "unreachable client1 likely", "route lookup on client1: network is unreachable",
			"on client1: add a route to 192.168.1.16"},
		{"no route back", func(tr *record.Trial) {
			for i, l := range tr.Hosts[0].Snapshot.Lookups {
				if l.Source == "192.168.1.16" {
					tr.Hosts[0].Snapshot.Lookups[i].Error = "network is unreachable"
				}
			}
		}, "unreachable server likely", "route lookup on server: network is unreachable",
			"on server: add a route to 192.168.1.101"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := cut()
			test.doctor(&tr)
			list := Diagnose(tr, &topo)
			if names(list) != test.want {
				t.Fatalf("found %q, want %q", names(list), test.want)
			}
			contains(t, list[0].Evidence, test.evidence)
			contains(t, list[0].Fix, test.fix)
		})
	}
}

// Two interfaces on one IPv6 subnet leave by one as those on an IPv4 subnet do; the
// neighbour tables of IPv6 prove no ARP flux.
func TestIPv6Egress(t *testing.T) {
	tr := sixth(trial(0, "reads"))
	six := sciencetest.Study.Topology()
	list := Diagnose(tr, &six)
	if names(list) != "same-subnet-one-egress server certain" {
		t.Fatalf("found %q", names(list))
	}
	contains(t, list[0].Evidence,
		"packets from fd00::16 (eth1), fd00::17 (eth2) and fd00::18 (eth3) to fd00::101 and fd00::102 leave by server.eth0")
	contains(t, list[0].Fix, "ip -6 route replace fd00::/64 dev eth1 src fd00::16 table 101")
	contains(t, list[0].Fix, "ip -6 rule add from fd00::18 lookup 103")
	for _, line := range list[0].Fix {
		if !strings.HasPrefix(line, "on server: ip -6 ") {
			t.Errorf("not of this family: %s", line)
		}
	}
	tr.Hosts[0].Snapshot.Routes = append(tr.Hosts[0].Snapshot.Routes,
		record.ParseRoute(254, "", "default via 192.168.1.1 dev eth0"),
		record.ParseRoute(254, "", "default via fe80::1 dev eth0"))
	contains(t, find(t, tr, "same-subnet-one-egress").Fix, "ip -6 route replace default via fe80::1 dev eth1 table 101")
	if got := names(Diagnose(sixth(trial(4, "reads")), &topology.Topology{Hosts: six.Hosts})); got != "" {
		t.Errorf("routed by source, but %s", got)
	}
}

// sixth moves a trial's addresses from 192.168.1.0/24 to fd00::/64.
func sixth(tr record.Trial) record.Trial {
	host := func(text string) string {
		if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
			return "fd00::" + text[strings.LastIndex(text, ".")+1:]
		}
		return text
	}
	service := func(text string) string {
		a, port, _ := strings.Cut(text, ":")
		return "[" + host(a) + "]:" + port
	}
	for i := range tr.Flows {
		tr.Flows[i].Source, tr.Flows[i].Destination = service(tr.Flows[i].Source), service(tr.Flows[i].Destination)
	}
	for h := range tr.Hosts {
		s := &tr.Hosts[h].Snapshot
		for i, p := range s.Interfaces {
			for k, a := range p.Addresses {
				s.Interfaces[i].Addresses[k] = host(strings.TrimSuffix(a, "/24")) + "/64"
			}
		}
		for i := range s.Lookups {
			s.Lookups[i].Source, s.Lookups[i].Destination = host(s.Lookups[i].Source), host(s.Lookups[i].Destination)
		}
		for i := range s.Neighbours { // shared with Before
			s.Neighbours[i].Address = host(s.Neighbours[i].Address)
		}
		s.Routes = nil
	}
	return tr
}

// With arp_filter on, arp_ignore=1 on top of it would make addresses unreachable.
func TestFluxUnderFilter(t *testing.T) {
	tr := trial(0, "writes")
	tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_filter"] = "1"
	fix := find(t, tr, "arp-flux").Fix
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
	contains(t, find(t, tr, "arp-flux").Fix[:1], "sysctl -w net.ipv4.conf.all.arp_filter=0")
}

// What needs another fix stays another finding.
func TestMergeKeepsFixesApart(t *testing.T) {
	filtered := trial(0, "writes")
	filtered.Treatment = "filtered"
	filtered.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_filter"] = "1"
	down := cut()
	neighbour(&down, "", "FAILED")
	down.Hosts[0].Snapshot.Interfaces[1].Up = false
	silent := cut()
	neighbour(&silent, "", "FAILED")
	silent.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_ignore"] = "8"
	var all []record.Finding
	for _, tr := range []record.Trial{trial(0, "writes"), filtered, trial(0, "reads"), filtered, down, silent, down} {
		all = append(all, Diagnose(tr, &topo)...)
	}
	want := "arp-flux server certain, arp-flux server certain, same-subnet-one-egress server certain, unreachable server likely, unreachable server likely"
	if got := names(Merge(all)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
