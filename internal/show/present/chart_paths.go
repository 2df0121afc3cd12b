package present

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/show/figure"
)

// pathsFigure draws flows on the ways that they took, those of one way in one
// colour: of each row the treatment that tells most, in the trial nearest to its
// mean.
func pathsFigure(v *view) (figure.Figure, bool) {
	f := figure.Figure{Name: "ways", Data: pathsCSV(v), Note: "Lines are flows, as thick as their goodput; one colour is one way; numbers count them. Dashed: a way that none took. Of each treatment the trial nearest its mean."}
	used, all := 0, 0
	for i := range v.rows {
		c := telling(v, &v.rows[i])
		if c < 0 || len(f.Panels) == mostWays {
			continue
		}
		t := v.rows[i].cells[c].Treatment
		w := newWayDrawing(shown(v, t), &v.run.Topology, v.focus)
		used, all = used+w.used(), all+len(w.ways)
		title := fmt.Sprintf("%s (trial %d): %s", v.label(&v.rows[i], c), w.trial.Order, v.scale.with(w.trial.GoodputBps))
		f.Panels = append(f.Panels, figure.Panel{Title: title, Draw: w.draw})
	}
	f.Title = fmt.Sprintf("Flows on their ways: %d of %d equal ways are taken", used, all)
	return f, len(f.Panels) > 0
}

// mostWays is how many drawings there are at most.
const mostWays = 6

// wayDrawing is one trial's flows on their ways.
type wayDrawing struct {
	trial *record.Trial
	over  *topology.Topology // only what lies on the ways
	focus string
	ways  [][]string // by which flows took them, and then those that none did
	flows []record.Flow
}

func newWayDrawing(trial *record.Trial, base *topology.Topology, focus string) *wayDrawing {
	w := &wayDrawing{trial: trial, focus: focus}
	whole := trial.Over(base)
	asked := map[[2]string]bool{}
	add := func(way []string) {
		if !slices.ContainsFunc(w.ways, func(have []string) bool { return slices.Equal(have, way) }) {
			w.ways = append(w.ways, way)
		}
	}
	for _, f := range trial.Flows {
		if f.Paths < 2 {
			continue
		}
		if f.Placed() {
			w.flows = append(w.flows, f)
		}
		from, to := f.SourceAddr(), f.DestinationAddr()
		if key := [2]string{from.String(), to.String()}; !asked[key] {
			asked[key] = true
			ways, _ := whole.Paths(f.From, from, to)
			for _, way := range ways {
				var texts []string
				for _, end := range way {
					texts = append(texts, end.String())
				}
				add(texts)
			}
		}
	}
	for _, f := range w.flows {
		add(f.Path)
	}
	slices.SortStableFunc(w.flows, func(a, b record.Flow) int { return w.way(a) - w.way(b) })
	w.over = w.along(whole)
	return w
}

// way is the place of a flow's way among all.
func (w *wayDrawing) way(f record.Flow) int {
	return slices.IndexFunc(w.ways, func(way []string) bool { return slices.Equal(way, f.Path) })
}

func (w *wayDrawing) used() int {
	taken := map[int]bool{}
	for _, f := range w.flows {
		taken[w.way(f)] = true
	}
	return len(taken)
}

// along leaves off what is on no way.
func (w *wayDrawing) along(whole *topology.Topology) *topology.Topology {
	ends := map[string]bool{}
	nodes := map[string]bool{}
	for _, way := range w.ways {
		for _, end := range way {
			ends[end] = true
		}
	}
	kept := *whole
	kept.Links = slices.DeleteFunc(slices.Clone(whole.Links), func(l topology.Link) bool {
		gone := !ends[l.From.String()] || !ends[l.To.String()]
		nodes[l.From.Node], nodes[l.To.Node] = nodes[l.From.Node] || !gone, nodes[l.To.Node] || !gone
		return gone
	})
	kept.Hosts = slices.DeleteFunc(slices.Clone(whole.Hosts), func(h topology.Host) bool { return !nodes[h.Name] })
	kept.Switches = slices.DeleteFunc(slices.Clone(whole.Switches), func(s topology.Switch) bool { return !nodes[s.Name] })
	return &kept
}

// fullStrand is how thick a full link is; thinner strands than the least could not
// be seen.
const fullStrand, leastStrand = 16.0, 0.5

func (w *wayDrawing) draw(width float64) *figure.Drawing {
	g := newGraph(w.over, nil, w.focus)
	d := figure.New(width, g.place(width)+4)
	for _, e := range g.edges {
		w.drawEdge(d, e)
	}
	for _, n := range g.nodes {
		n.draw(d, g.middle(n.column))
	}
	for _, e := range g.edges {
		w.drawLabel(d, e)
	}
	return d
}

// on are the flows that pass an edge; back: from b to a.
func (w *wayDrawing) on(e *edge) (flows []record.Flow, back bool) {
	for _, f := range w.flows {
		for i := range len(f.Path) - 1 {
			from := slices.IndexFunc(e.ends, func(end topology.End) bool { return end.String() == f.Path[i] })
			if from >= 0 && slices.ContainsFunc(e.ends, func(end topology.End) bool { return end.String() == f.Path[i+1] }) {
				// Ends come in pairs, a link's first one on a's side.
				flows, back = append(flows, f), e.ends[from].Node != e.ends[0].Node
				break
			}
		}
	}
	return flows, back
}

// strand is how thick a flow is drawn.
func (w *wayDrawing) strand(e *edge, f record.Flow) float64 {
	most := e.limit
	if most == 0 {
		most = w.trial.GoodputBps
	}
	return max(fullStrand*f.GoodputBps/max(most, 1), leastStrand)
}

func (w *wayDrawing) drawEdge(d *figure.Drawing, e *edge) {
	flows, back := w.on(e)
	points := e.curve()
	if len(flows) == 0 {
		d.Line(figure.Base, 1.2, points...).Dash()
		return
	}
	if back {
		slices.Reverse(points)
	}
	gap := min(0.8, fullStrand/3/float64(len(flows)))
	whole := -gap
	for _, f := range flows {
		whole += w.strand(e, f) + gap
	}
	points = arrow(d, points, whole, figure.SeriesRole(w.way(flows[0])))
	at := -whole / 2
	for _, f := range flows {
		thick := w.strand(e, f)
		strand := make([]figure.Point, len(points))
		for i, p := range points {
			strand[i] = figure.Point{X: p.X, Y: p.Y + at + thick/2}
		}
		d.Line(figure.SeriesRole(w.way(f)), thick, strand...).Tip(f.ID + " " + f.Source + " → " + f.Destination + ": " + linkRate(f.GoodputBps))
		at += thick + gap
	}
}

// drawLabel says how many flows share a link, on paper over it.
func (w *wayDrawing) drawLabel(d *figure.Drawing, e *edge) {
	flows, _ := w.on(e)
	if len(flows) == 0 {
		return
	}
	points := e.curve()
	first, last := points[0], points[len(points)-1]
	mid := figure.Point{X: (first.X + last.X) / 2, Y: (first.Y + last.Y) / 2}
	text, room := Count(len(flows), "flow"), max(last.X-first.X, first.X-last.X)
	style := figure.Style{Size: sizeSmall, Anchor: figure.Middle}
	if figure.TextWidth(text, style.Size, false) > room*0.45 {
		text = fmt.Sprint(len(flows))
	}
	half := figure.TextWidth(text, style.Size, false)/2 + 2
	d.Rect(mid.X-half, mid.Y-7.5, 2*half, 15, figure.Paper)
	d.Text(mid.X, mid.Y+4, text, style)
}
