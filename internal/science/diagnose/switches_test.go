package diagnose

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

const second = int64(1e9)

// behindASwitch is a trial of 10 s in which a sends 100 MB to b through sg300, of whose ports
// the second sent out bytes; flows lost so many.
func behindASwitch(out uint64, lost int64) (record.Trial, *topology.Topology) {
	over := &topology.Topology{
		Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}},
			{Name: "b", Interfaces: []topology.Interface{{Name: "eth0"}}}},
		Switches: []topology.Switch{{Name: "sg300"}},
		Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
			To: topology.End{Node: "sg300", Interface: "a-eth0"}},
			{From: topology.End{Node: "b", Interface: "eth0"}, To: topology.End{Node: "sg300", Interface: "b-eth0"}}},
	}
	reading := func(host string, rx, tx uint64) record.HostReading {
		at := func(ns int64, rx, tx uint64) record.Reading {
			return record.Reading{Interfaces: []record.InterfaceCounters{{Interface: "eth0", RxBytes: rx, TxBytes: tx,
				AtNs: ns}}}
		}
		return record.HostReading{Host: host, Begin: at(0, 0, 0), End: at(10*second, rx, tx),
			Snapshot: record.Snapshot{Interfaces: []record.InterfaceSnapshot{
				{Interface: "eth0", Kind: "veth", Up: true}}}}
	}
	port := func(name, peer string, in, out uint64) record.SwitchPort {
		return record.SwitchPort{Port: name, Peer: peer, Name: "gi" + name[:1], ToNs: 10 * second,
			Counters: record.SwitchCounters{InOctets: in, OutOctets: out, InUcast: in / 1500, OutUcast: out / 1500}}
	}
	const sent = 100e6
	trial := record.Trial{WindowS: 10, Hosts: []record.HostReading{reading("a", 0, sent), reading("b", out, 0)},
		Flows: []record.Flow{{ID: "f1", From: "a", To: "b", Connected: true, RetransBytes: lost,
			Path: []string{"a.eth0", "sg300.a-eth0", "sg300.b-eth0", "b.eth0"}}},
		Switches: []record.SwitchReading{{Switch: "sg300", Ports: []record.SwitchPort{port("a-eth0", "a.eth0", sent, 0),
			port("b-eth0", "b.eth0", 0, out)}}},
	}
	return trial, over
}

func findingsOf(t *testing.T, trial record.Trial, over *topology.Topology) (list []record.Finding) {
	t.Helper()
	for _, f := range Diagnose(trial, over) {
		for _, r := range switchRules {
			if f.ID == r.id {
				list = append(list, f)
			}
		}
	}
	return list
}

func TestSwitchFindings(t *testing.T) {
	for name, c := range map[string]struct {
		out    uint64
		lost   int64
		change func(*record.Trial)
		id     string // the first finding; empty: none
		says   string
	}{
		"nothing lost":       {out: 100e6},
		"within what may be": {out: 99.85e6, lost: 200e3},
		"lost in the switch": {out: 99e6, lost: 1e6, id: "lost-at-hop", says: "in sg300 before port b-eth0"},
		"flows lost nothing": {out: 99e6},
		"lost on the way to it": {out: 99e6, lost: 1e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InOctets = 99e6
		}, id: "lost-at-hop", says: "between a.eth0 and port a-eth0 (gia) of sg300"},
		"lost behind it": {out: 100e6, lost: 1e6, change: func(t *record.Trial) {
			t.Hosts[1].End.Interfaces[0].RxBytes = 99e6
		}, id: "lost-at-hop",
			says: "between b.eth0 and port b-eth0 (gib) of sg300"},
		"with frame check sequences": {out: 100e6 + 4*66667, lost: 1e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InOctets += 4 * 66667
		}},
		"discards": {out: 99e6, lost: 1e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[1].Counters.OutDiscards = 667
		}, id: "switch-discards",
			says: "port b-eth0 (gib) of sg300 discarded 667 frames, 1 % of those that it was to send to b.eth0"},
		"discards at the way in": {out: 100e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InDiscards = 667
		}, id: "switch-discards", says: "that it received from a.eth0"},
		"a frame of a protocol": {out: 100e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InDiscards = 5
		}},
		"errors": {out: 100e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InErrors = 20
		}, id: "switch-errors", says: "received 20 frames, 0.03 % of all from a.eth0 damaged"},
		"no figures": {out: 90e6, lost: 1e7, change: func(t *record.Trial) {
			t.Switches[0].Missing = "no answer"
		}},
		"one port without": {out: 90e6, lost: 1e7, change: func(t *record.Trial) {
			t.Switches[0].Ports[1].Missing = "not found"
		}},
		"one of several paths": {out: 90e6, lost: 1e7, change: func(t *record.Trial) { t.Flows[0].Paths = 2 }},
	} {
		trial, over := behindASwitch(c.out, c.lost)
		if c.change != nil {
			c.change(&trial)
		}
		list := findingsOf(t, trial, over)
		switch {
		case c.id == "" && len(list) > 0:
			t.Errorf("%s: %+v", name, list)
		case c.id != "" && (len(list) != 1 || list[0].ID != c.id || !strings.Contains(list[0].Summary, c.says)):
			t.Errorf("%s: want %s: …%s…, got %+v", name, c.id, c.says, list)
		}
	}
}

// TestFluxBehindASwitch: the forwarding table of a switch that is read by SNMP is evidence of
// ARP flux beside the neighbour tables.
func TestFluxBehindASwitch(t *testing.T) {
	trial, over := behindASwitch(100e6, 0)
	trial.Flows = nil
	const near, other = "00:08:9b:c8:c4:31", "00:08:9b:c8:c4:32"
	for i := range trial.Hosts {
		for _, address := range []string{"192.0.2.15", "192.0.2.16"} {
			trial.Hosts[i].Snapshot.Neighbours = append(trial.Hosts[i].Snapshot.Neighbours,
				record.Neighbour{Interface: "eth0", Address: address, MAC: near, State: "REACHABLE"})
		}
	}
	trial.Switches[0].FDB = []record.FDBEntry{{MAC: near, Interface: "gi7"}, {MAC: other, Interface: "gi8"}}
	for _, f := range Diagnose(trial, over) {
		if text := strings.Join(f.Evidence, "\n"); f.ID == "arp-flux" &&
			strings.Contains(text, "sg300 has "+near+" behind port gi7") &&
			strings.Contains(text, "its other ports: gi8 ("+other+")") {
			return
		}
	}
	t.Errorf("no finding of ARP flux with the ports: %+v", Diagnose(trial, over))
}
