package chart

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// predictedFigure compares the goodput of flows with the predictions on logarithmic axes: correct
// predictions are on the diagonal. A prediction is drawn as a range, with the range of several
// flows across it.
func predictedFigure(v *view.View) (figure.Figure, bool) {
	var list []view.Held
	within, judged := 0, 0
	for _, h := range v.HeldBack() {
		if h.Judged > 0 && h.LowBps > 0 && h.HighBps >= h.LowBps && h.MeanBps > 0 && number.Finite(h.HighBps) {
			list = append(list, h)
			within, judged = within+h.Within, judged+h.Judged
		}
	}
	if len(list) == 0 {
		return figure.Figure{}, false
	}
	f := figure.Figure{Name: "predicted", Data: v.HeldCSV()}
	switch {
	case within == judged && judged == 1:
		f.Title = "The flow carried the predicted goodput"
	case within == judged:
		f.Title = fmt.Sprintf("All %d flows carried the predicted goodput", judged)
	default:
		f.Title = fmt.Sprintf("%d of %s carried the predicted goodput", within, words.Count(judged, "flow"))
	}
	f.Note = fmt.Sprintf(
		"Across: the predicted goodput, from low to high. Up: the measured goodput, the mean and range of a "+
			"treatment's flows. On the line both are equal; a correct prediction meets the shaded ±%.3g %%.",
		100*record.Tolerated)
	f.Panels = []figure.Panel{{Draw: func(width float64) *figure.Drawing { return predictedPanel(v, list, width) }}}
	return f, true
}

// rateLadders are the labelled rates within a power of ten, densest first.
var rateLadders = [][]float64{{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}}

func predictedPanel(v *view.View, list []view.Held, width float64) *figure.Drawing {
	low, high := math.Inf(1), 0.0
	for _, h := range list {
		// A flow without traffic has no position on a logarithmic axis. It ends at the edge.
		low, high = min(low, h.LowBps, max(h.LeastBps, h.MeanBps/1e3)), max(high, h.HighBps, h.MostBps)
	}
	room := math.Pow(high/low, 0.06) * 1.08
	low, high = low/room, high*room
	wide := width >= 700 // words beside the figure instead of below it
	p := plot{left: 84, right: min(width, 620) - 6, top: 22}
	if !wide {
		p.left = 62
	}
	p.bottom = p.top + min((p.right-p.left)*0.8, 400)
	p.Drawing = figure.New(width, p.bottom+44)
	p.x, p.y = logarithmic(low, high, p.left, p.right), logarithmic(low, high, p.bottom, p.top)

	const near = record.Tolerated
	p.Polygon(figure.Faint, p.at(low, low), p.at(low, low*(1+near)), p.at(high/(1+near), high), p.at(high, high),
		p.at(high, high*(1-near)), p.at(low/(1-near), low)).Tip("±" + number.Percent(near))
	marks := logTicks(low, high, int((p.right-p.left)/64), rateLadders...)
	var labels []string
	for _, mark := range marks {
		s := number.BitScale(mark * 1.0005)
		labels = append(labels, fmt.Sprintf("%.3g %s", mark*s.Per, s.Unit))
		p.Line(figure.Faint, 1, p.at(mark, low), p.at(mark, high))
	}
	p.yAxis(marks, labels, "measured")
	p.xAxis(marks, labels, "predicted")
	p.Line(figure.Muted, 1.4, p.at(low, low), p.at(high, high))

	// Each predicted limit has a colour, and is named in that colour.
	var by []string
	for _, h := range list {
		by = words.Distinct(by, h.Predicted[0])
	}
	for _, h := range list {
		role := figure.SeriesRole(slices.Index(by, h.Predicted[0]))
		middle := math.Sqrt(h.LowBps * h.HighBps)
		tip := fmt.Sprintf("%s: predicted %s to %s (%s), measured %s (%s)", h.Label(v), number.LinkRate(h.LowBps),
			number.LinkRate(h.HighBps), h.Predicted[0], number.LinkRate(h.MeanBps), view.Causes(h.By))
		p.Line(role, 1.6, p.at(h.LowBps, h.MeanBps), p.at(h.HighBps, h.MeanBps)).Tip(tip)
		p.Line(role, 1.6, p.at(middle, h.LeastBps), p.at(middle, h.MostBps)).Tip(tip)
		p.Circle(p.at(middle, h.MeanBps), 4, role).Tip(tip)
		if h.Within < h.Judged {
			p.Circle(p.at(middle, h.MeanBps), 2.2, figure.Paper).Tip(tip)
		}
	}
	write := func(x, y float64, text string, role figure.Role, bold bool) {
		p.Text(x, y, figure.Fit(plain.Line(text), width-x, sizeText, bold), figure.Style{Size: sizeText, Role: role,
			Bold: bold}).Tip(text)
	}
	if wide {
		predictedWords(v, list, by, p.right+28, p.top+8, write)
	} else {
		p.Height = predictedWords(v, list, by, 0, p.bottom+60, write)
	}
	return p.Drawing
}

// mostMisses is the maximum number of wrong predictions that are named.
const mostMisses = 8

// predictedWords names the colours and the wrong predictions.
func predictedWords(v *view.View, list []view.Held, by []string, x, y float64, write func(x, y float64, text string,
	role figure.Role, bold bool)) float64 {
	write(x, y, "predicted bottleneck", figure.Muted, false)
	for i, cause := range by {
		y += 19
		n, of := 0, 0
		for _, h := range list {
			if h.Predicted[0] == cause {
				n, of = n+h.Within, of+h.Judged
			}
		}
		write(x, y, fmt.Sprintf("%s: %d of %d came true", cause, n, of), figure.SeriesRole(i), true)
	}
	missed := slices.DeleteFunc(slices.Clone(list), func(h view.Held) bool { return h.Within == h.Judged })
	if len(missed) > 0 {
		y += 30
		write(x, y, "hollow: "+words.Count(len(missed), "treatment")+" with flows that got something else",
			figure.Muted, false)
	}
	for i, h := range missed {
		y += 18
		if i == mostMisses && len(missed) > mostMisses+1 {
			write(x, y, fmt.Sprintf("and %d more", len(missed)-i), figure.Ink, false)
			break
		}
		write(x, y, h.Label(v), figure.Ink, false)
	}
	return y + 14
}
