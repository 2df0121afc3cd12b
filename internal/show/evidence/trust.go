package evidence

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// Failure is a check with all its failures.
type Failure struct {
	Check  string
	Checks []record.Check
}

// Doubts returns the failed checks that cast doubt on the run's own figures, in the order of their
// first failure. If another program's sum contradicts what was received, that is a result about the
// program; see contradictions.
func Doubts(run *record.Run) []Failure {
	return Grouped(record.Doubts(run.Trust))
}

// contradictions returns the failed checks of other counts: a program's own sum, or the senders'
// sum.
func contradictions(run *record.Run) []Failure {
	return Grouped(record.Refuted(run.Trust))
}

// reported reports whether a check is about what others count, not about the run's figures.
func reported(c record.Check) bool { return c.Subject == record.SubjectReported }

// Grouped groups failed checks by name, in the order of their first failure.
func Grouped(failed []record.Check) []Failure {
	var out []Failure
	for _, c := range failed {
		at := slices.IndexFunc(out, func(f Failure) bool { return f.Check == c.Check })
		if at < 0 {
			at, out = len(out), append(out, Failure{Check: c.Check})
		}
		out[at].Checks = append(out[at].Checks, c)
	}
	return out
}

// inTrials counts the trials of failures. Whole reports whether it is the whole run. A check that
// passes may be recorded once for all trials, so passed and failed checks cannot be compared.
func inTrials(run *record.Run, failures []Failure) (text string, whole bool) {
	trials := map[int]bool{}
	for _, f := range failures {
		for _, c := range f.Checks {
			trials[c.Trial] = true
		}
	}
	return fmt.Sprintf("%d of %s", len(trials), words.Count(len(run.Trials), "trial")), trials[0]
}

// InDoubt says how many trials have doubtful figures. Empty: none.
func InDoubt(run *record.Run) string {
	bad := Doubts(run)
	if len(bad) == 0 {
		return ""
	}
	text, whole := inTrials(run, bad)
	if len(run.Trials) == 1 {
		return words.Count(len(bad), "trust check") + " failed"
	}
	if whole {
		return "a trust check of the whole run failed"
	}
	return text + " failed a trust check"
}

// WhyInDoubt is InDoubt with the names of the failed checks: "1 of 8 trials failed a trust check
// (steady)". Empty: no figures are doubtful.
func WhyInDoubt(run *record.Run) string {
	text := InDoubt(run)
	if text != "" {
		text += " (" + CheckNames(Doubts(run)) + ")"
	}
	return text
}

// contradicted says in how many trials another program's figure contradicts what was received.
// Empty: in none.
func contradicted(run *record.Run) string {
	bad := contradictions(run)
	if len(bad) == 0 {
		return ""
	}
	text, _ := inTrials(run, bad)
	return fmt.Sprintf(
		"in %s another count contradicts the receivers' (%s); linerate's figures count at the receiver and are not "+
			"affected", text, CheckNames(bad))
}

// CheckNames joins the names of checks.
func CheckNames(failures []Failure) string {
	names := lists.Map(failures, func(f Failure) string { return f.Check })
	return words.List(names)
}

// Trusted returns one line for a run without doubtful figures.
func Trusted(run *record.Run) string {
	var names []string
	other := contradicted(run)
	for _, c := range run.Trust {
		if (other == "" || !reported(c)) && !c.Unevaluated {
			names = words.Distinct(names, c.Check)
		}
	}
	text := fmt.Sprintf("%s, every check passed: %s", words.Count(len(run.Trials), "trial"), strings.Join(names, ", "))
	if why := Unevaluated(run.Trust); why != "" {
		text += "; not evaluated: " + why
	}
	if other != "" {
		text += "; " + other
	}
	return text
}

// Unevaluated lists the checks that could not be evaluated, with the reasons. Empty: there are
// none.
func Unevaluated(checks []record.Check) string {
	var list []string
	for _, c := range checks {
		if c.Unevaluated {
			list = append(list, fmt.Sprintf("%s (%s)", c.Check, c.Detail))
		}
	}
	return strings.Join(list, "; ")
}

