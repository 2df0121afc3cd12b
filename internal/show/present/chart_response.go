package present

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
)

// responseFigure draws a response by treatment with its interval, goodput with the
// limit as a line: one panel for each condition, all on one scale.
func responseFigure(v *view, m *measure) (figure.Figure, bool) {
	if len(v.rows) == 0 {
		return figure.Figure{}, false
	}
	f := figure.Figure{Name: m.Name, Title: responseTitle(v, m), Data: v.responseCSV(m), Note: "Dots are trials."}
	v = v.whole() // the CSV has all
	high := 0.0
	for r, c := range v.each() {
		t := r.cells[c]
		_, upper, _ := m.bounds(t)
		high = max(high, upper, m.Estimate(t).Mean)
		for _, value := range m.trials[t.Name] {
			high = max(high, value)
		}
		if m.goodput() {
			high = max(high, t.LimitBps)
		}
	}
	if !(high > 0) || !finite(high) {
		high = 1
	}
	for _, p := range v.panesOf(m) {
		f.Panels = append(f.Panels, figure.Panel{Title: v.columns[p.c].name, Draw: func(width float64) *figure.Drawing { return responsePanel(v, p, width, high*m.scale.Per) }})
	}
	return f, true
}

func responsePanel(v *view, of pane, width, high float64) *figure.Drawing {
	c := of.c
	nameWidth, names, rowHeight := nameColumn(v, width)
	rowHeight = max(rowHeight, 34) // a bar and its trials
	values, valueWidth, point := valueLabels(v, of)
	p := plot{left: nameWidth + 10, right: width - valueWidth - 10, top: 22}
	p.bottom = p.top + rowHeight*float64(len(v.rows))
	p.Drawing = figure.New(width, p.bottom+36)
	p.x = linear(0, high, p.left, p.right-2)
	marks := ticks(0, high, int(max(2, (p.right-p.left)/60)))
	for _, mark := range marks {
		p.Line(figure.Faint, 1, figure.Point{X: p.x(mark), Y: p.top}, figure.Point{X: p.x(mark), Y: p.bottom})
	}
	p.xLabels(marks, tickLabels(marks))
	p.Text(p.left, p.bottom+30, of.head()+of.sense()+intervalNote(v), small(figure.Start))
	for i := range v.rows {
		r := &v.rows[i]
		y := p.top + rowHeight*(float64(i)+0.5)
		drawName(p.Drawing, names[i], 0, y, r.name)
		t := r.cells[c]
		if t == nil {
			p.Text(p.left+4, y+4, "not tried", small(figure.Start))
			continue
		}
		role := figure.Change
		if r.baseline {
			role = figure.Base
		}
		low, upper, _ := of.bounds(t)
		mean, low, upper := of.Estimate(t).Mean*of.scale.Per, low*of.scale.Per, upper*of.scale.Per
		p.Rect(p.left, y-8, p.x(mean)-p.left, 16, role).Tip(v.label(r, c) + ": " + of.scale.With(values[i].text()))
		if t.LimitBps > 0 && of.goodput() {
			at := p.x(t.LimitBps * v.scale.Per)
			p.Line(figure.Limit, 2, figure.Point{X: at, Y: y - rowHeight/2}, figure.Point{X: at, Y: y + rowHeight/2})
		}
		if upper > low {
			p.Line(figure.Ink, 1.4, figure.Point{X: p.x(low), Y: y}, figure.Point{X: p.x(upper), Y: y})
			for _, end := range []float64{low, upper} {
				p.Line(figure.Ink, 1.4, figure.Point{X: p.x(end), Y: y - 4}, figure.Point{X: p.x(end), Y: y + 4})
			}
		}
		for k, value := range of.trials[t.Name] {
			// Beside the interval, moved up and down so that equal ones can be counted.
			at := figure.Point{X: p.x(value * of.scale.Per), Y: y + 12.5 + 1.5*float64(k%3-1)}
			p.Circle(at, 2, figure.Ink).Tip(v.label(r, c) + ": trial of " + of.scale.With(of.scale.value(value)))
		}
		values[i].draw(p.Drawing, width-valueWidth+point, y+4.5)
	}
	if of.goodput() {
		limitLabel(v, p, c)
	}
	return p.Drawing
}

