package datagram

import (
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/host/handshake"
)

// model is a ledger that remembers everything.
type model struct {
	counts
	seen    map[uint64]bool
	highest uint64 // and one
}

func (m *model) enter(sequence uint64) {
	switch {
	case m.seen[sequence]:
		m.duplicates++
		return
	case sequence < m.highest:
		m.reordered++
	default:
		m.highest = sequence + 1
	}
	m.seen[sequence] = true
	m.received++
	m.lost = int64(m.highest) - m.received
}

// journey is a sequence of numbers as a network may deliver them: some lost, some
// twice, some late, and now and then a stretch missing.
func journey(r *rand.Rand, datagrams int) []uint64 {
	loss, twice, late := r.Float64()*0.5, r.Float64()*0.3, r.Float64()*0.3
	type parcel struct {
		sequence uint64
		at       float64
	}
	var on []parcel
	sequence, reach := uint64(0), 1+r.IntN(2000)
	for range datagrams {
		if r.IntN(500) == 0 {
			sequence += uint64(r.IntN(300_000))
		}
		for copies := 1; copies > 0; copies-- {
			if r.Float64() < twice {
				copies++
			}
			if r.Float64() < loss {
				continue
			}
			p := parcel{sequence, float64(len(on))}
			if r.Float64() < late {
				p.at += float64(r.IntN(reach))
			}
			on = append(on, p)
		}
		sequence++
	}
	var out []uint64
	for len(on) > 0 { // delivered by their instants; an insertion sort is enough
		for i := len(on) - 1; i > 0 && on[i-1].at > on[i].at; i-- {
			on[i-1], on[i] = on[i], on[i-1]
		}
		out, on = append(out, on[0].sequence), on[1:]
	}
	return out
}

// TestTrackerAgainstModel: within its memory a tracker counts lost, late and double
// datagrams as one does that remembers all.
func TestTrackerAgainstModel(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		var l tracker
		m := model{seen: map[uint64]bool{}}
		for i, sequence := range journey(r, 3000) {
			if l.next > windowBits-64 && sequence < l.next-(windowBits-64) {
				stale := l.late
				if l.add(sequence) || l.late != stale+1 {
					t.Fatalf("seed %d: %d, with %d the next, is not too late", seed, sequence, l.next)
				}
				// Nothing else of it is known, so the model must not know of it either.
				m.late++
				continue
			}
			m.enter(sequence)
			l.add(sequence)
			if l.counts != m.counts {
				t.Fatalf("seed %d, number %d (%d):\n got %+v\nwant %+v", seed, i, sequence, l.counts, m.counts)
			}
		}
	}
}

// TestLedgerForgets: what a skip passes over holds nothing of what was there a
// memory's length before.
func TestLedgerForgets(t *testing.T) {
	for _, gap := range []uint64{1, 63, 64, 65, 1000, windowBits - 65, windowBits - 64, windowBits - 1, windowBits,
		windowBits + 1, 3*windowBits + 5} {
		for _, first := range []uint64{0, 1, 63, 64, 100} {
			var l tracker
			for s := range first + windowBits/8 {
				l.add(s)
			}
			high := l.next + gap
			l.add(high)
			if l.lost != int64(gap) {
				t.Fatalf("gap %d: %d lost", gap, l.lost)
			}
			for s := high - 1; s+gap > high-1 && high-s <= windowBits-65; s-- {
				if !l.add(s) {
					t.Fatalf("gap %d after %d: %d counts as there already: %+v", gap, first, s, l.counts)
				}
				if s == 0 {
					break
				}
			}
		}
	}
}

// packed makes a message of datagrams.
func packed(size int, sent int64, sequences ...uint64) received {
	m := received{segment: size, arrived: sent + 5000}
	for _, s := range sequences {
		d := make([]byte, size)
		putHeader(d, 0, s, sent)
		m.data = append(m.data, d...)
	}
	m.bytes = len(m.data)
	return m
}

