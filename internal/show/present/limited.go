package present

import (
	"fmt"
	"slices"
	"strings"
)

// limitedTable says of each treatment what its flows should get, what they got
// and what held them back; nil: nothing is known of any.
func limitedTable(v *view) *Table {
	list := v.heldBack()
	if !attributed(list) {
		return nil
	}
	unit, predicted := heldScale(list), predictions(list)
	t := &Table{Name: "held", Data: v.heldCSV(), Columns: []Column{{Head: "treatment"}}, Left: "and %d more, all as predicted"}
	if predicted {
		within, judged := 0, 0
		for _, h := range list {
			within, judged = within+h.within, judged+h.judged
		}
		t.Caption = fmt.Sprintf("Predicted and measured: %d of %s as predicted", within, Count(judged, "flow"))
		t.Columns = append(t.Columns, Column{Head: "predicted, " + unit.Unit, Shorter: []string{"predicted"}})
	}
	t.Columns = append(t.Columns, Column{Head: "measured, " + unit.Unit, Shorter: []string{"measured"}}, Column{Head: "held back by", Wrap: true})
	slices.SortStableFunc(list, func(a, b held) int { return a.col - b.col })
	for i, h := range list {
		if i == 0 || list[i-1].col != h.col {
			t.section(v.columns[h.col].name)
		}
		by, cells := causes(h.by), Cells(h.between(h.row.name))
		if predicted {
			cells = append(cells, Cell{Text: h.span(unit), Detail: h.why})
		}
		row := Row{Extra: predicted && h.as() == "" && (h.several && !h.row.baseline || h.row.part && !tells(v, h, list))}
		if as := h.as(); as != "" {
			by, row.Tone = by+"; "+as, Wrong
		}
		row.Cells = append(cells, Cell{Text: h.got(unit)}, Cell{Text: by, Detail: h.because})
		t.Rows = append(t.Rows, row)
	}
	return t
}

// limitedSummary is the table where something was predicted, else a line for
// each cause.
func limitedSummary(v *view, t *Table) []Block {
	list := v.heldBack()
	if t == nil || predictions(list) {
		return tableBlocks(t)
	}
	return limitedStatements(v, slices.DeleteFunc(slices.Clone(list), func(h held) bool { return h.row.part && !tells(v, h, list) }))
}

// tells: a part of a list has its flows held back by something else than what it is
// compared with.
func tells(v *view, h held, list []held) bool {
	for _, e := range v.run.Effects {
		if h.row.levels[e.Factor] != e.To || !holds(e.At, v.columns[h.col].levels) {
			continue
		}
		for _, other := range list {
			if other.col == h.col && other.row.levels[e.Factor] == e.From && other.from == h.from && other.to == h.to {
				return !slices.Equal(other.by, h.by)
			}
		}
	}
	return true
}

// limitedStatements name each cause with the treatments whose flows it held back.
func limitedStatements(v *view, list []held) []Block {
	var where byText
	for _, h := range list {
		where.add(causes(h.by), v.label(h.row, h.col))
	}
	var texts []string
	for _, text := range where.texts {
		if len(where.texts) > 1 {
			text += ": " + strings.Join(where.names[text], "; ")
		}
		if len(list) == 1 && list[0].because != "" {
			text += ": " + list[0].because
		}
		texts = append(texts, text)
	}
	return statements("Held by", texts...)
}
