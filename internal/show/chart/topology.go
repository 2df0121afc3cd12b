package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/plain"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// topologyFigure draws hosts, switches and links, with the width of a link proportional to its
// load: the baseline beside the best fix, for each condition.
func topologyFigure(v *view.View) (figure.Figure, bool) {
	if len(v.Run.Topology.Links) == 0 {
		return figure.Figure{}, false
	}
	f := figure.Figure{Name: "topology", Title: topologyTitle(v), Data: v.InterfacesCSV(), Note: topologyNote}
	for _, s := range v.Spots() {
		f.Panels = append(f.Panels, topologyPanel(v, s.Row, s.Column))
	}
	return f, len(f.Panels) > 0
}

const topologyNote = "Links are as thick as their load in the data's direction, by the interfaces' own counters, " +
	"which on virtual interfaces leave out most headers of segments (up to 5 %). Bold: full, at least 94 % of the " +
	"rate. Dashed: idle."

func topologyPanel(v *view.View, r *view.Row, c int) figure.Panel {
	t := r.Treatments[c]
	title := v.Label(r, c) + ": " + v.Lead().Spell(t)
	return figure.Panel{Title: title, Draw: func(width float64) *figure.Drawing {
		most := 1.0 // load of the thickest link, the same in all drawings
		for _, t := range v.Run.Treatments {
			for _, p := range t.Interfaces {
				most = max(most, view.Load(p))
			}
		}
		return newGraph(&v.Run.Topology, t.Interfaces, v.Focus).draw(width,
			func(d *figure.Drawing, e *edge) { e.draw(d, most) }, func(d *figure.Drawing, e *edge) {
				e.drawLabel(d, most)
			})
	}}
}

// Heights in a topology drawing.
const (
	slotHeight  = 26.0
	titleHeight = 22.0
	boxGap      = 12.0
	plainHeight = 40.0
)

// place sets the position of every box and slot, and returns the height of the drawing.
func (g *graph) place(width float64) float64 {
	height := 0.0
	for _, column := range g.columns {
		total := 0.0
		for _, n := range column {
			n.h = titleHeight + slotHeight*float64(max(len(n.slots), 1))
			if n.plain() {
				n.h = plainHeight
			}
			if n.inner { // as high as the outer columns allow, see below
				n.h = 60
			}
			total += n.h + boxGap
		}
		height = max(height, total)
	}
	widths := g.widths(width)
	gap := width
	for _, w := range widths {
		gap -= w
	}
	gap /= float64(max(len(g.columns)-1, 1))
	x := 0.0 // the column furthest from the focus is on the left
	for c, column := range slices.Backward(g.columns) {
		total := 0.0
		for _, n := range column {
			if n.inner {
				n.h = height/float64(len(column)) - boxGap
			}
			total += n.h + boxGap
		}
		y := (height - total + boxGap) / 2
		for _, n := range column {
			n.x, n.y, n.w = x, y, widths[c]
			y += n.h + boxGap
		}
		x += widths[c] + gap
	}
	g.placeSlots()
	return height
}

// linkRoom is the width between two columns that the label of a link needs.
const linkRoom = 74.0

// widths returns the widths that the texts of the columns need, or less if the links between them
// would lose the room for their labels.
func (g *graph) widths(width float64) []float64 {
	out, outer := make([]float64, len(g.columns)), 0.0
	room := max(width-linkRoom*float64(len(out)-1), width*0.5)
	for c, column := range g.columns {
		if column[0].inner {
			out[c] = min(needs(column), width*0.19, room/float64(len(out)))
			room -= out[c]
			continue
		}
		out[c] = min(needs(column), width*0.3)
		outer += out[c]
	}
	for c, column := range g.columns {
		if !column[0].inner {
			out[c] *= min(1, room/outer)
		}
	}
	return out
}

// needs returns the width of a column with all its texts.
func needs(column []*node) float64 {
	need := 46.0
	for _, n := range column {
		need = max(need, figure.TextWidth(plain.Line(n.name), sizeText, true)+16)
		if n.caption != "" {
			need = max(need, figure.TextWidth(plain.Line(n.caption), sizeSmall, false)+16)
		}
		for _, s := range n.slots {
			if !n.inner {
				need = max(need, figure.TextWidth(plain.Line(s.label), sizeSmall, false)+20)
			}
		}
	}
	return need
}

// plain reports whether the box has at most one link: it then has a name and the interface below.
func (n *node) plain() bool { return len(n.slots) <= 1 }

// placeSlots places the ends of each line on the sides of boxes that face each other: on outer
// boxes one below the other, on inner ones level with the far end if there is room.
func (g *graph) placeSlots() {
	for _, n := range g.nodes {
		for i, s := range n.slots {
			if s.x = n.x + n.w; s.far.node.x < n.x {
				s.x = n.x
			}
			if s.y = n.y + titleHeight + slotHeight*(float64(i)+0.4); n.plain() || n.inner {
				s.y = n.y + n.h/2
			}
		}
	}
	for _, column := range g.columns {
		for _, n := range column {
			if n.inner {
				n.placeSide(n.x)
				n.placeSide(n.x + n.w)
			}
		}
	}
}

