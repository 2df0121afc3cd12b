package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/plain"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Text sizes in charts, in pixels.
const (
	sizeText  = 12.5
	sizeSmall = 11.5
)

// small returns the style of axis text and remarks.
func small(anchor figure.Anchor) figure.Style {
	return figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: anchor}
}

// plot is a drawing with axes. x and y convert values to pixels.
type plot struct {
	*figure.Drawing
	left, right, top, bottom float64
	x, y                     func(float64) float64
}

func (p plot) at(x, y float64) figure.Point { return figure.Point{X: p.x(x), Y: p.y(y)} }

// across draws a horizontal line over the whole width at a value of the y axis.
func (p plot) across(role figure.Role, width, value float64) *figure.Shape {
	return p.Line(role, width, figure.Point{X: p.left, Y: p.y(value)}, figure.Point{X: p.right, Y: p.y(value)})
}

// yAxis draws a line at each tick with its label, and the unit above them.
func (p plot) yAxis(values []float64, labels []string, unit string) {
	for i, value := range values {
		p.across(figure.Faint, 1, value)
		p.Text(p.left-6, p.y(value)+4, labels[i], small(figure.End))
	}
	p.Text(0, p.top-12, unit, small(figure.Start))
}

// xAxis labels the ticks that have room, and writes the name of the axis at its right end.
func (p plot) xAxis(values []float64, labels []string, name string) {
	p.xLabels(values, labels)
	p.Text(p.right, p.bottom+31, name, small(figure.End))
}

func (p plot) xLabels(values []float64, labels []string) {
	end := math.Inf(-1)
	for i, value := range values {
		half := figure.TextWidth(labels[i], sizeSmall, false) / 2
		if at := p.x(value); at-half > end && at+half <= p.Width {
			p.Text(at, p.bottom+16, labels[i], small(figure.Middle))
			end = at + half + 5
		}
	}
}

// linear maps values from low to high to pixels. Values outside are drawn at the end.
func linear(low, high, from, to float64) func(float64) float64 {
	return func(v float64) float64 {
		if !(high > low) {
			return (from + to) / 2
		}
		return from + (min(max(v, low), high)-low)/(high-low)*(to-from)
	}
}

// logarithmic maps values like linear, with equal distances for equal ratios.
func logarithmic(low, high, from, to float64) func(float64) float64 {
	onto := linear(math.Log(low), math.Log(high), from, to)
	return func(v float64) float64 { return onto(math.Log(v)) }
}

// ticks returns round numbers from low to high, about n of them.
func ticks(low, high float64, n int) []float64 {
	if !(high > low) || math.IsInf(high-low, 0) {
		return []float64{low}
	}
	least := (high - low) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if step*m >= least {
			step *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-4; i++ {
		out = append(out, i*step)
	}
	return out
}

// logTicks returns round numbers between two positive ones, at most n of them. It uses the densest
// of the ladders (numbers within a power of ten) that gives no more than n.
func logTicks(low, high float64, n int, ladders ...[]float64) (list []float64) {
	if !(low > 0) || !number.Finite(high) {
		return nil
	}
	for _, ladder := range ladders {
		list = nil
		for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
			for _, s := range ladder {
				// Powers of ten are not exact: computing 1e-1 does not give 0.1.
				at, err := strconv.ParseFloat(strconv.FormatFloat(s*math.Pow(10, e), 'g', 6, 64), 64)
				if err == nil && at >= low && at <= high {
					list = append(list, at)
				}
			}
		}
		if len(list) <= n {
			break
		}
	}
	return list
}

// tickLabels formats ticks with the decimal places that their step needs.
func tickLabels(values []float64) []string {
	places := 0
	if len(values) > 1 {
		for step := values[1] - values[0]; places < 6 && math.Abs(step-math.Round(step)) > 1e-6*step; places++ {
			step *= 10
		}
	}
	return lists.Map(values, func(v float64) string { return number.Round(v, places) })
}

