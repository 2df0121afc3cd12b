package arp_test

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// duplicates are the findings of duplicate-address in a trial without ARP flux, after
// a change of it. Its server holds 192.168.1.15 to .18, of which client1 knows the
// right MAC addresses.
func duplicates(change func(t *record.Trial, server, client1, client2 *netstate.HostReading)) []record.Finding {
	tr := diagnosetest.Trial(4, "writes")
	change(&tr, &tr.Hosts[0], &tr.Hosts[1], &tr.Hosts[2])
	return slices.DeleteFunc(diagnose.Diagnose(tr, &diagnosetest.Topo), func(f record.Finding) bool {
		return f.ID != "duplicate-address"
	})
}

func answer(address, mac string) netstate.Neighbour {
	return netstate.Neighbour{Interface: "eth0", Address: address, MAC: mac}
}

// serverMAC is that of the server's first interface.
const serverMAC = "02:00:00:01:00:01"

// found are the MAC addresses that were given for an address.
func found(host, address string, macs ...string) fact.Fact {
	return fact.Fact{Host: host, Is: fact.Found{Addresses: []netip.Addr{netip.MustParseAddr(address)}, MACs: macs}}
}

func TestDuplicateAddress(t *testing.T) {
	for _, test := range []struct {
		name             string
		change           func(t *record.Trial, server, client1, client2 *netstate.HostReading)
		host, confidence string // empty: none
		evidence         fact.Fact
	}{
		{"the holder and a stranger answer", func(_ *record.Trial, server, c, _ *netstate.HostReading) {
			c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC),
				answer("192.168.1.15", diagnosetest.Stranger)}
		}, "server", record.Likely,
			found("client1", "192.168.1.15", diagnosetest.Stranger, serverMAC)}, // or the stranger is a proxy
		{"a stranger answers for the host's own address", func(_ *record.Trial, server, _, _ *netstate.HostReading) {
			server.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.15", diagnosetest.Stranger)}
		}, "server", record.Likely, found("server", "192.168.1.15", diagnosetest.Stranger, serverMAC)},
		{"two hosts hold it", func(_ *record.Trial, server, c, other *netstate.HostReading) {
			other.Snapshot.Interfaces[0].Addresses = append(other.Snapshot.Interfaces[0].Addresses, "192.168.1.15/24")
			c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC),
				answer("192.168.1.15", other.Snapshot.Interfaces[0].MAC)}
		}, "server", record.Certain, found("client1", "192.168.1.15", serverMAC, "02:00:00:03:00:01")},
		{"two strangers answer, or one with two interfaces", func(_ *record.Trial, _, c, _ *netstate.HostReading) {
			c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.77", diagnosetest.Stranger),
				answer("192.168.1.77", "02:00:00:00:00:98")}
		}, "client1", record.Possible, fact.Fact{Is: fact.Numbered{}}},
		{"two strangers answer, of which one answers for another address alone",
			func(_ *record.Trial, _, c, _ *netstate.HostReading) {
				c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.77", diagnosetest.Stranger),
					answer("192.168.1.77", "02:00:00:00:00:98"), answer("192.168.1.78", diagnosetest.Stranger)}
			}, "client1", record.Likely, fact.Fact{Is: fact.OnlySome{
				Address: netip.MustParseAddr("192.168.1.78"), MACs: []string{diagnosetest.Stranger},
				Not: []string{"02:00:00:00:00:98"}}}},
		{"only a stranger's answer is in a table, and no host could ask",
			func(_ *record.Trial, _, c, _ *netstate.HostReading) {
				c.Snapshot.Neighbours[0].MAC = diagnosetest.Stranger
			}, "server", record.Likely, found("", "192.168.1.15", diagnosetest.Stranger, serverMAC)},
		{"the switch knows where", func(tr *record.Trial, server, c, _ *netstate.HostReading) {
			c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC),
				answer("192.168.1.15", diagnosetest.Stranger)}
			tr.Hosts = append(tr.Hosts,
				netstate.HostReading{Host: "gate",
					Snapshot: netstate.Snapshot{
						Tables: netstate.Tables{FDB: []netstate.FDBEntry{{MAC: diagnosetest.Stranger,
							Interface: "gi7"}}}}})
		}, "server", record.Likely, fact.Fact{Host: "gate",
			Is: fact.SwitchPort{MAC: diagnosetest.Stranger, Port: "gi7"}}},

		{"ARP flux: all interfaces of the holder answer", func(_ *record.Trial, server, c, _ *netstate.HostReading) {
			for _, p := range server.Snapshot.Interfaces {
				c.Snapshot.Answers = append(c.Snapshot.Answers, answer("192.168.1.15", p.MAC),
					answer("192.168.1.16", p.MAC))
			}
		}, "", "", fact.Fact{}},
		{"the holder's other interfaces answer its own request",
			func(_ *record.Trial, server, _, _ *netstate.HostReading) {
				server.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.15",
					server.Snapshot.Interfaces[1].MAC)}
			}, "", "", fact.Fact{}},
		{"ARP flux of a machine that was not read", func(_ *record.Trial, _, c, _ *netstate.HostReading) {
			for _, address := range []string{"192.168.1.77", "192.168.1.78"} {
				c.Snapshot.Answers = append(c.Snapshot.Answers, answer(address, diagnosetest.Stranger),
					answer(address, "02:00:00:00:00:98"))
			}
		}, "", "", fact.Fact{}},
		{"members of a bond", func(_ *record.Trial, server, c, _ *netstate.HostReading) {
			server.Snapshot.Interfaces[1].Master, server.Snapshot.Interfaces[2].Master = "bond0", "bond0"
			c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[1].MAC),
				answer("192.168.1.15", server.Snapshot.Interfaces[2].MAC)}
		}, "", "", fact.Fact{}},
		{"a virtual router", func(_ *record.Trial, server, c, _ *netstate.HostReading) {
			c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC),
				answer("192.168.1.15", "00:00:5e:00:01:0a")}
		}, "", "", fact.Fact{}},
		{"a MAC address that two hosts share", func(_ *record.Trial, server, c, other *netstate.HostReading) {
			for _, h := range []*netstate.HostReading{server, other} {
				h.Snapshot.Interfaces[0].MAC = diagnosetest.Stranger
				h.Snapshot.Interfaces[0].Addresses = append(h.Snapshot.Interfaces[0].Addresses, "192.168.1.90/24")
			}
			c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.90", diagnosetest.Stranger),
				answer("192.168.1.90", server.Snapshot.Interfaces[1].MAC)}
		}, "", "", fact.Fact{}},
		{"a proxy", func(_ *record.Trial, server, c, other *netstate.HostReading) {
			c.Snapshot.Answers = []netstate.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC),
				answer("192.168.1.15", other.Snapshot.Interfaces[0].MAC)}
		}, "", "", fact.Fact{}},
		{"entries that an administrator made", func(_ *record.Trial, _, c, _ *netstate.HostReading) {
			for i := range c.Snapshot.Neighbours {
				c.Snapshot.Neighbours[i].MAC, c.Snapshot.Neighbours[i].State = diagnosetest.Stranger, "PERMANENT"
			}
		}, "", "", fact.Fact{}},
		{"the same address on links that have nothing to do with each other",
			func(_ *record.Trial, server, c, _ *netstate.HostReading) {
				server.Snapshot.Neighbours = append(server.Snapshot.Neighbours, netstate.Neighbour{Interface: "docker0",
					Address: "172.17.0.2", MAC: diagnosetest.Stranger, State: "STALE"})
				c.Snapshot.Neighbours = append(c.Snapshot.Neighbours, netstate.Neighbour{Interface: "docker0",
					Address: "172.17.0.2", MAC: "02:00:00:00:00:98", State: "STALE"})
			}, "", "", fact.Fact{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := duplicates(test.change)
			switch {
			case test.host == "" && len(found) > 0:
				t.Errorf("%+v", found)
			case test.host == "":
			case len(found) != 1 || found[0].Host != test.host || found[0].Confidence != test.confidence:
				t.Errorf("%+v, want one of %s (%s)", found, test.host, test.confidence)
			case !record.Within([]fact.Fact{test.evidence}, found[0].Facts):
				t.Errorf("the evidence is %+v, want %+v", found[0].Facts, test.evidence)
			}
		})
	}
}

