package report

import (
	"bytes"
	"encoding/csv"
	"net/url"
	"strconv"
	"strings"

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
func (v *view) responseCSV(m *measure) [][]string {
	head := []string{"treatment", "condition", "trials", "mean_" + m.Unit, "low_" + m.Unit, "high_" + m.Unit, "confidence"}
	if m.goodput() {
		head = append(head, "limit_bps", "efficiency")
	}
	out := [][]string{append(head, "ratio", "ratio_low", "ratio_high", "p", "verdict")}
	for i := range v.rows {
		for c, cell := range v.rows[i].cells {
			t := cell.Treatment
			if t == nil {
				continue
			}
			e := m.Estimate(t)
			line := []string{v.rows[i].name, v.columns[c].name, strconv.Itoa(e.Trials), exact(e.Mean), exact(e.Low), exact(e.High), exact(e.Confidence)}
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
	}
	return out
}

// portsCSV lists every interface of every host, not only those drawn.
func (v *view) portsCSV() [][]string {
	out := [][]string{{"treatment", "condition", "host", "interface", "rx_bps", "tx_bps", "limit_bps", "share"}}
	for i := range v.rows {
		for c, cell := range v.rows[i].cells {
			if cell.Treatment == nil {
				continue
			}
			for _, p := range cell.Interfaces {
				out = append(out, []string{v.rows[i].name, v.columns[c].name, p.Host, p.Interface, exact(p.RxBps), exact(p.TxBps), exact(p.LimitBps), exact(p.Share)})
			}
		}
	}
	return out
}

// table is the run's table of that name: the one that linerate export writes.
func (v *view) table(name string) [][]string {
	t, err := export.Find(name)
	if err != nil {
		panic(err) // the name is ours
	}
	return t.Rows(v.run)
}

// dataURI is a table as a link that needs no network.
func dataURI(table [][]string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i, line := range table {
		if i > 0 {
			line = harmless(line)
		}
		_ = w.Write(line) // into memory: cannot fail
	}
	w.Flush()
	return "data:text/csv;charset=utf-8," + url.PathEscape(b.String())
}

// harmless keeps a name that starts like a formula from being one when the
// file is opened in a spreadsheet.
func harmless(line []string) []string {
	out := make([]string, len(line))
	for i, field := range line {
		if field != "" && strings.ContainsRune("=+-@\t\r", rune(field[0])) {
			if _, err := strconv.ParseFloat(field, 64); err != nil {
				field = "'" + field
			}
		}
		out[i] = field
	}
	return out
}
