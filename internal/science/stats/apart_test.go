package stats

import (
	"math/rand/v2"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// TestApart: of runs of 13 treatments whose noise is normal at most 1 % name a trial; a
// trial that is off is named, alone; halves of a treatment, and what theory leaves to
// chance, are not.
func TestApart(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	const runs = 1000
	for _, blocks := range []int{4, 8, 16} {
		noise := func(int, int) float64 { return 1 + 0.01*random.NormFloat64() }
		named, found, halves := 0, 0, 0
		for range runs {
			if len(Of(drawn(12, blocks, noise)).Apart(metric.Goodput)) > 0 {
				named++
			}
			off := drawn(12, blocks, noise)
			bad := &off.Trials[random.IntN(len(off.Trials))]
			bad.GoodputBps *= 0.4
			if list := Of(off).Apart(metric.Goodput); len(list) == 1 && list[0] == bad {
				found++
			}
			bad.Chance = &record.Chance{LeastBps: 0.5, MostBps: 1}
			if list := Of(off).Apart(metric.Goodput); len(list) > 0 && list[0] == bad {
				t.Fatal("what is left to chance is named")
			}
			halves += len(Of(drawn(12, blocks, func(level, block int) float64 {
				if level == 5 && block%2 == 0 {
					return 0.5 * noise(level, block)
				}
				return noise(level, block)
			})).Apart(metric.Goodput))
		}
		if named > runs/100 || found < runs*9/10 || halves > runs/100 {
			t.Errorf("%d blocks: noise is named in %d of %d runs, one that is off in %d, one of two halves %d times",
				blocks, named, runs, found, halves)
		}
		t.Logf("%d blocks: %d, %d, %d", blocks, named, found, halves)
	}
}

// TestEffectOfFew: a difference beyond the margin that is that of one trial has no verdict, though
// the interval shows the small one of the others; one that the others show as well has.
func TestEffectOfFew(t *testing.T) {
	for name, test := range map[string]struct {
		base, level []float64
		verdict     string
		why         string
	}{
		"one of the baseline": {[]float64{286.0, 162.6, 286.2, 285.7}, []float64{288.4, 288.3, 287.8, 288.6},
			record.Inconclusive, "1.01× without trial 2 (off), so far from the others"},
		"all but one": {[]float64{286.0, 162.6, 286.2, 285.7}, []float64{388.4, 388.3, 387.8, 388.6},
			record.Improves, ""},
		"none": {[]float64{286.0, 285.6, 286.2, 285.7}, []float64{298.4, 298.3, 297.8, 298.6},
			record.Improves, ""},
		"no more than a jitter": {[]float64{286.0, 285.6, 286.2, 285.7}, []float64{288.4, 288.3, 287.8, 288.6},
			record.NoDifference, ""},
	} {
		factors, trials := judged(func(t *record.Trial, v float64) {
			t.GoodputBps, t.LimitBps = v, 286.9
		}, test.base, test.level)
		for i := range trials {
			trials[i].Order, trials[i].Treatment = trials[i].Block, trials[i].Levels["f"]
		}
		e := levelEffects(factors, trials, metric.Goodput)[0]
		if e.Verdict != test.verdict || e.Why != test.why {
			t.Errorf("%s: %s, %q, want %s, %q; %+v", name, e.Verdict, e.Why, test.verdict, test.why, e.Ratio)
		}
	}
}