// TestAddressTwiceOnce: an address of two hosts is one cause, whichever host the findings about
// it are of; another address is another.
func TestAddressTwiceOnce(t *testing.T) {
	hosts := []netstate.HostSnapshot{diagnosetest.HostNamed("x", 1), diagnosetest.HostNamed("y", 2),
		diagnosetest.HostNamed("z", 3)}
	snapshot := func(i int) *netstate.Snapshot { return &hosts[i].Reading.Snapshot }
	snapshot(1).Interfaces[0].Addresses = append(snapshot(1).Interfaces[0].Addresses, "192.0.2.1/24")
	mac := func(i int) string { return snapshot(i).Interfaces[0].MAC }
	snapshot(2).Answers = []netstate.Neighbour{answer("192.0.2.1", mac(0)), answer("192.0.2.1", mac(1)),
		answer("192.0.2.2", mac(1)), answer("192.0.2.2", diagnosetest.Stranger)}
	snapshot(2).Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.0.2.1", MAC: diagnosetest.Stranger,
		State: "STALE"}}
	var causes, follow []string
	for _, f := range diagnose.Hosts(hosts).Findings {
		if f.ExplainedBy == "" {
			causes = append(causes, f.ID+" "+f.Of())
		} else {
			follow = append(follow, f.ID+" "+f.Of()+" "+f.ExplainedBy)
		}
	}
	if !slices.Equal(causes, []string{"address-twice 192.0.2.1", "duplicate-address 192.0.2.2"}) ||
		!slices.Equal(follow, []string{"duplicate-address 192.0.2.1 address-twice",
			"wrong-neighbour 192.0.2.1 address-twice"}) {
		t.Errorf("causes %v; from them follow %v", causes, follow)
	}
}

