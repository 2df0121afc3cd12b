package metric

import (
	"math"

	"linerate/internal/model/record"
)

// Typical returns the trial to show where only one trial can represent a treatment: the one whose
// value of the run's first metric is closest to the treatment's mean, and the first of several
// equally close ones. Nil: the treatment has no trial.
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
