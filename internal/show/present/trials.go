package present

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

// trialTable has a row for each trial, in their order; nil: there are none.
func trialTable(v *view) *Table {
	bad := map[int][]string{}
	for _, c := range v.run.Trust {
		if !c.Pass && !slices.Contains(bad[c.Trial], c.Check) {
			bad[c.Trial] = append(bad[c.Trial], c.Check)
		}
	}
	doubted := map[int]bool{}
	for _, f := range doubts(v.run) {
		for _, c := range f.checks {
			doubted[c.Trial] = true
		}
	}
	limited := slices.ContainsFunc(v.run.Trials, func(t record.Trial) bool { return t.LimitBps > 0 })
	table := &Table{Name: "trials", Data: export.Rows(v.run, "trials"), Columns: []Column{{Head: "trial", Align: Right}, {Head: "block", Align: Right}, {Head: "treatment", Wrap: true}}}
	for _, m := range v.measures {
		table.Columns = append(table.Columns, Column{Head: m.head(), Align: Right})
	}
	if limited {
		table.Columns = append(table.Columns, Column{Head: "of limit", Align: Right})
	}
	table.Columns = append(table.Columns, Column{Head: "flows", Align: Right}, Column{Head: "busiest CPU", Align: Right}, Column{Head: "failed checks", Wrap: true})
	for i := range v.run.Trials {
		t := &v.run.Trials[i]
		texts := []string{strconv.Itoa(t.Order), strconv.Itoa(t.Block), t.Treatment}
		for _, m := range v.measures {
			text := "–"
			if value, ok := m.Value(t); ok {
				text = round(value*m.scale.Per, trialPlaces(v, m))
			}
			texts = append(texts, text)
		}
		if limited {
			text := ""
			if t.LimitBps > 0 {
				text = round(t.GoodputBps/t.LimitBps*100, 1) + " %"
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
			busy = percent(cpu)
		}
		row := Row{Cells: Cells(append(texts, flows, busy, strings.Join(bad[t.Order], ", "))...)}
		if doubted[t.Order] {
			row.Tone = Wrong
		}
		table.Rows = append(table.Rows, row)
	}
	return table.orNil()
}

// trialPlaces gives all trials the same decimals: four digits for the largest.
func trialPlaces(v *view, m *measure) int {
	largest := 0.0
	for i := range v.run.Trials {
		value, _ := m.Value(&v.run.Trials[i])
		largest = max(largest, value*m.scale.Per)
	}
	places := 0
	for ; places < 3 && largest < 1000 && largest > 0; largest *= 10 {
		places++
	}
	return places
}
