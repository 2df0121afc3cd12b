package chart

import (
	"math"
	"slices"
	"strings"

	"linerate/internal/model/unit"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// curve returns the line from a to b. Links within a column bend to the side.
func (e *edge) curve() []figure.Point {
	a, b := figure.Point{X: e.a.x, Y: e.a.y}, figure.Point{X: e.b.x, Y: e.b.y}
	if e.a.node.column != e.b.node.column {
		return figure.Curve(a, b)
	}
	a.X, b.X = e.a.node.x+e.a.node.w, e.b.node.x+e.b.node.w
	out := figure.Point{X: max(a.X, b.X) + 26, Y: (a.Y + b.Y) / 2}
	first, second := figure.Curve(a, out), figure.Curve(out, b)
	return append(first, second[1:]...)
}

func (s *slot) name() string {
	name, _, _ := strings.Cut(s.label, " ")
	return strings.TrimSuffix(s.node.name+"."+name, ".")
}

// lane is a line of a link: the direction that is shown or, of a link with load in both, one of
// two lines beside each other.
type lane struct {
	*edge
	directedLoad
	back bool // whether it leads from b to a
	// shift is how far below the middle of the link the line is, in pixels; 0: it is the only one.
	shift float64
}

// laneShift leaves room for a label on each of two lines, within the height of a slot.
const laneShift = 6.0

func (e *edge) lanes() []lane {
	if e.twoWay() {
		return []lane{{e, e.ab, false, -laneShift}, {e, e.ba, true, laneShift}}
	}
	return []lane{{edge: e, directedLoad: e.shown(), back: e.shown() != e.ab}}
}

// thickness is the scale of the links of a figure, the same in all of its drawings.
type thickness struct {
	most   float64 // load of the thickest link, bit/s
	widest float64 // its width in pixels
}

// newThickness returns the scale of a figure of some treatments. Loads are compared with those of all.
func newThickness(v *view.View, drawn []view.Spot) thickness {
	s := thickness{most: 1, widest: 15}
	for _, t := range v.Run.Treatments {
		for _, p := range t.Interfaces {
			s.most = max(s.most, view.Load(p))
		}
	}
	for _, spot := range drawn {
		loads := loadsOf(spot.Row.Treatments[spot.Column].Interfaces)
		for i := range v.Run.Topology.Links {
			if loadOf(&v.Run.Topology.Links[i], loads).twoWay() {
				s.widest = 1.5 * laneShift
			}
		}
	}
	return s
}

// width returns the width of a line. A bundle is drawn as wide as one of its links.
func (s thickness) width(l lane) float64 {
	const least = 1.5
	return least + (s.widest-least)*min(l.bps/float64(l.links)/s.most, 1)
}

func (s thickness) idle(l lane) bool { return l.bps < s.most/200 }

// curve returns the line from where the lane begins to where it leads.
func (l lane) curve() []figure.Point {
	points := l.edge.curve()
	if l.back {
		slices.Reverse(points)
	}
	for i := range points {
		points[i].Y += l.shift
	}
	return points
}

func (l lane) full() bool { return l.directedLoad.full() }

func (l lane) role() figure.Role {
	if l.full() {
		return figure.Limit
	}
	return figure.Change
}

func (l lane) draw(d *figure.Drawing, s thickness) {
	points := l.curve()
	tip := l.a.name() + " → " + l.b.name() + ": " + l.ab.spell() + "; back: " + l.ba.spell()
	if s.idle(l) {
		d.Line(figure.Base, 1.2, points...).Dash().Tip(tip)
		return
	}
	width := s.width(l)
	points = arrow(d, points, width, l.role())
	d.Line(l.role(), width, points...).Tip(tip)
}

func (w directedLoad) spell() string {
	if w.limit > 0 {
		return number.LinkRate(w.bps) + " of " + number.LinkRate(w.limit)
	}
	return number.LinkRate(w.bps)
}

// sayOther says which share of its rate a link carries in the direction that is not shown. Empty:
// that one is not drawn, or its rate is unknown.
func (l linkLoad) sayOther() string {
	other := l.other()
	if !l.twoWay() || other.limit <= 0 {
		return ""
	}
	return ", and " + unit.FormatPercent(math.Round(1000*other.bps/other.limit)/1000) + " in the other direction"
}

// arrow draws the head of an arrow at the end of a line, and returns the line without the part that
// the head covers.
func arrow(d *figure.Drawing, points []figure.Point, width float64, role figure.Role) []figure.Point {
	tip := points[len(points)-1]
	sign := 1.0
	if points[len(points)-2].X > tip.X {
		sign = -1
	}
	length, half := 6+width*0.45, 3.5+width*0.6
	base := tip.X - sign*length
	d.Polygon(role, tip, figure.Point{X: base, Y: tip.Y - half}, figure.Point{X: base, Y: tip.Y + half})
	kept := slices.DeleteFunc(slices.Clone(points), func(p figure.Point) bool { return (p.X-base)*sign > 0 })
	return append(kept, figure.Point{X: base, Y: tip.Y})
}

// drawLabel writes the load of a line: inside it if it is thick enough, otherwise above it; on a
// background if the link is steep or has two lines.
func (l lane) drawLabel(d *figure.Drawing, s thickness) {
	if l.bps < 1000 || s.idle(l) && l.shift == 0 {
		return
	}
	points := l.curve()
	first, last := points[0], points[len(points)-1]
	steep := max(first.Y-last.Y, last.Y-first.Y) > 12
	mid := points[len(points)/2]
	from, to := l.a.node, l.b.node
	if l.back {
		from, to = to, from
	}
	switch {
	case !steep: // in the middle, not on the arrow's head
		mid = figure.Point{X: (first.X + last.X) / 2, Y: (first.Y + last.Y) / 2}
		head := 5.0
		if last.X > first.X {
			head = -head
		}
		mid.X += head
	case from.inner && !to.inner: // lines are further apart near the outer box
		mid = points[len(points)*5/8]
	case to.inner && !from.inner:
		mid = points[len(points)*3/8]
	}
	text := number.LinkRate(l.bps)
	width := s.width(l)
	if l.links > 1 && l.shift >= 0 {
		d.Text(mid.X, mid.Y+width/2+13, words.Count(l.links, "link"),
			figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.Middle})
	}
	style := figure.Style{Size: sizeSmall, Anchor: figure.Middle, Bold: l.full()}
	if l.full() {
		style.Role = figure.Limit
	}
	room := max(last.X-first.X, first.X-last.X)
	for style.Size > 9 && figure.TextWidth(text, style.Size, style.Bold) > room-16 {
		style.Size -= 0.5
	}
	w := figure.TextWidth(text, style.Size, style.Bold)
	switch {
	case l.shift != 0:
		d.Rect(mid.X-w/2, mid.Y-laneShift, w, 2*laneShift, figure.Paper)
		d.Text(mid.X, mid.Y+4, text, style)
	case steep:
		d.Rect(mid.X-w/2, mid.Y-7.5, w, 15, figure.Paper)
		d.Text(mid.X, mid.Y+4, text, style)
	case width >= 12.5:
		style.Role, style.Bold = figure.Paper, true
		d.Text(mid.X, mid.Y+style.Size*0.36, text, style)
	default:
		d.Text(mid.X, mid.Y-width/2-3, text, style)
	}
}
