package chart

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// responseFigure draws a response by treatment with its interval, and the limit of goodput as a
// line: one panel for each condition, all on one scale. It returns false for a single value, which
// needs no figure.
func responseFigure(v *view.View, m *view.Measure) (figure.Figure, bool) {
	if len(v.Rows) == 0 {
		return figure.Figure{}, false
	}
	once := v.Once(m)
	if once.Lone(m) {
		return figure.Figure{}, false
	}
	f := figure.Figure{Name: m.Name, Title: responseTitle(once, m), Data: v.ResponseCSV(m), Note: dotsNote(v)}
	v = once.Whole() // the CSV has all values
	high := 0.0
	for r, c := range v.Each() {
		t := r.Treatments[c]
		high = max(high, m.Estimate(t).High, m.Estimate(t).Mean)
		for _, trial := range m.Trials[t.Name] {
			high = max(high, trial.Value)
		}
		if m.Goodput() {
			high = max(high, t.LimitBps)
		}
	}
	if !(high > 0) || !number.Finite(high) {
		high = 1
	}
	for _, p := range v.Panes(m) {
		f.Panels = append(f.Panels, figure.Panel{Title: v.Columns[p.At].Name,
			Draw: func(width float64) *figure.Drawing { return responsePanel(v, p, width, high*m.Shown.Per) }})
	}
	return f, true
}

func responsePanel(v *view.View, of view.Pane, width, high float64) *figure.Drawing {
	c := of.At
	nameWidth, names, rowHeight := nameColumn(v, width)
	values, valueWidth, point := valueLabels(v, of)
	p := plot{left: nameWidth + 10, right: width - valueWidth - 10, top: 22}
	p.x = linear(0, high, p.left, p.right-2)
	trials := make([][]dot, len(v.Rows))
	for i := range v.Rows {
		if t := v.Rows[i].Treatments[c]; t != nil {
			trials[i] = trialDots(of.Measure, t.Name, v.Label(&v.Rows[i], c))
		}
	}
	axis := func(value float64) float64 { return p.x(value * of.Shown.Per) }
	const bar, between = 16.0, 4.0 // height of the bar, and space above and below the dots
	room := dotRoom(trials, axis, 6, 22)
	rowHeight = max(rowHeight, between+bar+between+room+between)
	p.bottom = p.top + rowHeight*float64(len(v.Rows))
	p.Drawing = figure.New(width, p.bottom+36)
	marks := ticks(0, high, int(max(2, (p.right-p.left)/60)))
	for _, mark := range marks {
		p.Line(figure.Faint, 1, figure.Point{X: p.x(mark), Y: p.top}, figure.Point{X: p.x(mark), Y: p.bottom})
	}
	p.xLabels(marks, tickLabels(marks))
	p.Text(p.left, p.bottom+30, of.Head()+of.Sense()+intervalNote(v, of), small(figure.Start))
	for i := range v.Rows {
		r := &v.Rows[i]
		middle := p.top + rowHeight*(float64(i)+0.5)
		y := middle - (room+between)/2 // of the bar; the dots are below it
		drawName(p.Drawing, names[i], 0, middle, r.Name)
		t := r.Treatments[c]
		if t == nil {
			p.Text(p.left+4, middle+4, "not tried", small(figure.Start))
			continue
		}
		role := figure.Change
		if r.Baseline {
			role = figure.Base
		}
		e := of.Estimate(t)
		mean, low, upper := e.Mean*of.Shown.Per, e.Low*of.Shown.Per, e.High*of.Shown.Per
		p.Rect(p.left, y-bar/2, p.x(mean)-p.left, bar, role).Tip(v.Label(r, c) + ": " +
			number.Bracketed(of.Shown.With(values[i].text()), e.Rank))
		if t.LimitBps > 0 && of.Goodput() {
			at := p.x(t.LimitBps * v.Scale.Per)
			p.Line(figure.Limit, 2, figure.Point{X: at, Y: middle - rowHeight/2},
				figure.Point{X: at, Y: middle + rowHeight/2})
		}
		if upper > low {
			p.Line(figure.Ink, 1.4, figure.Point{X: p.x(low), Y: y}, figure.Point{X: p.x(upper), Y: y})
			for _, end := range []float64{low, upper} {
				p.Line(figure.Ink, 1.4, figure.Point{X: p.x(end), Y: y - 4}, figure.Point{X: p.x(end), Y: y + 4})
			}
		}
		p.dots(trials[i], room, figure.Ink, axis, func(at, away float64) figure.Point {
			return figure.Point{X: at, Y: y + bar/2 + between + away}
		})
		values[i].draw(p.Drawing, width-valueWidth+point, middle+4.5)
	}
	if of.Goodput() {
		limitLabel(v, p, c)
	}
	return p.Drawing
}

// dotsNote explains the marks of single trials.
func dotsNote(v *view.View) string {
	if len(v.Run.Outliers) > 0 {
		return "Dots are trials; a ring marks an outlier of its treatment."
	}
	return "Dots are trials."
}

// intervalNote names the confidence of the intervals. Empty: there are none.
func intervalNote(v *view.View, of view.Pane) string {
	for _, r := range v.Rows {
		if t := r.Treatments[of.At]; t != nil && v.Run.Confidence > 0 && of.Estimate(t).High > of.Estimate(t).Low {
			return " · intervals " + number.Round(v.Run.Confidence*100, 0) + " %"
		}
	}
	return ""
}

