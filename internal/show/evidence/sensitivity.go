package evidence

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// Sensitivity describes how small a change can be detected, and under which conditions: in any of
// the comparisons and, if others can show much smaller ones, also in the one with the least
// scatter.
func Sensitivity(s *record.Sensitivity) string {
	change, scatter := "changes of "+number.Percent(s.Detectable), "at a scatter of "+number.Percent(s.Scatter)
	if l := s.Least; l != nil && s.Detectable >= notably*l.Detectable {
		change += " in every comparison, and of " + number.Percent(l.Detectable) + " in the least scattered one,"
		scatter = "at scatters of " + number.Percent(l.Scatter) + " to " + number.Percent(s.Scatter)
	}
	with := words.Count(s.Blocks, "block") + ", " + words.Count(s.Comparisons, "comparison")
	if n := s.LeftToChance; n > 0 {
		change = strings.Replace(change, "every comparison", "every comparison that is counted", 1)
		with += fmt.Sprintf(", of which %d %s not counted: which interface or link is used there is chance", n,
			words.Verb(n, "is", "are"))
	}
	text := fmt.Sprintf("%s with a probability of %s, %s between trials (%s)", change, number.Percent(s.Power),
		scatter, with)
	if s.ByMargin > 0 {
		text += fmt.Sprintf("; the margin of ±%s decides that, not the number of blocks", number.Percent(s.ByMargin))
	}
	return text
}

// notably is the ratio from which the detectable changes of two comparisons are both named.
const notably = 1.25

// Detects says how small a change the run can detect. Nil: it compares nothing, or has too few
// blocks.
func Detects(run *record.Run) []document.Block {
	if run.Conclusion == nil || run.Conclusion.Sensitivity == nil {
		return nil
	}
	return document.Statements("Detects", Sensitivity(run.Conclusion.Sensitivity))
}
