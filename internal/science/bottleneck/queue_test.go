package bottleneck

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// TestAcknowledgements: where the queue that makes a flow's round trips long is that of a
// shaper which the other direction's flows fill, as far as its bytes say, no link of the
// flow's own direction is called full, however fast the flow is. Fair queues hold up no
// acknowledgements.
func TestAcknowledgements(t *testing.T) {
	for _, test := range []struct {
		name, kind string
		queuedMs   float64
		rttUs      uint32 // at the window's end
		samples    []uint32
		want       string
	}{
		{"a shaper's queue", "tbf", 7, 8000, nil, Acknowledgements},
		{"a queue too short for it", "tbf", 1, 8000, nil, FullLink},
		{"a fair queue", "fq_codel", 7, 8000, nil, FullLink},
		{"a queue of an interface that reports no rate", "pfifo", 7, 8000, nil, Acknowledgements},
		{"a short queue", "tbf", 1, 1100, nil, Acknowledgements},
		{"a queue that is shorter at the window's end", "tbf", 2, 500, []uint32{2500, 2300, 2400}, Acknowledgements},
		{"a queue that is longer at the window's end", "tbf", 2, 9000, []uint32{2500, 2300, 2400}, Acknowledgements},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SenderInfo.RTTUs, f.SenderInfo.MinRTTUs = test.rttUs, 100
		f.GoodputBps *= 20
		opposing(f, &trial, 0.1) // a fraction of this flow's own rate, as behind a shaper
		receiver := reading(&trial, f.To)
		_, port, _ := strings.Cut(f.Path[len(f.Path)-1], ".")
		var sentBps float64
		for i := range receiver.End.Interfaces {
			if p := &receiver.End.Interfaces[i]; p.Interface == port {
				p.TxBytes += uint64(trial.Flows[len(trial.Flows)-1].GoodputBps / 8 * trial.WindowS)
			}
		}
		for _, d := range receiver.Deltas() {
			if d.Interface == port {
				sentBps = d.TxBps()
			}
		}
		q := []netstate.QdiscCounters{
			{Interface: port, Kind: test.kind, Backlog: uint64(sentBps / 8 * test.queuedMs / 1e3)}}
		receiver.Begin.Qdiscs, receiver.End.Qdiscs, receiver.Series = q, q, nil
		sender := reading(&trial, f.From)
		sender.Series = nil
		for _, us := range test.samples {
			sender.Series = append(sender.Series, netstate.Sample{Flows: []netstate.FlowSample{{ID: f.ID, RTTUs: us}}})
		}
		attribute(&trial, over, false)
		f = &trial.Flows[0]
		if f.LimitedBy != test.want || test.want == Acknowledgements &&
			!shows(f.LimitedFacts, `"out":true,"from":"`+f.To+`","to":"`+f.From+`"`) {
			t.Errorf("%s: %q (%s), want %q", test.name, f.LimitedBy, said(f.LimitedFacts), test.want)
		}
		// Before its own link, which carries 70 %, packets wait at two thirds of the readings.
		_, out, _ := strings.Cut(f.Path[0], ".")
		for _, d := range sender.Deltas() {
			for i := range over.Links {
				if l := &over.Links[i]; d.Interface == out && (l.From.Node == f.From || l.To.Node == f.From) {
					l.Rate = unit.BitRate(d.TxBps() / 0.7)
				}
			}
		}
		own := func(bytes uint64) []netstate.QdiscCounters {
			return []netstate.QdiscCounters{{Interface: out, Kind: "tbf", Backlog: bytes}}
		}
		sender.Begin.Qdiscs, sender.End.Qdiscs, sender.Series = own(0), own(3028),
			[]netstate.Sample{{Qdiscs: own(3028)}}
		attribute(&trial, over, false)
		f = &trial.Flows[0]
		if waits := shows(f.LimitedFacts,
			`"while":true`); f.LimitedBy != FullLink ||
			waits != (test.want == Acknowledgements && test.rttUs < 9000) {
			t.Errorf("%s, and its own: %q (%s)", test.name, f.LimitedBy, said(f.LimitedFacts))
		}
	}
}

