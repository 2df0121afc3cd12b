package trust

import (
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// switched is a trial of 10 s in which a sends 100 MB in frames of 1514 bytes to a switch, which
// counts so many bytes and frames of it.
func switched(octets, frames uint64) record.Trial {
	at := func(ns int64, tx uint64) netstate.Reading {
		return netstate.Reading{Interfaces: []netstate.InterfaceCounters{
			{Interface: "eth0", TxBytes: tx, TxPackets: tx / 1514, AtNs: ns}}}
	}
	return record.Trial{WindowS: 10,
		Hosts: []netstate.HostReading{{Host: "a", Begin: at(0, 0), End: at(10e9, 100e6),
			Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{{Interface: "eth0", Kind: "veth"}}}}},
		Switches: []record.SwitchReading{
			{Switch: "sg300", Ports: []record.SwitchPort{{Port: "a-eth0", Peer: "a.eth0", ToNs: 10e9,
				Counters: record.SwitchCounters{InOctets: octets, InUcast: frames}}}}},
	}
}

func TestSwitch(t *testing.T) {
	const frames = 100_000_000 / 1514
	for name, c := range map[string]struct {
		octets uint64
		change func(*record.Trial)
		over   *topology.Topology
		pass   bool
		says   string
	}{
		"the same": {octets: 100e6, pass: true, says: `"fcs":"not counted"`},
		"with frame check sequences": {octets: 100e6 + 4*frames, pass: true,
			says: `"fcs":"counted"`},
		"within what may be": {octets: 99.85e6, pass: true},
		"less": {octets: 99e6,
			says: `"receives":true,"switch_bytes":99000000,"host_bytes":100000000,"bytes":1000000,"allowed_bytes":477940}`},
		"more":                {octets: 101e6, says: `"bytes":1000000,`},
		"more with sequences": {octets: 101e6 + 4*frames, says: `"switch_counts"`},
		"a time in doubt": {octets: 99e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].DoubtS = 0.2
		}, pass: true, says: `"allowed_bytes":2477940}`},
		"a part of the window": {octets: 50e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].FromNs = 5e9
		}, pass: true},
		"a link that is to lose frames": {octets: 90e6, over: lossy(), pass: true,
			says: `"no_ports"`},
		"no answer": {change: func(t *record.Trial) {
			t.Switches[0].Missing = "no answer"
		}, pass: true, says: `{"switch":"sg300","error":"no answer"}`},
		"a port that is not found": {change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Missing = "not found"
		}, pass: true, says: `{"switch":"sg300","port":"a-eth0","error":"not found"}`},
		"another interface": {change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Peer = "a.eth9"
		}, pass: true, says: `"no_ports"`},
	} {
		trial := switched(c.octets, c.octets*frames/100e6)
		if c.change != nil {
			c.change(&trial)
		}
		i := -1
		checks := Trial(trial, c.over)
		for k, check := range checks {
			if check.Check == Switch {
				i = k
			}
		}
		if i < 0 {
			t.Errorf("%s: no check", name)
			continue
		}
		if got := checks[i]; got.Pass != c.pass || !rests(got, c.says) ||
			got.Unevaluated != (c.octets == 0 || c.over != nil) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, check := range Trial(record.Trial{WindowS: 1}, nil) {
		if check.Check == Switch {
			t.Errorf("without a switch: %+v", check)
		}
	}
}

func lossy() *topology.Topology {
	return &topology.Topology{Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}}},
		Switches: []topology.Switch{{Name: "sg300"}},
		Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
			To: topology.End{Node: "sg300", Interface: "a-eth0"}, Impairment: topology.Impairment{Loss: 0.1}}}}
}
