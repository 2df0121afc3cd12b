package evidence

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// FindMaxRows returns rows with the highest rate that meets an objective, why it is not higher, and
// the trials of the search.
func FindMaxRows(f *record.FindMax) [][]string {
	rate := findMaxRate(f)
	if rate == "" {
		return append([][]string{{"highest rate", "none found", f.Objective + ": " + findMaxWhy(f)}},
			findMaxTrialRows(f)...)
	}
	said := fmt.Sprintf("%s met in %s of %s", f.Objective, words.Count(f.Confirmed, "trial"),
		unit.FormatSeconds(confirmS(f)))
	if f.Confirmed == 0 {
		said = f.Objective + " met"
	}
	rows := [][]string{{"highest rate", rate, said}, {"", "", findMaxWhy(f)}}
	return append(rows, findMaxTrialRows(f)...)
}

// confirmS returns the length of the trials that confirmed the rate, in seconds.
func confirmS(f *record.FindMax) (seconds float64) {
	for _, t := range f.Trials {
		if t.Confirms && t.AskedPerS == f.RatePerS {
			seconds = t.WindowS
		}
	}
	return seconds
}

// findMaxRate returns the rate with its interval. Empty: none met the objective.
func findMaxRate(f *record.FindMax) string {
	switch {
	case f.RatePerS == 0:
		return ""
	case f.FailedAtPerS == 0:
		return "at least " + number.PerSecond(f.RatePerS)
	}
	return number.PerSecond(f.RatePerS)
}

// findMaxWhy returns why the rate is not higher, or why there is none.
func findMaxWhy(f *record.FindMax) string {
	var said []string
	if f.Why != "" && f.RatePerS > 0 {
		said = append(said, fmt.Sprintf("not confirmed (%d of %s): %s", f.Confirmed,
			words.Count(f.Repeats, "trial"), f.Why))
	} else if f.Why != "" {
		said = append(said, f.Why)
	}
	if f.BoundedBy == record.BoundedBySearch && f.Why == "" {
		said = append(said, "no higher rate was tried")
	}
	if f.FailedAtPerS > 0 {
		at := record.FindMaxTrial{AskedPerS: f.FailedAtPerS, AnsweredPerS: f.FailedAnsweredPerS, FailedBy: f.BoundedBy,
			Conditions: f.Failed, Generator: f.Generator}
		said = append(said, number.PerSecond(f.FailedAtPerS)+" failed: "+findMaxFailed(at))
		if f.BoundedBy == record.BoundedByAnswers {
			said = append(said, fmt.Sprintf(
				"a closed loop has %s: the server or the path answers no more of these connections' requests",
				number.PerSecond(f.ClosedLoopPerS)))
		}
	}
	return strings.Join(said, "; ")
}

// findMaxFailed returns why a trial failed, with figures.
func findMaxFailed(t record.FindMaxTrial) string {
	var said []string
	switch t.FailedBy {
	case record.BoundedByGenerator:
		said = append(said, "the generator may be the limit, not the server ("+t.Generator+")")
	case record.BoundedByAnswers:
		said = append(said, number.PerSecond(t.AnsweredPerS)+" answered")
	}
	for _, c := range t.Unmet() {
		if c.Unknown != "" {
			said = append(said, c.Unknown)
			continue
		}
		said = append(said, c.Condition+", got "+c.Got)
	}
	return strings.Join(said, "; ")
}

// findMaxTrialRows returns one row for each trial of a search.
func findMaxTrialRows(f *record.FindMax) (rows [][]string) {
	for i, t := range f.Trials {
		name, rate := "", "closed loop"
		if i == 0 {
			name = "trials"
		}
		if t.AskedPerS > 0 {
			rate = number.PerSecond(t.AskedPerS)
		}
		said := unit.FormatSeconds(t.WindowS)
		if t.Lengthened {
			said += fmt.Sprintf(" for %s requests", unit.FormatCount(f.NeededRequests))
		}
		if t.Confirms {
			said = "to confirm it, " + said
		}
		said += ": " + number.PerSecond(t.AnsweredPerS) + " answered"
		for _, c := range t.Conditions {
			said += ", " + c.Metric + " " + c.Got
		}
		if t.FailedBy != "" {
			said += "; failed"
		}
		if t.FailedBy == record.BoundedByGenerator || t.AskedPerS == 0 && t.Generator != "" {
			said += "; the generator may be the limit"
		}
		rows = append(rows, []string{name, rate, said})
	}
	return rows
}