func intervalNote(v *view) string {
	if v.run.Confidence > 0 {
		return " · intervals " + round(v.run.Confidence*100, 0) + " %"
	}
	return ""
}

// limitLabel names the limit above its line: with its value where all
// treatments of the condition share it.
func limitLabel(v *view, p plot, c int) {
	highest, shared := 0.0, true
	for i := range v.rows {
		t := v.rows[i].cells[c]
		if t == nil || !(t.LimitBps > 0) {
			continue
		}
		shared = shared && (highest == 0 || t.LimitBps == highest)
		highest = max(highest, t.LimitBps)
	}
	if highest == 0 {
		p.Text(p.left, p.top-8, "limit unknown: no link of the path has a rate", small(figure.Start))
		return
	}
	text := "limit"
	if shared {
		text = "limit " + v.scale.value(highest)
	}
	half := figure.TextWidth(text, sizeText, true) / 2
	p.Text(min(p.x(highest*v.scale.Per), p.Width-half), p.top-8, text, figure.Style{Size: sizeText, Role: figure.Limit, Bold: true, Anchor: figure.Middle})
}

// valueLabel is "119.50 ±0.04", split where the decimal point is.
type valueLabel struct{ whole, rest string }

func (l valueLabel) text() string { return l.whole + l.rest }

func (l valueLabel) draw(d *figure.Drawing, x, y float64) {
	d.Text(x, y, l.whole, figure.Style{Size: sizeText, Anchor: figure.End})
	if l.rest != "" {
		d.Text(x, y, l.rest, figure.Style{Size: sizeText})
	}
}

// valueLabels spells a pane's figures, with the room they take and the
// place of the decimal point in it.
func valueLabels(v *view, p pane) (labels []valueLabel, width, point float64) {
	after := 0.0
	for i := range v.rows {
		var l valueLabel
		if t := v.rows[i].cells[p.c]; t != nil {
			mean, spread := p.interval(t)
			l.whole, l.rest, _ = strings.Cut(mean, ".")
			if l.rest != "" {
				l.rest = "." + l.rest
			}
			if spread != "" {
				l.rest += "\u00a0" + spread
			}
		}
		labels = append(labels, l)
		point, after = max(point, figure.TextWidth(l.whole, sizeText, false)), max(after, figure.TextWidth(l.rest, sizeText, false))
	}
	return labels, point + after, point
}

func responseTitle(v *view, m *measure) string {
	amount := func(r *row, c int) string {
		t := r.cells[c]
		switch {
		case t == nil:
			return ""
		case m.goodput() && t.LimitBps > 0 && r == v.best && v.baseline != nil:
			return percent(t.Efficiency)
		case m.goodput() && t.LimitBps > 0:
			return percent(t.Efficiency) + " of the limit"
		default:
			return m.spell(t)
		}
	}
	if v.best != nil || v.baseline == nil || len(v.rows) == 1 {
		return sentence(m.Label + ": " + v.beforeAfter(amount))
	}
	about := ""
	if !v.ordinary() {
		about = m.Label + ": "
	}
	if allAlike(v, m) {
		return sentence(about + "every treatment is within " + percent(v.run.Margin) + " of " + v.baseline.name)
	}
	if worse := worse(v, m); len(worse) > 0 && !v.ordinary() {
		return sentence(about + v.perColumn(func(c int) string { return amount(v.baseline, c) }) + " at " + v.baseline.name + "; worse with " + list(worse))
	}
	return sentence(about + "no treatment is shown to improve on " + v.baseline.name)
}

// worse names the treatments that are worse than the baseline in some condition.
func worse(v *view, m *measure) []string {
	var names []string
	for _, r := range v.rows {
		if slices.ContainsFunc(r.cells, func(t *record.Treatment) bool { e := m.effectOn(t); return e != nil && e.Verdict == record.Worsens }) {
			names = append(names, r.name)
		}
	}
	return names
}

// allAlike: no treatment differs from the baseline in a response.
func allAlike(v *view, m *measure) bool {
	return !slices.ContainsFunc(v.rows, func(r row) bool {
		return !r.baseline && slices.ContainsFunc(r.cells, func(t *record.Treatment) bool {
			e := m.effectOn(t)
			return e == nil || e.Verdict != record.NoDifference
		})
	})
}
