package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// phaseWords has the displayed names of phases and of other causes of slow transactions.
var phaseWords = map[string]string{
	record.PhaseWait.String(): "waiting to begin", record.PhaseName.String(): "name look-up",
	record.PhaseConnect.String(): "connecting",
	record.PhaseTLS.String():     "TLS handshake", record.PhaseGreeting.String(): "greeting",
	record.PhaseFirstByte.String(): "first byte", record.PhaseLastByte.String(): "last byte",
	string(record.SlowSYN): "SYN retransmitted", string(record.SlowRetransmission): "retransmission",
	string(record.SlowElsewhere): "unknown",
}

// Applications returns a table of the time that the phases of each treatment's transactions took.
// Nil: there are no flows of application protocols.
func Applications(v *view.View) *document.Table {
	t := &document.Table{Name: "phases", Caption: "Where the time of transactions went, and how they were answered",
		Columns: []document.Column{
			{Head: "phase"}, {Head: "requests", Align: document.Right}, {Head: "p50", Align: document.Right},
			{Head: "p99", Align: document.Right}, {Wrap: true},
		}}
	for r, c := range v.Each() {
		var list []*record.Application
		for _, trial := range v.Run.TrialsOf(r.Treatments[c].Name) {
			for _, f := range trial.Flows {
				if f.Transactions != nil && f.Transactions.Application != nil {
					list = append(list, f.Transactions.Application)
				}
			}
		}
		sum, err := stats.Applications(list...)
		if sum == nil || err != nil {
			continue
		}
		name := v.Label(r, c)
		if answers := Outcomes(sum); answers != "" {
			name += ": " + answers
		}
		t.AddSection(name)
		for _, p := range sum.Phases {
			row := []string{phaseWords[p.Phase], unit.FormatCount(p.Times.Count)}
			for _, shown := range []float64{0.5, 0.99} {
				row = append(row, percentile(p.Times, shown))
			}
			t.Add(append(row, "")...)
		}
		if slow := Slowest(sum); slow != "" {
			t.Add("slowest 0.1 %", unit.FormatCount(sum.Slow.Count), "", "", "from "+
				number.Microseconds(sum.Slow.LeastUs)+" on, by "+slow)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// percentile formats a percentile of a distribution, with its rank if there are too few values:
// "55.9 ms, 2nd slowest".
func percentile(d *record.Distribution, quantile float64) string {
	for _, p := range d.Percentiles() {
		if p.Quantile == quantile {
			text := number.Microseconds(p.Us)
			if p.Rank != "" {
				text += ", " + record.Slowest(quantile, d.Count)
			}
			return text
		}
	}
	return "–"
}

// PhaseName returns the displayed name of a phase.
func PhaseName(phase string) string { return cmp.Or(phaseWords[phase], phase) }

// Outcomes lists how requests were answered, most frequent first: "200 99.9 %, timeout 12".
func Outcomes(a *record.Application) string {
	return counted(a.Outcomes, func(outcome string) string { return outcome })
}

// Slowest lists what took most of the time of the slowest requests. Empty: there are too few
// requests.
func Slowest(a *record.Application) string {
	if a.Slow == nil {
		return ""
	}
	return counted(a.Slow.Causes, func(cause record.SlowCause) string { return PhaseName(string(cause)) })
}

// counted lists kinds with their share, most frequent first.
func counted[K cmp.Ordered](of map[K]int64, name func(K) string) string {
	var all int64
	for _, n := range of {
		all += n
	}
	kinds := slices.SortedFunc(maps.Keys(of), func(a, b K) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	var texts []string
	for _, k := range kinds {
		if n := of[k]; n == all {
			texts = append(texts, "all "+name(k))
		} else {
			texts = append(texts, fmt.Sprintf("%s %s", name(k), number.Percent(float64(n)/float64(all))))
		}
	}
	return strings.Join(texts, ", ")
}
