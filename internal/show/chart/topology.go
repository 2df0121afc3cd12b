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
	scale := newThickness(v, v.Spots())
	for _, s := range v.Spots() {
		f.Panels = append(f.Panels, topologyPanel(v, s, scale))
	}
	return f, len(f.Panels) > 0
}

const topologyNote = "Links are as thick as their load in the data's direction, by the interfaces' own counters, " +
	"which on virtual interfaces leave out most headers of segments (up to 5 %). Two lines: data in both directions, " +
	"or the other one is full or has at least a tenth of the load. Bold: full, at least 94 % of the rate. Dashed: idle."

func topologyPanel(v *view.View, at view.Spot, scale thickness) figure.Panel {
	t := at.Row.Treatments[at.Column]
	title := v.Label(at.Row, at.Column) + ": " + v.Lead().Spell(t)
	return figure.Panel{Title: title, Draw: func(width float64) *figure.Drawing {
		return newGraph(&v.Run.Topology, t.Interfaces, v.Focus).draw(width,
			func(d *figure.Drawing, e *edge) {
				for _, l := range e.lanes() {
					l.draw(d, scale)
				}
			}, func(d *figure.Drawing, e *edge) {
				for _, l := range e.lanes() {
					l.drawLabel(d, scale)
				}
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
		n, most, carried, back := 0, 0.0, 0.0, ""
		against := true // whether full links are full in the direction without the data
		loads := loadsOf(t.Interfaces)
		for i := range v.Run.Topology.Links {
			load := loadOf(&v.Run.Topology.Links[i], loads)
			known = known || load.shown().limit > 0
			if load.full() {
				n++
				against = against && !load.shown().full()
			}
			if shown := load.shown(); shown.limit > 0 {
				if shown.bps/shown.limit >= most {
					most, back = shown.bps/shown.limit, load.sayOther()
				}
			} else {
				carried = max(carried, shown.bps)
			}
		}
		switch after := r == v.Best && v.Baseline != nil; {
		case path != "" && n > 0 && against:
			return path + " is full in the reverse direction"
		case path != "" && n > 0: // its counters may exclude the headers of segments
			return path + " is full"
		case path != "" && most == 0:
			return path + " carries " + unit.FormatRate(carried) + ", of an unknown rate"
		case path != "":
			return path + " carries " + unit.FormatPercent(math.Round(1000*most)/1000) + " of its rate" + back
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
	var others []view.Spot
	for r, c := range v.Each() {
		if s := (view.Spot{Row: r, Column: c}); !drawn[s] && len(others) < mostTopologies {
			others = append(others, s)
		}
	}
	scale := newThickness(v, others)
	for _, s := range others {
		f.Panels = append(f.Panels, topologyPanel(v, s, scale))
	}
	return f, len(f.Panels) > 0
}
