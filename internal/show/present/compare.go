package present

import (
	"fmt"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// studyLinesShown bounds how much of a changed study file is printed.
const studyLinesShown = 24

// Comparison is what is shown of two runs held against each other: what each of
// them is, in a line, the answer, and blocks of which those of one list belong
// together.
type Comparison struct {
	Runs     []string
	Answer   string
	Warnings []string
	Summary  [][]Block
}

// Compare arranges a comparison of two runs for reading: the answer, what else
// differs, and then the figures.
func Compare(c *record.Comparison) Comparison {
	out := Comparison{Answer: c.Answer}
	for _, run := range []record.ComparedRun{c.From, c.To} {
		facts := []string{run.ID, moment(run.Started), fmt.Sprintf("seed %d", run.Seed), Count(run.Trials, "trial")}
		if run.Status != "complete" {
			facts = append(facts, run.Status)
		}
		out.Runs = append(out.Runs, strings.Join(facts, " · "))
		if n := len(run.Doubts); n > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("In doubt: %s failed in %s, such as %s", Count(n, "trust check"), run.ID, run.Doubts[0]))
		}
	}
	out.Summary = append(out.Summary, differences(c))
	if len(c.Treatments) > 0 {
		out.Summary = append(out.Summary, []Block{compared(c)})
	}
	for _, only := range []struct {
		run   string
		names []string
	}{{c.From.ID, c.OnlyFrom}, {c.To.ID, c.OnlyTo}} {
		if len(only.names) > 0 {
			out.Summary = append(out.Summary, []Block{Prose{Text: "Only in " + only.run + ": " + strings.Join(only.names, "; ")}})
		}
	}
	return out
}

// differences come before the figures: each may be why these differ.
func differences(c *record.Comparison) []Block {
	if len(c.Differences)+len(c.StudyLines) == 0 {
		return []Block{Prose{Text: "Nothing else is known to differ: hosts, network and study are the same."}}
	}
	known := func(text string) string {
		if text == "" {
			return "none"
		}
		return text
	}
	blocks := []Block{Prose{Text: "What else differs"}}
	var lines []string
	for _, d := range c.Differences {
		lines = append(lines, d.What+": "+known(d.From)+" → "+known(d.To))
	}
	if len(lines) > 0 {
		blocks = append(blocks, Listing{Lines: lines})
	}
	if len(c.StudyLines) == 0 {
		return blocks
	}
	lines = c.StudyLines
	if more := len(lines) - studyLinesShown; more > 0 {
		lines = append(append([]string(nil), lines[:studyLinesShown]...), fmt.Sprintf("… and %d more lines", more))
	}
	return append(blocks, Listing{Caption: "study file:", Lines: lines})
}

// compared is the table of treatments.
func compared(c *record.Comparison) *Table {
	by, _ := metric.Find(c.Response)
	estimate := func(g record.Estimate, e record.ResponseEstimate) record.ResponseEstimate {
		if by.Name == metric.Goodput.Name {
			return record.ResponseEstimate{Mean: g.MeanBps, Low: g.LowBps, High: g.HighBps, Trials: 1}
		}
		return e
	}
	largest := 0.0
	for _, t := range c.Treatments {
		largest = max(largest, estimate(t.From, t.FromResponse).Mean, estimate(t.To, t.ToResponse).Mean)
	}
	m := &measure{Metric: by, scale: responseScale(by, c.Unit, largest)}
	figure := func(e record.ResponseEstimate) Cell {
		if e.Trials == 0 {
			return Cell{Text: "–"}
		}
		cell := Cell{}
		if cell.Text, cell.Spread = m.scale.interval(e.Mean, e.Low, e.High); cell.Spread != "" {
			cell.Spread = "±" + cell.Spread
		}
		return cell
	}
	head := "ratio"
	if by.Signed {
		head = "difference"
	}
	table := &Table{Columns: []Column{{Head: "treatment"}, {Head: c.From.ID + " " + m.scale.unit, Align: Decimal}, {Head: c.To.ID + " " + m.scale.unit, Align: Decimal}, {Head: head, Align: Ratio}}, Key: head + " of " + c.To.ID + " to " + c.From.ID}
	for _, t := range c.Treatments {
		against := Cell{Verdict: t.Verdict}
		if t.Ratio.Mean > 0 || t.Difference != nil {
			against.Text, against.Interval = m.against(&record.Effect{Ratio: t.Ratio, Difference: t.Difference})
		}
		table.Rows = append(table.Rows, Row{Cells: []Cell{{Text: t.Name}, figure(estimate(t.From, t.FromResponse)), figure(estimate(t.To, t.ToResponse)), against}})
	}
	what, of, within := "Ratios", "to", fmt.Sprintf("%.3g %%", 100*c.Margin)
	if by.Signed {
		what, of, within = "Differences", "less", fmt.Sprintf("%.3g points", 100*by.Floor)
	}
	table.Notes = append([]string{fmt.Sprintf("%s of %s%s %s %s; the intervals hold together at %.3g %%, no difference means within ±%s.",
		what, ratiosOf(c), c.To.ID, of, c.From.ID, 100*c.Confidence, within)}, reasons(c)...)
	return table
}

// ratiosOf says what the ratios are of, where it is not goodput.
func ratiosOf(c *record.Comparison) string {
	by, _ := metric.Find(c.Response)
	switch {
	case by.Name == metric.Goodput.Name:
		return ""
	case by.Lower:
		return by.Label + " (less is better), "
	}
	return by.Label + ", "
}

// reasons explain the verdicts that need it, each reason once.
func reasons(c *record.Comparison) []string {
	var order []string
	names := map[string][]string{}
	for _, treatment := range c.Treatments {
		if treatment.Why == "" {
			continue
		}
		reason := treatment.Verdict + ", " + treatment.Why
		if names[reason] == nil {
			order = append(order, reason)
		}
		names[reason] = append(names[reason], treatment.Name)
	}
	for i, reason := range order {
		order[i] = strings.Join(names[reason], "; ") + ": " + reason
	}
	return order
}
