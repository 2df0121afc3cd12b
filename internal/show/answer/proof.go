package answer

import (
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/show/words"
)

// Proof is what a run of linerate prove says of the fix, in a sentence: the verdict, and the
// effect with its interval. Empty: the run does not compare yet.
func Proof(run *record.Run) string {
	if len(run.Effects) == 0 || run.Conclusion == nil {
		return ""
	}
	c, e := run.Conclusion, run.Effects[0]
	r := lead(c)
	says := func(verdict string) string { return words.Sentence(e.To) + " " + verdict }
	text := ""
	switch e.Verdict {
	case record.Improves:
		text = says("improves " + r.Label)
	case record.Worsens:
		text = says("worsens " + r.Label)
	case record.NoDifference:
		text = says("makes no difference beyond " + margin(c, r) + " to " + r.Label)
	case record.Inconclusive:
		if text = "Inconclusive whether " + e.To + " changes " + r.Label; e.Why != "" && !strings.HasPrefix(e.Why, stats.Spans) {
			text += " (" + e.Why + ")"
		}
	default:
		text = "No verdict on " + e.To + ": it takes more blocks"
	}
	if size := Size(c.Unit, r, &e); size != "" {
		text += ": " + size
	}
	for _, name := range c.Others {
		other, known := responseOf(c, name)
		if beside := other.Effect(&e); known && beside != nil && beside.Verdict == record.Worsens {
			text += "; it worsens " + other.Label + ": " + Size(c.Unit, other, &e)
		}
	}
	return words.FullStop(text)
}
