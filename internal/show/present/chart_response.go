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
	f := figure.Figure{Name: m.Name, Title: responseTitle(v, m), Data: responseCSV(v, m), Note: "Dots are trials."}
	v = v.whole() // the CSV has all
	high := 0.0
	for _, r := range v.rows {
		for _, c := range r.cells {
			if c.Treatment == nil {
				continue
			}
			_, upper, _ := m.bounds(c.Treatment)
			high = max(high, upper, m.Estimate(c.Treatment).Mean)
			for _, value := range m.trials[c.Name] {
				high = max(high, value)
			}
			if m.goodput() {
				high = max(high, c.LimitBps)
			}
		}
	}
	if !finite(high) {
		high = 0
	}
	for _, p := range v.panesOf(m) {
		f.Panels = append(f.Panels, figure.Panel{Title: v.columns[p.c].name, Draw: func(width float64) *figure.Drawing { return responsePanel(v, p, width, high*m.scale.per) }})
	}
	return f, true
}

func responsePanel(v *view, p pane, width, high float64) *figure.Drawing {
	c := p.c
	nameWidth, names, rowHeight := nameColumn(v, width)
	rowHeight = max(rowHeight, 34) // a bar and its trials
	values, valueWidth, point := valueLabels(v, p)
	left, right := nameWidth+10, width-valueWidth-10
	top := 22.0
	bottom := top + rowHeight*float64(len(v.rows))
	d := figure.New(width, bottom+36)
	if !(high > 0) {
		high = 1
	}
	x := func(value float64) float64 { return left + min(max(value/high, 0), 1)*(right-left-2) }
	marks := ticks(high, int(max(2, (right-left)/60)))
	for i, label := range tickLabels(marks) {
		d.Line(figure.Faint, 1, figure.Point{X: x(marks[i]), Y: top}, figure.Point{X: x(marks[i]), Y: bottom})
		d.Text(x(marks[i]), bottom+15, label, figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.Middle})
	}
	d.Text(left, bottom+30, p.head()+p.sense()+intervalNote(v), figure.Style{Size: sizeSmall, Role: figure.Muted})
	for i := range v.rows {
		r := &v.rows[i]
		y := top + rowHeight*(float64(i)+0.5)
		drawName(d, names[i], 0, y, r.name)
		t := r.cells[c].Treatment
		if t == nil {
			d.Text(left+4, y+4, "not tried", figure.Style{Size: sizeSmall, Role: figure.Muted})
			continue
		}
		role := figure.Change
		if r.baseline {
			role = figure.Base
		}
		low, upper, _ := p.bounds(t)
		mean, low, upper := p.Estimate(t).Mean*p.scale.per, low*p.scale.per, upper*p.scale.per
		d.Rect(left, y-8, x(mean)-left, 16, role).Tip(v.label(r, c) + ": " + p.scale.join(values[i].text()))
		if upper > low {
			d.Line(figure.Ink, 1.4, figure.Point{X: x(low), Y: y}, figure.Point{X: x(upper), Y: y})
			for _, end := range []float64{low, upper} {
				d.Line(figure.Ink, 1.4, figure.Point{X: x(end), Y: y - 4}, figure.Point{X: x(end), Y: y + 4})
			}
		}
		for k, value := range p.trials[t.Name] {
			// Beside the interval, moved up and down so that equal ones can be counted.
			at := figure.Point{X: x(value * p.scale.per), Y: y + 12.5 + 1.5*float64(k%3-1)}
			d.Circle(at, 2, figure.Ink).Tip(v.label(r, c) + ": trial of " + p.scale.join(p.scale.value(value)))
		}
		if t.LimitBps > 0 && p.goodput() {
			at := x(t.LimitBps * v.scale.per)
			d.Line(figure.Limit, 2, figure.Point{X: at, Y: y - rowHeight/2}, figure.Point{X: at, Y: y + rowHeight/2})
		}
		values[i].draw(d, width-valueWidth+point, y+4.5)
	}
	if p.goodput() {
		limitLabel(v, d, c, x, top-8, width)
	}
	return d
}

func intervalNote(v *view) string {
	if v.run.Confidence > 0 {
		return " · intervals " + round(v.run.Confidence*100, 0) + " %"
	}
	return ""
}

// limitLabel names the limit above its line: with its value where all
// treatments of the condition share it.
func limitLabel(v *view, d *figure.Drawing, c int, x func(float64) float64, y, width float64) {
	highest, shared := 0.0, true
	for i := range v.rows {
		t := v.rows[i].cells[c].Treatment
		if t == nil || !(t.LimitBps > 0) {
			continue
		}
		shared = shared && (highest == 0 || t.LimitBps == highest)
		highest = max(highest, t.LimitBps)
	}
	if highest == 0 {
		d.Text(x(0), y, "limit unknown: no link of the path has a rate", figure.Style{Size: sizeSmall, Role: figure.Muted})
		return
	}
	text := "limit"
	if shared {
		text = "limit " + v.scale.value(highest)
	}
	at := x(highest * v.scale.per)
	half := figure.TextWidth(text, sizeText, true) / 2
	d.Text(min(at, width-half), y, text, figure.Style{Size: sizeText, Role: figure.Limit, Bold: true, Anchor: figure.Middle})
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
		if t := v.rows[i].cells[p.c].Treatment; t != nil {
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
		t := r.cells[c].Treatment
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
		if slices.ContainsFunc(r.cells, func(c cell) bool { e := m.Effect(c.effect); return e != nil && e.Verdict == record.Worsens }) {
			names = append(names, r.name)
		}
	}
	return names
}

// allAlike: no treatment differs from the baseline in a response.
func allAlike(v *view, m *measure) bool {
	for _, r := range v.rows {
		for _, c := range r.cells {
			if e := m.Effect(c.effect); !r.baseline && (e == nil || e.Verdict != record.NoDifference) {
				return false
			}
		}
	}
	return true
}
