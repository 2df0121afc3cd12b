package answer

import (
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/show/words"
)

// Proof returns what a run of `linerate prove` says about a fix, in one sentence: the verdict, and
// the effect with its interval. Empty: the run has no comparison yet.
func Proof(run *record.Run) string {
	if len(run.Effects) == 0 || run.Conclusion == nil {
		return ""
	}
	c, e := run.Conclusion, run.Effects[0]
	r := lead(c)
	if c.BothWays && r.Name == metric.Goodput.Name {
		r.Label += " of both directions together"
	}
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
		if text = "Inconclusive whether " + e.To + " changes " + r.Label; !e.ByInterval() {
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
	text = words.FullStop(text)
	if (e.Verdict == record.NoDifference || e.Verdict == record.Inconclusive) && unmet(run, e.From) {
		text += " " +
			proved(
				run) + " was not found in the trials as it is, whose traffic may not meet it: that says nothing of " +
			"whether the fix helps what does."
	}
	return text
}

// proved returns the ID of the finding whose fix a run tries.
func proved(run *record.Run) string {
	id, _ := strings.CutPrefix(run.Study, "prove-")
	return id
}

// unmet reports whether the finding is evaluated from trials, and neither it nor its consequences
// were found in those of a treatment.
func unmet(run *record.Run, treatment string) bool {
	rules := diagnose.Rules()
	i := slices.IndexFunc(rules, func(r rule.Description) bool { return r.ID == proved(run) })
	if i < 0 || !rules[i].Growth && !rules[i].Trial {
		return false
	}
	return !slices.ContainsFunc(run.Findings, func(f record.Finding) bool {
		return (f.ID == rules[i].ID || slices.Contains(rules[i].Explains, f.ID)) && (len(f.Treatments) == 0 ||
			slices.Contains(f.Treatments, treatment))
	})
}
