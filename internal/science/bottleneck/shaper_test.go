package bottleneck

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// TestShaperNamed: the link that a shaper fills is named by the interface that the shaper is
// at, also where the interface at its other end was read first.
func TestShaperNamed(t *testing.T) {
	trial, over := sound()
	for i := range over.Links {
		over.Links[i].Shaper = "tbf"
	}
	f := &trial.Flows[0]
	slices.SortStableFunc(trial.Hosts, func(a, b netstate.HostReading) int {
		rank := func(h netstate.HostReading) int { return map[bool]int{true: 0, false: 1}[h.Host == f.To] }
		return rank(a) - rank(b)
	})
	attribute(&trial, over, true)
	last := f.Path[len(f.Path)-1]
	node, port, _ := strings.Cut(last, ".")
	end := topology.End{Node: node, Interface: port}
	link, _ := over.LinkAt(end)
	if want := `"interface":"` + link.Other(end).String() + `","out":true`; f.LimitedBy != FullLink ||
		!shows(f.LimitedFacts, want) {
		t.Errorf("%q (%s), want %q", f.LimitedBy, said(f.LimitedFacts), want)
	}
}

// TestShareByShaper: what part of its rate a shaper let out is said by the shaper's own counter,
// which has the headers of all segments, at whichever end of the link it is.
func TestShareByShaper(t *testing.T) {
	for _, shaper := range []string{"", "tbf", "htb"} { // "": of a lab's link, a tbf
		trial, over := sound()
		for i := range over.Links {
			over.Links[i].Shaper = shaper
		}
		f := &trial.Flows[0]
		node, port, _ := strings.Cut(f.Path[len(f.Path)-1], ".")
		link, _ := over.LinkAt(topology.End{Node: node, Interface: port})
		from := link.Other(topology.End{Node: node, Interface: port}) // a switch, and there the shaper
		sends := netstate.HostReading{Host: from.Node}
		for _, edge := range []struct {
			reading *netstate.Reading
			second  int64
			bytes   uint64
		}{{&sends.Begin, 1, 7e9}, {&sends.End, 3, 7e9 + 0.992*2*1e9/8}} {
			q := netstate.QdiscCounters{Interface: from.Interface, Kind: cmp.Or(shaper, "tbf"), Handle: "1:",
				Bytes: edge.bytes}
			edge.reading.Interfaces = []netstate.InterfaceCounters{{Interface: from.Interface, AtNs: edge.second * 1e9}}
			edge.reading.Qdiscs = []netstate.QdiscCounters{{Interface: "p-other", Kind: q.Kind, Handle: "1:"}, q}
		}
		trial.Hosts = append([]netstate.HostReading{sends}, trial.Hosts...)
		attribute(&trial, over, true)
		if want := `"share":0.992`; f.LimitedBy != FullLink || !shows(f.LimitedFacts, want) {
			t.Errorf("shaper %q: %q (%s), want %q", shaper, f.LimitedBy, said(f.LimitedFacts), want)
		}
	}
}

// TestInterfaceQueue: a queue that is never empty, or that drops, at an interface of unknown
// rate is named; fq paces.
func TestInterfaceQueue(t *testing.T) {
	for _, test := range []struct {
		name, kinds     string
		backlog, drops  uint64
		retransmissions int64
		want            string
	}{
		{"an empty queue", "fq_codel", 0, 0, 0, CongestionWindow},
		{"a queue that is never empty", "fq_codel", 9000, 0, 0, InterfaceQueue},
		{"packets that wait for their pacing", "fq", 9000, 0, 0, CongestionWindow},
		{"and below mq", "mq fq", 9000, 0, 0, CongestionWindow},
		{"a queue below mq", "mq fq_codel", 9000, 0, 0, InterfaceQueue},
		{"local drops", "pfifo_fast", 0, 10, 12, InterfaceQueue},
		{"losses elsewhere", "pfifo_fast", 0, 10, 100, CongestionWindow},
		{"what a filter drops", "clsact", 0, 10, 12, CongestionWindow},
	} {
		trial, over := sound()
		for i := range over.Links {
			over.Links[i].Rate = 0
		}
		f := &trial.Flows[0]
		f.RetransSegments = test.retransmissions
		h := reading(&trial, f.From)
		_, port, _ := strings.Cut(f.Path[0], ".")
		h.Begin.Qdiscs, h.End.Qdiscs, h.Series = nil, nil, nil
		for _, kind := range strings.Fields(test.kinds) {
			q := netstate.QdiscCounters{Interface: port, Kind: kind, Backlog: test.backlog}
			h.Begin.Qdiscs = append(h.Begin.Qdiscs, q)
			q.Drops = test.drops
			h.End.Qdiscs = append(h.End.Qdiscs, q)
		}
		attribute(&trial, over, true)
		if f.LimitedBy != test.want || test.want == InterfaceQueue &&
			!shows(f.LimitedFacts, `"backpressure"`) {
			t.Errorf("%s: %q (%s), want %q", test.name, f.LimitedBy, said(f.LimitedFacts), test.want)
		}
	}
}

// TestBetween: where only the ends of the path are known, a queue that shows in round trips
// stands before a full link, of a flow slower than the other direction's only if it lost something.
func TestBetween(t *testing.T) {
	for _, test := range []struct {
		name   string
		doctor func(*record.Flow, *record.Trial)
		want   string
	}{
		{"a queue", func(f *record.Flow, t *record.Trial) {}, FullLink},
		{"no queue", func(f *record.Flow, t *record.Trial) {
			f.SenderInfo.MinRTTUs = f.SenderInfo.RTTUs - 1999
		}, CongestionWindow},
		{"a long path", func(f *record.Flow, t *record.Trial) { f.SenderInfo.MinRTTUs = 4001 }, CongestionWindow},
		{"a small window", func(f *record.Flow, t *record.Trial) { f.RwndLimitedS = t.WindowS }, ReceiverWindow},
		{"flows in both directions", func(f *record.Flow, t *record.Trial) { opposing(f, t, 1) }, FullLink},
		{"a slower flow than in the other direction", func(f *record.Flow, t *record.Trial) { opposing(f, t, 9) }, ""},
		{"a slower flow that loses", func(f *record.Flow, t *record.Trial) {
			f.SentBytes, f.RetransBytes = 1e6, 1e4
			opposing(f, t, 9)
		}, FullLink},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SenderInfo.RTTUs, f.SenderInfo.MinRTTUs = 8000, 1000
		test.doctor(f, &trial)
		attribute(&trial, over, false)
		if f := trial.Flows[0]; f.LimitedBy != test.want {
			t.Errorf("%s: %q (%s), want %q", test.name, f.LimitedBy, said(f.LimitedFacts), test.want)
		}
		f.LimitedBy = ""
		attribute(&trial, over, true)
		if trial.Flows[0].LimitedBy == FullLink {
			t.Errorf("%s: a full link where every link is known, and none is", test.name)
		}
	}
}