// placeSide spreads the slots on one side of an inner box.
func (n *node) placeSide(x float64) {
	list := slices.DeleteFunc(slices.Clone(n.slots), func(s *slot) bool { return s.x != x })
	slices.SortStableFunc(list, func(a, b *slot) int { return cmp.Compare(a.far.y, b.far.y) })
	uneven := slices.ContainsFunc(list, func(s *slot) bool {
		return s.far.node.inner || s.far.y <= n.y+6 || s.far.y >= n.y+n.h-6
	})
	for i, s := range list {
		if s.y = s.far.y; uneven {
			s.y = n.y + n.h*(float64(i)+0.5)/float64(len(list))
		}
	}
}

// draw draws the boxes, the lines of the edges behind them, and the labels in front.
func (g *graph) draw(width float64, line, label func(*figure.Drawing, *edge)) *figure.Drawing {
	d := figure.New(width, g.place(width)+4)
	for _, e := range g.edges {
		line(d, e)
	}
	for _, n := range g.nodes {
		n.draw(d)
	}
	for _, e := range g.edges {
		label(d, e)
	}
	return d
}

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

func (e *edge) idle(most float64) bool { return e.load() < most/200 }

func (e *edge) draw(d *figure.Drawing, most float64) {
	points := e.curve()
	tip := e.a.name() + " → " + e.b.name() + ": " + e.ab.spell() + "; back: " + e.ba.spell()
	if e.idle(most) {
		d.Line(figure.Base, 1.2, points...).Dash().Tip(tip)
		return
	}
	width := e.width(most)
	role := figure.Change
	if e.full() {
		role = figure.Limit
	}
	for _, load := range []directedLoad{e.ab, e.ba} {
		if load.bps >= e.load()/10 {
			points = arrow(d, points, width, role)
		}
		slices.Reverse(points)
	}
	d.Line(role, width, points...).Tip(tip)
}

func (w directedLoad) spell() string {
	if w.limit > 0 {
		return number.LinkRate(w.bps) + " of " + number.LinkRate(w.limit)
	}
	return number.LinkRate(w.bps)
}

// width returns the width of a link. A bundle is drawn as wide as one of its links.
func (e *edge) width(most float64) float64 {
	return 1.5 + (thickest-1.5)*min(e.load()/float64(e.links)/most, 1)
}

const thickest = 15.0

func (s *slot) name() string {
	name, _, _ := strings.Cut(s.label, " ")
	return strings.TrimSuffix(s.node.name+"."+name, ".")
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

// drawLabel writes the load of a link: inside it if it is thick enough, otherwise above it; on a
// background if the link is steep.
func (e *edge) drawLabel(d *figure.Drawing, most float64) {
	if e.idle(most) || e.load() < 1000 {
		return
	}
	points := e.curve()
	first, last := points[0], points[len(points)-1]
	steep := max(first.Y-last.Y, last.Y-first.Y) > 12
	mid := points[len(points)/2]
	switch {
	case !steep: // in the middle, not on the arrow's head
		mid = figure.Point{X: (first.X + last.X) / 2, Y: (first.Y + last.Y) / 2}
		head := 5.0
		if (last.X > first.X) == (e.ab.bps > e.ba.bps) {
			head = -head
		}
		mid.X += head
	case e.a.node.inner && !e.b.node.inner: // lines are further apart near the outer box
		mid = points[len(points)*5/8]
	case e.b.node.inner && !e.a.node.inner:
		mid = points[len(points)*3/8]
	}
	text := number.LinkRate(e.load())
	if e.links > 1 {
		d.Text(mid.X, mid.Y+e.width(most)/2+13, words.Count(e.links, "link"),
			figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.Middle})
	}
	style := figure.Style{Size: sizeSmall, Anchor: figure.Middle, Bold: e.full()}
	if e.full() {
		style.Role = figure.Limit
	}
	room := max(last.X-first.X, first.X-last.X)
	for style.Size > 9 && figure.TextWidth(text, style.Size, style.Bold) > room-16 {
		style.Size -= 0.5
	}
	w := figure.TextWidth(text, style.Size, style.Bold)
	switch {
	case !steep && e.width(most) >= 12.5:
		style.Role, style.Bold = figure.Paper, true
		d.Text(mid.X, mid.Y+style.Size*0.36, text, style)
	case steep:
		d.Rect(mid.X-w/2, mid.Y-7.5, w, 15, figure.Paper)
		d.Text(mid.X, mid.Y+4, text, style)
	default:
		d.Text(mid.X, mid.Y-e.width(most)/2-3, text, style)
	}
}

