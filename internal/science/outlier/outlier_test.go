package outlier

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/stats"
)

// TestFind: a trial that is off is named in each response, with what its records have that
// the others' have not, and nothing else.
func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.Trial)
		want   []string
	}{
		"nothing": {func(*record.Trial) {}, nil},
		"steal": {func(t *record.Trial) { t.Hosts[0].End.CPU[0].Steal, t.Hosts[0].End.CPU[0].Idle = 0.34, 0.36 },
			[]string{"a hypervisor took 34 % of the processors' time, 0 % in the others"}},
		"repeated": {func(t *record.Trial) {
			t.Repeated = 2
		}, []string{"trials discarded before it, since a hypervisor took too much time: 2, 0 in the others"}},
		"resent": {func(t *record.Trial) {
			t.Hosts[1].End.SNMP["Tcp.RetransSegs"] += 500
		}, []string{"12.5 % of the TCP segments were retransmitted, 0 % in the others"}},
		"timeouts": {func(t *record.Trial) {
			t.Hosts[1].End.SNMP["TcpExt.TCPTimeouts"] = 3
		}, []string{"client1: retransmission timeouts: 3, 0 in the others"}},
		"queue": {func(t *record.Trial) {
			t.Hosts[0].End.Qdiscs[0].Drops = 900
		}, []string{"server: packets dropped by queueing disciplines: 900, 0 in the others"}},
		"filter": {func(t *record.Trial) {
			h, q := &t.Hosts[0], netstate.QdiscCounters{Kind: "clsact", Handle: "ffff:"}
			h.Begin.Qdiscs = append(h.Begin.Qdiscs, q)
			q.Drops = 900
			h.End.Qdiscs = append(h.End.Qdiscs, q)
		}, []string{"server: packets dropped by tc filters: 900, 0 in the others"}},
		"multiple queues": {func(t *record.Trial) {
			h := &t.Hosts[0]
			sciencetest.MultiQueue(&h.Begin, &h.End, "eth0", 0)
		}, nil},
		"path": {func(t *record.Trial) {
			t.Flows[0].Path = []string{"a.eth0", "b.eth0"}
		}, []string{"flows on another path than in all other trials: 1, 0 in the others"}},
		"neighbour": {func(t *record.Trial) {
			t.Hosts[1].Snapshot.Neighbours = slices.Clone(t.Hosts[1].Snapshot.Neighbours)
			t.Hosts[1].Snapshot.Neighbours[0].State = "FAILED"
		}, []string{"client1: unresolved neighbours: 1, 0 in the others"}},
		"dead flow": {func(t *record.Trial) {
			t.Flows[0].Alive = false
		}, []string{"flows that ended early: 1, 0 in the others"}},
		"clock": {func(t *record.Trial) {
			t.Clocks[0].UncertaintyNs = 40e6
		}, []string{"server: the clock was known to within 40 ms, 20 µs in the others"}},
		"interface": {func(t *record.Trial) {
			for i := range t.Hosts[0].End.Interfaces[1:] {
				t.Hosts[0].End.Interfaces[1+i] = t.Hosts[0].Begin.Interfaces[1+i]
			}
		}, []string{"server: interfaces that carried data: 1, 4 in the others"}},
	} {
		run := sciencetest.Few(8, 2, 4)
		for i := range run.Trials {
			for k := range run.Trials[i].Hosts {
				h := &run.Trials[i].Hosts[k]
				h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{}}, []netstate.CPUTimes{{User: 0.2, System: 0.1,
					Idle: 0.7}}
				h.Begin.Qdiscs, h.End.Qdiscs = []netstate.QdiscCounters{{Handle: "1:"}},
					[]netstate.QdiscCounters{{Handle: "1:"}}
				h.Begin.SNMP["Tcp.OutSegs"], h.End.SNMP["Tcp.OutSegs"] = 0, 1000
			}
		}
		off := &run.Trials[5]
		off.GoodputBps *= 0.8
		c.change(off)
		list := Find(run, stats.Of(run))
		if len(list) != 1 || list[0].Order != off.Order || list[0].Block != off.Block ||
			list[0].Treatment != off.Treatment || list[0].Response != "goodput" || list[0].Value != off.GoodputBps ||
			list[0].Others < 1.2*off.GoodputBps {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		if !slices.Equal(list[0].Saw, c.want) {
			t.Errorf("%s: saw\n%s\nwant\n%s", name, strings.Join(list[0].Saw, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestSpan: a unit stands once.
func TestSpan(t *testing.T) {
	for _, c := range [][3]string{{"0 %", "2 %", "0–2 %"}, {"2 %", "2 %", "2 %"},
		{"950 kbit/s", "1.2 Mbit/s", "950 kbit/s–1.2 Mbit/s"}, {"0", "3", "0–3"}} {
		if got := span(c[0], c[1]); got != c[2] {
			t.Errorf("%s to %s is %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
