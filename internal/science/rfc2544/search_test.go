package rfc2544

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// wire is a path: it carries so much, a sender makes so much, and chance takes.
type wire struct {
	capacity, sender float64
	chance           func(asked float64) float64 // share that is lost whatever the rate
	collapse         bool                        // beyond its capacity it carries a tenth
	stalled          func() bool                 // the sender makes half of what it was asked for
	queue            float64                     // it takes so many times the capacity for a short trial
}

func (w wire) trial(asked, allowed float64, confirms bool) record.LossTrial {
	t := record.LossTrial{AskedBps: asked, Confirms: confirms, Sent: 1e5}
	if t.OfferedBps = w.sender; asked > 0 {
		t.OfferedBps = min(asked, w.sender)
	}
	if w.stalled != nil && w.stalled() {
		t.OfferedBps /= 2
	}
	capacity := w.capacity
	if !confirms && w.queue > 0 && t.OfferedBps <= w.queue*capacity {
		capacity = t.OfferedBps
	}
	t.ReceivedBps = min(t.OfferedBps, capacity)
	if w.collapse && t.OfferedBps > capacity {
		t.ReceivedBps = w.capacity / 10
	}
	if w.chance != nil {
		t.ReceivedBps *= 1 - w.chance(asked)
	}
	t.LostShare = 1 - t.ReceivedBps/t.OfferedBps
	t.Pass = t.ReceivedBps > 0 && t.LostShare <= allowed
	return t
}

func (s Search) over(w wire) []record.LossTrial {
	var made []record.LossTrial
	for {
		rate, confirms, more := s.Next(made)
		if !more {
			return made
		}
		made = append(made, w.trial(rate, s.Loss, confirms))
	}
}

// TestSearch: whatever the path carries, the rate that comes out does not lose and
// one that is higher by the resolution does, found in few trials.
func TestSearch(t *testing.T) {
	for name, test := range map[string]struct {
		wire
		Search
		most    int // trials
		bounded string
	}{
		"a queue": {wire{capacity: 95.6e6, sender: 20e9}, Search{Resolution: 0.01, Repeats: 2}, 7, ""},
		"a known most": {wire{capacity: 95.6e6, sender: 20e9}, Search{Most: 100e6, Resolution: 0.01,
			Repeats: 2}, 8, ""},
		"a long queue": {wire{capacity: 48.61e6, sender: 20e9, queue: 1.2},
			Search{Resolution: 0.01, Repeats: 2}, 15, ""},
		"livelock": {wire{capacity: 1e9, sender: 20e9, collapse: true},
			Search{Resolution: 0.01, Repeats: 2}, 20, ""},
		"a share may be lost": {wire{capacity: 1e9, sender: 20e9}, Search{Loss: 0.05, Resolution: 0.01, Repeats: 3},
			12, ""},
		"the sender is slow": {wire{capacity: 1e9, sender: 8e8}, Search{Resolution: 0.01, Repeats: 2}, 3,
			record.BoundedBySender},
		"no more was asked": {wire{capacity: 1e9, sender: 2e9}, Search{Most: 5e8, Resolution: 0.01, Repeats: 2}, 3,
			record.BoundedByCap},
		"fine": {wire{capacity: 1e9, sender: 20e9}, Search{Resolution: 0.001, Repeats: 2}, 8, ""},
		"the sender, not asked": {wire{capacity: 1e9, sender: 8e8}, Search{Most: 9e8, Resolution: 0.01, Repeats: 2}, 3,
			record.BoundedBySender},
	} {
		made := test.over(test.wire)
		l := test.Conclude(made, 0)
		want := min(test.capacity/(1-test.Loss), test.sender)
		if test.Most > 0 {
			want = min(want, test.Most)
		}
		if l.RateBps > want*1.0001 || l.RateBps < want*(1-1.05*test.Resolution)/1.0001 || l.BoundedBy != test.bounded ||
			l.Why != "" {
			t.Errorf("%s: %.4g, want %.4g; bounded by %q, %s", name, l.RateBps, want, l.BoundedBy, l.Why)
		}
		if len(made) > test.most {
			t.Errorf("%s: took %d trials, expected at most %d", name, len(made), test.most)
		}
		n := 0
		for _, m := range made {
			if m.Confirms && m.Pass && m.OfferedBps == l.RateBps {
				n++
			}
		}
		if n != test.Repeats {
			t.Errorf("%s: confirmed by %d trials", name, n)
		}
	}
}

