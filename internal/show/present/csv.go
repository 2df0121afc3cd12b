package present

import (
	"strconv"

	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

// exact spells a figure for a spreadsheet: all the digits there are.
func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// exactRatio spells a ratio and its interval; nothing where there is none.
func exactRatio(r record.RatioEstimate) []string {
	if r.None {
		return []string{"", "", ""}
	}
	return []string{exact(r.Mean), exact(r.Low), exact(r.High)}
}

// responseCSV has a line for each treatment; units are in the names.
func responseCSV(v *view, m *measure) [][]string {
	head := []string{"treatment", "condition", "trials", "mean_" + m.Unit, "low_" + m.Unit, "high_" + m.Unit, "confidence"}
	if m.goodput() {
		head = append(head, "limit_bps", "efficiency")
	}
	out := [][]string{append(head, "ratio", "ratio_low", "ratio_high", "p", "verdict")}
	for r, c := range v.each() {
		cell := r.cells[c]
		t := cell.Treatment
		e := m.Estimate(t)
		line := []string{r.name, v.columns[c].name, strconv.Itoa(e.Trials), exact(e.Mean), exact(e.Low), exact(e.High), exact(e.Confidence)}
		if m.goodput() {
			line = append(line, exact(t.LimitBps), exact(t.Efficiency))
		}
		if e := m.Effect(cell.effect); e != nil {
			line = append(append(line, exactRatio(e.Ratio)...), exact(e.P), e.Verdict)
		} else {
			line = append(line, "", "", "", "", "")
		}
		out = append(out, line)
	}
	return out
}

// exported is the run's table of that name: the one that linerate export writes.
func exported(run *record.Run, name string) [][]string {
	t, err := export.Find(name)
	if err != nil {
		panic(err) // the name is ours
	}
	return t.Rows(run)
}
