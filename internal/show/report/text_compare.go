package report

import (
	"fmt"
	"io"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
)

// studyLinesShown bounds how much of a changed study file is printed.
const studyLinesShown = 24

// CompareText writes a comparison of two runs for the terminal: the answer,
// what else differs, and then the figures.
func CompareText(w io.Writer, c *record.Comparison, opts TextOptions) error {
	if opts.Width == 0 {
		opts.Width = 80
	}
	t := &terminal{width: max(opts.Width, 40), color: opts.Color}
	for _, run := range []record.ComparedRun{c.From, c.To} {
		facts := []string{run.ID, moment(run.Started), fmt.Sprintf("seed %d", run.Seed), count(run.Trials, "trial")}
		if run.Status != "complete" {
			facts = append(facts, run.Status)
		}
		t.line("", strings.Join(facts, " · "))
	}
	t.blank()
	t.paragraph(bold, "  ", "  ", c.Answer)
	for _, run := range []record.ComparedRun{c.From, c.To} {
		if n := len(run.Doubts); n > 0 {
			t.blank()
			t.paragraph(red+bold, "  ! ", "    ", fmt.Sprintf("In doubt: %s failed in %s, such as %s", count(n, "trust check"), run.ID, run.Doubts[0]))
		}
	}
	t.differences(c)
	t.compared(c)
	for _, only := range []struct {
		run   string
		names []string
	}{{c.From.ID, c.OnlyFrom}, {c.To.ID, c.OnlyTo}} {
		if len(only.names) > 0 {
			t.blank()
			t.paragraph(dim, "  ", "    ", "Only in "+only.run+": "+strings.Join(only.names, "; "))
		}
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// differences come before the figures: each may be why these differ.
func (t *terminal) differences(c *record.Comparison) {
	t.blank()
	if len(c.Differences)+len(c.StudyLines) == 0 {
		t.line("", "  Nothing else is known to differ: hosts, network and study are the same.")
		return
	}
	t.line("", "  What else differs")
	known := func(text string) string {
		if text == "" {
			return "none"
		}
		return text
	}
	for _, d := range c.Differences {
		t.paragraph("", "    ", "      ", d.What+": "+known(d.From)+" → "+known(d.To))
	}
	if len(c.StudyLines) == 0 {
		return
	}
	t.line("", "    study file:")
	for i, line := range c.StudyLines {
		if i == studyLinesShown {
			t.line("", fmt.Sprintf("      … and %d more lines", len(c.StudyLines)-i))
			break
		}
		t.line("", "      "+line)
	}
}

// compared writes the table of treatments.
func (t *terminal) compared(c *record.Comparison) {
	if len(c.Treatments) == 0 {
		return
	}
	columns := comparedColumns(c, effectFull)
	if t.roomBeside(columns) < 16 {
		columns = comparedColumns(c, effectMarked)
	}
	longest := cells("treatment")
	for _, treatment := range c.Treatments {
		longest = max(longest, cells(plain(treatment.Name)))
	}
	room := max(8, min(longest, t.roomBeside(columns)))
	t.blank()
	head := "  " + pad("treatment", room)
	for i := range columns {
		head += "  " + place(&columns[i], columns[i].head)
	}
	t.line(dim, head)
	for i, treatment := range c.Treatments {
		names := wrap(plain(treatment.Name), room-2, room)
		line := "  " + pad(cut(names[0], room), room)
		for k := range columns {
			text := place(&columns[k], columns[k].figures[i])
			if columns[k].colors != nil {
				text = t.paint(columns[k].colors[i], text)
			}
			line += "  " + text
		}
		t.out.WriteString(strings.TrimRight(line, " ") + "\n")
		for _, more := range names[1:] {
			t.line("", "    "+more)
		}
	}
	t.blank()
	what, of, within := "Ratios", "to", fmt.Sprintf("%.3g %%", 100*c.Margin)
	if by, _ := metric.Find(c.Response); by.Signed {
		what, of, within = "Differences", "less", fmt.Sprintf("%.3g points", 100*by.Floor)
	}
	t.paragraph(dim, "  ", "    ", fmt.Sprintf("%s of %s%s %s %s; the intervals hold together at %.3g %%, no difference means within ±%s.",
		what, ratiosOf(c), c.To.ID, of, c.From.ID, 100*c.Confidence, within))
	for _, reason := range reasons(c) {
		t.paragraph(dim, "  ", "    ", reason)
	}
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

func (t *terminal) roomBeside(columns []textColumn) int {
	room := t.width - 2
	for i := range columns {
		room -= 2 + columns[i].width()
	}
	return room
}

// comparedColumns are what both runs are compared by, and the ratio.
func comparedColumns(c *record.Comparison, form effectForm) []textColumn {
	by, _ := metric.Find(c.Response)
	estimate := func(t record.ComparedTreatment, first bool) record.ResponseEstimate {
		g, e := t.To, t.ToResponse
		if first {
			g, e = t.From, t.FromResponse
		}
		if by.Name == metric.Goodput.Name {
			e = record.ResponseEstimate{Mean: g.MeanBps, Low: g.LowBps, High: g.HighBps, Trials: 1}
		}
		return e
	}
	largest := 0.0
	for _, treatment := range c.Treatments {
		largest = max(largest, estimate(treatment, true).Mean, estimate(treatment, false).Mean)
	}
	s := responseScale(by, c.Unit, largest)
	run := func(id string, first bool) textColumn {
		column := textColumn{head: id + " " + s.unit}
		var means, halves []string
		for _, treatment := range c.Treatments {
			mean, half := "–", ""
			if e := estimate(treatment, first); e.Trials > 0 {
				mean, half = s.interval(e.Mean, e.Low, e.High)
			}
			means, halves = append(means, mean), append(halves, half)
		}
		widest := 0
		for _, half := range halves {
			widest = max(widest, cells(half))
		}
		for i, mean := range alignDecimals(means, " ", " ") {
			switch {
			case halves[i] != "":
				mean += " ±" + pad(halves[i], widest)
			case widest > 0:
				mean += pad("", widest+2)
			}
			column.figures = append(column.figures, mean)
		}
		return column
	}
	against := func(t record.ComparedTreatment) (size, interval string) {
		return (&measure{Metric: by, scale: s}).against(&record.Effect{Ratio: t.Ratio, Difference: t.Difference})
	}
	var ratios []string
	for _, treatment := range c.Treatments {
		mean := ""
		if treatment.Ratio.Mean > 0 || treatment.Difference != nil {
			mean, _ = against(treatment)
		}
		ratios = append(ratios, mean)
	}
	effects := textColumn{head: "ratio", left: true}
	if by.Signed {
		effects.head = "difference"
	}
	widest := 0
	ratios = alignDecimals(ratios, " ", " ")
	for _, text := range ratios {
		widest = max(widest, cells(text))
	}
	for i, treatment := range c.Treatments {
		text := pad(ratios[i], widest)
		if _, interval := against(treatment); interval != "" && form == effectFull {
			text += " (" + interval + ")"
		}
		effects.figures = append(effects.figures, strings.TrimLeft(text+" "+treatment.Verdict, " "))
		effects.colors = append(effects.colors, verdictColors[treatment.Verdict])
	}
	return []textColumn{
		run(c.From.ID, true),
		run(c.To.ID, false),
		effects,
	}
}
