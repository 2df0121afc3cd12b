package diagnose

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// duplicates are the findings of duplicate-address in a trial without ARP flux, after
// a change of it. Its server holds 192.168.1.15 to .18, of which client1 knows the
// right MAC addresses.
func duplicates(change func(t *record.Trial, server, client1, client2 *record.HostReading)) []record.Finding {
	tr := trial(4, "writes")
	change(&tr, &tr.Hosts[0], &tr.Hosts[1], &tr.Hosts[2])
	return slices.DeleteFunc(Diagnose(tr, &topo), func(f record.Finding) bool { return f.ID != "duplicate-address" })
}

func answer(address, mac string) record.Neighbour {
	return record.Neighbour{Interface: "eth0", Address: address, MAC: mac}
}

const stranger = "02:00:00:00:00:99"

func TestDuplicateAddress(t *testing.T) {
	for _, test := range []struct {
		name             string
		change           func(t *record.Trial, server, client1, client2 *record.HostReading)
		host, confidence string // empty: none
		evidence         string
	}{
		{"the holder and a stranger answer", func(_ *record.Trial, server, c, _ *record.HostReading) {
			c.Snapshot.Answers = []record.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC), answer("192.168.1.15", stranger)}
		}, "server", record.Likely, "client1 asked who holds 192.168.1.15, and was answered by"}, // or the stranger is a proxy
		{"a stranger answers for the host's own address", func(_ *record.Trial, server, _, _ *record.HostReading) {
			server.Snapshot.Answers = []record.Neighbour{answer("192.168.1.15", stranger)}
		}, "server", record.Likely, "server asked who holds 192.168.1.15"},
		{"two hosts hold it", func(_ *record.Trial, server, c, other *record.HostReading) {
			other.Snapshot.Interfaces[0].Addresses = append(other.Snapshot.Interfaces[0].Addresses, "192.168.1.15/24")
			c.Snapshot.Answers = []record.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC), answer("192.168.1.15", other.Snapshot.Interfaces[0].MAC)}
		}, "server", record.Certain, "client1 asked"},
		{"two strangers answer", func(_ *record.Trial, _, c, _ *record.HostReading) {
			c.Snapshot.Answers = []record.Neighbour{answer("192.168.1.77", stranger), answer("192.168.1.77", "02:00:00:00:00:98")}
		}, "client1", record.Likely, stranger},
		{"only a stranger's answer is in a table, and no host could ask", func(_ *record.Trial, _, c, _ *record.HostReading) {
			c.Snapshot.Neighbours[0].MAC = stranger
		}, "server", record.Likely, "the hosts' tables and interfaces have 192.168.1.1"},
		{"the switch knows where", func(tr *record.Trial, server, c, _ *record.HostReading) {
			c.Snapshot.Answers = []record.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC), answer("192.168.1.15", stranger)}
			tr.Hosts = append(tr.Hosts, record.HostReading{Host: "gate", Snapshot: record.Snapshot{Tables: record.Tables{FDB: []record.FDBEntry{{MAC: stranger, Interface: "gi7"}}}}})
		}, "server", record.Likely, "gate has " + stranger + " behind port gi7"},

		{"ARP flux: all interfaces of the holder answer", func(_ *record.Trial, server, c, _ *record.HostReading) {
			for _, p := range server.Snapshot.Interfaces {
				c.Snapshot.Answers = append(c.Snapshot.Answers, answer("192.168.1.15", p.MAC), answer("192.168.1.16", p.MAC))
			}
		}, "", "", ""},
		{"the holder's other interfaces answer its own request", func(_ *record.Trial, server, _, _ *record.HostReading) {
			server.Snapshot.Answers = []record.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[1].MAC)}
		}, "", "", ""},
		{"ARP flux of a machine that was not read", func(_ *record.Trial, _, c, _ *record.HostReading) {
			for _, address := range []string{"192.168.1.77", "192.168.1.78"} {
				c.Snapshot.Answers = append(c.Snapshot.Answers, answer(address, stranger), answer(address, "02:00:00:00:00:98"))
			}
		}, "", "", ""},
		{"members of a bond", func(_ *record.Trial, server, c, _ *record.HostReading) {
			server.Snapshot.Interfaces[1].Master, server.Snapshot.Interfaces[2].Master = "bond0", "bond0"
			c.Snapshot.Answers = []record.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[1].MAC), answer("192.168.1.15", server.Snapshot.Interfaces[2].MAC)}
		}, "", "", ""},
		{"a virtual router", func(_ *record.Trial, server, c, _ *record.HostReading) {
			c.Snapshot.Answers = []record.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC), answer("192.168.1.15", "00:00:5e:00:01:0a")}
		}, "", "", ""},
		{"a MAC address that two hosts share", func(_ *record.Trial, server, c, other *record.HostReading) {
			for _, h := range []*record.HostReading{server, other} {
				h.Snapshot.Interfaces[0].MAC = stranger
				h.Snapshot.Interfaces[0].Addresses = append(h.Snapshot.Interfaces[0].Addresses, "192.168.1.90/24")
			}
			c.Snapshot.Answers = []record.Neighbour{answer("192.168.1.90", stranger), answer("192.168.1.90", server.Snapshot.Interfaces[1].MAC)}
		}, "", "", ""},
		{"a proxy", func(_ *record.Trial, server, c, other *record.HostReading) {
			c.Snapshot.Answers = []record.Neighbour{answer("192.168.1.15", server.Snapshot.Interfaces[0].MAC), answer("192.168.1.15", other.Snapshot.Interfaces[0].MAC)}
		}, "", "", ""},
		{"entries that an administrator made", func(_ *record.Trial, _, c, _ *record.HostReading) {
			for i := range c.Snapshot.Neighbours {
				c.Snapshot.Neighbours[i].MAC, c.Snapshot.Neighbours[i].State = stranger, "PERMANENT"
			}
		}, "", "", ""},
		{"the same address on links that have nothing to do with each other", func(_ *record.Trial, server, c, _ *record.HostReading) {
			server.Snapshot.Neighbours = append(server.Snapshot.Neighbours, record.Neighbour{Interface: "docker0", Address: "172.17.0.2", MAC: stranger, State: "STALE"})
			c.Snapshot.Neighbours = append(c.Snapshot.Neighbours, record.Neighbour{Interface: "docker0", Address: "172.17.0.2", MAC: "02:00:00:00:00:98", State: "STALE"})
		}, "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := duplicates(test.change)
			switch {
			case test.host == "" && len(found) > 0:
				t.Errorf("%+v", found)
			case test.host == "":
			case len(found) != 1 || found[0].Host != test.host || found[0].Confidence != test.confidence || len(found[0].Fix) == 0:
				t.Errorf("%+v, want one of %s (%s)", found, test.host, test.confidence)
			case !strings.Contains(strings.Join(found[0].Evidence, "\n"), test.evidence):
				t.Errorf("the evidence is %q, want %q", found[0].Evidence, test.evidence)
			}
		})
	}
}

