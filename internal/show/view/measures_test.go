package view

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// TestBounds: over simulated runs no interval that is shown ends below 0 or above the limit
// and the largest trial, and each holds its mean; those that are bounded are ranges.
func TestBounds(t *testing.T) {
	const limit = 1e9
	source := rand.New(rand.NewPCG(17, 18))
	chance := func(p, a, b float64) float64 {
		if source.Float64() < p {
			return a
		}
		return b
	}
	kinds := map[string]func() float64{
		"steady":       func() float64 { return limit * (0.9 + 0.002*source.NormFloat64()) },
		"at the limit": func() float64 { return limit * (1 - 0.001*source.Float64()) },
		"with dips":    func() float64 { return limit * chance(0.3, 0.2, 0.999) },
		"one or two":   func() float64 { return limit * chance(0.5, 0.5, 1) * (1 - 0.001*source.Float64()) },
		"often none":   func() float64 { return limit * chance(0.5, 0, 0.6) },
		"always none":  func() float64 { return 0 },
	}
	shown, ranges := map[string]int{}, map[string]int{}
	for range 60 {
		for _, blocks := range []int{1, 2, 4, 8, 12} {
			run := sciencetest.Levels("bit/s", limit, []string{""}, slices.Sorted(maps.Keys(kinds)),
				func(_, level string, _ int) float64 { return kinds[level]() }, blocks)
			conclude.Conclude(run)
			for _, m := range newMeasures(run) {
				for i := range run.Treatments {
					treatment := &run.Treatments[i]
					e := m.Estimate(treatment)
					most := limit
					for _, trial := range m.Trials[treatment.Name] {
						most = max(most, trial.Value)
					}
					if e.Low < 0 || e.High > most || e.High > e.Low && (e.Mean < e.Low || e.Mean > e.High) {
						t.Errorf("%s, %d blocks: %.4g to %.4g around %.4g", treatment.Name, blocks, e.Low,
							e.High, e.Mean)
					}
					kind := treatment.Levels["l"]
					shown[kind]++
					if _, spread := m.Interval(treatment); strings.Contains(spread, "–") {
						ranges[kind]++
					}
				}
			}
		}
	}
	if ranges["with dips"] < shown["with dips"]/4 || ranges["often none"] < shown["often none"]/4 {
		t.Errorf("of %v intervals %v are ranges", shown, ranges)
	}
}

// TestTrialShares: the shares of a host's interfaces add up in every trial, and their mean
// is near the treatment's share.
func TestTrialShares(t *testing.T) {
	run := sciencetest.Run(7, 4)
	conclude.Conclude(run)
	v := New(run)
	for i := range run.Treatments {
		treatment := &run.Treatments[i]
		loads, sum := InterfacesOf(treatment, v.Focus), make([]float64, 4)
		for _, l := range loads {
			mean, shares := 0.0, v.TrialShares(treatment, l, loads)
			if len(shares) != 4 {
				t.Fatalf("%s, %s: %d trials, want 4", treatment.Name, l.Interface, len(shares))
			}
			for k, share := range shares {
				sum[k] += share
				mean += share / 4
			}
			if math.Abs(mean-l.Share) > 0.06 { // a trial that carried more counts for more in the treatment's
				t.Errorf("%s, %s: mean share %.3f of the trials, %.3f of the treatment", treatment.Name, l.Interface,
					mean, l.Share)
			}
		}
		for k := range sum {
			if math.Abs(sum[k]-1) > 1e-9 {
				t.Errorf("%s: shares of trial %d add up to %g", treatment.Name, k, sum[k])
			}
		}
	}
}

