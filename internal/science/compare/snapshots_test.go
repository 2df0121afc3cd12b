package compare

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/costtest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestSnapshots: what differs is named with its section and both values, counters by how much
// they grew, and what changes all the time is left out.
func TestSnapshots(t *testing.T) {
	host := func() netstate.HostSnapshot {
		var s netstate.HostSnapshot
		s.Reading.Host = "nas"
		s.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0", Index: 2, MTU: 1500, Up: true,
			Addresses: []string{"192.0.2.1/24"},
			Qdiscs: []netstate.Qdisc{{Parent: "root", Kind: "tbf", Options: map[string]string{"limit": "3000"}},
				{Parent: "1:1", Kind: "pfifo", Options: map[string]string{"limit": "2"}}}}}
		s.Reading.Snapshot.Routes = []netstate.RouteEntry{
			netstate.ParseRoute(254, "0.0.0.0/0", "default via 192.0.2.9 dev eth0")}
		s.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.0.2.9",
			MAC: "02:00:00:00:00:09", State: "REACHABLE"}}
		s.Reading.End.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0", RxBytes: 100, AtNs: 5}}
		s.State.Parameters = map[string]string{"net.ipv4.tcp_sack": "1"}
		s.State.NICs = []netstate.NIC{{Interface: "eth0", Features: map[string]bool{"rx-gro": true}}}
		s.State.Nexthops = []netstate.Nexthop{{ID: 2, Interface: "eth0", Via: "192.0.2.9"},
			{ID: 10, Group: []netstate.NexthopMember{{ID: 2, Weight: 2}}}}
		s.State.Nftables = &netstate.Nftables{Rules: []netstate.NftRule{{Family: "inet", Table: "filter",
			Chain: "input",
			Hook:  "input", Handle: 7, Text: "tcp dport 22 counter drop", Verdict: "drop", Packets: 5}},
			Sets: []netstate.NftSet{{Family: "inet", Table: "filter", Name: "few", Size: 4, Elements: 1}}}
		return s
	}
	from, to := host(), host()
	to.Reading.Snapshot.Interfaces[0].MTU = 9000
	to.Reading.Snapshot.Interfaces[0].Addresses = []string{"192.0.2.1/24", "192.0.2.2/24"}
	to.Reading.Snapshot.Interfaces[0].Qdiscs[0].Options["limit"] = "3000000"
	to.Reading.Snapshot.Interfaces[0].Qdiscs[1].Kind = "bfifo"
	to.Reading.Snapshot.Routes[0] = netstate.ParseRoute(254, "", "default via 192.0.2.8 dev eth0")
	to.Reading.Snapshot.Neighbours[0].State = "STALE"
	to.Reading.End.Interfaces[0].RxBytes, to.Reading.End.Interfaces[0].AtNs = 350, 9
	to.State.Parameters["net.ipv4.tcp_sack"] = "0"
	to.State.NICs[0].Features["rx-gro"] = false
	to.State.Nexthops[0].Via, to.State.Nexthops[1].Group[0].Weight = "192.0.2.8", 3
	rules := &to.State.Nftables.Rules
	(*rules)[0].Packets, (*rules)[0].Text, to.State.Nftables.Sets[0].Size = 9, "tcp dport 80 counter drop", 8
	*rules = append(*rules, netstate.NftRule{Family: "inet", Table: "filter", Chain: "input", Text: "policy drop",
		Verdict: "drop"})
	d := Snapshots(from, to)
	for _, want := range []record.Change{
		{Section: "interfaces", What: "eth0.mtu", From: "1500", To: "9000"},
		{Section: "interfaces", What: "eth0.addresses.192.0.2.2/24", To: "present"},
		{Section: "interfaces", What: "eth0.qdiscs.root.options.limit", From: "3000", To: "3000000"},
		{Section: "interfaces", What: "eth0.qdiscs.1:1.kind", From: "pfifo", To: "bfifo"},
		{Section: "routes", What: "default via 192.0.2.9 dev eth0", From: "present"},
		{Section: "routes", What: "default via 192.0.2.8 dev eth0", To: "present"},
		{Section: "nftables", What: "rules.inet filter input handle 7.text", From: "tcp dport 22 counter drop",
			To: "tcp dport 80 counter drop"},
		{Section: "nftables", What: "rules.inet filter input handle policy", To: "present"},
		{Section: "nftables", What: "sets.inet filter few.size", From: "4", To: "8"},
		{Section: "nexthops", What: "id 2.via", From: "192.0.2.9", To: "192.0.2.8"},
		{Section: "nexthops", What: "id 10.group.id 2.weight", From: "2", To: "3"},
		{Section: "parameters", What: "net.ipv4.tcp_sack", From: "1", To: "0"},
		{Section: "NICs", What: "eth0.features.rx-gro", From: "true", To: "false"},
	} {
		if !slices.Contains(d.Changes, want) {
			t.Errorf("no %+v in %+v", want, d.Changes)
		}
	}
	for _, c := range d.Changes {
		if c.Section == "neighbours" || c.What == "eth0.table" {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Contains(d.Counters, record.Change{Section: "interface counters", What: "eth0.rx_bytes", From: "100",
		To: "350", Grew: 250}) || len(d.Counters) != 1 {
		t.Errorf("%+v", d.Counters)
	}
	if d := Snapshots(from, from); len(d.Changes)+len(d.Counters) > 0 {
		t.Errorf("a snapshot differs from itself: %+v", d)
	}
}

// TestSnapshotInterface: the parameters of an interface that came or went are counted with it,
// and what changed comes first.
func TestSnapshotInterface(t *testing.T) {
	host := func(names ...string) (s netstate.HostSnapshot) {
		s.State.Parameters = map[string]string{"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.all.accept_ra": "0",
			"net.core.somaxconn": "4096"}
		for _, name := range names {
			s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
				netstate.InterfaceSnapshot{Interface: name, MTU: 1500})
			for _, key := range []string{"net.ipv4.conf.%s.rp_filter", "net.ipv6.neigh.%s.ucast_solicit"} {
				s.State.Parameters[fmt.Sprintf(key, strings.ReplaceAll(name, ".", "/"))] = "1"
			}
		}
		return s
	}
	from, to := host("eth0"), host("eth0", "eth1.5")
	to.State.Parameters["net.ipv4.conf.all.rp_filter"] = "1"
	to.State.Parameters["net.ipv4.conf.eth0.rp_filter"] = "2"
	to.State.Parameters["net.core.somaxconn"] = "128"
	to.State.Parameters["net.bridge.bridge-nf-call-iptables"] = "1"
	both := func(list []record.Change) (spelled []string) {
		for _, c := range list {
			spelled = append(spelled, fmt.Sprintf("%s %s %s %d", c.What, c.From, c.To, c.Parameters))
		}
		return spelled
	}
	if got := both(Snapshots(from, to).Changes); !slices.Equal(got, []string{
		"eth1.5  present 2", "net.ipv4.conf.all.rp_filter 0 1 0", "net.core.somaxconn 4096 128 0",
		"net.ipv4.conf.eth0.rp_filter 1 2 0", "net.bridge.bridge-nf-call-iptables  1 0",
	}) {
		t.Errorf("%q", got)
	}
	if got := both(Snapshots(to, from).Changes); got[0] != "eth1.5 present  2" || len(got) != 5 {
		t.Errorf("%q", got)
	}
}

