package report

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/show/report/draw"
)

// topologyFigure draws hosts, switches and links, each link as thick as its
// load: the baseline beside the best fix, for each condition.
func (v *view) topologyFigure() (Figure, bool) {
	if len(v.run.Topology.Links) == 0 {
		return Figure{}, false
	}
	f := Figure{Name: "topology", Title: v.topologyTitle(), csv: v.portsCSV(), note: topologyNote}
	for c := range v.columns {
		for _, r := range v.pair() {
			if r.cells[c].Treatment != nil {
				f.panels = append(f.panels, v.topologyPanel(r, c))
			}
		}
	}
	return f, len(f.panels) > 0
}

const topologyNote = "Links are as thick as their load, on the wire, in the busier direction. Bold: at least 97 % of the link's rate. Dashed: idle."

func (v *view) topologyPanel(r *row, c int) panel {
	t := r.cells[c].Treatment
	title := sentence(v.label(r, c)) + ": " + v.scale.with(t.Goodput.MeanBps)
	return panel{title, func(width float64) *draw.Drawing {
		g := newGraph(&v.run.Topology, t.Ports, v.focus)
		return g.draw(width)
	}}
}

// Heights of what stands in a topology.
const (
	slotHeight  = 24.0
	titleHeight = 22.0
	boxGap      = 12.0
)

// place gives every box and slot its position and returns the drawing's height.
func (g *graph) place(width float64) float64 {
	boxWidth := min(width*0.31, 168)
	innerWidth := min(width*0.14, 92)
	if g.columns > 3 {
		boxWidth, innerWidth = min(width/float64(2*g.columns-1)*1.4, 150), width/float64(2*g.columns-1)
	}
	height := 0.0
	for c := range g.columns {
		total := 0.0
		for _, n := range g.column(c) {
			n.h = titleHeight + slotHeight*float64(max(len(n.slots), 1))
			if n.plain() {
				n.h = 30
			}
			total += n.h + boxGap
		}
		if !g.middle(c) {
			height = max(height, total)
		} else {
			height = max(height, float64(len(g.column(c)))*(60+boxGap))
		}
	}
	for c := range g.columns {
		nodes := g.column(c)
		w, total := boxWidth, 0.0
		if g.middle(c) {
			w = innerWidth
			for _, n := range nodes {
				n.h = (height - boxGap*float64(len(nodes))) / float64(len(nodes))
			}
		}
		for _, n := range nodes {
			total += n.h + boxGap
		}
		x := width - w
		if g.columns > 1 {
			x = (width - w) * float64(g.columns-1-c) / float64(g.columns-1)
		}
		y := (height - total + boxGap) / 2
		for _, n := range nodes {
			n.x, n.y, n.w = x, y, w
			y += n.h + boxGap
		}
	}
	g.placeSlots()
	return height
}

// middle reports whether a column stands between two others.
func (g *graph) middle(c int) bool { return c > 0 && c < g.columns-1 }

// plain is a box with one line of text: a host with one link.
func (n *node) plain() bool { return len(n.slots) <= 1 }

// placeSlots puts each line's ends on the sides of the boxes that face each
// other: on outer boxes one below the other, on inner ones level with the far
// end where there is room.
func (g *graph) placeSlots() {
	for _, n := range g.nodes {
		if g.middle(n.column) {
			continue
		}
		for i, s := range n.slots {
			s.y = n.y + titleHeight + slotHeight*(float64(i)+0.4)
			if n.plain() {
				s.y = n.y + n.h/2
			}
		}
	}
	type side struct {
		n    *node
		left bool
	}
	waiting := map[side][]*edge{}
	for _, e := range g.edges {
		for _, s := range []*slot{e.a, e.b} {
			other := e.other(s)
			left := other.node.x < s.node.x
			s.x = s.node.x + s.node.w
			if left {
				s.x = s.node.x
			}
			if g.middle(s.node.column) {
				waiting[side{s.node, left}] = append(waiting[side{s.node, left}], e)
			}
		}
	}
	for c := 1; c < g.columns-1; c++ {
		for _, n := range g.column(c) {
			for _, left := range []bool{false, true} {
				list := waiting[side{n, left}]
				slices.SortStableFunc(list, func(a, b *edge) int { return cmp.Compare(a.far(n).height(), b.far(n).height()) })
				level := true
				for _, e := range list {
					y := e.far(n).height()
					level = level && !g.middle(e.far(n).node.column) && y > n.y+6 && y < n.y+n.h-6
				}
				for i, e := range list {
					s := e.other(e.far(n))
					s.y = n.y + n.h*(float64(i)+0.5)/float64(len(list))
					if level {
						s.y = e.far(n).height()
					}
				}
			}
		}
	}
}

