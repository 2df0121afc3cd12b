package evidence

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// partly describes flows that ran out of ports.
const partly = "opened fewer connections than requested"

// Unconnected says how many flows of a treatment could not connect, and in how
// many of its trials.
func Unconnected(v *view.View, t *record.Treatment) string {
	most, flows, trials, all := 0, 0, 0, 0
	what := "could not connect"
	for _, trial := range v.Run.TrialsOf(t.Name) {
		n := trial.Unconnected()
		if slices.ContainsFunc(trial.Flows, func(f record.Flow) bool { return f.Exhausted != nil }) {
			what = partly
		}
		all, most, flows = all+1, max(most, n), max(flows, len(trial.Flows))
		if n > 0 {
			trials++
		}
	}
	if trials == 0 { // the document holds no flows
		return words.Count(t.Unconnected, "flow") + " could not connect, over all trials"
	}
	return fmt.Sprintf("%d of %s %s in %d of %s", most, words.Count(flows, "flow"), what, trials, words.Count(all, "trial"))
}

// allowsUnconnected: at some levels a flow that cannot connect is a result.
func AllowsUnconnected(v *view.View, treatment string) bool {
	return slices.ContainsFunc(v.Run.TrialsOf(treatment), func(t *record.Trial) bool { return t.Unreachable })
}