// labelRoom returns the width of labels to the left of the y axis.
func labelRoom(labels []string) float64 {
	room := 8.0
	for _, label := range labels {
		room = max(room, figure.TextWidth(label, sizeSmall, false)+8)
	}
	return room
}

// nameColumn returns the width of the rows' names, the lines of each name, and the height of a row
// that fits them.
func nameColumn(v *view.View, width float64) (room float64, names [][]string, height float64) {
	widest, lines := 0.0, 2
	if width < figure.Wide/2-figure.Gap {
		lines = 3
	}
	for _, r := range v.Rows {
		widest = max(widest, figure.TextWidth(plain.Line(r.Name), sizeText, false))
	}
	room = min(widest+2, width*0.34)
	most := 1
	for _, r := range v.Rows {
		names = append(names, figure.Wrap(plain.Line(r.Name), room, sizeText, false, lines))
		most = max(most, len(names[len(names)-1]))
	}
	return room, names, 10 + sizeText*1.16*float64(most)
}

// drawName draws the name of a row, vertically centred at y.
func drawName(d *figure.Drawing, lines []string, x, y float64, tip string) {
	y += sizeText*0.36 - float64(len(lines)-1)*sizeText*0.58
	for _, line := range lines {
		d.Text(x, y, line, figure.Style{Size: sizeText}).Tip(tip)
		y += sizeText * 1.16
	}
}

// curveEnd is the end of a curve at the right of a plot, in pixels.
type curveEnd struct {
	name string
	y    float64
	role figure.Role
}

// nameCurves labels curves at their right ends, and moves labels apart where they are close. If
// there are too many, neighbours share a label.
func (p plot) nameCurves(ends []curveEnd) {
	const line = 14.0
	x := p.right + 7
	slices.SortStableFunc(ends, func(a, b curveEnd) int { return cmp.Compare(a.y, b.y) })
	type label struct {
		curveEnd
		names, rows []string
	}
	var labels []label
	crowded := float64(len(ends)-1)*line > p.bottom-p.top
	for i, e := range ends {
		if crowded && i > 0 && e.y-ends[i-1].y < line {
			last := &labels[len(labels)-1]
			last.names, last.role = append(last.names, e.name), figure.Ink
			continue
		}
		labels = append(labels, label{curveEnd: e, names: []string{e.name}})
	}
	// The first line of each label, computed once by pushing labels down from the top and once up
	// from the bottom. Halfway between, labels are near their curves and sufficiently far apart.
	down, up := make([]float64, len(labels)), make([]float64, len(labels))
	y := p.top
	for i := range labels {
		l := &labels[i]
		slices.SortStableFunc(l.names, words.Natural)
		l.name = strings.Join(l.names, ", ")
		if n := len(l.names); n > 4 {
			l.name = fmt.Sprintf("%s … %s (%d)", l.names[0], l.names[n-1], n)
		}
		l.rows = figure.Wrap(plain.Line(l.name), p.Width-x, sizeSmall, false, 2)
		l.y -= line * float64(len(l.rows)-1) / 2
		down[i] = max(y, l.y)
		y = down[i] + line*float64(len(l.rows))
	}
	y = p.bottom + line
	for i, l := range slices.Backward(labels) {
		up[i] = min(l.y, y-line*float64(len(l.rows)))
		y = up[i]
	}
	for i, l := range labels {
		y := (down[i] + up[i]) / 2
		for _, row := range l.rows {
			p.Text(x, y+4, row, figure.Style{Size: sizeSmall, Role: l.role}).Tip(l.name)
			y += line
		}
	}
}

// fitTail shortens the name of an interface at the front, because interfaces differ in their last
// characters.
func fitTail(name string, width float64) string {
	letters := []rune(name)
	for n := 0; n < len(letters); n++ {
		short := string(letters[n:])
		if n > 0 {
			short = "…" + short
		}
		if figure.TextWidth(short, sizeSmall, false) <= width {
			return short
		}
	}
	return ""
}