// height is where the slot is, or its box as long as it has no place.
func (s *slot) height() float64 {
	if s.y != 0 {
		return s.y
	}
	return s.node.y + s.node.h/2
}

func (e *edge) other(s *slot) *slot {
	if s == e.a {
		return e.b
	}
	return e.a
}

// far is the slot of an edge that is not on the given box.
func (e *edge) far(n *node) *slot {
	if e.a.node == n {
		return e.b
	}
	return e.a
}

func (g *graph) draw(width float64) *draw.Drawing {
	if len(g.nodes) == 0 {
		return draw.New(width, 0)
	}
	d := draw.New(width, g.place(width)+4)
	most := 1.0
	for _, e := range g.edges {
		most = max(most, e.load()/float64(e.links))
	}
	for _, e := range g.edges {
		e.draw(d, most)
	}
	for _, n := range g.nodes {
		n.draw(d, g.middle(n.column))
	}
	for _, e := range g.edges {
		e.drawLabel(d)
	}
	return d
}

func (e *edge) full() bool { return e.limit > 0 && e.load() >= fullLoad*e.limit }

// curve runs from a to b; links within a column bow out to the side.
func (e *edge) curve() []draw.Point {
	a, b := draw.Point{X: e.a.x, Y: e.a.y}, draw.Point{X: e.b.x, Y: e.b.y}
	if e.a.node.column != e.b.node.column {
		return draw.Curve(a, b)
	}
	a.X, b.X = e.a.node.x+e.a.node.w, e.b.node.x+e.b.node.w
	out := draw.Point{X: max(a.X, b.X) + 26, Y: (a.Y + b.Y) / 2}
	first, second := draw.Curve(a, out), draw.Curve(out, b)
	return append(first, second[1:]...)
}

func (e *edge) role() draw.Role {
	if e.full() {
		return draw.Limit
	}
	return draw.Change
}

func (e *edge) idle(most float64) bool { return e.load() < most/200 }

func (e *edge) draw(d *draw.Drawing, most float64) {
	points := e.curve()
	tip := e.a.name() + " → " + e.b.name() + ": " + linkRate(e.ab) + "; back: " + linkRate(e.ba)
	if e.limit > 0 {
		tip += "; rate " + linkRate(e.limit)
	}
	if e.idle(most) {
		d.Line(draw.Base, 1.2, points...).Dash().Tip(tip)
		return
	}
	width := 1.5 + 9*min(e.load()/float64(e.links)/most, 1)
	d.Line(e.role(), width, points...).Tip(tip)
	if e.ab >= e.load()/10 {
		arrow(d, points, width, e.role())
	}
	if e.ba >= e.load()/10 {
		back := slices.Clone(points)
		slices.Reverse(back)
		arrow(d, back, width, e.role())
	}
}

func (s *slot) name() string {
	port, _, _ := strings.Cut(s.label, " ")
	if port == "" {
		return s.node.name
	}
	return s.node.name + "." + port
}

