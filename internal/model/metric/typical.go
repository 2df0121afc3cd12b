package metric

import (
	"math"

	"linerate/internal/model/record"
)

// Typical is the trial that stands for a treatment where one is shown: its value of
// the run's first metric is nearest to the treatment's mean; the first of equals, nil
// when the treatment has no trial.
func Typical(run *record.Run, t *record.Treatment) *record.Trial {
	lead := Of(run)[0]
	mean := lead.Estimate(t).Mean
	var best *record.Trial
	nearest := math.Inf(1)
	for _, trial := range run.TrialsOf(t.Name) {
		away := math.Inf(1)
		if value, ok := lead.Value(trial); ok {
			away = math.Abs(value - mean)
		}
		if best == nil || away < nearest {
			best, nearest = trial, away
		}
	}
	return best
}