// whole is a message of data that was taken to its end.
func whole(data []byte, segment int) received {
	return received{data: data, bytes: len(data), segment: segment}
}

// TestBrief: of a message whose first header alone was taken, every datagram counts;
// it is intact if it is the rest of a batch, in order.
func TestBrief(t *testing.T) {
	batch := func(left int, sequences ...uint64) received {
		m := packed(100, 1000, sequences...)
		for i, s := range sequences {
			putHeader(m.data[i*100:], max(0, left-i), s, 1000)
		}
		return m
	}
	brief := func(m received) received {
		m.data = m.data[:min(len(m.data), briefBytes)]
		return m
	}
	for name, c := range map[string]struct {
		m      received
		intact bool
		lost   int64
	}{
		"a batch":                 {batch(3, 0, 1, 2), true, 0},
		"a batch, brief":          {brief(batch(3, 0, 1, 2)), true, 0},
		"the rest of one":         {brief(batch(3, 7, 8, 9)), true, 7},
		"one datagram":            {brief(batch(1, 4)), true, 4},
		"not all of one":          {brief(batch(3, 0, 1)), false, 0},
		"more than one":           {brief(batch(1, 0, 1)), false, 0},
		"reordered":               {batch(3, 0, 2, 1), false, 0},
		"one lost, one in excess": {batch(3, 0, 2, 3), false, 1},
		"one lost":                {batch(3, 0, 2), false, 1},
	} {
		var l tracker
		l.addMessage(c.m, func([]byte) { t.Errorf("%s: foreign", name) })
		if got := int64(c.m.bytes / 100); l.intact != c.intact || l.lost != c.lost || l.received != got ||
			l.bytes != 100*got {
			t.Errorf("%s: intact %v, %+v", name, l.intact, l.counts)
		}
	}
}

// TestTake: a message is taken apart, whatever is in it.
func TestTake(t *testing.T) {
	var l tracker
	var strays [][]byte
	stray := func(b []byte) { strays = append(strays, b) }
	first := packed(100, 1000, 0, 1, 3, 4)
	first = whole(first.data[:len(first.data)-30], 100) // the last may be shorter
	first.arrived = 6000
	if delay, timed := l.addMessage(first, stray); !timed || delay != 5000 {
		t.Errorf("delay %d, %v", delay, timed)
	}
	if l.received != 4 || l.lost != 1 || l.bytes != 370 || l.arrivedBytes != 370 {
		t.Errorf("%+v", l.counts)
	}
	if _, timed := l.addMessage(packed(100, 1000, 2, 5), stray); timed {
		t.Error("what was sent at the same instant counts twice")
	}
	if l.received != 6 || l.lost != 0 || l.reordered != 1 {
		t.Errorf("%+v", l.counts)
	}
	before := l.counts
	cut := packed(100, 2000, 9)
	cut.cut = true
	// A frame of a handshake begins so.
	hello := whole(append([]byte("linerate"), make([]byte, handshake.FrameBytes-8)...), handshake.FrameBytes)
	short := whole(make([]byte, 15), 15)
	for _, m := range []received{cut, hello, short, {}, whole(append(packed(64, 0, 6).data, make([]byte, 9)...), 64)} {
		l.addMessage(m, stray)
	}
	if l.stray != 5 || l.received != before.received+1 || l.next != 7 {
		t.Errorf("%+v", l.counts)
	}
	if string(strays[1]) != string(hello.data) {
		t.Errorf("strays are %q", strays)
	}
}