// arrow puts a head on a line where it enters a box.
func arrow(d *draw.Drawing, points []draw.Point, width float64, role draw.Role) {
	tip := points[len(points)-1]
	sign := 1.0
	if points[len(points)-2].X > tip.X {
		sign = -1
	}
	length, half := 7+width*0.6, 4+width*0.75
	// The line's own end would stand out beside the head's tip.
	d.Rect(min(tip.X, tip.X-sign*length), tip.Y-width/2-0.7, length, width+1.4, draw.Paper)
	d.Polygon(role, tip, draw.Point{X: tip.X - sign*length, Y: tip.Y - half}, draw.Point{X: tip.X - sign*length, Y: tip.Y + half})
}

// drawLabel sets the load on the middle of the link, on paper.
func (e *edge) drawLabel(d *draw.Drawing) {
	points := e.curve()
	mid := points[len(points)/2]
	// Nearer the outer box the lines are further apart.
	switch {
	case e.a.node.inner && !e.b.node.inner:
		mid = points[len(points)*5/8]
	case e.b.node.inner && !e.a.node.inner:
		mid = points[len(points)*3/8]
	}
	text := linkRate(e.load())
	if e.load() < 1000 {
		return
	}
	style := draw.Style{Size: sizeSmall, Anchor: draw.Middle, Bold: e.full()}
	if e.full() {
		style.Role = draw.Limit
	}
	if e.links > 1 {
		text += " over " + count(e.links, "link")
	}
	room := max(points[len(points)-1].X-points[0].X, points[0].X-points[len(points)-1].X)
	if draw.TextWidth(text, style.Size, style.Bold) > room-14 {
		style.Size = 10
	}
	w := draw.TextWidth(text, style.Size, style.Bold) + 6
	d.Rect(mid.X-w/2, mid.Y-8, w, 16, draw.Paper)
	d.Text(mid.X, mid.Y+4, text, style)
}

func (n *node) draw(d *draw.Drawing, middle bool) {
	d.Rect(n.x, n.y, n.w, n.h, draw.Panel).Tip(n.name)
	d.Line(draw.Base, 1, draw.Point{X: n.x, Y: n.y}, draw.Point{X: n.x + n.w, Y: n.y}, draw.Point{X: n.x + n.w, Y: n.y + n.h},
		draw.Point{X: n.x, Y: n.y + n.h}, draw.Point{X: n.x, Y: n.y})
	title := draw.Style{Size: sizeText, Bold: true}
	switch {
	case middle:
		title.Anchor = draw.Middle
		d.Text(n.x+n.w/2, n.y+n.h/2+4, draw.Fit(plain(n.name), n.w-6, sizeText, true), title)
		return
	case n.plain():
		name := draw.Fit(plain(n.name), n.w-12, sizeText, true)
		d.Text(n.x+7, n.y+n.h/2+4.5, name, title)
		rest := n.caption
		if len(n.slots) == 1 && n.slots[0].label != "" {
			rest = n.slots[0].label
		}
		used := draw.TextWidth(name, sizeText, true) + 20
		if short := shortLabel(rest, n.w-used); short != "" {
			d.Text(n.x+n.w-7, n.y+n.h/2+4, short, draw.Style{Size: sizeSmall, Role: draw.Muted, Anchor: draw.End}).Tip(rest)
		}
		return
	}
	d.Text(n.x+8, n.y+16, draw.Fit(plain(n.name), n.w-12, sizeText, true), title)
	if n.caption != "" {
		d.Text(n.x+8, n.y+16+slotHeight*0.8, draw.Fit(plain(n.caption), n.w-12, sizeSmall, false), draw.Style{Size: sizeSmall, Role: draw.Muted})
	}
	for _, s := range n.slots {
		style := draw.Style{Size: sizeSmall}
		x := n.x + 10
		if s.x > n.x+n.w/2 {
			style.Anchor, x = draw.End, n.x+n.w-10
		}
		d.Text(x, s.y+4, shortLabel(s.label, n.w-18), style).Tip(s.label)
	}
}

// shortLabel is port and address, or the port alone where there is no room.
func shortLabel(label string, width float64) string {
	label = plain(label)
	if draw.TextWidth(label, sizeSmall, false) <= width {
		return label
	}
	port, _, _ := strings.Cut(label, " ")
	return fitTail(port, width)
}
