package evidence

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// Sensitivity spells how small a change can be detected, and with what.
func Sensitivity(s *record.Sensitivity) string {
	return fmt.Sprintf("changes of %s with a probability of %s, at a scatter of %s between trials (%s, %s)",
		number.Percent(s.Detectable), number.Percent(s.Power), number.Percent(s.Scatter), words.Count(s.Blocks, "block"), words.Count(s.Comparisons, "comparison"))
}

// Detects says how small a change the run can detect; nil: it compares nothing, or in too
// few blocks.
func Detects(run *record.Run) []document.Block {
	if run.Conclusion == nil || run.Conclusion.Sensitivity == nil {
		return nil
	}
	return document.Statements("Detects", Sensitivity(run.Conclusion.Sensitivity))
}
