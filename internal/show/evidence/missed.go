package evidence

import (
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/show/answer"
	"linerate/internal/show/document"
)

// Missed says how rare an event must be for the run to miss it. Nil: the answer says so, or no
// trial was completed.
func Missed(run *record.Run) []document.Block {
	text := answer.Missed(run.Conclusion)
	if text == "" || slices.Contains(answer.Run(run).Statements, text) {
		return nil
	}
	return document.Statements("Misses", text)
}