// TestAttributeDrops: what the receiver's own socket dropped is counted apart from what the
// network lost, as far as it can be.
func TestAttributeDrops(t *testing.T) {
	for _, test := range []struct {
		name     string
		messages []received
		lost, in int64
	}{
		{"the network", []received{packed(64, 1, 0), packed(64, 2, 5)}, 4, 0},
		{"the buffer", []received{packed(64, 1, 0), dropping(4, packed(64, 2, 5))}, 4, 4},
		{"both", []received{packed(64, 1, 0), dropping(1, packed(64, 2, 5))}, 4, 1},
		{"messages of many", []received{packed(64, 1, 0, 1, 2), dropping(1, packed(64, 2, 6))}, 3, 3},
		{"nothing of this flow", []received{packed(64, 1, 0), dropping(3, packed(64, 2, 1))}, 0, 0},
		{"later the network", []received{dropping(2, packed(64, 1, 2)), dropping(2, packed(64, 2, 9))}, 8, 2},
	} {
		var l tracker
		for _, m := range test.messages {
			l.addMessage(m, func([]byte) {})
		}
		if d := l.counts.record(); d.Lost != test.lost || d.LostInBuffer != test.in {
			t.Errorf("%s: %+v, want %d lost, %d in the buffer", test.name, d, test.lost, test.in)
		}
	}
}

func dropping(n uint32, m received) received {
	m.dropped = n
	return m
}

// TestJitter follows RFC 3550, 6.4.1, by hand: J += (|D| − J)/16.
func TestJitter(t *testing.T) {
	var l tracker
	want, spacing := 0.0, []int64{0, 160, -320, 0, 1600}
	arrived := int64(1e6)
	for i, late := range spacing {
		m := packed(64, int64(i)*20_000, uint64(i))
		arrived += 20_000 + late
		m.arrived = arrived
		l.addMessage(m, func([]byte) {})
		if i > 0 {
			want += (math.Abs(float64(late)) - want) / 16
		}
	}
	if math.Abs(l.jitter-want) > 1e-9 {
		t.Errorf("jitter %v ns, want %v", l.jitter, want)
	}
}

// TestTally: what is shown together is read together.
func TestTally(t *testing.T) {
	var tl tally
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := int64(0); ; i++ {
			tl.show(&counts{received: i, bytes: 2 * i, lost: 3 * i, arrivedBytes: 4 * i, jitter: float64(i) / 8})
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 1000 {
		c := tl.read()
		if i := c.received; c != (counts{received: i, bytes: 2 * i, lost: 3 * i, arrivedBytes: 4 * i,
			jitter: float64(i) / 8}) {
			t.Errorf("torn: %+v", c)
			break
		}
	}
	close(stop)
	<-done
}

// TestFastestBefore: a queue that was filled before the window delays all of its datagrams, and
// the fastest of all shows by how much.
func TestFastestBefore(t *testing.T) {
	d := newDelays()
	for _, ns := range []int64{-5000, 150_000} {
		d.see(ns)
	}
	for range 100 {
		d.add(195_000)
	}
	if got := d.distribution(); got.Count != 100 || math.Abs(got.MinUs-200) > 1 || math.Abs(got.MaxUs-200) > 1 {
		t.Errorf("%+v", got)
	}
}

// TestDelays: of more than there is room for a fair choice is kept, with both
// extremes.
func TestDelays(t *testing.T) {
	d := newDelays()
	if d.distribution() != nil {
		t.Error("a distribution of nothing")
	}
	const n = 10 * maxDelays
	for i := range int64(n) {
		d.add(-7_000_000 + (i*7919%n)*1000) // every one of n values once, two clocks apart
	}
	got := d.distribution()
	if got.Count < maxDelays || got.Count > maxDelays+1 || got.MinUs > n*0.01 {
		t.Fatalf("%+v", got)
	}
	if top := float64(n - 1); math.Abs(got.MaxUs-top) > top/500 {
		t.Errorf("the largest is %.0f µs, want %.0f", got.MaxUs, top)
	}
	if middle := float64(n) / 2; math.Abs(got.P50Us-middle) > middle/10 {
		t.Errorf("half are below %.0f µs, want %.0f", got.P50Us, middle)
	}
}
