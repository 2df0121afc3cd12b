package conclude

import (
	"math"
	"testing"

	"linerate/internal/model/record"
)

// scattered is a run of levels whose trials scatter by so much each, in blocks.
func scattered(blocks int, scatters ...float64) *record.Run {
	run := &record.Run{Margin: 1e-9, Factors: []record.Factor{{Name: "f", Role: "compare", Baseline: "a"}}}
	for i, scatter := range scatters {
		name := string(rune('a' + i))
		run.Factors[0].Levels = append(run.Factors[0].Levels, record.Level{Name: name})
		for block := range blocks {
			sign := float64(1 - 2*(block%2))
			run.Trials = append(run.Trials, record.Trial{Treatment: name, Levels: map[string]string{"f": name},
				Block: block + 1, Order: len(run.Trials) + 1,
				GoodputBps: 1e9 * (1 + sign*scatter)})
		}
	}
	return run
}

// TestSensitivity: the run's own scatter counts, of the two sides of what is compared, and
// no comparison shows less than what is promised.
func TestSensitivity(t *testing.T) {
	conclude := func(run *record.Run) *record.Conclusion {
		Conclude(run)
		return run.Conclusion
	}
	// Values of 1±x have a standard deviation of x × √(n/(n−1)).
	c := conclude(scattered(8, 0.01, 0.01, 0.03))
	s := c.Sensitivity
	if s == nil || math.Abs(s.Scatter-math.Sqrt(5)*0.01*math.Sqrt(8./7)) > 1e-9 || s.Blocks != 8 ||
		s.Comparisons != 2 || s.Power != 0.8 {
		t.Fatalf("sensitivity %+v", s)
	}
	if l := s.Least; l == nil || math.Abs(l.Scatter-0.01*math.Sqrt(8./7)) > 1e-9 || l.Detectable >= s.Detectable/2 {
		t.Errorf("least %+v", l)
	}
	// The mean that eight normal differences show with 80 % at 97.47 % confidence, in
	// standard deviations (SciPy's noncentral t), times that of a ratio of two trials.
	if want := math.Expm1(1.3357325 * math.Sqrt2 * s.Scatter); math.Abs(s.Detectable/want-1) > 0.002 {
		t.Errorf("detects %.5f, want %.5f", s.Detectable, want)
	}
	if want := 1 - math.Pow(0.05, 1./8); math.Abs(c.Missed-want) > 1e-12 || c.FewestTrials != 8 {
		t.Errorf("%d trials miss %g, want 8 and %g", c.FewestTrials, c.Missed, want)
	}

	interrupted := scattered(8, 0.01, 0.01)
	interrupted.Trials = interrupted.Trials[:13]
	if c := conclude(interrupted); c.FewestTrials != 5 || c.Sensitivity.Blocks != 5 {
		t.Errorf("after 8 and 5 trials: %d, %+v", c.FewestTrials, c.Sensitivity)
	}
	// Most treatments are alike; that of the baseline, which all are compared with, are not.
	if c := conclude(scattered(8, 0.03, 0, 0, 0)); math.Abs(c.Sensitivity.Least.Scatter-0.03*math.Sqrt(8./7/2)) > 1e-9 {
		t.Errorf("with a scattered baseline: %+v", c.Sensitivity)
	}
	chance := scattered(8, 0.01, 0.3, 0.01)
	conclude(chance)
	chance.Treatments[1].Chance = &record.Chance{LeastBps: 0.7e9, MostBps: 1.3e9, By: "chance"}
	if s := sensitivity(chance); math.Abs(s.Scatter-0.01*math.Sqrt(8./7)) > 1e-9 || s.LeftToChance != 1 {
		t.Errorf("with a treatment left to chance: %+v", s)
	}
	chance.Treatments[0].Chance = chance.Treatments[1].Chance
	if s := sensitivity(chance); s != nil {
		t.Errorf("with a baseline left to chance: %+v", s)
	}
	dead := scattered(8, 0.01, 0, 0.01)
	for i := range dead.Trials[8:16] {
		dead.Trials[8+i].GoodputBps = 0
	}
	if c := conclude(dead); math.Abs(c.Sensitivity.Scatter-0.01*math.Sqrt(8./7)) > 1e-9 {
		t.Errorf("with a dead treatment: %+v", c.Sensitivity)
	}
	for name, run := range map[string]*record.Run{"three blocks": scattered(3, 0.01, 0.01),
		"one level": scattered(8, 0.01)} {
		if c := conclude(run); c.Sensitivity != nil {
			t.Errorf("%s: %+v", name, c.Sensitivity)
		}
	}
}
