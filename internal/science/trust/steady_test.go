package trust

import (
	"math/rand/v2"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
)

// TestSteady: a drift that is hardly too much fails, and one of requests and responses is of
// transactions.
func TestSteady(t *testing.T) {
	of := func(bins ...int64) record.Flow {
		f := record.Flow{ID: "w1", Connected: true, Bins: bins}
		for _, n := range bins {
			f.ReceivedBytes += n
		}
		return f
	}
	bulk := of(100_000, 100_000, 89_560)
	v := view{Trial: record.Trial{WindowS: 45, Flows: []record.Flow{bulk}}} // thirds of 15 s: ±10.07 %
	if j, _ := steady(v); j.Pass || !rests(j.Check, `"first":100000,`) {
		t.Errorf("%+v", j)
	}
	asks := of(100_000, 100_000, 50_000)
	asks.Protocol, asks.Transactions = flow.RR, &record.Transactions{Done: 2500}
	v.Flows = []record.Flow{asks}
	if j, _ := steady(v); j.Pass ||
		!rests(j.Check, `{"first":1000,"last":500,"transactions":true,"change":-0.5,`) {
		t.Errorf("%+v", j)
	}
	v.Flows = append(v.Flows, bulk) // a probe beside a load
	if j, _ := steady(v); rests(j.Check, `"transactions"`) {
		t.Errorf("%+v", j)
	}
}

// TestBesideAttacks: what flows get beside an attack is the result, and no reason for doubt.
func TestBesideAttacks(t *testing.T) {
	starved := record.Flow{ID: "w1", Connected: true, Protocol: flow.CRR, Transactions: &record.Transactions{Done: 3000,
		Failed: 5}, Bins: []int64{100, 50, 20}, ReceivedBytes: 170}
	v := view{Trial: record.Trial{WindowS: 3, Flows: []record.Flow{starved}}}
	if j, _ := alive(v); j.Pass {
		t.Errorf("without an attack: %+v", j)
	}
	if j, judged := steady(v); !judged || j.Pass {
		t.Errorf("without an attack: %+v", j)
	}
	v.Attacks = []record.Attack{{Kind: "syn-flood"}}
	if j, _ := alive(v); !j.Pass ||
		!rests(j.Check, `"by":"attack"`) {
		t.Errorf("%+v", j)
	}
	if j, judged := steady(v); judged {
		t.Errorf("%+v", j)
	}
}

// renoFlow is a flow of windows that grow by a segment each round trip and are halved at each loss, which
// come at random; 0.1 s samples of 20 ms round trips.
func renoFlow(random *rand.Rand, windowS, loss float64, growing bool) record.Flow {
	f := record.Flow{ID: "w1", Connected: true, CongestionControl: "reno", LimitedBy: bottleneck.CongestionWindow}
	window, trips := 20.0, int(windowS/0.02)
	for range trips / 5 {
		bin := 0.0
		for range 5 {
			bin += window * 1448
			lost := false
			for range int(window) {
				lost = lost || random.Float64() < loss
			}
			if window++; lost {
				window = max(window/2, 2)
				f.RetransSegments++
			}
		}
		if growing { // as if the path became better
			bin *= float64(len(f.Bins)+1) * 5 / float64(trips)
		}
		f.Bins = append(f.Bins, int64(bin))
		f.ReceivedBytes += int64(bin)
	}
	return f
}

// TestSteadySawtooth: the sawtooth of congestion control on a path with losses is its steady state, and
// what gets faster all the time is not; without a verdict that losses hold a flow back, nor with bbr, there
// is no such tolerance.
func TestSteadySawtooth(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	fails := func(windowS, loss float64, growing bool, change func(*record.Flow)) (n int) {
		for range 300 {
			f := renoFlow(random, windowS, loss, growing)
			change(&f)
			v := view{Trial: record.Trial{WindowS: windowS, Flows: []record.Flow{f}}}
			if j, _ := steady(v); !j.Pass {
				n++
			}
		}
		return n
	}
	same := func(*record.Flow) {}
	for _, c := range []struct{ windowS, loss float64 }{{5, 0.002}, {10, 0.002}, {30, 0.002}, {10, 0.01},
		{10, 0.0005}} {
		if n := fails(c.windowS, c.loss, false, same); n > 15 {
			t.Errorf("%+v: %d of 300 fail", c, n)
		}
		if n := fails(c.windowS, c.loss, true, same); n < 285 {
			t.Errorf("%+v: %d of 300 that get faster fail", c, n)
		}
	}
	for name, change := range map[string]func(*record.Flow){
		"bbr":        func(f *record.Flow) { f.CongestionControl = "bbr" },
		"not losses": func(f *record.Flow) { f.LimitedBy = bottleneck.FullLink },
	} {
		if n := fails(10, 0.002, false, change); n < 50 {
			t.Errorf("%s: %d of 300 fail", name, n)
		}
	}
}

// TestStoodStill: flows that stand still for a time are not steady, whatever the thirds carried; with
// requests only if some were due.
func TestStoodStill(t *testing.T) {
	flowOf := func(seconds, from, to int, each int64) (f record.Flow) {
		f = record.Flow{ID: "w1", Connected: true}
		for i := range 2 * seconds {
			if i < 2*from || i >= 2*to {
				f.Bins, f.ReceivedBytes = append(f.Bins, each), f.ReceivedBytes+each
			} else {
				f.Bins = append(f.Bins, 0)
			}
		}
		return f
	}
	for name, c := range map[string]struct {
		flow record.Flow
		pass bool
	}{
		"an outage of 1.8 %": {flowOf(600, 300, 311, 1e6), false},
		"none":               {flowOf(600, 0, 0, 1e6), true},
		"half a second":      {flowOf(60, 30, 30, 1e6), true},
	} {
		trial := record.Trial{WindowS: float64(len(c.flow.Bins)) / 2, Flows: []record.Flow{c.flow}}
		if j, _ := steady(view{Trial: trial}); j.Pass != c.pass || !c.pass && !rests(j.Check,
			`"stood_at_s":300,"stood_s":11`) {
			t.Errorf("%s: %+v", name, j)
		}
		trial.Flows[0].Transactions = &record.Transactions{Done: 60} // one in ten seconds
		if j, _ := steady(view{Trial: trial}); !j.Pass {
			t.Errorf("%s, few requests: %+v", name, j)
		}
	}
}