// TestNoise: a trial that loses a little by chance does not end the search far
// below; nothing that lost in its long trials comes out; and every search ends.
func TestNoise(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := wire{capacity: 1e9, sender: 20e9, chance: func(float64) float64 {
			if random.Float64() < 0.1 {
				return 1e-5
			}
			return 0
		}}
		s := Search{Resolution: 0.01, Repeats: 2}
		made := s.over(w)
		l := s.Conclude(made, 0)
		if l.RateBps < 0.75e9 || l.RateBps > 1e9 {
			t.Errorf("seed %d: %.3g after %d trials: %s", seed, l.RateBps, len(made), l.Why)
		}
		for _, m := range made {
			if m.AskedBps == l.RateBps && m.Confirms && !m.Pass {
				t.Errorf("seed %d: %.3g lost in a long trial", seed, l.RateBps)
			}
		}
	}
}

// TestStalls: a sender that has no processor for a moment is asked again, rather
// than taken for one that can make no more.
func TestStalls(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		s := Search{Resolution: 0.01, Repeats: 2}
		made := s.over(wire{capacity: 1e9, sender: 20e9, stalled: func() bool { return random.Float64() < 0.1 }})
		if l := s.Conclude(made, 0); l.BoundedBy != "" || l.RateBps < 0.98e9 || l.RateBps > 1e9 {
			t.Errorf("seed %d: %.3g after %d trials, bounded by %q", seed, l.RateBps, len(made), l.BoundedBy)
		}
	}
	// One that always stalls cannot be waited for. It has lost at what it made before, so it is
	// not what bounds the path.
	s := Search{Resolution: 0.01, Repeats: 2}
	made := s.over(wire{capacity: 1e9, sender: 20e9, stalled: func() bool { return true }})
	if l := s.Conclude(made, 0); l.RateBps == 0 || l.Why != "" || l.BoundedBy != record.BoundedByStalls ||
		l.LostAtBps <= l.RateBps {
		t.Errorf("always stalled, after %d trials: %+v", len(made), l)
	}
	// One that stalls often is the bound only if it did so in the result.
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		made := s.over(wire{capacity: 1e9, sender: 20e9, stalled: func() bool { return random.Float64() < 0.6 }})
		l := s.Conclude(made, 0)
		if l.ResultTrial == 0 || s.short(made[l.ResultTrial-1]) != (l.BoundedBy == record.BoundedByStalls) ||
			l.BoundedBy == "" && l.LostAtBps > l.RateBps*1.011 {
			t.Errorf("seed %d: %.3g after %d trials, bounded by %q, %.3g lost", seed, l.RateBps, len(made), l.BoundedBy,
				l.LostAtBps)
		}
	}
}

// TestBest: of the trials that confirm a rate, the one in which most came through is the
// result, and no other one: not what was sent faster and fills a queue, nor a faster one that
// only searched.
func TestBest(t *testing.T) {
	confirming := func(sent, arrived float64) record.LossTrial {
		return record.LossTrial{OfferedBps: sent, ReceivedBps: arrived, Sent: 1e5, Confirms: true, Pass: true}
	}
	searching := confirming(9e8, 9e8)
	searching.Confirms = false
	s := Search{Resolution: 0.01, Repeats: 4}
	made := []record.LossTrial{searching, confirming(5e8, 5e8), confirming(8e8, 8e8), confirming(8.5e8, 7.9e8),
		confirming(6e8, 6e8)}
	if _, _, more := s.Next(made); more {
		t.Fatal("the search goes on")
	}
	if l := s.Conclude(made, 0); l.RateBps != 8e8 || l.ResultTrial != 3 || l.BoundedBy != record.BoundedBySender {
		t.Errorf("%+v", l)
	}
	if l := s.Conclude(made[:4], 0); l.RateBps != 0 || l.ResultTrial != 0 {
		t.Errorf("not confirmed yet: %+v", l)
	}
	// Sent too fast by a little: the rate is the one that was asked for.
	s = Search{Most: 8e8, Resolution: 0.01, Repeats: 1}
	fast := confirming(8.04e8, 8.04e8)
	fast.AskedBps = 8e8
	search := fast
	search.Confirms = false
	if l := s.Conclude([]record.LossTrial{search, fast}, 0); l.RateBps != 8e8 || l.ResultTrial != 2 {
		t.Errorf("%+v", l)
	}
}

