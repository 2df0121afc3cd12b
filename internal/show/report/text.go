package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/conclude"
)

// TextOptions say where the text goes. The zero value is 80 columns without
// colour.
type TextOptions struct {
	Width int
	Color bool
	// Page is the path of the HTML page; empty when none was written.
	Page string
}

// Text writes the run as a terminal report, the answer first.
func Text(w io.Writer, run *record.Run, opts TextOptions) error {
	if opts.Width == 0 {
		opts.Width = 80
	}
	t := &terminal{width: max(opts.Width, 40), color: opts.Color}
	v := newView(run)
	t.line("", strings.Join(v.facts(), " · "))
	t.blank()
	t.paragraph(bold, "  ", "  ", v.answer())
	for _, warning := range v.warnings() {
		t.blank()
		t.paragraph(red+bold, "  ! ", "    ", warning)
	}
	for _, note := range run.Notes {
		t.blank()
		t.paragraph("", "  Note: ", "  ", note.Text)
	}
	t.outages(v)
	if !v.alongCurve() { // else what follows says it all
		t.treatments(v.whole())
		t.ablated(v)
		t.moves(v)
	}
	for i, line := range v.published() {
		if i == 0 {
			t.blank()
		}
		t.labelled("Published", line)
	}
	t.surplus(v)
	if !v.alongCurve() {
		t.ports(v.whole())
	}
	t.hashed(v)
	t.held(v)
	t.searched(v)
	t.machine(v)
	t.routes(v)
	t.trust(v)
	t.findings(v)
	t.blank()
	if mode := run.Environment.Mode; strings.Contains(mode, "delay and loss") {
		t.labelled("Made in", mode) // by whom, which is part of how far to trust it
	}
	if opts.Page != "" {
		t.labelled("Page", opts.Page)
	}
	if run.Again != "" {
		t.labelled("Again", run.Again)
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// answer is the run's, or says that there is none.
func (v *view) answer() string {
	switch {
	case v.run.Answer != "":
		return v.run.Answer
	case len(v.run.Treatments) == 0:
		return "No answer: no treatment has been measured."
	}
	return "No answer was drawn from these figures."
}

// facts are the run in a line: study, size, seed, time.
func (v *view) facts() []string {
	run := v.run
	out := []string{run.Study, count(len(run.Treatments), "treatment") + " × " + count(blocks(run), "block"),
		fmt.Sprintf("seed %d", run.Seed), seconds(run.DurationS)}
	if run.Status != "" && run.Status != "complete" {
		out = append(out, run.Status)
	}
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// warnings are what a reader must know before believing the answer.
func (v *view) warnings() []string {
	run := v.run
	var out []string
	if bad := v.failures(); len(bad) > 0 {
		var names []string
		for _, f := range bad {
			names = append(names, f.check)
		}
		out = append(out, fmt.Sprintf("In doubt: %s (%s). See Trust below.", v.failedTrials(), list(names)))
	} else if len(run.Trust) == 0 && len(run.Trials) > 0 {
		out = append(out, "Unchecked: the run holds no trust checks.")
	}
	switch run.Status {
	case "interrupted":
		if run.Error != "" {
			out = append(out, "linerate failed: "+run.Error)
		}
		if run.Error == "" || len(run.Trials) > 0 {
			out = append(out, fmt.Sprintf("Interrupted: these are the figures of %s; the plan had more.", count(len(run.Trials), "finished trial")))
		}
	case record.StatusBudget:
		if wide := v.wide(); wide != "" {
			out = append(out, "The budget ran out before every interval was as narrow as asked: "+wide)
		} else {
			out = append(out, fmt.Sprintf("The budget ran out after %d of %s.", blocks(run), count(max(blocks(run), run.Design.Replicates), "block")))
		}
	case record.StatusBlocks:
		out = append(out, fmt.Sprintf("The run ended after %s, its greatest number: %s", count(blocks(run), "block"), v.wide()))
	}
	for _, r := range v.rows {
		for c, cell := range r.cells {
			if cell.Treatment == nil || cell.Unconnected == 0 || v.allowsUnconnected(cell.Name) {
				continue
			}
			out = append(out, fmt.Sprintf("%s: %s.", v.unconnected(cell.Treatment), v.label(&r, c)))
		}
	}
	return out
}

// wide says how many intervals are wider than asked; empty: none is.
func (v *view) wide() string {
	n, of := conclude.Wide(v.run), count(len(v.run.Effects), "effect")
	if len(v.run.Effects) == 0 {
		of = count(len(v.run.Treatments), "treatment")
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s wider than ±%.3g %%.", n, of, 100*v.run.Design.Until)
}

// partly is what is said of flows for which there were too few ports.
const partly = "got fewer connections than they asked for"

// unconnected says how many flows of a treatment could not connect, and in how
// many of its trials.
func (v *view) unconnected(t *record.Treatment) string {
	most, flows, trials, all := 0, 0, 0, 0
	what := "could not connect"
	for _, trial := range trialsOf(v.run, t.Name) {
		n := 0
		for _, f := range trial.Flows {
			if !f.Connected {
				n++
			}
			if f.Exhausted != nil {
				what = partly
			}
		}
		all, most, flows = all+1, max(most, n), max(flows, len(trial.Flows))
		if n > 0 {
			trials++
		}
	}
	if trials == 0 { // the document holds no flows
		return count(t.Unconnected, "flow") + " could not connect, over all trials"
	}
	return fmt.Sprintf("%d of %s %s in %d of %s", most, count(flows, "flow"), what, trials, count(all, "trial"))
}

// allowsUnconnected: at some levels a flow that cannot connect is a result.
func (v *view) allowsUnconnected(treatment string) bool {
	for _, t := range trialsOf(v.run, treatment) {
		if t.Unreachable {
			return true
		}
	}
	return false
}

// label names a treatment by its row and column.
func (v *view) label(r *row, c int) string {
	if v.columns[c].name == "" {
		return r.name
	}
	return r.name + ", " + v.columns[c].name
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

func (t *terminal) trust(v *view) {
	run := v.run
	if len(run.Trust) == 0 {
		return
	}
	t.blank()
	bad := v.failures()
	if len(bad) == 0 {
		t.labelled("Trust", v.trustLine())
		return
	}
	t.labelled("Trust", v.failedTrials()+":")
	for _, f := range bad {
		head := f.check
		if len(f.checks) > 1 {
			head += fmt.Sprintf(", %d times, such as", len(f.checks))
		}
		t.paragraph(red, "            ✗ ", "              ", head+v.where(f.checks[0])+": "+f.checks[0].Detail)
	}
}

// failure is one check with all its failures.
type failure struct {
	check  string
	checks []record.Check
}

// failures groups the failed checks, in the order of their first failure.
func (v *view) failures() []failure {
	var out []failure
	for _, c := range failed(v.run) {
		at := slices.IndexFunc(out, func(f failure) bool { return f.check == c.Check })
		if at < 0 {
			at, out = len(out), append(out, failure{check: c.Check})
		}
		out[at].checks = append(out[at].checks, c)
	}
	return out
}

// failedTrials counts the trials in which some check failed: what passes may be
// recorded once for all trials, so checks cannot be counted against each other.
func (v *view) failedTrials() string {
	trials := map[int]bool{}
	for _, c := range failed(v.run) {
		trials[c.Trial] = true
	}
	if trials[0] {
		return "a trust check of the whole run failed"
	}
	return fmt.Sprintf("%d of %s failed a trust check", len(trials), count(len(v.run.Trials), "trial"))
}

// trustLine is the one line for a run whose checks all passed.
func (v *view) trustLine() string {
	var names []string
	for _, c := range v.run.Trust {
		if !contains(names, c.Check) {
			names = append(names, c.Check)
		}
	}
	return fmt.Sprintf("%s, every check passed: %s", count(len(v.run.Trials), "trial"), strings.Join(names, ", "))
}

// where says on which trial a check was made.
func (v *view) where(c record.Check) string {
	if c.Trial == 0 {
		return ""
	}
	if t := trialOf(v.run, c.Trial); t != nil {
		return fmt.Sprintf(" in trial %d (%s)", c.Trial, t.Treatment)
	}
	return fmt.Sprintf(" in trial %d", c.Trial)
}

// What a terminal shows of a finding; the page has all of it.
const (
	mostEvidence = 2
	mostFix      = 6
)

// findings writes those of the baseline, or of a host's own snapshot, with
// evidence and fix. What only a treatment brought about has them if it is a
// cause to reckon with that was not explained before.
func (t *terminal) findings(v *view) {
	explained := map[string]bool{}
	for i, f := range v.run.Findings {
		label := ""
		if i == 0 {
			label = "Findings"
			t.blank()
		}
		var evidence, fix []string
		if v.concernsBaseline(f) || f.Confidence != record.Possible && !explained[f.ID] {
			explained[f.ID] = true
			evidence, fix = some(f.Evidence, mostEvidence), some(f.Fix, mostFix)
		}
		t.finding(label, f, evidence, fix)
		if where := v.treatmentsOf(f); where != "" {
			t.paragraph(dim, "            in: ", "                ", where)
		}
	}
}

// finding writes one, with as much of its evidence and fix.
func (t *terminal) finding(label string, f record.Finding, evidence, fix []string) {
	t.labelled(label, f.ID+" ("+f.Confidence+", "+f.Host+"): "+f.Summary)
	for _, e := range evidence {
		t.paragraph("", "            · ", "              ", e)
	}
	for n, line := range fix {
		head := "                 "
		if n == 0 {
			head = "            fix: "
		}
		t.command(head, "                 ", line)
	}
}

// measuredFindings writes the causes that a measurement shows.
func (t *terminal) measuredFindings(m *record.Measure) {
	for i, f := range m.Findings {
		label := ""
		if i == 0 {
			label = "Findings"
		}
		t.finding(label, f, f.Evidence, f.Fix)
	}
}

// some is the first most of a list, and how many more there are.
func some(list []string, most int) []string {
	if len(list) <= most+1 { // one more is as long as saying so
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("%d more on the page", len(list)-most))
}

func (v *view) concernsBaseline(f record.Finding) bool {
	if len(f.Treatments) == 0 || v.baseline == nil {
		return true
	}
	return slices.ContainsFunc(v.baseline.cells, func(c cell) bool { return c.Treatment != nil && contains(f.Treatments, c.Name) })
}

// treatmentsOf names the rows in which a finding was made.
func (v *view) treatmentsOf(f record.Finding) string {
	var names []string
	for i := range v.rows {
		r := &v.rows[i]
		var at []string
		for c, cell := range r.cells {
			if cell.Treatment != nil && contains(f.Treatments, cell.Name) {
				at = append(at, v.columns[c].name)
			}
		}
		switch {
		case len(at) == 0:
		case len(at) == len(r.cells):
			names = append(names, r.name)
		default:
			names = append(names, r.name+" ("+strings.Join(at, ", ")+")")
		}
	}
	return strings.Join(names, "; ")
}