// TestOwnShaper: where the network between the two ends is not known, the shaper of the sender's
// own interface is, and shows that the link is full.
func TestOwnShaper(t *testing.T) {
	for _, full := range []bool{true, false} {
		trial, _ := sound()
		f := &trial.Flows[0]
		sender := reading(&trial, f.From)
		_, port, _ := strings.Cut(f.Path[0], ".")
		sent := 0.0
		for _, d := range sender.Deltas() {
			if d.Interface == port {
				sent = d.TxBps()
			}
		}
		rate := sent / 0.99
		if !full {
			rate *= 2
		}
		for i := range sender.Snapshot.Interfaces {
			if s := &sender.Snapshot.Interfaces[i]; s.Interface == port {
				s.Shaper = &netstate.Shaper{Kind: "tbf", RateBps: rate}
			}
		}
		f.Path = nil
		attribute(&trial, nil, false)
		f = &trial.Flows[0]
		if found := f.LimitedBy == FullLink &&
			shows(f.LimitedFacts, `"interface":"`+f.From+"."+port+`","out":true`) &&
			shows(f.LimitedFacts, `"shaper":"tbf"`); found != full {
			t.Errorf("full %t: %q (%s)", full, f.LimitedBy, said(f.LimitedFacts))
		}
	}
}

// TestQueue: where a queue stands before a link in most readings, that link is
// full, also when losses keep its rate below what it could carry. Where the flow waited for its
// buffer or window for as long as the link was idle, these hold it back.
func TestQueue(t *testing.T) {
	for _, test := range []struct {
		waits  int
		times  unit.BitRate // the link's rate over what it carries, nearly
		want   string
		waited func(f *record.Flow)
	}{{0, 1.25, CongestionWindow, nil}, {5, 1.25, CongestionWindow, nil}, {6, 1.25, FullLink, nil},
		{12, 1.25, FullLink, nil},
		{12, 0.5, FullLink, nil}, // faster than is known
		{6, 2, CongestionWindow, nil}, {10, 2, CongestionWindow, nil}, {11, 2, FullLink, nil},
		{10, 1.25, SendBuffer, func(f *record.Flow) { f.SndbufLimitedS = 0.45 * f.BusyS }},
		{10, 1.25, SendBuffer, func(f *record.Flow) { f.SndbufFullShare = 0.45 }},
		{10, 1.25, ReceiverWindow, func(f *record.Flow) { f.RwndLimitedS = 0.45 * f.BusyS }},
		{10, 1.25, FullLink, func(f *record.Flow) { f.SndbufLimitedS = 0.1 * f.BusyS }}} {
		trial, over := sound()
		for i := range over.Links {
			over.Links[i].Rate *= test.times
		}
		f := &trial.Flows[0]
		if test.waited != nil {
			test.waited(f)
		}
		h := reading(&trial, f.From)
		backlog := func(i int) []netstate.QdiscCounters {
			q := netstate.QdiscCounters{Interface: "eth0", Kind: "tbf"}
			if i < test.waits {
				q.Backlog = 1514
			}
			return []netstate.QdiscCounters{q}
		}
		h.Begin.Qdiscs, h.End.Qdiscs = backlog(0), backlog(1)
		h.Series = nil
		for i := 2; i < 12; i++ {
			h.Series = append(h.Series, netstate.Sample{Qdiscs: backlog(i)})
		}
		attribute(&trial, over, true)
		if f.LimitedBy != test.want {
			t.Errorf("a queue at %d of 12 readings of a link %g times as fast: %q (%s), want %q", test.waits,
				float64(test.times), f.LimitedBy, said(f.LimitedFacts), test.want)
		}
		// What netem delays is no queue.
		h.End.Qdiscs = append(h.End.Qdiscs, netstate.QdiscCounters{Interface: "eth0", Kind: "netem", Backlog: 1514})
		attribute(&trial, over, true)
		if f.LimitedBy != CongestionWindow {
			t.Errorf("netem below tbf, packets at %d of 12 readings: %q (%s), want %q", test.waits, f.LimitedBy,
				said(f.LimitedFacts), CongestionWindow)
		}
	}
}