// TrustStatement says what failed, with one example each, or that nothing did.
func TrustStatement(run *record.Run) []document.Block {
	if len(run.Trust) == 0 {
		return nil
	}
	text := InDoubt(run)
	if text == "" {
		return []document.Block{document.Statement{Label: "Trust", Text: Trusted(run)}}
	}
	s := document.Statement{Label: "Trust", Text: text + ":"}
	for _, f := range Doubts(run) {
		head := f.Check
		if len(f.Checks) > 1 {
			head += fmt.Sprintf(", %d times, such as", len(f.Checks))
		}
		s.Items = append(s.Items, document.Item{Mark: "✗", Text: head + onTrial(run, f.Checks[0]) + ": " +
			f.Checks[0].Detail, Tone: document.Wrong})
	}
	blocks := []document.Block{s}
	if text := contradicted(run); text != "" {
		blocks = append(blocks, document.Statement{Text: text})
	}
	return blocks
}

// onTrial says in which trial a check was made.
func onTrial(run *record.Run, c record.Check) string {
	if c.Trial == 0 || run.Study == record.MeasureStudy && len(run.Trials) == 1 {
		return ""
	}
	text := fmt.Sprintf(" in trial %d", c.Trial)
	if treatment := treatmentOf(run, c.Trial); treatment != "" {
		text += " (" + treatment + ")"
	}
	return text
}

// Trust returns the section with the result of every check and all failures.
func Trust(run *record.Run) document.Section {
	s := document.Section{ID: "trust", Title: "Every trust check passed"}
	if text := InDoubt(run); text != "" {
		s.Title = words.Sentence(text)
	} else if len(contradictions(run)) > 0 {
		s.Title = "linerate's figures passed every trust check; another count contradicts them"
	}
	checks := &document.Table{Columns: []document.Column{{Head: "check"}, {Head: "result"},
		{Head: "detail", Wrap: true}}}
	every := &document.Table{Columns: []document.Column{{Head: "failed"}, {Head: "trial", Align: document.Right},
		{Head: "treatment", Wrap: true}, {Head: "detail", Wrap: true}}}
	failed, index := map[string]int{}, map[string]int{}
	for _, c := range run.Trust {
		i, known := index[c.Check]
		if !known {
			i, index[c.Check] = len(checks.Rows), len(checks.Rows)
			result := "passed"
			if c.Unevaluated {
				result = "not evaluated"
			}
			checks.Rows = append(checks.Rows, document.Row{Cells: document.Cells(c.Check, result, c.Detail)})
		}
		if c.Pass {
			continue
		}
		row := &checks.Rows[i]
		switch failed[c.Check]++; failed[c.Check] {
		case 1:
			row.Tone, row.Cells = document.Wrong, document.Cells("✗ "+c.Check, "failed", c.Detail)
			if reported(c) {
				row.Tone = document.Plain
			}
		default:
			row.Cells[1].Text = fmt.Sprintf("failed %d times", failed[c.Check])
		}
		trial, treatment := "run", ""
		if c.Trial > 0 {
			trial, treatment = fmt.Sprint(c.Trial), treatmentOf(run, c.Trial)
		}
		every.Rows = append(every.Rows, document.Row{Cells: document.Cells("✗ "+c.Check, trial, treatment, c.Detail),
			Tone: row.Tone})
	}
	if len(checks.Rows) == 0 {
		return document.Section{}
	}
	s.Blocks = []document.Block{checks}
	if len(every.Rows) > 0 && len(run.Trials) > 1 {
		s.Blocks = append(s.Blocks, document.Fold{Summary: "Every failure", Blocks: []document.Block{every}})
	}
	return s
}

// treatmentOf returns the treatment of the trial at a place in the run. Empty: there is none.
func treatmentOf(run *record.Run, order int) string {
	i := slices.IndexFunc(run.Trials, func(t record.Trial) bool { return t.Order == order })
	if i < 0 {
		return ""
	}
	return run.Trials[i].Treatment
}
