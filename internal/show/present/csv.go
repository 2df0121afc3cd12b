package present

import (
	"strconv"

	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

// exact spells a figure for a spreadsheet: all the digits there are.
func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// responseCSV has a line for each treatment; units are in the names.
func (v *view) responseCSV(m *measure) [][]string {
	head := []string{"treatment", "condition", "trials", "mean_" + m.Unit, "low_" + m.Unit, "high_" + m.Unit, "confidence"}
	if m.goodput() {
		head = append(head, "limit_bps", "efficiency")
	}
	out := [][]string{append(head, "ratio", "ratio_low", "ratio_high", "p", "verdict")}
	for r, c := range v.each() {
		t := r.cells[c]
		e := m.Estimate(t)
		line := []string{r.name, v.columns[c].name, strconv.Itoa(e.Trials), exact(e.Mean), exact(e.Low), exact(e.High), exact(e.Confidence)}
		if m.goodput() {
			line = append(line, exact(t.LimitBps), exact(t.Efficiency))
		}
		against := make([]string, 5)
		if e := m.effectOn(t); e != nil {
			if !e.Ratio.None {
				against = []string{exact(e.Ratio.Mean), exact(e.Ratio.Low), exact(e.Ratio.High), "", ""}
			}
			against[3], against[4] = exact(e.P), e.Verdict
		}
		out = append(out, append(line, against...))
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
