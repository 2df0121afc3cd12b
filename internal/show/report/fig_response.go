package report

import (
	"strings"

	"linerate/internal/show/figure"
)

// responseFigure draws a response by treatment with its interval, goodput with the
// limit as a line: one panel for each condition, all on one scale.
func (v *view) responseFigure(m *measure) (Figure, bool) {
	if len(v.rows) == 0 {
		return Figure{}, false
	}
	f := Figure{Name: m.Name, Title: v.responseTitle(m), csv: v.responseCSV(m)}
	v = v.whole() // the CSV has all
	high := 0.0
	for _, r := range v.rows {
		for _, c := range r.cells {
			if c.Treatment == nil {
				continue
			}
			e := m.Estimate(c.Treatment)
			high = max(high, e.High, e.Mean)
			if m.goodput() {
				high = max(high, c.LimitBps)
			}
		}
	}
	if !finite(high) {
		high = 0
	}
	for _, p := range v.panesOf(m) {
		f.panels = append(f.panels, panel{v.columns[p.c].name, func(width float64) *figure.Drawing { return v.responsePanel(p, width, high*m.scale.per) }})
	}
	return f, true
}

func (v *view) responsePanel(p pane, width, high float64) *figure.Drawing {
	c := p.c
	nameWidth, names, rowHeight := v.nameColumn(width)
	values, valueWidth, point := v.valueLabels(p)
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
		e := p.Estimate(t)
		mean, low, upper := e.Mean*p.scale.per, e.Low*p.scale.per, e.High*p.scale.per
		d.Rect(left, y-8, x(mean)-left, 16, role).Tip(v.label(r, c) + ": " + p.scale.join(values[i].text()))
		if upper > low {
			d.Line(figure.Ink, 1.4, figure.Point{X: x(low), Y: y}, figure.Point{X: x(upper), Y: y})
			for _, end := range []float64{low, upper} {
				d.Line(figure.Ink, 1.4, figure.Point{X: x(end), Y: y - 4}, figure.Point{X: x(end), Y: y + 4})
			}
		}
		if t.LimitBps > 0 && p.goodput() {
			at := x(t.LimitBps * v.scale.per)
			d.Line(figure.Limit, 2, figure.Point{X: at, Y: y - rowHeight/2}, figure.Point{X: at, Y: y + rowHeight/2})
		}
		values[i].draw(d, width-valueWidth+point, y+4.5)
	}
	if p.goodput() {
		v.limitLabel(d, c, x, top-8, width)
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
func (v *view) limitLabel(d *figure.Drawing, c int, x func(float64) float64, y, width float64) {
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
func (v *view) valueLabels(p pane) (labels []valueLabel, width, point float64) {
	after := 0.0
	for i := range v.rows {
		var l valueLabel
		if t := v.rows[i].cells[p.c].Treatment; t != nil {
			mean, half := p.interval(t)
			l.whole, l.rest, _ = strings.Cut(mean, ".")
			if l.rest != "" {
				l.rest = "." + l.rest
			}
			if half != "" {
				l.rest += "\u00a0±" + half
			}
		}
		labels = append(labels, l)
		point, after = max(point, figure.TextWidth(l.whole, sizeText, false)), max(after, figure.TextWidth(l.rest, sizeText, false))
	}
	return labels, point + after, point
}
