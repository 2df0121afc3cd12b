package view

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/show/number"
)

// ResponseCSV returns a row for each treatment. Units are in the names of columns.
func (v *View) ResponseCSV(m *Measure) [][]string {
	head := []string{"treatment", "condition", "trials", "mean_" + m.Unit, "low_" + m.Unit, "high_" + m.Unit,
		"confidence"}
	if m.Goodput() {
		head = append(head, "limit_bps", "efficiency")
	}
	out := [][]string{append(head, "ratio", "ratio_low", "ratio_high", "p", "verdict")}
	for r, c := range v.Each() {
		t := r.Treatments[c]
		e := m.Estimate(t)
		line := []string{r.Name, v.Columns[c].Name, strconv.Itoa(e.Trials), number.Exact(e.Mean), number.Exact(e.Low),
			number.Exact(e.High), number.Exact(e.Confidence)}
		if m.Goodput() {
			line = append(line, number.Exact(t.LimitBps), number.Exact(t.Efficiency))
		}
		against := make([]string, 5)
		if e := m.EffectOn(t); e != nil {
			if !e.Ratio.None {
				against = []string{number.Exact(e.Ratio.Mean), number.Exact(e.Ratio.Low),
					number.Exact(e.Ratio.High), "", ""}
			}
			against[3], against[4] = number.Exact(e.P), e.Verdict
		}
		out = append(out, append(line, against...))
	}
	return out
}

// HeldCSV returns a row for each entry of HeldBack.
func (v *View) HeldCSV() [][]string {
	out := [][]string{{"treatment", "condition", "from", "to", "expected_low_bps", "expected_high_bps",
		"expected_limited_by", "expected_why",
		"measured_bps", "flows", "as_expected", "limited_by", "limited_why"}}
	for _, h := range v.HeldBack() {
		line := []string{h.Row.Name, v.Columns[h.Column].Name, h.From, h.To, "", "", "", ""}
		if h.Judged > 0 {
			copy(line[4:], []string{number.Exact(h.LowBps), number.Exact(h.HighBps), Causes(h.Predicted), h.Why})
		}
		out = append(out, append(line, number.Exact(h.MeanBps), fmt.Sprint(h.flows), fmt.Sprint(h.Within), Causes(h.By),
			h.Because))
	}
	return out
}

// PathsCSV returns a row for each flow that had several paths.
func (v *View) PathsCSV() [][]string {
	csv := [][]string{{"treatment", "trial", "flow", "paths", "path", "predicted", "observed", "goodput_bps"}}
	for _, t := range v.Run.Split() {
		for _, f := range t.Flows {
			if f.Paths > 1 {
				csv = append(csv, []string{t.Treatment, fmt.Sprint(t.Order), f.ID, fmt.Sprint(f.Paths),
					strings.Join(f.Path, " "), strings.Join(f.Predicted, " "), strings.Join(f.Observed, " "),
					fmt.Sprint(f.GoodputBps)})
			}
		}
	}
	return csv
}

// InterfacesCSV returns rows for every interface of every host, including those that are not drawn.
func (v *View) InterfacesCSV() [][]string {
	out := [][]string{{"treatment", "condition", "host", "interface", "rx_bps", "tx_bps", "limit_bps", "share"}}
	for r, c := range v.Each() {
		for _, p := range r.Treatments[c].Interfaces {
			out = append(out, []string{r.Name, v.Columns[c].Name, p.Host, p.Interface, number.Exact(p.RxBps),
				number.Exact(p.TxBps), number.Exact(p.LimitBps), number.Exact(p.Share)})
		}
	}
	return out
}