// TestNothing: a path that always loses has no such rate, and one that loses by
// chance has one as soon as that share is allowed.
func TestNothing(t *testing.T) {
	lossy := wire{capacity: 1e9, sender: 5e9, chance: func(float64) float64 { return 0.001 }}
	s := Search{Resolution: 0.01, Repeats: 2}
	made := s.over(lossy)
	if l := s.Conclude(made, 0); l.RateBps != 0 || !strings.Contains(l.Why, "lost datagrams") || l.LostAtBps == 0 {
		t.Errorf("%d trials: %+v", len(made), l)
	}
	s.Loss = 0.002
	if l := s.Conclude(s.over(lossy), 0); l.RateBps < 0.98e9 {
		t.Errorf("%+v", l)
	}
	dead := wire{capacity: 0, sender: 1e9}
	made = s.over(dead)
	if l := s.Conclude(made, 0); l.RateBps != 0 || l.Why != "no datagram arrived at any rate" || len(made) > 6 {
		t.Errorf("%d trials: %+v", len(made), l)
	}
	if l := s.Conclude([]record.LossTrial{{}, {AskedBps: 1e6}}, 0); l.RateBps != 0 || l.Why != "no datagram was sent" {
		t.Errorf("%+v", l)
	}
	if l := s.Conclude(nil, 0); l.RateBps != 0 || l.Why == "" || l.Trials == nil {
		t.Errorf("%+v", l)
	}
}

// TestLimit: what reaches the limit of the links is bounded by them, whichever was
// not asked for more.
func TestLimit(t *testing.T) {
	s := Search{Most: 1e9, Resolution: 0.01, Repeats: 1}
	if l := s.Conclude(s.over(wire{capacity: 2e9, sender: 5e9}), 1e9); l.BoundedBy != record.BoundedByLimit ||
		l.RateBps != 1e9 {
		t.Errorf("%+v", l)
	}
	// A sender that is not exact is at the limit where it is near enough to have made
	// what it was asked for.
	s.Resolution = 0.001
	if l := s.Conclude(s.over(wire{capacity: 2e9, sender: 0.995e9}), 1e9); l.BoundedBy != record.BoundedByLimit {
		t.Errorf("%+v", l)
	}
}

