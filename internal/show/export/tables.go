// Package export flattens a run into tables for spreadsheets and statistics
// programs: one row per trial, per flow, per interface, per sample.
//
// It rounds nothing and judges nothing; units are in the columns' names, as in
// the records. Text that begins like a formula is written with a quote before
// it, because names come from study files and spreadsheets run formulas.
package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Table is a flat view of a run; its first row holds the columns' names.
type Table struct {
	Name  string
	About string
	rows  func(run *record.Run) [][]string
}

// Tables are all there are, the coarsest first.
var Tables = []Table{
	{"treatments", "one row per treatment: estimate, limit", treatmentRows},
	{"responses", "one row per treatment and response that the run is judged by", responseRows},
	{"effects", "one row per comparison with a baseline and response", effectRows},
	{"trials", "one row per trial: its levels, goodput, limit", trialRows},
	{"flows", "one row per flow of a trial: bytes at both ends", flowRows},
	{"outages", "one row per flow and event of a trial: how long nothing came, and by which way then", outageRows},
	{"search", "one row per trial of a search for a loss-free rate", searchRows},
	{"tools", "one row per process of another program: its figure and its words", toolRows},
	{"interfaces", "one row per interface of a trial: what its counters gained", portRows},
	{"cpus", "one row per CPU of a trial's machine: what it was busy with, interrupts, softnet", cpuRows},
	{"machines", "one row per machine of a trial: CPUs together, memory, segments sent again", machineRows},
	{"series", "one row per sample of an interface or flow inside a trial's window", seriesRows},
}

// Names lists the tables' names.
func Names() []string {
	var names []string
	for _, t := range Tables {
		names = append(names, t.Name)
	}
	return names
}

// Find returns the table of that name.
func Find(name string) (Table, error) {
	for _, t := range Tables {
		if t.Name == name {
			return t, nil
		}
	}
	return Table{}, fmt.Errorf("no table %q: expected one of %s", name, strings.Join(Names(), ", "))
}

// Rows are the table's rows for a run, names first.
func (t Table) Rows(run *record.Run) [][]string { return t.rows(run) }

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// gained is what a counter gained; negative when it was reset.
func gained(begin, end uint64) string { return strconv.FormatInt(int64(end-begin), 10) }

// levels are columns, one per factor, after the given ones.
func levels(run *record.Run, columns []string, more ...string) []string {
	for _, f := range run.Factors {
		columns = append(columns, f.Name)
	}
	return append(columns, more...)
}

func levelsOf(run *record.Run, of map[string]string, columns []string, more ...string) []string {
	for _, f := range run.Factors {
		columns = append(columns, text(of[f.Name]))
	}
	return append(columns, more...)
}

func treatmentRows(run *record.Run) [][]string {
	rows := [][]string{levels(run, []string{"run", "treatment"}, "baseline", "trials", "mean_bps", "low_bps", "high_bps",
		"confidence", "limit_bps", "efficiency", "unconnected", "transactions_per_s", "latency_p50_us", "latency_p99_us", "latency_p999_us", "lost_share")}
	for _, t := range run.Treatments {
		g := t.Goodput
		lost, rate := "", ""
		if t.LostShare != nil {
			lost = number(*t.LostShare)
		}
		if t.TransactionsPerS > 0 || t.Latency != nil {
			rate = number(t.TransactionsPerS)
		}
		latency := percentiles(t.Latency)
		rows = append(rows, levelsOf(run, t.Levels, []string{run.ID, text(t.Name)}, strconv.FormatBool(t.Baseline), integer(t.Trials),
			number(g.MeanBps), number(g.LowBps), number(g.HighBps), number(g.Confidence), number(t.LimitBps), number(t.Efficiency),
			integer(t.Unconnected), rate, latency[0], latency[1], latency[2], lost))
	}
	return rows
}

// percentiles are those that a response can be; nothing where nothing was timed.
func percentiles(d *record.Distribution) [3]string {
	if d == nil {
		return [3]string{}
	}
	return [3]string{number(d.P50Us), number(d.P99Us), number(d.P999Us)}
}

func responseRows(run *record.Run) [][]string {
	rows := [][]string{levels(run, []string{"run", "treatment"}, "response", "unit", "trials", "mean", "low", "high", "confidence")}
	for i := range run.Treatments {
		t := &run.Treatments[i]
		for _, r := range metric.Of(run) {
			e := r.Estimate(t)
			line := []string{r.Name, r.Unit, integer(e.Trials), "", "", "", ""}
			if e.Trials > 0 {
				copy(line[3:], []string{number(e.Mean), number(e.Low), number(e.High), number(e.Confidence)})
			}
			rows = append(rows, levelsOf(run, t.Levels, []string{run.ID, text(t.Name)}, line...))
		}
	}
	return rows
}

func effectRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "factor", "from", "to", "at", "ratio", "low", "high", "p", "blocks", "verdict", "why",
		"response", "difference", "difference_low", "difference_high"}}
	for _, first := range run.Effects {
		for _, e := range append([]record.Effect{first}, first.Beside...) {
			var at []string
			for _, f := range run.Factors {
				if level, ok := e.At[f.Name]; ok {
					at = append(at, f.Name+": "+level)
				}
			}
			mean, low, high := number(e.Ratio.Mean), number(e.Ratio.Low), number(e.Ratio.High)
			if e.Ratio.None {
				mean, low, high = "", "", ""
			}
			apart := []string{"", "", ""}
			if d := e.Difference; d != nil {
				apart = []string{number(d.Mean), number(d.Low), number(d.High)}
			}
			of, _ := metric.Find(e.Response)
			rows = append(rows, append([]string{run.ID, text(e.Factor), text(e.From), text(e.To), text(strings.Join(at, "; ")), mean,
				low, high, number(e.P), integer(e.Blocks), e.Verdict, text(e.Why), of.Name}, apart...))
		}
	}
	return rows
}

func trialRows(run *record.Run) [][]string {
	head := []string{"started", "window_s", "limit_bps", "sender_reported_bps", "flows", "unconnected", "failed_checks"}
	for _, r := range metric.Responses() {
		head = append(head, r.Column())
	}
	rows := [][]string{levels(run, []string{"run", "trial", "block", "treatment"},
		append(head, "tool_sum_bps", "surplus_bps", "predicted_surplus_bps", "unsent_bytes", "remade")...)}
	for _, t := range run.Trials {
		said := []string{"", "", "", ""}
		if s := t.ToolReported; s != nil {
			said = []string{number(s.SumBps), number(s.SurplusBps), number(s.PredictedBps), integer(s.UnsentBytes)}
		}
		lost := 0
		for _, f := range t.Flows {
			if !f.Connected {
				lost++
			}
		}
		var failed []string
		for _, c := range run.Trust {
			if c.Trial == t.Order && !c.Pass && !slices.Contains(failed, c.Check) {
				failed = append(failed, c.Check)
			}
		}
		line := levelsOf(run, t.Levels, place(run, t), instant(t.Started), number(t.WindowS), number(t.LimitBps),
			number(t.SenderReportedBps), integer(len(t.Flows)), integer(lost), strings.Join(failed, " "))
		for _, r := range metric.Responses() {
			line = append(line, value(r, &t))
		}
		rows = append(rows, append(append(line, said...), integer(t.Repeated)))
	}
	return rows
}

// value is a response of a trial; nothing where it has none.
func value(r metric.Metric, t *record.Trial) string {
	if v, ok := r.Value(t); ok {
		return number(v)
	}
	return ""
}

func flowRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "trial", "block", "treatment", "flow", "from", "to", "source", "destination", "opened_by",
		"received_bytes", "written_bytes", "acked_bytes", "unsent_bytes", "retrans_bytes", "goodput_bps", "sender_average_bps",
		"connected", "alive", "path", "limited_by", "congestion_control", "rtt_us", "min_rtt_us", "snd_cwnd", "error",
		"protocol", "datagrams_sent", "datagrams_received", "datagrams_lost", "datagrams_reordered", "datagrams_duplicate", "jitter_us",
		"transactions", "transactions_failed", "transactions_unanswered", "transactions_per_s", "latency_p50_us", "latency_p99_us", "latency_p999_us",
		"limited_why", "expected_low_bps", "expected_high_bps", "expected_limited_by", "expected_why", "paths", "predicted", "observed"}}
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			rtt, least, window := "", "", ""
			if f.SenderInfo != nil {
				rtt, least, window = integer(f.SenderInfo.RTTUs), integer(f.SenderInfo.MinRTTUs), integer(f.SenderInfo.SndCwnd)
			}
			line := append(place(run, t), text(f.ID), f.From, f.To, f.Source, f.Destination, f.OpenedBy,
				integer(f.ReceivedBytes), integer(f.WrittenBytes), integer(f.AckedBytes), integer(f.UnsentBytes), integer(f.RetransBytes),
				number(f.GoodputBps), number(f.SenderAverageBps), strconv.FormatBool(f.Connected), strconv.FormatBool(f.Alive),
				strings.Join(f.Path, " "), f.LimitedBy, f.CongestionControl, rtt, least, window, text(f.Error))
			rows = append(rows, append(append(line, ofProtocol(f)...), foretold(f)...))
		}
	}
	return rows
}

