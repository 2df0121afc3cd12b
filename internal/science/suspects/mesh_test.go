package suspects_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
	"linerate/internal/science/suspects"
	"linerate/internal/science/suspects/meshtest"
)

// calm is a mesh with little noise, of which each pair was measured.
func calm(hosts, perRack int, faults ...meshtest.MeshFault) suspects.Input {
	m := meshtest.Mesh{Hosts: hosts, PerRack: perRack, Noise: 0.005, HostNoise: 0.005, Faults: faults}
	random := rand.New(rand.NewPCG(1, 2))
	return m.Measure(random, m.Draw(random), m.Shifts(1))
}

func slow(kind, host string, share float64) meshtest.MeshFault {
	return meshtest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: kind, Host: host}, Share: share}
}

// only fails unless a conclusion has these suspects: "receives h7".
func only(t *testing.T, c record.MeshConclusion, want ...string) {
	t.Helper()
	got := map[string]bool{}
	for _, s := range c.Suspects {
		got[fmt.Sprintln(s.Kind, s.Host+s.From, s.To)] = true
	}
	for _, w := range want {
		if !got[w+" \n"] {
			t.Errorf("%q is no suspect: %v %q", w, got, c.Untold)
		}
	}
	if len(got) != len(want) {
		t.Errorf("suspects %v, want %q", got, want)
	}
}

func TestOneReceiver(t *testing.T) {
	c := suspects.Conclude(calm(12, 0, slow(record.MeshReceives, "h7", 0.25)))
	only(t, c, "receives h7")
	if s := c.Suspects[0]; math.Abs(s.Ratio-0.25) > 0.01 || s.Low > s.Ratio || s.High < s.Ratio || s.Pairs != 11 ||
		s.P > c.Level {
		t.Errorf("%+v", s)
	}
	if c.Hosts != 12 || c.TypicalHosts != 11 || c.Pairs != 132 || c.Wanted != 132 ||
		math.Abs(c.Typical/9.4e9-1) > 0.02 {
		t.Errorf("%+v", c)
	}
	if e := c.Effects[6]; math.Abs(e.Receives-0.25) > 0.02 || math.Abs(e.Sends-1) > 0.02 {
		t.Errorf("effects of h7: %+v", e)
	}
}

// TestSlowestPart: a pair is as slow as the slower of its hosts, so peers of slow hosts are none.
func TestSlowestPart(t *testing.T) {
	a, b := slow(record.MeshSends, "h3", 0.3), slow(record.MeshReceives, "h5", 0.6)
	a.Cap, b.Cap = true, true
	only(t, suspects.Conclude(calm(12, 0, a, b)), "sends h3", "receives h5")
}

func TestFails(t *testing.T) {
	c := suspects.Conclude(calm(12, 0, slow(record.MeshHost, "h7", 0)))
	only(t, c, "host h7")
	if s := c.Suspects[0]; s.Ratio != 0 || s.Value != 0 || c.Failed != 22 {
		t.Errorf("%+v, %d failed", s, c.Failed)
	}
	one := calm(12, 0)
	one.Observations[5].Failed = true
	c = suspects.Conclude(one)
	only(t, c)
	o := one.Observations[5]
	if from := one.Hosts[o.From].Name; len(c.Candidates) != 1 || c.Candidates[0].From != from || c.Failed != 1 ||
		!c.Worst[0].Failed || c.Worst[0].From != from {
		t.Errorf("candidates %+v, worst %+v", c.Candidates, c.Worst)
	}
}

func TestUntold(t *testing.T) {
	if c := suspects.Conclude(calm(2, 0, slow(record.MeshSends, "h1", 0.2))); c.Untold != record.MeshFewHostsUntold {
		t.Errorf("two hosts: %q", c.Untold)
	}
	in := calm(3, 0, slow(record.MeshReceives, "h2", 0.25))
	c := suspects.Conclude(in)
	only(t, c)
	if c.Untold != record.MeshFewPairsUntold || c.NeedRounds < 3 || len(c.Candidates) == 0 {
		t.Errorf("three hosts: %q, %d rounds, candidates %+v", c.Untold, c.NeedRounds, c.Candidates)
	}
	var half []meshtest.MeshFault
	for i := range 6 {
		half = append(half, slow(record.MeshHost, fmt.Sprintf("h%d", i+1), 0.5))
	}
	only(t, suspects.Conclude(calm(12, 0, half...)))
	if c := suspects.Conclude(suspects.Input{}); c.Pairs != 0 || c.Suspects != nil {
		t.Errorf("nothing: %+v", c)
	}
}

// TestNegotiated: a limit that one host has is no excuse, and one that several have is their design.
func TestNegotiated(t *testing.T) {
	in := calm(12, 0)
	limited := func(hosts ...int) suspects.Input {
		in := in
		in.Observations = slices.Clone(in.Observations)
		for _, h := range hosts {
			for i, o := range in.Observations {
				if o.From == h || o.To == h {
					in.Observations[i].Value = min(o.Value, 0.47e10)
					in.Observations[i].Limit = min(o.Limit, 0.471e10)
				}
			}
		}
		return in
	}
	c := suspects.Conclude(limited(6))
	only(t, c, "host h7")
	if s := c.Suspects[0]; s.Limit != 0.471e10 || c.TypicalLimit != 0.942e10 {
		t.Errorf("limit %g, typical %g", s.Limit, c.TypicalLimit)
	}
	c = suspects.Conclude(limited(6, 7, 8, 9))
	only(t, c)
	if len(c.Limits) != 2 || c.TypicalHosts != 12 {
		t.Errorf("%+v, %d typical", c.Limits, c.TypicalHosts)
	}
}