// limitLabel writes the name of the limit above its line, with its value if all treatments of the
// condition have the same.
func limitLabel(v *view.View, p plot, c int) {
	highest, shared, why := 0.0, true, "unknown: no link of the path has a rate"
	for i := range v.Rows {
		t := v.Rows[i].Treatments[c]
		if t == nil || !(t.LimitBps > 0) {
			if t != nil {
				why = cmp.Or(wording.Limit(t.Limit, t.LimitWhy), why)
			}
			continue
		}
		shared = shared && (highest == 0 || t.LimitBps == highest)
		highest = max(highest, t.LimitBps)
	}
	if highest == 0 {
		p.Text(p.left, p.top-8, figure.Fit(plain.Line("limit "+why), p.Width-p.left, sizeSmall, false),
			small(figure.Start))
		return
	}
	text := "limit"
	if shared {
		text = "limit " + v.Scale.Value(highest)
	}
	half := figure.TextWidth(text, sizeText, true) / 2
	p.Text(min(p.x(highest*v.Scale.Per), p.Width-half), p.top-8, text, figure.Style{Size: sizeText, Role: figure.Limit,
		Bold: true, Anchor: figure.Middle})
}

// valueLabel is "119.50 ±0.04", split at the decimal point.
type valueLabel struct{ whole, rest string }

func (l valueLabel) text() string { return l.whole + l.rest }

func (l valueLabel) draw(d *figure.Drawing, x, y float64) {
	d.Text(x, y, l.whole, figure.Style{Size: sizeText, Anchor: figure.End})
	if l.rest != "" {
		d.Text(x, y, l.rest, figure.Style{Size: sizeText})
	}
}

// valueLabels formats the figures of a pane. It also returns their width and the position of the
// decimal point in it.
func valueLabels(v *view.View, p view.Pane) (labels []valueLabel, width, point float64) {
	after := 0.0
	for i := range v.Rows {
		var l valueLabel
		if t := v.Rows[i].Treatments[p.At]; t != nil {
			mean, spread := p.Interval(t)
			l.whole, l.rest, _ = strings.Cut(mean, ".")
			if l.rest != "" {
				l.rest = "." + l.rest
			}
			if spread != "" {
				l.rest += "\u00a0" + spread
			}
		}
		labels = append(labels, l)
		point, after = max(point, figure.TextWidth(l.whole, sizeText, false)),
			max(after, figure.TextWidth(l.rest, sizeText, false))
	}
	return labels, point + after, point
}

func responseTitle(v *view.View, m *view.Measure) string {
	amount := func(r *view.Row, c int) string {
		t := r.Treatments[c]
		switch {
		case t == nil:
			return ""
		case m.Goodput() && t.LimitBps > 0 && r == v.Best && v.Baseline != nil:
			return number.Percent(t.Efficiency)
		case m.Goodput() && t.LimitBps > 0 && v.Best == nil && v.Baseline == nil: // like the table
			return view.OfLimit(t) + " of " + view.LimitName(v.Run, t)
		case m.Goodput() && t.LimitBps > 0:
			return number.Percent(t.Efficiency) + " of the limit"
		default:
			return m.Spell(t)
		}
	}
	if v.Best != nil || v.Baseline == nil || len(v.Rows) == 1 {
		return words.Sentence(m.Label + ": " + v.BeforeAfter(amount))
	}
	about := ""
	if !v.Ordinary() {
		about = m.Label + ": "
	}
	if look := stats.Look(v.Run.Conclusion); look != "" {
		return words.Sentence(about + look)
	}
	if allAlike(v, m) {
		return words.Sentence(about + "every treatment is within " + number.Percent(v.Run.Margin) + " of " +
			words.Name(v.Baseline.Name))
	}
	if worse := judged(v, m, record.Worsens); len(worse) > 0 && !v.Ordinary() {
		return words.Sentence(about + v.PerColumn(func(c int) string { return amount(v.Baseline, c) }) + " at " +
			words.Name(v.Baseline.Name) + "; worse with " + words.List(worse))
	}
	if better := judged(v, m, record.Improves); len(better) > 0 && m != v.Lead() {
		return words.Sentence(about + v.PerColumn(func(c int) string { return amount(v.Baseline, c) }) + " at " +
			words.Name(v.Baseline.Name) + "; better with " + words.List(better))
	}
	return words.Sentence(about + "no treatment is shown to improve on " + words.Name(v.Baseline.Name))
}

// judged names the treatments that have the verdict against the baseline in some condition.
func judged(v *view.View, m *view.Measure, verdict string) []string {
	var names []string
	for _, r := range v.Rows {
		if slices.ContainsFunc(r.Treatments, func(t *record.Treatment) bool {
			e := m.EffectOn(t)
			return e != nil &&
				e.Verdict == verdict
		}) {
			names = append(names, words.Name(r.Name))
		}
	}
	return names
}

// allAlike reports whether no treatment differs from the baseline in a response.
func allAlike(v *view.View, m *view.Measure) bool {
	return !slices.ContainsFunc(v.Rows, func(r view.Row) bool {
		return !r.Baseline && slices.ContainsFunc(r.Treatments, func(t *record.Treatment) bool {
			e := m.EffectOn(t)
			return e == nil || e.Verdict != record.NoDifference
		})
	})
}