// TestOutcome: rates are of what was sent and of what came in; a flow of which
// nothing came has lost everything; and the places have what they count,
// once, and with what no counter does.
func TestOutcome(t *testing.T) {
	counted := func(sent, received, lost int64) record.Flow {
		return record.Flow{To: "b", GoodputBps: float64(received) * 800, Datagrams: &record.Datagrams{Bytes: 100,
			Sent: sent, Received: received, Lost: lost}}
	}
	qdisc := func(kind, handle string, drops uint64) netstate.QdiscCounters {
		return netstate.QdiscCounters{Interface: "eth0", Kind: kind, Handle: handle, Drops: drops}
	}
	trial := record.Trial{WindowS: 1, Flows: []record.Flow{counted(1000, 900, 90), counted(10, 0, 0),
		{Protocol: flow.RR}}, Hosts: []netstate.HostReading{
		{Host: "a",
			Begin: netstate.Reading{Interfaces: []netstate.InterfaceCounters{{Interface: "eth0"}},
				Qdiscs: []netstate.QdiscCounters{qdisc("tbf", "1:", 5), qdisc("bfifo", "2:", 5),
					qdisc("clsact", "ffff:", 5)}},
			End: netstate.Reading{Interfaces: []netstate.InterfaceCounters{{Interface: "eth0"}},
				Qdiscs: []netstate.QdiscCounters{qdisc("tbf", "1:", 65), qdisc("bfifo", "2:", 65),
					qdisc("clsact", "ffff:", 7)}, Softnet: []netstate.SoftnetCounters{{Dropped: 3}}}},
		{Host: "b",
			Begin: netstate.Reading{Interfaces: []netstate.InterfaceCounters{
				{Interface: "eth1", RxDropped: 1, RxMissed: 1}}},
			End: netstate.Reading{Interfaces: []netstate.InterfaceCounters{
				{Interface: "eth1", RxDropped: 11, RxMissed: 5}}, Softnet: []netstate.SoftnetCounters{{Dropped: 3}}}},
	}}
	trial.Flows[0].Datagrams.LostInBuffer = 7
	l := Outcome(&trial, 5e5, 0.2, true)
	if l.OfferedBps != 1010*800 || l.ReceivedBps != 900*800 || l.Lost != 100 || math.Abs(l.LostShare-0.1) > 1e-9 ||
		!l.Pass || !l.Confirms || l.AskedBps != 5e5 {
		t.Errorf("%+v", l)
	}
	want := []record.LossPlace{{Host: "a", What: "the queue of eth0 (tbf, bfifo)", Packets: 60},
		{Host: "b", What: "eth1 (receiving)", Packets: 10},
		{Host: "b", What: "the receive buffer", Packets: 7}, {Host: "b", What: "eth1 (receive ring)", Packets: 4},
		{Host: "b", What: "the processors' backlog (softnet)", Packets: 3},
		{Host: "a", What: "the tc filters of eth0 (clsact)", Packets: 2}, {What: "where no host counts them",
			Packets: 14}}
	if len(l.Places) != len(want) {
		t.Fatalf("%+v", l.Places)
	}
	for i, p := range l.Places {
		if p != want[i] {
			t.Errorf("place %d: %+v, want %+v", i, p, want[i])
		}
	}
	// The tbf counts a packet of several datagrams once.
	trial.Flows[0].CallBytes = 4000
	if p := Outcome(&trial, 5e5, 0.2, true).Places; !strings.HasPrefix(p[len(p)-1].What,
		"in the same packets, of several datagrams each, or ") {
		t.Errorf("%+v", p)
	}
	trial.Flows[0].CallBytes = 0
	// As many may have been dropped between the hosts' readings.
	trial.Clocks = []record.Clock{{Host: "b", UncertaintyNs: 10e6}}
	if p := Outcome(&trial, 5e5, 0.2, true).Places; len(p) != len(want)-1 {
		t.Errorf("%+v", p)
	}
	trial.Clocks = nil
	// Other namespaces' packets, dropped or not, are not known to be the flow's.
	trial.Hosts[1].End.Softnet[0].Processed = 1e6
	if l := Outcome(&trial, 5e5, 0.2, true); !slices.Contains(l.Places,
		record.LossPlace{Host: "b", What: "the processors' backlog, mostly of other network namespaces (softnet)",
			Packets: 3}) || l.Places[len(l.Places)-1].Packets != 17 {
		t.Errorf("%+v", l.Places)
	}
	if l := Outcome(&record.Trial{WindowS: 1, Flows: []record.Flow{counted(0, 0, 0)}}, 1, 0, false); l.Pass {
		t.Error("a trial in which nothing was sent has passed")
	}
}

// TestMultiQueue: what the children of mq dropped before the window is no place of a loss in it.
func TestMultiQueue(t *testing.T) {
	for _, drops := range []uint64{0, 60} {
		h := netstate.HostReading{Host: "a"}
		h.Begin.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0"}}
		h.End.Interfaces = h.Begin.Interfaces
		sciencetest.MultiQueue(&h.Begin, &h.End, "eth0", drops)
		f := record.Flow{To: "b", Datagrams: &record.Datagrams{Bytes: 100, Sent: 1000, Received: 900, Lost: 100}}
		list := Outcome(&record.Trial{WindowS: 1, Flows: []record.Flow{f}, Hosts: []netstate.HostReading{h}}, 0, 0,
			false).Places
		if list[0].Host == "a" != (drops > 0) || drops > 0 && list[0].Packets != int64(drops) {
			t.Errorf("%d drops: %+v", drops, list)
		}
	}
}
