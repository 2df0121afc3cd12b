package evidence

import (
	"strconv"
	"strings"

	"linerate/internal/show/document"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// stripWidth is the number of positions in a strip of trials.
const stripWidth = 21

// hidden is the ratio of values from which a column gets its own axis, because its values would not
// be visible on a common one.
const hidden = 4

const stripNote = "Each digit is a number of trials: 15 is one trial, and five at the next value"

// Strips shows single trials in a terminal: for each treatment whose trials differ by more than the
// margin, the number of trials at each value. Nil: there is no such treatment.
func Strips(v *view.View) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: "trials at each value"}},
		Left:  "%d more, whose trials are alike",
		Notes: []string{stripNote + "; o: outlier."}}
	if len(v.Run.Outliers) == 0 {
		t.Notes = []string{stripNote + "."}
	}
	alike := make([]bool, len(v.Rows))
	for i, r := range v.Rows {
		t.Rows, alike[i] = append(t.Rows, document.Row{Cells: document.Cells(r.Name)}), true
	}
	for _, m := range v.Measures {
		_, most := stripAxis(v, m, func(int) bool { return true })
		for _, p := range v.Panes(m) {
			// All columns have the same axis, except if that would hide the values in one of them.
			low, high := stripAxis(v, m, func(c int) bool { return c == p.At })
			if high > most/hidden {
				low, high = stripAxis(v, m, func(int) bool { return true })
			}
			cells := make([]document.Cell, len(v.Rows))
			for i, r := range v.Rows {
				if tr := r.Treatments[p.At]; tr != nil {
					cells[i].Text = strip(m.Trials[tr.Name], low, high)
					alike[i] = alike[i] && within(m.Trials[tr.Name], max(v.Run.Margin, 1.0/stripWidth))
				}
			}
			from, to := m.Shown.Value(low), m.Shown.Spell(high)
			room := max(1, stripWidth-words.Width(from)-words.Width(to))
			t.AddColumn(document.Column{Head: from + strings.Repeat(" ", room) + to, Group: p.Title}, cells)
		}
	}
	shown := false
	for i := range t.Rows {
		t.Rows[i].Extra = alike[i]
		shown = shown || !alike[i]
	}
	if !shown {
		return nil
	}
	return t
}

// stripAxis returns the range from zero, or the smallest value below it, to the largest value or
// limit in the columns for which of is true.
func stripAxis(v *view.View, m *view.Measure, of func(column int) bool) (low, high float64) {
	for r, c := range v.Each() {
		if !of(c) {
			continue
		}
		tr := r.Treatments[c]
		for _, t := range m.Trials[tr.Name] {
			low, high = min(low, t.Value), max(high, t.Value)
		}
		if m.Goodput() {
			high = max(high, tr.LimitBps)
		}
	}
	return low, high
}

func strip(trials []view.Trial, low, high float64) string {
	var count [stripWidth]int
	var apart [stripWidth]bool
	for _, t := range trials {
		at := 0
		if high > low {
			at = int((t.Value-low)/(high-low)*(stripWidth-1) + 0.5)
		}
		count[at]++
		apart[at] = apart[at] || t.Outlier != nil
	}
	var b strings.Builder
	for i, n := range count {
		switch {
		case n == 0:
			b.WriteByte(' ')
		case apart[i] && n == 1:
			b.WriteByte('o')
		case n > 9:
			b.WriteByte('+')
		default:
			b.WriteString(strconv.Itoa(n))
		}
	}
	return b.String()
}

// within reports whether trials differ by less than a share of the largest value.
func within(trials []view.Trial, part float64) bool {
	if len(trials) == 0 {
		return true
	}
	low, high := trials[0].Value, trials[0].Value
	for _, t := range trials {
		low, high = min(low, t.Value), max(high, t.Value)
	}
	return high-low <= part*max(high, -low)
}
