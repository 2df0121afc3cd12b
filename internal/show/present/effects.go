package present

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

// effectTable has a row for each comparison of the run in each of its
// responses; nil: nothing is compared.
func effectTable(v *view) *Table {
	t := &Table{Name: "effects", Data: export.Rows(v.run, "effects"), Columns: []Column{{Head: "factor"}, {Head: "from", Wrap: true}, {Head: "to", Wrap: true}, {Head: "at", Wrap: true},
		{Head: "ratio", Align: Ratio}, {Head: "p", Align: Right}, {Head: "blocks", Align: Right}}}
	var labels []string
	for _, m := range v.measures {
		labels = append(labels, m.Label)
	}
	several := len(labels) > 1
	if several {
		t.Columns = append([]Column{{Head: "of"}}, t.Columns...)
	}
	for _, e := range v.effects() {
		m := v.of(&e)
		size, interval := m.against(&e)
		var at []string
		for _, name := range slices.Sorted(maps.Keys(e.At)) {
			at = append(at, e.At[name])
		}
		cells := append(Cells(e.Factor, e.From, e.To, strings.Join(at, ", ")), Cell{Text: size, Interval: interval, Verdict: e.Verdict, Remark: e.Why})
		cells = append(cells, Cells(probability(e.P), fmt.Sprint(e.Blocks))...)
		if several {
			cells = append(Cells(m.Label), cells...)
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	note := "Ratio of " + list(labels) + " to the baseline level, paired by block"
	if v.run.Confidence > 0 {
		of := "them"
		if several {
			of = "one response"
		}
		note += fmt.Sprintf(", %s intervals for all of %s together", percent(v.run.Confidence), of)
	}
	if v.run.Margin > 0 {
		note += "; differences below " + percent(v.run.Margin) + " count as none"
	}
	t.Notes = []string{note + "."}
	return t.orNil()
}

func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return significant(p, 2)
}

// partEffects say what each change of one factor does to each response, where
// the table of treatments cannot: a design of parts compares treatments that
// both differ from the baseline in several factors.
func partEffects(v *view) (list []Block) {
	if !v.run.Design.Partial || len(v.run.Effects) == 0 {
		return nil
	}
	list = append(list, Heading{"what each change of one factor does"})
	for i := range v.run.Effects {
		e := &v.run.Effects[i]
		var parts []string
		for _, m := range v.measures {
			of := m.Effect(e)
			if of == nil {
				continue
			}
			parts = append(parts, m.Label+" "+bracketed(m.against(of))+" "+of.Verdict)
		}
		list = append(list, Prose{Text: fmt.Sprintf("%s %s → %s", e.Factor, e.From, e.To) + besideLevels(v.run.Factors, e) + ": " + strings.Join(parts, "; ")})
	}
	return list
}

// besideLevels names the levels of factors at which something else is compared, as
// far as they are not their baseline, nor those of the whole run.
func besideLevels(factors []record.Factor, e *record.Effect) string {
	var at []string
	for _, f := range factors {
		if level := e.At[f.Name]; level != "" && level != f.Baseline && len(f.Levels) > 1 {
			at = append(at, f.Name+" "+level)
		}
	}
	if len(at) == 0 {
		return ""
	}
	return " at " + strings.Join(at, ", ")
}
