package path_test

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/sciencetest"
)

func TestUnreachable(t *testing.T) {
	server := netip.MustParseAddr("192.168.1.16")
	parameter := func(key, value string) record.Step {
		return record.Settings(setting.Setting{Host: "server", Sysctl: []setting.Sysctl{{Key: key, Value: value}}})[0]
	}
	for _, test := range []struct {
		name   string
		doctor func(*record.Trial)
		want   string
		cut    cause.Cut
		host   string // of evidence
		is     any
		step   record.Step
	}{
		{"nothing to see", func(*record.Trial) {}, "unreachable client1 possible", cause.Cut{Other: "server"}, "client1",
			fact.Unreached{Flow: "f2", Other: "server", Address: server, Error: "connect: no route to host"},
			record.Advice("", hint.FindDrop{From: "client1", To: server})},
		{"no interface may answer", func(tr *record.Trial) {
			diagnosetest.Neighbour(tr, "", "FAILED")
			tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_ignore"] = "8"
		}, "unreachable server likely", cause.Cut{Why: cause.NoneAnswers, Address: server}, "client1",
			fact.NoReply{Neighbour: fact.Neighbour{Address: "192.168.1.16", Interface: "eth0", State: "FAILED"}},
			parameter("net.ipv4.conf.all.arp_ignore", "1")},
		{"each interface leaves the answer to the other", func(tr *record.Trial) {
			diagnosetest.Neighbour(tr, "", "INCOMPLETE")
			tr.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_filter"] = "1"
			for i, l := range tr.Hosts[0].Snapshot.Lookups {
				if l.Source == "192.168.1.16" {
					tr.Hosts[0].Snapshot.Lookups[i].Interface = "eth0"
				}
			}
		}, "unreachable server likely", cause.Cut{Why: cause.NoneMay, Address: server, Interface: "eth1", Out: "eth0"},
			"server", fact.Scoped{Name: "arp_filter", Interface: "eth1", All: 1},
			record.Step{Host: "server", Instead: true, Setting: &setting.Setting{Host: "server",
				Sysctl: []setting.Sysctl{{Key: "net.ipv4.conf.all.arp_filter", Value: "0"}}}}},
		{"the interface is down", func(tr *record.Trial) {
			diagnosetest.Neighbour(tr, "", "FAILED")
			tr.Hosts[0].Snapshot.Interfaces[1].Up = false
		}, "unreachable server likely", cause.Cut{Why: cause.IsDown, Interface: "eth1"}, "server",
			fact.HolderDown{Interface: "eth1"}, record.Settings(setting.Setting{Host: "server",
				Link: &setting.Link{Interface: "eth1", Up: new(true)}})[0]},
		{"a wrong MAC address, for good", func(tr *record.Trial) {
			diagnosetest.Neighbour(tr, "02:de:ad:be:ef:01", "PERMANENT")
		}, "unreachable client1 likely", cause.Cut{Why: cause.WrongMAC, Address: server}, "client1",
			fact.MisledBy{Right: "02:00:00:01:00:02", Neighbour: fact.Neighbour{Address: "192.168.1.16",
				Interface: "eth0", MAC: "02:de:ad:be:ef:01", State: "PERMANENT"}},
			record.Settings(setting.Setting{Host: "client1", Neighbour: &setting.Neighbour{Interface: "eth0",
				Address: server, LLAddr: "02:00:00:01:00:02"}})[0]},
		{"the MAC address of another interface of that host is none", func(tr *record.Trial) {
			diagnosetest.Neighbour(tr, "02:00:00:01:00:01", "PERMANENT")
		}, "unreachable client1 possible", cause.Cut{Other: "server"}, "client1", fact.SendsBy{Interface: "eth0"},
			record.Advice("", hint.FindDrop{From: "client1", To: server})},
		{"no route", func(tr *record.Trial) {
			for i, l := range tr.Hosts[1].Snapshot.Lookups {
				if l.Destination == "192.168.1.16" {
					tr.Hosts[1].Snapshot.Lookups[i].Error = "network is unreachable"
				}
			}
		}, "unreachable client1 likely", cause.Cut{Why: cause.NoWayThere, Address: server, Other: "server"}, "client1",
			fact.NoRoute{Error: "network is unreachable"},
			record.Advice("client1", hint.LacksRoute{To: "192.168.1.16"})},
		{"no route back", func(tr *record.Trial) {
			for i, l := range tr.Hosts[0].Snapshot.Lookups {
				if l.Source == "192.168.1.16" {
					tr.Hosts[0].Snapshot.Lookups[i].Error = "network is unreachable"
				}
			}
		}, "unreachable server likely", cause.Cut{Why: cause.NoWayBack, Address: netip.MustParseAddr("192.168.1.101"),
			Other: "client1"}, "server", fact.NoRoute{Error: "network is unreachable"},
			record.Advice("server", hint.LacksRoute{To: "192.168.1.101"})},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := diagnosetest.Cut()
			test.doctor(&tr)
			list := diagnose.Diagnose(tr, &diagnosetest.Topo)
			if diagnosetest.Names(list) != test.want {
				t.Fatalf("found %q, want %q", diagnosetest.Names(list), test.want)
			}
			f := list[0]
			if f.Args != test.cut || !record.Within([]fact.Fact{{Host: test.host, Is: test.is}}, f.Facts) ||
				!slices.ContainsFunc(f.Steps, func(s record.Step) bool { return reflect.DeepEqual(s, test.step) }) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// Two interfaces on one IPv6 subnet leave by one as those on an IPv4 subnet do; the
// neighbour tables of IPv6 prove no ARP flux.
func TestIPv6Egress(t *testing.T) {
	tr := sixth(diagnosetest.Trial(0, "reads"))
	six := sciencetest.Study.Topology()
	list := diagnose.Diagnose(tr, &six)
	if diagnosetest.Names(list) != "same-subnet-one-egress server certain" {
		t.Fatalf("found %q", diagnosetest.Names(list))
	}
	address := netip.MustParseAddr
	if want := (fact.Fact{Host: "server", Is: fact.Leaving{Interface: "eth0", Sources: []fact.At{
		{Address: address("fd00::16"), Interface: "eth1"}, {Address: address("fd00::17"), Interface: "eth2"},
		{Address: address("fd00::18"), Interface: "eth3"}},
		Destinations: []netip.Addr{address("fd00::101"), address("fd00::102")}}}); !record.Within([]fact.Fact{want},
		list[0].Facts) {
		t.Errorf("no %+v in %+v", want, list[0].Facts)
	}
	changes := list[0].Changes()
	if r := changes[0].Route; r.To != "fd00::/64" || r.Interface != "eth1" || r.Source != address("fd00::16") ||
		r.Table != 101 {
		t.Errorf("%+v", r)
	}
	for i, s := range changes {
		if s.Host != "server" || i%2 == 1 && (s.Rule == nil || !strings.HasPrefix(s.Rule.From, "fd00::")) {
			t.Errorf("not of this family: %+v", s)
		}
	}
	tr.Hosts[0].Snapshot.Routes = append(tr.Hosts[0].Snapshot.Routes,
		netstate.ParseRoute(254, "", "default via 192.168.1.1 dev eth0"),
		netstate.ParseRoute(254, "", "default via fe80::1 dev eth0"))
	f := diagnosetest.Find(t, diagnose.Diagnose(tr, &diagnosetest.Topo), "same-subnet-one-egress")
	if r := f.Changes()[1].Route; r.To != "default" || r.Via != "fe80::1" || r.Interface != "eth1" || r.Table != 101 {
		t.Errorf("%+v", r)
	}
	if got := diagnosetest.Names(diagnose.Diagnose(sixth(diagnosetest.Trial(4, "reads")),
		&topology.Topology{Hosts: six.Hosts})); got != "" {
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
