package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// drawn is a run of so many levels beside a baseline, each trial's goodput drawn.
func drawn(levels, blocks int, draw func(level, block int) float64) *record.Run {
	run := &record.Run{Confidence: 0.95, Margin: 0.02, Factors: []record.Factor{{Name: "f", Baseline: "0"}}}
	for level := range levels + 1 {
		name := fmt.Sprint(level)
		run.Factors[0].Levels = append(run.Factors[0].Levels, record.Level{Name: name})
		for block := 1; block <= blocks; block++ {
			t := trial(block, draw(level, block), "f", name)
			t.LimitBps = 2
			run.Trials = append(run.Trials, t)
		}
	}
	return run
}

// TestJumps: two outcomes are found whatever their shares, and noise has no jumps, also
// where treatments differ in it.
func TestJumps(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	pick := func(share, a, b float64) float64 {
		if random.Float64() < share {
			a = b
		}
		return a * (1 + 0.005*random.NormFloat64())
	}
	for name, c := range map[string]struct {
		draw        func(level, block int) float64
		least, most float64 // share of runs with jumps
	}{
		"normal": {func(int, int) float64 { return 1 + 0.02*random.NormFloat64() }, 0, 0.02},
		"unequal": {func(level, _ int) float64 {
			return 1 + 0.002*float64(1+level*level)*random.NormFloat64()
		}, 0, 0.03},
		"lognormal": {func(int, int) float64 { return math.Exp(0.3 * random.NormFloat64()) }, 0, 0.03},
		"drift": {func(_, block int) float64 {
			return 1 + 0.05*float64(block) + 0.01*random.NormFloat64()
		}, 0, 0.03},
		"a block":    {func(_, block int) float64 { return pick(map[int]float64{3: 1}[block], 1, 0.8) }, 0, 0.03},
		"one or two": {func(int, int) float64 { return pick(0.5, 1, 2) }, 0.97, 1},
		"dead":       {func(int, int) float64 { return pick(0.2, 1, 0) }, 0.97, 1},
		"one flips":  {func(level, _ int) float64 { return pick(map[int]float64{3: 0.5}[level], 1, 2) }, 0.3, 1},
		"one trial": {func(level, block int) float64 {
			return pick(map[int]float64{304: 1}[100*level+block], 1, 0.5)
		}, 0, 0.03},
	} {
		for _, blocks := range []int{4, 8} {
			const runs = 400
			found := 0
			for range runs {
				if jumpsOf(drawn(12, blocks, c.draw), metric.Goodput).size > 0 {
					found++
				}
			}
			if share := float64(found) / runs; share < c.least || share > c.most {
				t.Errorf("%s, %d blocks: jumps in %.3f of the runs, want %g to %g", name, blocks, share,
					c.least, c.most)
			}
		}
	}
}

// TestAgainstMixtures: where outcomes jump, or theory knows them, intervals hold and
// differences of nothing are found as rarely as stated.
func TestAgainstMixtures(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for name, c := range map[string]struct {
		draw  func() float64
		mean  float64
		known *record.Chance
	}{
		"one or two": {func() float64 { return 1 + float64(random.IntN(2)) }, 1.5, nil},
		"known one or two": {func() float64 {
			return 1 + float64(random.IntN(2))
		}, 1.5, &record.Chance{LeastBps: 1, MostBps: 2}},
		"known, mostly two": {func() float64 {
			return 1 + min(1, float64(random.IntN(5)))
		}, 1.8, &record.Chance{LeastBps: 1, MostBps: 2}},
		"dead or alive": {func() float64 { return min(1, float64(random.IntN(5))) }, 0.8, nil},
	} {
		for _, blocks := range []int{4, 8} {
			const runs, levels = 120, 12
			inside, jointly, wrong := 0, 0, 0
			for range runs {
				run := drawn(levels, blocks, func(int, int) float64 { return c.draw() })
				for i := range run.Trials {
					run.Trials[i].Chance = c.known
				}
				in := Of(run)
				list, _ := comparisons(run)
				if m := in.Side(list[0].level, metric.Goodput).Mean(0.95); m.Low <= c.mean && c.mean <= m.High {
					inside++
				}
				effects, _ := in.Effects()
				all, any := true, false
				for _, e := range effects {
					if d := e.Difference; d != nil {
						all = all && d.Low <= 0 && 0 <= d.High
					} else {
						all = all && e.Ratio.Low <= 1 && 1 <= e.Ratio.High
					}
					any = any || e.Verdict == record.Improves || e.Verdict == record.Worsens
				}
				if all {
					jointly++
				}
				if any {
					wrong++
				}
			}
			// 93 % less four standard errors, and 6 % with four.
			if inside < runs*87/100 || jointly < runs*87/100 || wrong > runs*12/100 {
				t.Errorf(
					"%s, %d blocks: a treatment's mean is held in %d of %d runs, all effects in %d, some direction "+
						"is false in %d",
					name, blocks, inside, runs, jointly, wrong)
			}
			t.Logf("%s, %d blocks: %d, %d, %d of %d", name, blocks, inside, jointly, wrong, runs)
		}
	}
}
