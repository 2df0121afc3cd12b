package chart

import (
	"math"
	"testing"

	"linerate/internal/science/sciencetest"
	"linerate/internal/show/figure"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

func TestTopologyBoxesDoNotOverlap(t *testing.T) {
	for _, clients := range []int{1, 2, 3, 5, 8, 13, 21, 39, 40, 64, 200} {
		topo := sciencetest.Lab{Ports: 4, Clients: clients}.Topology()
		for _, width := range []float64{figure.Narrow, 502, figure.Wide} {
			g := newGraph(&topo, nil, "server")
			height := g.place(width)
			if clients <= 39 && len(g.nodes) != clients+2 {
				t.Errorf("%d clients: %d boxes", clients, len(g.nodes))
			}
			if len(g.nodes) > mostHosts+2 {
				t.Errorf("%d clients: %d boxes are too many", clients, len(g.nodes))
			}
			checkBoxes(t, g, width, height)
		}
	}
	for name, run := range showtest.Variants() {
		for _, width := range []float64{figure.Narrow, 502, figure.Wide} {
			g := newGraph(&run.Topology, nil, view.New(run).Focus)
			if len(g.nodes) > 0 {
				height := g.place(width)
				t.Run(name, func(t *testing.T) { checkBoxes(t, g, width, height) })
			}
		}
	}
}

func checkBoxes(t *testing.T, g *graph, width, height float64) {
	t.Helper()
	for i, a := range g.nodes {
		if !(a.x >= -0.1 && a.x+a.w <= width+0.1 && a.y >= -0.1 && a.y+a.h <= height+0.1) || math.IsNaN(a.x+a.y) {
			t.Errorf("%s at %.0f,%.0f %.0f×%.0f leaves the drawing of %.0f×%.0f", a.name, a.x, a.y, a.w, a.h,
				width, height)
		}
		for _, b := range g.nodes[i+1:] {
			if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
				t.Errorf("%s overlaps %s at width %.0f", a.name, b.name, width)
			}
		}
		for _, s := range a.slots {
			if s.y < a.y || s.y > a.y+a.h {
				t.Errorf("a line of %s ends at %.0f outside of its box %.0f…%.0f", a.name, s.y, a.y, a.y+a.h)
			}
		}
	}
}