// TestPacedQueue: packets wait in fq for their pacing, wherever it is at the interface, so that such a
// queue shows no full link. A link that carries its rate comes before one with a queue.
func TestPacedQueue(t *testing.T) {
	for _, test := range []struct {
		kinds, want, why string
		later            bool // the last link on the path is full
	}{
		{"fq", CongestionWindow, "", false},
		{"mq fq fq", CongestionWindow, "", false},
		{"tbf fq", CongestionWindow, "", false},
		{"fq_codel", FullLink, `"queued":1}`, false},
		{"mq fq_codel fq_codel", FullLink, `"queued":1}`, false},
		{"fq", FullLink, `"rate_bps":1000000000`, true},
		{"fq_codel", FullLink, `"rate_bps":1000000000`, true},
	} {
		trial, over := sound()
		f := &trial.Flows[0]
		sender := slices.IndexFunc(trial.Hosts, func(h netstate.HostReading) bool { return h.Host == f.From })
		trial.Hosts[0], trial.Hosts[sender] = trial.Hosts[sender], trial.Hosts[0] // its link is looked at first
		for i := range over.Links {
			if l := &over.Links[i]; !test.later || l.From.String() != f.Path[len(f.Path)-1] &&
				l.To.String() != f.Path[len(f.Path)-1] {
				l.Rate *= 30
			}
		}
		h := &trial.Hosts[0]
		h.Begin.Qdiscs, h.Series = nil, nil
		for _, kind := range strings.Fields(test.kinds) {
			h.Begin.Qdiscs = append(h.Begin.Qdiscs, netstate.QdiscCounters{Interface: "eth0", Kind: kind,
				Backlog: 3028})
		}
		h.End.Qdiscs = h.Begin.Qdiscs
		attribute(&trial, over, true)
		if f.LimitedBy != test.want || !shows(f.LimitedFacts, test.why) {
			t.Errorf("%s, a full link later %t: %q (%s), want %q (… %s)", test.kinds, test.later, f.LimitedBy,
				said(f.LimitedFacts), test.want, test.why)
		}
		s := scene{Trial: trial}
		if paced := strings.Contains(test.kinds+" ", "fq "); (s.waitsAt(*f) == "") != paced {
			t.Errorf("%s: packets wait at %q", test.kinds, s.waitsAt(*f))
		}
	}
}

// TestSmallSegments: where an interface counts so few headers that a full link seems to have room,
// the shaper's counter shows that it has none.
func TestSmallSegments(t *testing.T) {
	const counted = 1208.0 / 1294 // TCP over IPv6 at MTU 1280, without its headers
	for _, test := range []struct {
		passed  float64 // of the rate, by the shaper's counter
		backlog uint64
		want    string
	}{
		{1.001, 3028, FullLink}, // its bucket was full at first
		{1.001, 0, FullLink},
		{counted, 0, CongestionWindow},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		h := reading(&trial, f.From)
		i := slices.IndexFunc(h.Deltas(), func(d netstate.InterfaceDelta) bool { return d.Interface == "eth0" })
		carried := h.Deltas()[i]
		for i := range over.Links {
			if l := &over.Links[i]; l.From.Node == f.From || l.To.Node == f.From {
				l.Rate = unit.BitRate(carried.TxBps() / counted)
			}
		}
		q := netstate.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:", Backlog: test.backlog}
		h.Begin.Qdiscs, h.Series = []netstate.QdiscCounters{q}, nil
		q.Bytes = uint64(carried.TxBytes / counted * test.passed)
		h.End.Qdiscs = []netstate.QdiscCounters{q}
		attribute(&trial, over, true)
		if f.LimitedBy != test.want || test.want == FullLink && !shows(f.LimitedFacts, `"share":1.0009`) {
			t.Errorf("%.1f %% by the shaper, %d bytes wait: %q (%s), want %q", 100*test.passed, test.backlog,
				f.LimitedBy, said(f.LimitedFacts), test.want)
		}
	}
}
