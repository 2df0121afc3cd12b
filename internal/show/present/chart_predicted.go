package present

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
)

// predictedFigure holds what flows got against what was predicted for them, on
// logarithmic axes: what came true lies on the line. A prediction is a span, drawn
// as one; the spread of several flows is drawn across it.
func predictedFigure(v *view) (figure.Figure, bool) {
	var list []held
	within, judged := 0, 0
	for _, h := range heldBack(v) {
		if h.judged > 0 && h.low > 0 && h.high >= h.low && h.bps > 0 && finite(h.high) {
			list = append(list, h)
			within, judged = within+h.within, judged+h.judged
		}
	}
	if len(list) == 0 {
		return figure.Figure{}, false
	}
	f := figure.Figure{Name: "predicted", Data: heldCSV(v)}
	switch {
	case within == judged && judged == 1:
		f.Title = "The flow got what was predicted"
	case within == judged:
		f.Title = fmt.Sprintf("All %d flows got what was predicted", judged)
	default:
		f.Title = fmt.Sprintf("%d of %s got what was predicted", within, Count(judged, "flow"))
	}
	f.Note = fmt.Sprintf("Across: what was predicted, from its low end to its high one. Up: what was measured, the mean of a treatment's flows and how far they go. On the line both are equal; what came true meets the shaded ±%.3g %%.", 100*record.Tolerated)
	f.Panels = []figure.Panel{{Draw: func(width float64) *figure.Drawing { return predictedPanel(v, list, width) }}}
	return f, true
}

// decades are round rates between two, at most n of them; none between what no
// logarithm has.
func decades(low, high float64, n int) (list []float64) {
	if !(low > 0) || !finite(high) {
		return nil
	}
	for _, steps := range [][]float64{{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		list = nil
		for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
			for _, s := range steps {
				if at := s * math.Pow(10, e); at >= low && at <= high {
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

func predictedPanel(v *view, list []held, width float64) *figure.Drawing {
	low, high := math.Inf(1), 0.0
	for _, h := range list {
		// A flow that got nothing has no place on these axes: it ends at their edge.
		low, high = min(low, h.low, max(h.least, h.bps/1e3)), max(high, h.high, h.most)
	}
	room := math.Pow(high/low, 0.06) * 1.08
	low, high = low/room, high*room
	const top = 22.0
	wide := width >= 700 // words beside the figure, or under it
	left, right := 84.0, min(width, 620.0)-6
	if !wide {
		left = 62
	}
	bottom := top + min((right-left)*0.8, 400)
	d := figure.New(width, bottom+44)
	along := func(bps float64) float64 {
		return (math.Log(min(max(bps, low), high)) - math.Log(low)) / (math.Log(high) - math.Log(low))
	}
	x := func(bps float64) float64 { return left + along(bps)*(right-left) }
	y := func(bps float64) float64 { return bottom - along(bps)*(bottom-top) }
	at := func(predicted, measured float64) figure.Point { return figure.Point{X: x(predicted), Y: y(measured)} }

	const near = record.Tolerated
	d.Polygon(figure.Faint, at(low, low), at(low, low*(1+near)), at(high/(1+near), high), at(high, high), at(high, high*(1-near)), at(low/(1-near), low)).Tip("±" + percent(near))
	last := math.Inf(-1)
	for _, tick := range decades(low, high, int((right-left)/64)) {
		s := bitScale(tick * 1.0005)
		label := fmt.Sprintf("%.3g %s", tick*s.per, s.unit)
		d.Line(figure.Faint, 1, at(tick, low), at(tick, high))
		d.Line(figure.Faint, 1, at(low, tick), at(high, tick))
		if half := figure.TextWidth(label, sizeSmall, false) / 2; x(tick)-half > last && x(tick)+half <= width {
			d.Text(x(tick), bottom+16, label, figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.Middle})
			last = x(tick) + half + 6
		}
		d.Text(left-6, y(tick)+4, label, figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.End})
	}
	d.Line(figure.Muted, 1.4, at(low, low), at(high, high))
	d.Text(0, top-9, "measured", figure.Style{Size: sizeSmall, Role: figure.Muted})
	d.Text(right, bottom+34, "predicted", figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.End})

	// What is predicted to hold flows back is told by colour, and named in it.
	var by []string
	for _, h := range list {
		if !slices.Contains(by, h.predicted[0]) {
			by = append(by, h.predicted[0])
		}
	}
	for _, h := range list {
		role := figure.SeriesRole(slices.Index(by, h.predicted[0]))
		middle := math.Sqrt(h.low * h.high)
		tip := fmt.Sprintf("%s: predicted %s to %s (%s), measured %s (%s)", h.label(v), linkRate(h.low), linkRate(h.high), h.predicted[0], linkRate(h.bps), causes(h.by))
		d.Line(role, 1.6, at(h.low, h.bps), at(h.high, h.bps)).Tip(tip)
		d.Line(role, 1.6, at(middle, h.least), at(middle, h.most)).Tip(tip)
		d.Circle(at(middle, h.bps), 4, role).Tip(tip)
		if h.within < h.judged {
			d.Circle(at(middle, h.bps), 2.2, figure.Paper).Tip(tip)
		}
	}
	words := func(x, y float64, text string, role figure.Role, bold bool) {
		d.Text(x, y, figure.Fit(figure.Plain(text), width-x, sizeText, bold), figure.Style{Size: sizeText, Role: role, Bold: bold}).Tip(text)
	}
	if wide {
		predictedWords(v, list, by, right+28, top+8, words)
	} else {
		d.Height = predictedWords(v, list, by, 0, bottom+60, words)
	}
	return d
}

// mostMisses is how many predictions that did not come true are named.
const mostMisses = 8

// predictedWords names the colours, and what did not come true.
func predictedWords(v *view, list []held, by []string, x, y float64, words func(x, y float64, text string, role figure.Role, bold bool)) float64 {
	words(x, y, "predicted to be held back by", figure.Muted, false)
	for i, cause := range by {
		y += 19
		n, of := 0, 0
		for _, h := range list {
			if h.predicted[0] == cause {
				n, of = n+h.within, of+h.judged
			}
		}
		words(x, y, fmt.Sprintf("%s: %d of %d came true", cause, n, of), figure.SeriesRole(i), true)
	}
	missed := slices.DeleteFunc(slices.Clone(list), func(h held) bool { return h.within == h.judged })
	if len(missed) > 0 {
		y += 30
		words(x, y, "hollow: "+Count(len(missed), "treatment")+" with flows that got something else", figure.Muted, false)
	}
	for i, h := range missed {
		y += 18
		if i == mostMisses && len(missed) > mostMisses+1 {
			words(x, y, fmt.Sprintf("and %d more", len(missed)-i), figure.Ink, false)
			break
		}
		words(x, y, h.label(v), figure.Ink, false)
	}
	return y + 14
}