// TestAddressTwiceOnce: an address of two hosts is one cause, whichever host the findings about
// it are of; another address is another.
func TestAddressTwiceOnce(t *testing.T) {
	hosts := []record.HostSnapshot{hostNamed("x", 1), hostNamed("y", 2), hostNamed("z", 3)}
	snapshot := func(i int) *record.Snapshot { return &hosts[i].Reading.Snapshot }
	snapshot(1).Interfaces[0].Addresses = append(snapshot(1).Interfaces[0].Addresses, "192.0.2.1/24")
	mac := func(i int) string { return snapshot(i).Interfaces[0].MAC }
	snapshot(2).Answers = []record.Neighbour{answer("192.0.2.1", mac(0)), answer("192.0.2.1", mac(1)), answer("192.0.2.2", mac(1)), answer("192.0.2.2", stranger)}
	snapshot(2).Neighbours = []record.Neighbour{{Interface: "eth0", Address: "192.0.2.1", MAC: stranger, State: "STALE"}}
	var causes, follow []string
	for _, f := range Hosts(hosts).Findings {
		if f.ExplainedBy == "" {
			causes = append(causes, f.ID+" "+f.Subject)
		} else {
			follow = append(follow, f.ID+" "+f.Subject+" "+f.ExplainedBy)
		}
	}
	if !slices.Equal(causes, []string{"address-twice 192.0.2.1", "duplicate-address 192.0.2.2"}) ||
		!slices.Equal(follow, []string{"duplicate-address 192.0.2.1 address-twice", "wrong-neighbour 192.0.2.1 address-twice"}) {
		t.Errorf("causes %v; from them follow %v", causes, follow)
	}
}
