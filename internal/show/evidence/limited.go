package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/show/document"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Limited returns a table that says for each treatment what its flows between two hosts should
// achieve in total, what they achieved, and what limited them. Nil: nothing is known.
func Limited(v *view.View) *document.Table {
	list := v.HeldBack()
	if !view.Attributed(list) {
		return nil
	}
	unit, predicted := view.HeldScale(list), view.Predictions(list)
	t := &document.Table{Name: "held", Data: v.HeldCSV(), Columns: []document.Column{{Head: "treatment"}},
		Left: "and %d more, all as predicted"}
	if predicted {
		within, judged := 0, 0
		for _, h := range list {
			within, judged = within+h.Within, judged+h.Judged
		}
		t.Caption = fmt.Sprintf("Predicted and measured: %d of %s as predicted", within, words.Count(judged, "flow"))
		t.Columns = append(t.Columns, document.Column{Head: "predicted, " + unit.Unit, Shorter: []string{"predicted"}})
	}
	t.Columns = append(t.Columns, document.Column{Head: "measured, " + unit.Unit, Shorter: []string{"measured"}},
		document.Column{Head: "held back by", Wrap: true})
	slices.SortStableFunc(list, func(a, b view.Held) int { return a.Column - b.Column })
	for i, h := range list {
		if i == 0 || list[i-1].Column != h.Column {
			t.AddSection(v.Columns[h.Column].Name)
		}
		by, cells := view.Causes(h.By), document.Cells(h.Together(h.Row.Name))
		if predicted {
			cells = append(cells, document.Cell{Text: h.Span(unit), Detail: h.Why})
		}
		row := document.Row{Extra: predicted && h.As() == "" && (h.Several && !h.Row.Baseline || h.Row.Part &&
			!tells(v, h, list))}
		if h.By[0] == "" && h.Because != "" {
			by += ": " + h.Because
		}
		if as := h.As(); as != "" {
			by, row.Tone = by+"; "+as, document.Wrong
		}
		row.Cells = append(cells, document.Cell{Text: h.Got(unit)}, document.Cell{Text: by, Detail: h.Because})
		t.Rows = append(t.Rows, row)
	}
	return t
}

// LimitedSummary returns the table if something was predicted, and otherwise a line for each cause.
func LimitedSummary(v *view.View, t *document.Table) []document.Block {
	list := v.HeldBack()
	if t == nil || view.Predictions(list) {
		return document.Tables(t)
	}
	return limitedStatements(v, slices.DeleteFunc(slices.Clone(list), func(h view.Held) bool {
		return h.Row.Part && !tells(v, h, list)
	}))
}

// tells reports whether the flows of a part of a list have another limit than those of the
// treatment that it is compared with.
func tells(v *view.View, h view.Held, list []view.Held) bool {
	for _, e := range v.Run.Effects {
		if h.Row.Levels[e.Factor] != e.To || !view.Holds(e.At, v.Columns[h.Column].Levels) {
			continue
		}
		for _, other := range list {
			if other.Column == h.Column && other.Row.Levels[e.Factor] == e.From && other.From == h.From &&
				other.To == h.To {
				return !slices.Equal(other.By, h.By)
			}
		}
	}
	return true
}

// limitedStatements names each cause with the treatments whose flows it limited.
func limitedStatements(v *view.View, list []view.Held) []document.Block {
	var where words.ByText
	open := map[string]string{} // why some treatments have no cause
	for _, h := range list {
		text := view.Causes(h.By)
		where.Add(text, v.Label(h.Row, h.Column))
		if h.By[0] == "" {
			open[text] = cmp.Or(open[text], h.Because)
		}
	}
	var texts []string
	for _, text := range where.Texts {
		said := text
		if len(where.Texts) > 1 {
			said += ": " + strings.Join(where.Names[text], "; ")
		}
		switch {
		case len(list) == 1 && list[0].Because != "":
			said += ": " + list[0].Because
		case open[text] != "":
			said += " (" + open[text] + ")"
		}
		texts = append(texts, said)
	}
	return document.Statements("Held by", texts...)
}
