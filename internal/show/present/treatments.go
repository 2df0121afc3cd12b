package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// treatments is the table of treatments: a row each, a group of columns per
// response and condition.
func treatments(v *view) *Table {
	t := &Table{Columns: []Column{{Head: "treatment"}}}
	for i := range v.rows {
		r := &v.rows[i]
		row := Row{Cells: []Cell{{Text: r.name, Detail: strings.Join(r.about, "; ")}}}
		if v.best != nil && r.name == v.best.name {
			row.Tone = Best
		}
		t.Rows = append(t.Rows, row)
	}
	ranges := false
	for _, m := range v.measures {
		for _, p := range v.panesOf(m) {
			ranges = figureColumn(v, t, p) || ranges
			if m.goodput() {
				limitColumn(v, t, p)
			}
			effectColumn(v, t, p)
		}
	}
	if v.best != nil {
		t.Shaded = "carries the most"
		if !v.lead().goodput() {
			t.Shaded = "does best by " + v.lead().Label
		}
		t.Shaded += ", with the fewest settings among equals"
	}
	if v.baseline != nil && len(v.rows) > 1 {
		t.Key = "ratio to " + v.baseline.name
	}
	if v.shared != "" {
		t.Notes = append(t.Notes, "Everywhere: "+v.shared+".")
	}
	if limits := v.limits(); limits != "" {
		t.Notes = append(t.Notes, "Limit "+limits+".")
	}
	if ranges {
		t.Notes = append(t.Notes, rangesNote)
	}
	return t
}

// cellsOf makes a cell for each row that has a treatment in the pane.
func cellsOf(v *view, p pane, of func(t *record.Treatment) Cell) []Cell {
	cells := make([]Cell, len(v.rows))
	for i := range v.rows {
		if t := v.rows[i].cells[p.c]; t != nil {
			cells[i] = of(t)
		}
	}
	return cells
}

// figureColumn adds a pane's estimates; it reports whether some have a range
// instead of a half-width.
func figureColumn(v *view, t *Table, p pane) (ranges bool) {
	t.addColumn(Column{Head: p.scale.Unit, Group: p.name, Align: Decimal}, cellsOf(v, p, func(tr *record.Treatment) (cell Cell) {
		cell.Text, cell.Spread = p.interval(tr)
		ranges = ranges || strings.Contains(cell.Spread, "–")
		if tr.Unconnected > 0 {
			if cell.Remark = unconnected(v, tr); !strings.Contains(cell.Remark, partly) {
				cell.Remark += ", counted as zero"
			}
		}
		return cell
	}))
	return ranges
}

// limitColumn adds goodput as a part of the limit, where that is known.
func limitColumn(v *view, t *Table, p pane) {
	parts := cellsOf(v, p, func(tr *record.Treatment) (cell Cell) {
		if part := ofLimit(tr); part != "" {
			cell.Text = part + " %"
		}
		return cell
	})
	if slices.ContainsFunc(parts, func(c Cell) bool { return c.Text != "" }) {
		t.addColumn(Column{Head: "of limit", Group: p.name, Align: Decimal}, parts)
	}
}

// effectColumn adds what treatments do against the baseline.
func effectColumn(v *view, t *Table, p pane) {
	var cells []Cell
	known := false
	for i := range v.rows {
		text, interval, effect := v.against(i, p)
		cell := Cell{Text: text, Interval: interval}
		known = known || text != ""
		switch {
		case v.rows[i].baseline:
			cell.Text = "baseline"
		case effect != nil:
			cell.Verdict, cell.Remark = effect.Verdict, explains(effect)
		}
		cells = append(cells, cell)
	}
	if known {
		name := "baseline" // an interrupted run may have no trial of it
		if v.baseline != nil {
			name = v.baseline.name
		}
		t.addColumn(Column{Head: "against " + name, Shorter: []string{"against baseline", "ratio"}, Group: p.name, Align: Ratio}, cells)
	}
}

// against spells a cell's size against the baseline in its pane, with its interval
// and the effect when the run made that comparison.
func (v *view) against(rowIndex int, p pane) (size, interval string, effect *record.Effect) {
	r := &v.rows[rowIndex]
	effect = p.effectOn(r.cells[p.c])
	switch {
	case effect != nil:
		size, interval = p.against(effect)
		return size, interval, effect
	case r.baseline || r.cells[p.c] == nil || v.baseline == nil || p.Signed || p.value(v.baseline) <= 0 || p.value(r) <= 0 && !p.goodput():
		return "", "", nil
	}
	return significant(p.value(r)/p.value(v.baseline), 3) + "×", "", nil
}

// limits spells the limits of a run that shows goodput.
func (v *view) limits() string {
	if !slices.ContainsFunc(v.measures, (*measure).goodput) {
		return ""
	}
	return v.perColumn(v.limitOf)
}

// limitOf spells a condition's limit; treatments may differ in it.
func (v *view) limitOf(c int) string {
	var texts []string
	for i := range v.rows {
		if t := v.rows[i].cells[c]; t != nil && t.LimitBps > 0 {
			text := v.scale.with(t.LimitBps)
			if t.LimitWhy != "" {
				text += " = " + t.LimitWhy
			}
			texts = distinct(texts, text)
		}
	}
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	}
	return fmt.Sprintf("differs between treatments (%d)", len(texts))
}

// explains is why an effect has its verdict, unless that only repeats the
// interval that stands beside it.
func explains(e *record.Effect) string {
	if strings.HasPrefix(e.Why, stats.Spans) {
		return ""
	}
	return e.Why
}

// treatmentSettings list what each treatment sets; nil: none sets anything.
func treatmentSettings(v *view) (blocks []Block) {
	any := len(v.context) > 0
	if len(v.context) > 0 {
		blocks = append(blocks, Statement{Label: "In all treatments", Text: strings.Join(v.context, "; ")})
	}
	for _, r := range v.rows {
		any = any || len(r.settings) > 0
		blocks = append(blocks, Heading{r.name})
		if about := strings.Join(r.about, "; "); about != "" {
			blocks = append(blocks, Statement{Text: about})
		}
		blocks = append(blocks, Listing{Lines: r.settings, Empty: "sets nothing"})
	}
	if !any {
		return nil
	}
	return blocks
}

// ofLimit spells goodput as a part of the limit, empty when that is unknown.
func ofLimit(t *record.Treatment) string {
	if !(t.LimitBps > 0) {
		return ""
	}
	half := (t.Goodput.HighBps - t.Goodput.LowBps) / 2 / t.LimitBps * 100
	places := 1
	if half > 0 {
		places = max(0, min(1, earned(half)))
	}
	return round(t.Efficiency*100, places)
}