// TestBoundsOfHashing: the intervals beside the theory lie within what links can carry and
// hold the mean, and those of a chance lie within 0 and 1. A few trials that agree are no
// point where chance could have had it otherwise.
func TestBoundsOfHashing(t *testing.T) {
	source := rand.New(rand.NewPCG(19, 20))
	for range 20 {
		run := sciencetest.Curve([]int{2, 4, 8}, []int{1, 2, 3, 8, 32}, 2+source.IntN(6), func(links int) int {
			return source.IntN(links)
		})
		conclude.Conclude(run)
		if len(run.Hashing) != 15 {
			t.Fatalf("%d treatments are judged, want 15", len(run.Hashing))
		}
		for _, h := range run.Hashing {
			e := Measured(h)
			const rounding = 1e-9
			if e.Low < 0 || e.High > float64(h.Links) || e.Low > e.Mean+rounding || e.High < e.Mean-rounding ||
				h.Flows > 1 && h.Flows <= h.Links && e.High-e.Low < 0.3 ||
				h.IdleLowShare < 0 || h.IdleHighShare > 1 || h.ExpectedLowLinks < 0 ||
				h.ExpectedHighLinks > float64(h.Links)+rounding {
				t.Errorf("%.4f to %.4f: %+v", e.Low, e.High, h)
			}
		}
	}
}

// TestInterval: the half-width is that of the interval before it was bounded, and no ±
// stands for an interval that is not symmetric.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		e            record.ResponseEstimate
		mean, spread string
	}{
		{record.ResponseEstimate{Mean: 941, Low: 940, High: 942, Half: 1}, "941.0", "±1.0"},
		// a document without Half
		{record.ResponseEstimate{Mean: 941, Low: 940, High: 942}, "941.0", "±1.0"},
		// bounded at a limit that it is near
		{record.ResponseEstimate{Mean: 941, Low: 936, High: 942, Half: 5}, "941", "±5"},
		// of 0, 100, 100 and 0
		{record.ResponseEstimate{Mean: 50, Low: 0, High: 100, Half: 91.9}, "50.0", "(0–100)"},
		// the same in a document without Half
		{record.ResponseEstimate{Mean: 50, Low: 0, High: 141.9}, "50.0", "(0–142)"},
		// of a share, which is not symmetric
		{record.ResponseEstimate{Mean: 750, Low: 420, High: 960, Half: 270}, "750", "(420–960)"},
		{record.ResponseEstimate{Mean: 941}, "941.0", ""},
	} {
		c.e.Response, c.e.Trials, c.e.Mean, c.e.Low, c.e.High, c.e.Half = "goodput", 4, c.e.Mean*1e6, c.e.Low*1e6,
			c.e.High*1e6, c.e.Half*1e6
		run := &record.Run{Treatments: []record.Treatment{{Name: "a", Responses: []record.ResponseEstimate{c.e},
			Goodput: record.Estimate{MeanBps: 999e6}}}}
		if mean, spread := newMeasures(run)[0].Interval(&run.Treatments[0]); mean != c.mean || spread != c.spread {
			t.Errorf("%+v is spelled %s %s, want %s %s", c.e, mean, spread, c.mean, c.spread)
		}
	}
}

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		r              record.EffectSize
		mean, interval string
	}{
		{record.EffectSize{Mean: 4, Low: 3.98, High: 4.01}, "4.00×", "3.98–4.01"},
		{record.EffectSize{Mean: 1.0002, Low: 0.9994, High: 1.0011}, "1.000×", "0.999–1.001"},
		{record.EffectSize{Mean: 1.7, Low: 0.3, High: 9.6}, "1.7×", "0.3–9.6"},
		{record.EffectSize{Mean: 1.7, Low: 0.3, High: 1e6}, "1.7×", "at least 0.3"},
		{record.EffectSize{Mean: 2.5}, "2.50×", ""},
		{record.EffectSize{Mean: 2.5, Low: 2.5, High: 2.5}, "2.50×", ""},
		{record.EffectSize{Mean: math.Inf(1)}, "–", ""},
	} {
		if mean, interval := Ratio(c.r); mean != c.mean || interval != c.interval {
			t.Errorf("%+v is spelled %q %q, expected %q %q", c.r, mean, interval, c.mean, c.interval)
		}
	}
}

func TestGoodputScale(t *testing.T) {
	run := &record.Run{Treatments: []record.Treatment{{Goodput: record.Estimate{MeanBps: 119.5 * 8e6},
		LimitBps: 956.4e6}}}
	if got := goodputScale(run).Spell(956.4e6); got != "956.4 Mbit/s" {
		t.Errorf("in bit/s: %s", got)
	}
	run.Unit = "MB/s"
	if got := goodputScale(run).Spell(956.4e6); got != "119.5 MB/s" {
		t.Errorf("in MB/s: %s", got)
	}
}
