package evidence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// Trials returns a table with a row for each trial, in order. Nil: there are none.
func Trials(v *view.View) *document.Table {
	bad := map[int][]string{}
	for _, c := range v.Run.Trust {
		if !c.Pass && !slices.Contains(bad[c.Trial], c.Check) {
			bad[c.Trial] = append(bad[c.Trial], c.Check)
		}
	}
	doubted := map[int]bool{}
	for _, f := range Doubts(v.Run) {
		for _, c := range f.Checks {
			doubted[c.Trial] = true
		}
	}
	limited := slices.ContainsFunc(v.Run.Split(), func(t *record.Trial) bool { return t.LimitBps > 0 })
	table := &document.Table{Name: "trials", Data: export.Rows(v.Run, "trials"),
		Columns: []document.Column{{Head: "trial", Align: document.Right}, {Head: "block", Align: document.Right},
			{Head: "treatment", Wrap: true}}}
	for _, m := range v.Measures {
		table.Columns = append(table.Columns, document.Column{Head: m.Head(), Align: document.Right})
	}
	if limited {
		table.Columns = append(table.Columns, document.Column{Head: "of limit", Align: document.Right})
	}
	table.Columns = append(table.Columns, document.Column{Head: "flows", Align: document.Right},
		document.Column{Head: "busiest CPU", Align: document.Right}, document.Column{Head: "failed checks", Wrap: true})
	for _, t := range v.Run.Split() {
		texts := []string{strconv.Itoa(t.Order), strconv.Itoa(t.Block), t.Treatment}
		for _, m := range v.Measures {
			text := "–"
			if value, ok := m.Value(t); ok {
				text = number.Round(value*m.Shown.Per, trialPlaces(v, m))
				if t.Latency != nil {
					text = number.Bracketed(text, m.Rank(t.Latency.Count))
				}
			}
			texts = append(texts, text)
		}
		if limited {
			text := ""
			if t.LimitBps > 0 {
				text = number.Round(t.GoodputBps/t.LimitBps*100, 1) + " %"
			}
			texts = append(texts, text)
		}
		lost, cpu := t.Unconnected(), 0.0
		for _, h := range t.Hosts {
			cpu = max(cpu, h.GeneratorCPU)
		}
		flows, busy := strconv.Itoa(len(t.Flows)), ""
		if lost > 0 {
			flows = fmt.Sprintf("%d of %d", len(t.Flows)-lost, len(t.Flows))
		}
		if cpu > 0 {
			busy = number.Percent(cpu)
		}
		row := document.Row{Cells: document.Cells(append(texts, flows, busy, strings.Join(bad[t.Order], ", "))...)}
		for k, m := range v.Measures {
			if v.Run.Outlier(m.Name, t.Order) != nil {
				row.Cells[3+k].Remark = "outlier"
			}
		}
		if doubted[t.Order] {
			row.Tone = document.Wrong
		}
		table.Rows = append(table.Rows, row)
	}
	return table.OrNil()
}

// trialPlaces returns the number of decimals for all trials: four digits for the largest value.
func trialPlaces(v *view.View, m *view.Measure) int {
	largest := 0.0
	for _, t := range v.Run.Split() {
		value, _ := m.Value(t)
		largest = max(largest, value*m.Shown.Per)
	}
	places := 0
	for ; places < 3 && largest < 1000 && largest > 0; largest *= 10 {
		places++
	}
	return places
}