// TestSections: each section of a comparison is a part of a snapshot.
func TestSections(t *testing.T) {
	s := netstate.HostSnapshot{State: netstate.HostState{Clock: &netstate.ClockSource{},
		Conntrack: &netstate.Conntrack{}}}
	for _, section := range sections {
		part(reflect.ValueOf(s), section.path) // which panics if there is none
	}
	if value := part(reflect.ValueOf(s), "state.clock.synchronised"); value != false {
		t.Errorf("clock: %v", value)
	}
	if value := part(reflect.ValueOf(s), "state.memory_bytes"); value != nil {
		t.Errorf("memory: %v", value)
	}
}

// TestCost: twice the interfaces, routes and counters take about twice the time.
func TestCost(t *testing.T) {
	costtest.Doubled(t, "snapshots", 2000, 2.3, func(n int) func() {
		of := func(mtu int) (s netstate.HostSnapshot) {
			for i := range n {
				name := fmt.Sprint("e", i)
				s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
					netstate.InterfaceSnapshot{Interface: name, MTU: mtu})
				s.Reading.Snapshot.Routes = append(s.Reading.Snapshot.Routes,
					netstate.RouteEntry{Text: fmt.Sprintf("10.%d.%d.0/24 dev %s", i>>8, i&255, name)})
				s.State.NICs = append(s.State.NICs, netstate.NIC{Interface: name, Driver: fmt.Sprint("d", mtu)})
				s.Reading.End.Interfaces = append(s.Reading.End.Interfaces,
					netstate.InterfaceCounters{Interface: name, RxBytes: uint64(i * mtu)})
			}
			return s
		}
		from, to := of(1500), of(1400)
		return func() { Snapshots(from, to) }
	})
}

// TestCostOfAlike: many elements of a list that have one name cost no more than as many with names of their own.
func TestCostOfAlike(t *testing.T) {
	took := func(n int, name func(int) string) (least time.Duration) {
		var s netstate.HostSnapshot
		for i := range n {
			s.Reading.Snapshot.Routes = append(s.Reading.Snapshot.Routes, netstate.RouteEntry{Text: name(i)})
		}
		for range 3 {
			began := time.Now()
			Snapshots(s, s)
			if d := time.Since(began); least == 0 || d < least {
				least = d
			}
		}
		return least
	}
	const n = 5000
	own, alike := took(n, func(i int) string { return fmt.Sprint("10.0.0.1 dev eth", i) }),
		took(n, func(int) string { return "10.0.0.1 dev eth0" })
	if t.Log(own, alike); alike > 8*own {
		t.Errorf("%d routes with one text take %v, with %d texts %v", n, alike, n, own)
	}
}