// hidden is a client's snapshot, whose ARP requests strangers answer: for each address the last
// bytes of their MAC addresses.
func hidden(answers map[string][]byte) netstate.HostSnapshot {
	client := diagnosetest.HostNamed("client", 9)
	for _, address := range slices.Sorted(maps.Keys(answers)) {
		for _, last := range answers[address] {
			client.Reading.Snapshot.Answers = append(client.Reading.Snapshot.Answers,
				answer(address, fmt.Sprintf("02:00:00:00:00:%02x", last)))
		}
	}
	return client
}

// TestFluxOrDuplicate: a machine with two interfaces, 10 and 20, that was not read, alone or with
// another one that has its first address: by what is known of them one or the other is found,
// whatever the order of the MAC addresses.
func TestFluxOrDuplicate(t *testing.T) {
	for name, test := range map[string]struct {
		answers map[string][]byte
		want    []string // as told
	}{
		"one address is known": {map[string][]byte{"10.6.0.2": {0x10, 0x20}},
			[]string{"duplicate-address possible: several[10.6.0.2] [02:00:00:00:00:10] [02:00:00:00:00:20]"}},
		"both addresses are known": {map[string][]byte{"10.6.0.1": {0x10, 0x20}, "10.6.0.2": {0x10, 0x20}},
			[]string{"arp-flux likely: [10.6.0.1 10.6.0.2] [02:00:00:00:00:10 02:00:00:00:00:20]"}},
		"one address, and another machine": {map[string][]byte{"10.6.0.1": {0x10, 0x20, 0xff}},
			[]string{"duplicate-address possible: several[10.6.0.1]"}},
		"one address, and the other machine's own": {map[string][]byte{"10.6.0.1": {0x10, 0xff}, "10.6.0.50": {0xff}},
			[]string{"duplicate-address likely: answered[10.6.0.1] [02:00:00:00:00:10] [02:00:00:00:00:ff]"}},
	} {
		check(t, name, hidden(test.answers), test.want)
	}
	for _, other := range []byte{0x01, 0x15, 0xff} {
		for _, order := range [][]byte{{0x10, 0x20, other}, {other, 0x20, 0x10}} {
			machines := []string{"[02:00:00:00:00:10 02:00:00:00:00:20]", fmt.Sprintf("[02:00:00:00:00:%02x]", other)}
			if other < 0x10 {
				slices.Reverse(machines)
			}
			check(t, fmt.Sprintf("another machine, %x", order),
				hidden(map[string][]byte{"10.6.0.1": order, "10.6.0.2": {0x10, 0x20}}),
				[]string{"arp-flux likely: [10.6.0.1 10.6.0.2]",
					"duplicate-address likely: answered[10.6.0.1] " + strings.Join(machines, " ")})
		}
	}
}

// told is a finding about a machine that was not read, or about a duplicate address, with its arguments.
func told(f record.Finding) string {
	text := f.ID + " " + f.Confidence + ": "
	switch a := f.Args.(type) {
	case cause.Duplicate:
		text += fmt.Sprint(a.How, a.Addresses)
		for _, c := range a.Claims {
			text += fmt.Sprint(" ", c.Host, c.MACs)
		}
	case cause.Flux:
		text += fmt.Sprint(a.Machine.Addresses, a.Machine.MACs)
	}
	return text
}