// TestChance: pairs between racks that share links have half; a rack of which all have is slow.
func TestChance(t *testing.T) {
	in := calm(36, 9)
	random := rand.New(rand.NewPCG(5, 6))
	for i, o := range in.Observations {
		if o.From/9 != o.To/9 && random.IntN(3) == 0 {
			in.Observations[i].Value /= 2
		}
	}
	c := suspects.Conclude(in)
	only(t, c)
	if c.Chance == nil || len(c.Chance.Shares) != 1 || c.Chance.Shares[0] != 0.5 ||
		math.Abs(c.Chance.Pairs-1./3) > 0.05 {
		t.Errorf("%+v", c.Chance)
	}
	if in.Flows, in.Links = 2, 2; suspects.Conclude(in).Chance.Least != 0.5 {
		t.Errorf("%+v", suspects.Conclude(in).Chance)
	}
	for i, o := range in.Observations {
		if o.From/9 == 1 && o.To/9 != 1 {
			in.Observations[i].Value = 4.7e9
		}
	}
	only(t, suspects.Conclude(in), "uplink r2")
}

// TestAgain: further rounds decide, by their data alone.
func TestAgain(t *testing.T) {
	m := meshtest.Mesh{Hosts: 64, PerRack: 16, Noise: 0.01, HostNoise: 0.01}
	random := rand.New(rand.NewPCG(3, 4))
	hosts := m.Draw(random)
	healthy := m.Measure(random, hosts, m.Triage(random, 10))
	m.Faults = []meshtest.MeshFault{slow(record.MeshReceives, "h7", 0.5)}
	ill := m.Measure(random, hosts, m.Triage(random, 10))
	c := suspects.Conclude(ill)
	only(t, c, "receives h7")
	wanted := suspects.Again(ill, c)
	own := 0
	for _, p := range wanted {
		if p[1] == 6 {
			own++
		} else if p[0] == 6 {
			t.Errorf("h7 sends as a control: %v", p)
		}
	}
	if own < 8 || len(wanted) < 3*own {
		t.Errorf("%d pairs of %d with h7", own, len(wanted))
	}
	again := m.Measure(random, hosts, meshtest.Pack(wanted))
	confirmed := suspects.Confirm(ill, again, c)
	only(t, confirmed, "receives h7")
	if s := confirmed.Suspects[0]; !s.Confirmed || s.P != c.Suspects[0].P || s.Again.P > suspects.Level ||
		math.Abs(s.Again.Ratio-0.5) > 0.03 {
		t.Errorf("%+v %+v", s, s.Again)
	}
	if other := suspects.Confirm(healthy, again, c); other.Suspects[0].Again.P != confirmed.Suspects[0].Again.P {
		t.Errorf("the planned rounds change what the added ones say: %g, %g", other.Suspects[0].Again.P,
			confirmed.Suspects[0].Again.P)
	}
	m.Faults = nil
	gone := suspects.Confirm(ill, m.Measure(random, hosts, meshtest.Pack(wanted)), c)
	if s := gone.Suspects[0]; s.Confirmed || s.Again == nil {
		t.Errorf("healthy again: %+v", s)
	}
}

// TestHostileInput: values and places from documents do no harm.
func TestHostileInput(t *testing.T) {
	in := calm(6, 2)
	for i, v := range []float64{math.NaN(), math.Inf(1), -1, 0, 1e-308, math.MaxFloat64} {
		in.Observations[i].Value = v
		in.Observations[i+6].Limit = v
		in.Observations[i+12].From = []int{-1, 6, 1 << 40, in.Observations[i+12].To, 0, 1}[i]
	}
	in.Wanted = append(in.Wanted, plan.Pair{-1, 99})
	c := suspects.Conclude(in)
	suspects.Again(in, c)
	if _, err := json.Marshal([]record.MeshConclusion{c, suspects.Confirm(in, in, c)}); err != nil {
		t.Error(err)
	}
}

// TestFewFail: whatever fails of few hosts, a conclusion has only numbers.
func TestFewFail(t *testing.T) {
	for hosts := 2; hosts <= 4; hosts++ {
		for set := range 1 << (hosts * (hosts - 1)) {
			in := calm(hosts, 0)
			for i := range in.Observations {
				in.Observations[i].Failed = set>>i&1 == 1
			}
			c := suspects.Conclude(in)
			if _, err := json.Marshal([]record.MeshConclusion{c, suspects.Confirm(in, in, c)}); err != nil {
				t.Fatalf("%d hosts, pairs %b fail: %v: %+v", hosts, set, err, c)
			}
		}
	}
}