func (n *node) draw(d *figure.Drawing) {
	d.Rect(n.x, n.y, n.w, n.h, figure.Box).Tip(n.name)
	d.Line(figure.Base, 1, figure.Point{X: n.x, Y: n.y}, figure.Point{X: n.x + n.w, Y: n.y},
		figure.Point{X: n.x + n.w, Y: n.y + n.h},
		figure.Point{X: n.x, Y: n.y + n.h}, figure.Point{X: n.x, Y: n.y})
	title := figure.Style{Size: sizeText, Bold: true}
	switch {
	case n.inner:
		title.Anchor = figure.Middle
		d.Text(n.x+n.w/2, n.y+n.h/2+4, figure.Fit(plain.Line(n.name), n.w-6, sizeText, true), title)
		return
	case n.plain():
		rest := n.caption
		if len(n.slots) == 1 && n.slots[0].label != "" {
			rest = n.slots[0].label
		}
		y := n.y + n.h/2 + 4.5
		if short := shortLabel(rest, n.w-14); short != "" {
			d.Text(n.x+7, y+8.5, short, figure.Style{Size: sizeSmall, Role: figure.Muted}).Tip(rest)
			y -= 7.5
		}
		d.Text(n.x+7, y, figure.Fit(plain.Line(n.name), n.w-12, sizeText, true), title)
		return
	}
	d.Text(n.x+8, n.y+16, figure.Fit(plain.Line(n.name), n.w-12, sizeText, true), title)
	if n.caption != "" {
		d.Text(n.x+8, n.y+16+slotHeight*0.8, figure.Fit(plain.Line(n.caption), n.w-12, sizeSmall, false),
			figure.Style{Size: sizeSmall, Role: figure.Muted})
	}
	for _, s := range n.slots {
		style := figure.Style{Size: sizeSmall}
		x := n.x + 10
		if s.x > n.x+n.w/2 {
			style.Anchor, x = figure.End, n.x+n.w-10
		}
		d.Text(x, s.y+4, shortLabel(s.label, n.w-18), style).Tip(s.label)
	}
}

// shortLabel returns interface and address; if there is no room, the end of the address or just the
// interface.
func shortLabel(label string, width float64) string {
	label = plain.Line(label)
	if figure.TextWidth(label, sizeSmall, false) <= width {
		return label
	}
	name, address, _ := strings.Cut(label, " ")
	left := width - figure.TextWidth(name+" ", sizeSmall, false)
	if left < 40 {
		return fitTail(name, width)
	}
	return name + " " + fitTail(address, left)
}

func topologyTitle(v *view.View) string {
	if v.AlongCurve() {
		return "Load of each link, in the mean of all trials"
	}
	known, path := false, onPath(&v.Run.Topology)
	text := v.BeforeAfter(func(r *view.Row, c int) string {
		t := r.Treatments[c]
		if t == nil {
			return ""
		}
		n, most, carried := 0, 0.0, 0.0
		loads := loadsOf(t.Interfaces)
		for i := range v.Run.Topology.Links {
			load := loadOf(&v.Run.Topology.Links[i], loads)
			known = known || load.shown().limit > 0
			if load.full() {
				n++
			}
			if shown := load.shown(); shown.limit > 0 {
				most = max(most, shown.bps/shown.limit)
			} else {
				carried = max(carried, shown.bps)
			}
		}
		switch after := r == v.Best && v.Baseline != nil; {
		case path != "" && n > 0: // its counters may exclude the headers of segments
			return path + " is full"
		case path != "" && most == 0:
			return path + " carries " + unit.FormatRate(carried) + ", of an unknown rate"
		case path != "":
			return path + " carries " + unit.FormatPercent(math.Round(1000*most)/1000) + " of its rate"
		case after && n == 0:
			return "none"
		case after:
			return strconv.Itoa(n)
		case n == 0:
			return "no link is full"
		}
		return words.Count(n, "link") + " " + words.Verb(n, "is", "are") + " full"
	})
	if !known {
		return "Load of every link"
	}
	return words.Sentence(text)
}

// onPath names the link whose share is displayed if the topology is a single path. All flows pass
// each of its links, so that they are not counted. Empty: it is no single path.
func onPath(t *topology.Topology) string {
	ends := map[string]int{}
	for _, l := range t.Links {
		ends[l.From.Node]++
		ends[l.To.Node]++
	}
	for _, n := range ends {
		if n > 2 {
			return ""
		}
	}
	switch nodes := len(t.Hosts) + len(t.Switches); {
	case len(ends) != nodes || len(t.Links) != nodes-1: // not a chain
		return ""
	case len(t.Links) == 1:
		return "the link"
	}
	return "the fullest link"
}

// mostTopologies limits the folded drawings. With more, the table of interfaces is more useful, and
// the page stays small.
const mostTopologies = 24

// OtherTopologies returns a figure with the treatments that topologyFigure leaves out; ok is false
// if there are none.
func OtherTopologies(v *view.View) (f figure.Figure, ok bool) {
	drawn := map[view.Spot]bool{}
	for _, s := range v.Spots() {
		drawn[s] = true
	}
	for r, c := range v.Each() {
		if !drawn[view.Spot{Row: r, Column: c}] && len(f.Panels) < mostTopologies {
			f.Panels = append(f.Panels, topologyPanel(v, r, c))
		}
	}
	return f, len(f.Panels) > 0
}
