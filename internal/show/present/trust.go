package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// failure is one check with all its failures.
type failure struct {
	check  string
	checks []record.Check
}

// doubts are the failed checks that put the run's own figures in doubt, in the
// order of their first failure. That another program's sum contradicts what was
// received is a result about that program, see contradictions.
func doubts(run *record.Run) []failure {
	return grouped(record.Doubts(run.Trust))
}

// contradictions are the failed checks of other counts: a program's own sum, or
// the senders'.
func contradictions(run *record.Run) []failure {
	return grouped(record.Refuted(run.Trust))
}

// reported says that a check is of what others count, not of the run's figures.
func reported(c record.Check) bool { return c.Subject == record.SubjectReported }

func grouped(failed []record.Check) []failure {
	var out []failure
	for _, c := range failed {
		at := slices.IndexFunc(out, func(f failure) bool { return f.check == c.Check })
		if at < 0 {
			at, out = len(out), append(out, failure{check: c.Check})
		}
		out[at].checks = append(out[at].checks, c)
	}
	return out
}

// inTrials counts the trials of failures. What passes may be recorded once for
// all trials, so checks cannot be counted against each other.
func inTrials(run *record.Run, failures []failure) (text string, whole bool) {
	trials := map[int]bool{}
	for _, f := range failures {
		for _, c := range f.checks {
			trials[c.Trial] = true
		}
	}
	return fmt.Sprintf("%d of %s", len(trials), Count(len(run.Trials), "trial")), trials[0]
}

// inDoubt counts the trials whose figures are in doubt; empty: none are.
func inDoubt(run *record.Run) string {
	bad := doubts(run)
	if len(bad) == 0 {
		return ""
	}
	text, whole := inTrials(run, bad)
	if whole {
		return "a trust check of the whole run failed"
	}
	return text + " failed a trust check"
}

// contradicted says in how many trials another program's figure contradicts
// what was received; empty: in none.
func contradicted(run *record.Run) string {
	bad := contradictions(run)
	if len(bad) == 0 {
		return ""
	}
	text, _ := inTrials(run, bad)
	return fmt.Sprintf("in %s another count contradicts the receivers' (%s); linerate's figures count at the receiver and are not affected", text, checkNames(bad))
}

func checkNames(failures []failure) string {
	var names []string
	for _, f := range failures {
		names = append(names, f.check)
	}
	return list(names)
}

// trusted is the one line for a run of whose figures none is in doubt.
func trusted(run *record.Run) string {
	var names []string
	other := contradicted(run)
	for _, c := range run.Trust {
		if (other == "" || !reported(c)) && !slices.Contains(names, c.Check) {
			names = append(names, c.Check)
		}
	}
	text := fmt.Sprintf("%s, every check passed: %s", Count(len(run.Trials), "trial"), strings.Join(names, ", "))
	if other != "" {
		text += "; " + other
	}
	return text
}

// trustStatement says what failed with one example each, or that nothing did.
func trustStatement(run *record.Run) []Block {
	if len(run.Trust) == 0 {
		return nil
	}
	text := inDoubt(run)
	if text == "" {
		return []Block{Statement{Label: "Trust", Text: trusted(run)}}
	}
	s := Statement{Label: "Trust", Text: text + ":"}
	for _, f := range doubts(run) {
		head := f.check
		if len(f.checks) > 1 {
			head += fmt.Sprintf(", %d times, such as", len(f.checks))
		}
		s.Items = append(s.Items, Item{Mark: "✗", Text: head + onTrial(run, f.checks[0]) + ": " + f.checks[0].Detail, Tone: Wrong})
	}
	blocks := []Block{s}
	if text := contradicted(run); text != "" {
		blocks = append(blocks, Statement{Text: text})
	}
	return blocks
}

// onTrial says on which trial a check was made.
func onTrial(run *record.Run, c record.Check) string {
	if c.Trial == 0 {
		return ""
	}
	if t := trialOf(run, c.Trial); t != nil {
		return fmt.Sprintf(" in trial %d (%s)", c.Trial, t.Treatment)
	}
	return fmt.Sprintf(" in trial %d", c.Trial)
}

// trustSection lists every check with its result, and every failure.
func trustSection(run *record.Run) Section {
	s := Section{ID: "trust", Title: "Every trust check passed"}
	if text := inDoubt(run); text != "" {
		s.Title = sentence(text)
	} else if len(contradictions(run)) > 0 {
		s.Title = "linerate's figures passed every trust check; another count contradicts them"
	}
	checks := &Table{Columns: []Column{{Head: "check"}, {Head: "result"}, {Head: "detail", Wrap: true}}}
	every := &Table{Columns: []Column{{Head: "failed"}, {Head: "trial", Align: Right}, {Head: "treatment", Wrap: true}, {Head: "detail", Wrap: true}}}
	failed, index := map[string]int{}, map[string]int{}
	for _, c := range run.Trust {
		i, known := index[c.Check]
		if !known {
			i, index[c.Check] = len(checks.Rows), len(checks.Rows)
			checks.Rows = append(checks.Rows, Row{Cells: Cells(c.Check, "passed", c.Detail)})
		}
		if c.Pass {
			continue
		}
		row := &checks.Rows[i]
		switch failed[c.Check]++; failed[c.Check] {
		case 1:
			row.Tone, row.Cells = Wrong, Cells("✗ "+c.Check, "failed", c.Detail)
			if reported(c) {
				row.Tone = Plain
			}
		default:
			row.Cells[1].Text = fmt.Sprintf("failed %d times", failed[c.Check])
		}
		trial, treatment := "run", ""
		if c.Trial > 0 {
			trial = fmt.Sprint(c.Trial)
			if t := trialOf(run, c.Trial); t != nil {
				treatment = t.Treatment
			}
		}
		every.Rows = append(every.Rows, Row{Cells: Cells("✗ "+c.Check, trial, treatment, c.Detail), Tone: row.Tone})
	}
	if len(checks.Rows) == 0 {
		return Section{}
	}
	s.Blocks = []Block{checks}
	if len(every.Rows) > 0 {
		s.Blocks = append(s.Blocks, Fold{Summary: "Every failure", Blocks: []Block{every}})
	}
	return s
}

// trialOf finds a trial by its place in the run.
func trialOf(run *record.Run, order int) *record.Trial {
	i := slices.IndexFunc(run.Trials, func(t record.Trial) bool { return t.Order == order })
	if i < 0 {
		return nil
	}
	return &run.Trials[i]
}
