package path_test

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/path"
)

func findingsOf(t *testing.T, trial record.Trial, over *topology.Topology) (list []record.Finding) {
	t.Helper()
	for _, f := range diagnose.Diagnose(trial, over) {
		for _, r := range path.SwitchRules {
			if f.ID == r.ID {
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
		about  string // of it
	}{
		"nothing lost":       {out: 100e6},
		"within what may be": {out: 99.85e6, lost: 200e3},
		"lost in the switch": {out: 99e6, lost: 1e6, id: "lost-at-hop", about: "sg300.b-eth0"},
		"within what readings at other instants leave open": {out: 100e6, lost: 4e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[1].ToNs -= int64(0.02e9 * t.WindowS)
			t.Switches[0].Ports[1].Counters.OutOctets = 0.98 * 100e6
		}},
		"within what the times of readings leave open": {out: 99e6, lost: 1e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].DoubtS = 0.02 * t.WindowS
		}},
		"flows lost nothing": {out: 99e6},
		"lost on the way to it": {out: 99e6, lost: 1e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InOctets = 99e6
		}, id: "lost-at-hop", about: "a.eth0-sg300.a-eth0"},
		"lost behind it": {out: 100e6, lost: 1e6, change: func(t *record.Trial) {
			t.Hosts[1].End.Interfaces[0].RxBytes = 99e6
		}, id: "lost-at-hop", about: "b.eth0-sg300.b-eth0"},
		"with frame check sequences": {out: 100e6 + 4*66667, lost: 1e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InOctets += 4 * 66667
		}},
		"discards": {out: 99e6, lost: 1e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[1].Counters.OutDiscards = 667
		}, id: "switch-discards",
			about: "sg300.b-eth0 ifOutDiscards"},
		"discards at the way in": {out: 100e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InDiscards = 667
		}, id: "switch-discards", about: "sg300.a-eth0 ifInDiscards"},
		"a frame of a protocol": {out: 100e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InDiscards = 5
		}},
		"errors": {out: 100e6, change: func(t *record.Trial) {
			t.Switches[0].Ports[0].Counters.InErrors = 20
		}, id: "switch-errors", about: "sg300.a-eth0 ifInErrors"},
		"no figures": {out: 90e6, lost: 1e7, change: func(t *record.Trial) {
			t.Switches[0].Missing = "no answer"
		}},
		"one port without": {out: 90e6, lost: 1e7, change: func(t *record.Trial) {
			t.Switches[0].Ports[1].Missing = "not found"
		}},
		"one of several paths": {out: 90e6, lost: 1e7, change: func(t *record.Trial) { t.Flows[0].Paths = 2 }},
	} {
		trial, over := diagnosetest.BehindASwitch(c.out, c.lost)
		if c.change != nil {
			c.change(&trial)
		}
		list := findingsOf(t, trial, over)
		switch {
		case c.id == "" && len(list) > 0:
			t.Errorf("%s: %+v", name, list)
		case c.id != "" && (len(list) != 1 || list[0].ID != c.id || list[0].Of() != c.about):
			t.Errorf("%s: want %s of %s, got %+v", name, c.id, c.about, list)
		}
	}
}
