package report

import (
	"bytes"
	"encoding/csv"
	"net/url"
	"strconv"
	"strings"

	"linerate/internal/model/record"
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

func (v *view) goodputCSV() [][]string {
	out := [][]string{{"treatment", "condition", "trials", "mean_bps", "low_bps", "high_bps", "confidence", "limit_bps", "efficiency", "ratio", "ratio_low", "ratio_high", "p", "verdict"}}
	for i := range v.rows {
		for c, cell := range v.rows[i].cells {
			t := cell.Treatment
			if t == nil {
				continue
			}
			line := []string{v.rows[i].name, v.columns[c].name, strconv.Itoa(t.Trials), exact(t.Goodput.MeanBps), exact(t.Goodput.LowBps),
				exact(t.Goodput.HighBps), exact(t.Goodput.Confidence), exact(t.LimitBps), exact(t.Efficiency), "", "", "", "", ""}
			if e := cell.effect; e != nil {
				copy(line[9:], append(exactRatio(e.Ratio), exact(e.P), e.Verdict))
			}
			out = append(out, line)
		}
	}
	return out
}

// portsCSV lists every port of every host, not only those drawn.
func (v *view) portsCSV() [][]string {
	out := [][]string{{"treatment", "condition", "host", "port", "rx_bps", "tx_bps", "limit_bps", "share"}}
	for i := range v.rows {
		for c, cell := range v.rows[i].cells {
			if cell.Treatment == nil {
				continue
			}
			for _, p := range cell.Ports {
				out = append(out, []string{v.rows[i].name, v.columns[c].name, p.Host, p.Port, exact(p.RxBps), exact(p.TxBps), exact(p.LimitBps), exact(p.Share)})
			}
		}
	}
	return out
}

func (v *view) trialsCSV() [][]string {
	out := [][]string{{"order", "block", "treatment", "started", "window_s", "goodput_bps", "limit_bps", "sender_reported_bps", "flows", "unconnected"}}
	for _, t := range v.run.Trials {
		lost := 0
		for _, f := range t.Flows {
			if !f.Connected {
				lost++
			}
		}
		out = append(out, []string{strconv.Itoa(t.Order), strconv.Itoa(t.Block), t.Treatment, t.Started.UTC().Format("2006-01-02T15:04:05.000Z"), exact(t.WindowS),
			exact(t.GoodputBps), exact(t.LimitBps), exact(t.SenderReportedBps), strconv.Itoa(len(t.Flows)), strconv.Itoa(lost)})
	}
	return out
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
