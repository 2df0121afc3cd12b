package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Effects returns a table with a row for each comparison of the run in each of its responses. Nil:
// nothing is compared, or there are too few blocks for a verdict.
func Effects(v *view.View) *document.Table {
	if v.Run.Blocks() < stats.LeastBlocks {
		return nil
	}
	t := &document.Table{Name: "effects", Data: export.Rows(v.Run, "effects"),
		Columns: []document.Column{{Head: "factor"}, {Head: "from", Wrap: true}, {Head: "to", Wrap: true},
			{Head: "at", Wrap: true},
			{Head: "ratio", Align: document.Ratio}, {Head: "p", Align: document.Right},
			{Head: "blocks", Align: document.Right}}}
	labels := lists.Map(v.Measures, func(m *view.Measure) string { return m.Label })
	several := len(labels) > 1
	if several {
		t.Columns = append([]document.Column{{Head: "of"}}, t.Columns...)
	}
	for _, e := range v.Effects() {
		m := v.MeasureOf(&e)
		size, interval := m.Against(&e)
		at := lists.Map(slices.Sorted(maps.Keys(e.At)), func(name string) string { return e.At[name] })
		cells := append(document.Cells(e.Factor, e.From, e.To, strings.Join(at, ", ")),
			document.Cell{Text: size, Interval: interval, Verdict: e.Verdict, Remark: e.Why})
		cells = append(cells, document.Cells(probability(e.P), fmt.Sprint(e.Blocks))...)
		if several {
			cells = append(document.Cells(m.Label), cells...)
		}
		t.Rows = append(t.Rows, document.Row{Cells: cells})
	}
	note := "Ratio of " + words.List(labels) + " to the baseline level, paired by block"
	if v.Run.Confidence > 0 {
		note += ", " + number.Percent(v.Run.Confidence) + " intervals for all of them together"
	}
	if v.Run.Margin > 0 {
		note += "; no difference: the whole interval is within ±" + number.Percent(v.Run.Margin)
	}
	t.Notes = []string{note + "."}
	return t.OrNil()
}

func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return number.Significant(p, 2)
}

// PartEffects describes the effect of changing one factor on each response, for comparisons that
// are not in the table of treatments: a design with parts also compares treatments neither of which
// is the baseline.
func PartEffects(v *view.View) (list []document.Block) {
	if !v.Run.Design.Partial || v.Run.Blocks() < stats.LeastBlocks {
		return nil
	}
	shown := func(e *record.Effect) bool {
		return slices.ContainsFunc(v.Run.Treatments, func(t record.Treatment) bool {
			return t.Effect != nil && t.Effect.Factor == e.Factor && t.Effect.From == e.From && t.Effect.To == e.To &&
				maps.Equal(t.Effect.At, e.At)
		})
	}
	for i := range v.Run.Effects {
		e := &v.Run.Effects[i]
		if shown(e) {
			continue
		}
		if list == nil {
			list = append(list, document.Heading{Text: "comparisons of other treatments"})
		}
		var parts []string
		for _, m := range v.Measures {
			of := m.Effect(e)
			if of == nil {
				continue
			}
			parts = append(parts, m.Label+" "+number.Bracketed(m.Against(of))+" "+of.Verdict)
		}
		list = append(list, document.Prose{Text: fmt.Sprintf("%s %s → %s", e.Factor, e.From, e.To) +
			BesideLevels(v.Run.Factors, e) + ": " + strings.Join(parts, "; ")})
	}
	return list
}

// BesideLevels names the levels of other factors at which a comparison was made, except baselines
// and levels that the whole run has.
func BesideLevels(factors []record.Factor, e *record.Effect) string {
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
