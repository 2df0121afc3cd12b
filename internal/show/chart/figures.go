// Package chart draws the figures of a run.
package chart

import (
	"linerate/internal/show/figure"
	"linerate/internal/show/view"
)

// Figures lists the figures for which there is data, in the order of the page.
func Figures(v *view.View) (out []figure.Figure) {
	add := func(f figure.Figure, ok bool) {
		if ok {
			out = append(out, f)
		}
	}
	if c := v.Run.Conclusion; c != nil && c.Pairs != nil {
		out = append(out, MeshFigures(view.NewMesh(v.Run))...)
	}
	flows, hashed := flowsFigure(v)
	along := v.AlongCurve()
	add(flows, hashed && along) // the subject of the answer comes first
	for _, m := range v.Measures {
		add(responseFigure(v, m))
	}
	add(flows, hashed && !along)
	add(accountsFigure(v))
	add(effectsFigure(v))
	add(predictedFigure(v))
	add(interfacesFigure(v))
	add(topologyFigure(v))
	add(pathsFigure(v))
	add(seriesFigure(v))
	add(cpusFigure(v))
	return out
}