// ofProtocol are the columns that only flows of some protocols fill.
func ofProtocol(f record.Flow) []string {
	protocol := f.Protocol
	if protocol == "" {
		protocol = flow.TCP
	}
	columns := append([]string{protocol}, make([]string, 13)...)
	if d := f.Datagrams; d != nil {
		copy(columns[1:], []string{integer(d.Sent), integer(d.Received), integer(d.Lost), integer(d.Reordered), integer(d.Duplicates), number(d.JitterUs)})
	}
	if t := f.Transactions; t != nil {
		latency := percentiles(t.Latency)
		copy(columns[7:], []string{integer(t.Done), integer(t.Failed), integer(t.Unanswered), number(f.TransactionsPerS), latency[0], latency[1], latency[2]})
	}
	return columns
}

// foretold are why a flow was held back, and what was predicted for it: its goodput,
// and its way where there were several.
func foretold(f record.Flow) []string {
	columns := []string{text(f.LimitedWhy), "", "", "", "", "", strings.Join(f.Predicted, " "), strings.Join(f.Observed, " ")}
	if f.Paths > 1 {
		columns[5] = integer(f.Paths)
	}
	if p := f.Expected; p != nil {
		copy(columns[1:], []string{number(p.LowBps), number(p.HighBps), p.LimitedBy, text(p.Why)})
	}
	return columns
}

func portRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "trial", "block", "treatment", "host", "interface", "seconds", "rx_bytes", "tx_bytes", "rx_bps", "tx_bps",
		"rx_packets", "tx_packets", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors", "rx_missed_errors", "rx_otherhost_dropped"}}
	for _, t := range run.Trials {
		for _, h := range t.Hosts {
			for _, end := range h.End.Interfaces {
				begin, ok := port(h.Begin.Interfaces, end.Interface)
				if !ok {
					continue // it came during the window: there is nothing to take the difference to
				}
				seconds := float64(end.AtNs-begin.AtNs) / 1e9
				rx, tx := "", ""
				if seconds > 0 {
					rx, tx = number(float64(int64(end.RxBytes-begin.RxBytes))*8/seconds), number(float64(int64(end.TxBytes-begin.TxBytes))*8/seconds)
				}
				rows = append(rows, append(place(run, t), h.Host, end.Interface, number(seconds),
					gained(begin.RxBytes, end.RxBytes), gained(begin.TxBytes, end.TxBytes), rx, tx,
					gained(begin.RxPackets, end.RxPackets), gained(begin.TxPackets, end.TxPackets),
					gained(begin.RxDropped, end.RxDropped), gained(begin.TxDropped, end.TxDropped),
					gained(begin.RxErrors, end.RxErrors), gained(begin.TxErrors, end.TxErrors),
					gained(begin.RxMissed, end.RxMissed), gained(begin.RxOtherhost, end.RxOtherhost)))
			}
		}
	}
	return rows
}

func port(list []record.InterfaceCounters, name string) (record.InterfaceCounters, bool) {
	for _, p := range list {
		if p.Interface == name {
			return p, true
		}
	}
	return record.InterfaceCounters{}, false
}

func firstBin(t record.Trial, flow string) int64 {
	for _, f := range t.Flows {
		if f.ID == flow && len(f.Bins) > 0 {
			return f.Bins[0]
		}
	}
	return 0
}

// seriesRows count bytes from the window's beginning: an interface's by the reading
// there, a flow's by its first bin, which is what it received until its first
// sample. Without bins that sample has to be the beginning.
func seriesRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "trial", "block", "treatment", "host", "at_s", "kind", "name", "rx_bytes", "tx_bytes", "received_bytes", "rtt_us", "snd_cwnd"}}
	for _, t := range run.Trials {
		for _, h := range t.Hosts {
			first := map[string]int64{}
			for _, s := range h.Series {
				at := number(float64(s.AtNs-h.Begin.ScheduledNs) / 1e9)
				for _, p := range s.Interfaces {
					begin, ok := port(h.Begin.Interfaces, p.Interface)
					if !ok {
						continue
					}
					rows = append(rows, append(place(run, t), h.Host, at, "interface", p.Interface,
						gained(begin.RxBytes, p.RxBytes), gained(begin.TxBytes, p.TxBytes), "", "", ""))
				}
				for _, f := range s.Flows {
					if _, ok := first[f.ID]; !ok {
						first[f.ID] = f.ReceivedBytes - firstBin(t, f.ID)
					}
					rows = append(rows, append(place(run, t), h.Host, at, "flow", text(f.ID), "", "",
						integer(f.ReceivedBytes-first[f.ID]), integer(f.RTTUs), integer(f.SndCwnd)))
				}
			}
		}
	}
	return rows
}
