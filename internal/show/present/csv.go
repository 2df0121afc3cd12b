package present

import (
	"fmt"
	"strconv"
	"strings"
)

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

func (v *view) heldCSV() [][]string {
	out := [][]string{{"treatment", "condition", "from", "to", "expected_low_bps", "expected_high_bps", "expected_limited_by", "expected_why",
		"measured_bps", "flows", "as_expected", "limited_by", "limited_why"}}
	for _, h := range v.heldBack() {
		line := []string{h.row.name, v.columns[h.col].name, h.from, h.to, "", "", "", ""}
		if h.judged > 0 {
			copy(line[4:], []string{exact(h.low), exact(h.high), causes(h.predicted), h.why})
		}
		out = append(out, append(line, exact(h.bps), fmt.Sprint(h.flows), fmt.Sprint(h.within), causes(h.by), h.because))
	}
	return out
}

// pathsCSV has a line for each flow that had several paths.
func (v *view) pathsCSV() [][]string {
	csv := [][]string{{"treatment", "trial", "flow", "paths", "path", "predicted", "observed", "goodput_bps"}}
	for _, t := range v.run.Trials {
		for _, f := range t.Flows {
			if f.Paths > 1 {
				csv = append(csv, []string{t.Treatment, fmt.Sprint(t.Order), f.ID, fmt.Sprint(f.Paths), strings.Join(f.Path, " "), strings.Join(f.Predicted, " "), strings.Join(f.Observed, " "), fmt.Sprint(f.GoodputBps)})
			}
		}
	}
	return csv
}

// interfacesCSV lists every interface of every host, not only those drawn.
func (v *view) interfacesCSV() [][]string {
	out := [][]string{{"treatment", "condition", "host", "interface", "rx_bps", "tx_bps", "limit_bps", "share"}}
	for r, c := range v.each() {
		for _, p := range r.cells[c].Interfaces {
			out = append(out, []string{r.name, v.columns[c].name, p.Host, p.Interface, exact(p.RxBps), exact(p.TxBps), exact(p.LimitBps), exact(p.Share)})
		}
	}
	return out
}