func check(t *testing.T, name string, s netstate.HostSnapshot, want []string) {
	t.Helper()
	found := diagnose.Hosts([]netstate.HostSnapshot{s}).Findings
	right := len(found) == len(want)
	for i := range min(len(found), len(want)) {
		right = right && strings.HasPrefix(told(found[i]), want[i])
	}
	if !right {
		t.Errorf("%s: %+v, want %q", name, found, want)
	}
}

// TestProbeTellsFlux: the answers that a probe gets are answers.
func TestProbeTellsFlux(t *testing.T) {
	s := hidden(map[string][]byte{"10.6.0.1": {0x10, 0x20}})
	s.State.Probes = []netstate.Probe{{Interface: "eth0", Address: "10.6.0.1", ARP: []string{"02:00:00:00:00:10",
		"02:00:00:00:00:20"},
		Answers: []netstate.Neighbour{answer("10.6.0.2", "02:00:00:00:00:10"), answer("10.6.0.2", "02:00:00:00:00:20")}}}
	check(t, "probe", s, []string{"arp-flux likely: [10.6.0.1 10.6.0.2]"})
}

// TestDuplicateFirst: that a host sends to the wrong one of two machines with an address is the
// consequence, though two hosts' snapshots prove it and the third machine was not read.
func TestDuplicateFirst(t *testing.T) {
	a, b := diagnosetest.HostNamed("a", 1), diagnosetest.HostNamed("b", 2)
	b.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.0.2.1",
		MAC:   diagnosetest.Stranger,
		State: "REACHABLE"}}
	b.Reading.Snapshot.Answers = []netstate.Neighbour{answer("192.0.2.1", a.Reading.Snapshot.Interfaces[0].MAC),
		answer("192.0.2.1", diagnosetest.Stranger)}
	for _, asked := range []bool{true, false} {
		if !asked {
			b.Reading.Snapshot.Answers = nil
		}
		found := diagnose.Hosts([]netstate.HostSnapshot{a, b}).Findings
		if len(found) != 2 || found[0].ID != "duplicate-address" || found[0].ExplainedBy != "" ||
			found[1].ID != "wrong-neighbour" || found[1].ExplainedBy != "duplicate-address" {
			t.Errorf("%+v", found)
		}
	}
}

// TestTablesContradict: pasted tables of two clients that have both of a machine's addresses at
// different MAC addresses.
func TestTablesContradict(t *testing.T) {
	neigh := func(mac string) string {
		return "10.0.0.10 dev eth0 lladdr " + mac + " REACHABLE\n10.0.0.11 dev eth0 lladdr " + mac + " STALE\n"
	}
	arp := func(mac string) string {
		return "Address HWtype HWaddress Flags Mask Iface\n10.0.0.10 ether " + mac + " C eth0\n10.0.0.11 ether " + mac +
			" C eth0\n"
	}
	for _, test := range []struct {
		command, first, second string
		want                   []string
	}{
		{"ip neigh", neigh("3c:ec:ef:12:34:56"), neigh("3c:ec:ef:12:34:57"),
			[]string{"arp-flux likely: [10.0.0.10 10.0.0.11] [3c:ec:ef:12:34:56 3c:ec:ef:12:34:57]"}},
		{"arp -n", arp("3c:ec:ef:12:34:57"), arp("3c:ec:ef:12:34:56"),
			[]string{"arp-flux likely: [10.0.0.10 10.0.0.11] [3c:ec:ef:12:34:56 3c:ec:ef:12:34:57]"}},
		{"ip neigh", neigh("3c:ec:ef:12:34:56"), neigh("00:11:22:33:44:55"),
			[]string{"duplicate-address possible: several[10.0.0.10 10.0.0.11]"}},
		{"ip neigh", neigh("3c:ec:ef:12:34:56"), neigh("3c:ec:ef:12:34:56"), nil},
		{"ip neigh", strings.ReplaceAll(neigh("3c:ec:ef:12:34:56"), "eth0", "docker0"),
			strings.ReplaceAll(neigh("00:11:22:33:44:55"), "eth0", "docker0"), nil},
	} {
		p, err := pasted.Parse("pc1:~# " + test.command + "\n" + test.first + "pc2:~# " + test.command + "\n" +
			test.second)
		if err != nil || len(p.Machines) != 2 {
			t.Fatal(p, err)
		}
		var got []string
		for _, f := range diagnose.Hosts(p.Machines).Findings {
			got = append(got, told(f))
		}
		if len(got) != len(test.want) || len(got) > 0 && !strings.HasPrefix(got[0], test.want[0]) {
			t.Errorf("%s%s: %q, want %q", test.first, test.second, got, test.want)
		}
	}
}
