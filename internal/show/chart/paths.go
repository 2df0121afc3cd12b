package chart

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// pathsFigure draws flows on the paths that they took, with one colour for each path: for each row
// the treatment that shows most, in the trial closest to its mean.
func pathsFigure(v *view.View) (figure.Figure, bool) {
	f := figure.Figure{Name: "paths", Data: v.PathsCSV(),
		Note: "Lines are flows, as thick as their goodput; one colour is one path; numbers count them. Dashed: a " +
			"path that no flow took. Of each treatment the trial nearest its mean."}
	used, all := 0, 0
	for i := range v.Rows {
		c := v.MostShared(&v.Rows[i])
		if c < 0 || len(f.Panels) == mostPathPanels {
			continue
		}
		t := v.Rows[i].Treatments[c]
		p := newPathDrawing(v.Typical(t), &v.Run.Topology, v.Focus)
		used, all = used+p.used(), all+len(p.paths)
		title := fmt.Sprintf("%s (trial %d): %s", v.Label(&v.Rows[i], c), p.trial.Order,
			v.Scale.Spell(p.trial.GoodputBps))
		f.Panels = append(f.Panels, figure.Panel{Title: title, Draw: p.draw})
	}
	f.Title = fmt.Sprintf("Flows on their paths: %d of %d equal-cost paths are used", used, all)
	return f, len(f.Panels) > 0
}

// mostPathPanels is the maximum number of drawings.
const mostPathPanels = 6

// pathDrawing has the flows of one trial on their paths.
type pathDrawing struct {
	trial *record.Trial
	over  *topology.Topology // only what is on the paths
	focus string
	paths [][]string // first those of the topology, then others that flows took
	flows []record.Flow
}

func newPathDrawing(trial *record.Trial, base *topology.Topology, focus string) *pathDrawing {
	p := &pathDrawing{trial: trial, focus: focus}
	whole := trial.Over(base)
	seen := map[[2]string]bool{}
	add := func(path []string) {
		if !slices.ContainsFunc(p.paths, func(have []string) bool { return slices.Equal(have, path) }) {
			p.paths = append(p.paths, path)
		}
	}
	for _, f := range trial.Flows {
		if f.Paths < 2 {
			continue
		}
		if f.Placed() {
			p.flows = append(p.flows, f)
		}
		from, to := f.SourceAddr(), f.DestinationAddr()
		if key := [2]string{from.String(), to.String()}; !seen[key] {
			seen[key] = true
			paths, _ := whole.Paths(f.From, from, to)
			for _, path := range paths {
				texts := lists.Map(path, topology.End.String)
				add(texts)
			}
		}
	}
	for _, f := range p.flows {
		add(f.Path)
	}
	slices.SortStableFunc(p.flows, func(a, b record.Flow) int { return p.path(a) - p.path(b) })
	p.over = p.along(whole)
	return p
}

// path returns the index of a flow's path.
func (p *pathDrawing) path(f record.Flow) int {
	return slices.IndexFunc(p.paths, func(path []string) bool { return slices.Equal(path, f.Path) })
}

func (p *pathDrawing) used() int {
	taken := map[int]bool{}
	for _, f := range p.flows {
		taken[p.path(f)] = true
	}
	return len(taken)
}

// along returns the topology without what is on no path.
func (p *pathDrawing) along(whole *topology.Topology) *topology.Topology {
	ends := map[string]bool{}
	nodes := map[string]bool{}
	for _, path := range p.paths {
		for _, end := range path {
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
	kept.Switches = slices.DeleteFunc(slices.Clone(whole.Switches), func(s topology.Switch) bool {
		return !nodes[s.Name]
	})
	return &kept
}

// fullStrand is the width of a full link. Lines thinner than leastStrand would be invisible.
const fullStrand, leastStrand = 16.0, 0.5

func (p *pathDrawing) draw(width float64) *figure.Drawing {
	return newGraph(p.over, nil, p.focus).draw(width, p.drawEdge, p.drawLabel)
}

// on returns the flows on an edge. Back reports whether they go from b to a.
func (p *pathDrawing) on(e *edge) (flows []record.Flow, back bool) {
	for _, f := range p.flows {
		for i := range len(f.Path) - 1 {
			from := slices.IndexFunc(e.ends, func(end topology.End) bool { return end.String() == f.Path[i] })
			if from >= 0 && slices.ContainsFunc(e.ends, func(end topology.End) bool {
				return end.String() == f.Path[i+1]
			}) {
				// Ends come in pairs; the first end of a link is on the side of a.
				flows, back = append(flows, f), e.ends[from].Node != e.ends[0].Node
				break
			}
		}
	}
	return flows, back
}

// strand returns the width with which a flow is drawn.
func (p *pathDrawing) strand(e *edge, f record.Flow) float64 {
	most := cmp.Or(max(e.ab.limit, e.ba.limit), p.trial.GoodputBps)
	return max(fullStrand*f.GoodputBps/max(most, 1), leastStrand)
}

func (p *pathDrawing) drawEdge(d *figure.Drawing, e *edge) {
	flows, back := p.on(e)
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
		whole += p.strand(e, f) + gap
	}
	points = arrow(d, points, whole, figure.SeriesRole(p.path(flows[0])))
	at := -whole / 2
	for _, f := range flows {
		thick := p.strand(e, f)
		strand := make([]figure.Point, len(points))
		for i, p := range points {
			strand[i] = figure.Point{X: p.X, Y: p.Y + at + thick/2}
		}
		d.Line(figure.SeriesRole(p.path(f)), thick, strand...).Tip(f.ID + " " + f.Source + " → " + f.Destination +
			": " + number.LinkRate(f.GoodputBps))
		at += thick + gap
	}
}

// drawLabel writes the number of flows on a link, on a background.
func (p *pathDrawing) drawLabel(d *figure.Drawing, e *edge) {
	flows, _ := p.on(e)
	if len(flows) == 0 {
		return
	}
	points := e.curve()
	first, last := points[0], points[len(points)-1]
	mid := figure.Point{X: (first.X + last.X) / 2, Y: (first.Y + last.Y) / 2}
	text, room := words.Count(len(flows), "flow"), max(last.X-first.X, first.X-last.X)
	style := figure.Style{Size: sizeSmall, Anchor: figure.Middle}
	if figure.TextWidth(text, style.Size, false) > room*0.45 {
		text = fmt.Sprint(len(flows))
	}
	half := figure.TextWidth(text, style.Size, false)/2 + 2
	d.Rect(mid.X-half, mid.Y-7.5, 2*half, 15, figure.Paper)
	d.Text(mid.X, mid.Y+4, text, style)
}
