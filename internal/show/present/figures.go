package present

import "linerate/internal/show/figure"

// figuresOf lists the figures that there is data for, in the order of the page.
func figuresOf(v *view) (out []figure.Figure) {
	add := func(f figure.Figure, ok bool) {
		if ok {
			out = append(out, f)
		}
	}
	flows, hashed := flowsFigure(v)
	along := v.alongCurve()
	add(flows, hashed && along) // what the answer is about comes first
	for _, m := range v.measures {
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
	return out
}
