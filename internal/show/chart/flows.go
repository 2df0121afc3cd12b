package chart

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/ecmp"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// flowsFigure draws the goodput of flows that were hashed over equal-cost links, and how often they
// left a link idle, by the number of flows, together with the curves that theory predicts: two
// panels for each number of links.
func flowsFigure(v *view.View) (figure.Figure, bool) {
	f := figure.Figure{Name: "flows", Data: [][]string{flowsHead}}
	curves := v.Curves()
	chance, inside := 0, 0
	var outside []string
	for _, c := range curves {
		for _, g := range c.Groups {
			f.Data = append(f.Data, flowsRow(g))
			if !g.ByChance {
				continue
			}
			if chance++; g.Inside {
				inside++
			} else {
				outside = append(outside, g.Treatment)
			}
		}
	}
	if chance == 0 {
		return figure.Figure{}, false
	}
	f.Title = fmt.Sprintf("Hashed flows carry what chance lets them: %d of %s inside the theory's band", inside,
		words.Count(chance, "mean"))
	if len(outside) > 0 {
		f.Title = fmt.Sprintf("Hashed flows carry what chance lets them in %d of %d cases; outside the band: %s",
			inside, chance, words.List(outside))
	}
	f.Note = fmt.Sprintf(
		"Lines: expected of hashing. Points: measured, with %s intervals; small dots are trials. Shaded: where %s "+
			"of means, or of counts, of as many trials lie, if used links come within %s of their limit.",
		v.Confidence(), v.Confidence(), number.Percent(v.Run.Margin))
	for len(curves) > 0 {
		n := curves[0].Links
		alike := slices.IndexFunc(append(slices.Clone(curves), view.Curve{}), func(c view.Curve) bool {
			return c.Links != n
		})
		these := curves[:alike]
		curves = curves[alike:]
		if len(these) == 1 && these[0].Name == words.Count(n, "link") {
			these[0].Name = "expected" // the title of the panel has the rest
		}
		f.Panels = append(f.Panels, figure.Panel{Title: "Goodput over " + words.Count(n, "link"),
			Draw: func(width float64) *figure.Drawing {
				return carriedChart(v.Run, these).draw(width)
			}})
		if placed := slices.DeleteFunc(slices.Clone(these), func(c view.Curve) bool {
			return !c.ByChance()
		}); len(placed) > 0 {
			f.Panels = append(f.Panels,
				figure.Panel{Title: fmt.Sprintf("Chance that some of %s is idle", words.Count(n, "link")),
					Draw: func(width float64) *figure.Drawing {
						return idleChart(placed).draw(width)
					}})
		}
	}
	return f, true
}

var flowsHead = []string{"treatment", "host", "links", "flows", "placements", "trials", "expected_links", "low_links",
	"high_links", "measured_links", "inside",
	"idle_link_chance", "idle_link_trials_low", "idle_link_trials_high", "idle_link_trials",
	"measured_low_links", "measured_high_links", "measured_least_links", "measured_most_links", "idle_link_low_share",
	"idle_link_high_share",
	"full_placement_trials", "full_placement_least_links"}

func flowsRow(g record.Hashing) []string {
	return []string{g.Treatment, g.Host, fmt.Sprint(g.Links), fmt.Sprint(g.Flows), fmt.Sprint(g.Placements),
		fmt.Sprint(g.Replicates),
		number.Fixed(g.ExpectedLinks, 4), number.Fixed(g.ExpectedLowLinks, 4), number.Fixed(g.ExpectedHighLinks, 4),
		number.Fixed(g.MeasuredLinks, 4), fmt.Sprint(g.Inside),
		number.Fixed(g.IdleChance, 6), fmt.Sprint(g.IdleLowTrials), fmt.Sprint(g.IdleHighTrials),
		fmt.Sprint(g.IdleTrials),
		number.Fixed(g.MeasuredLowLinks, 4), number.Fixed(g.MeasuredHighLinks, 4), number.Fixed(g.MeasuredLeastLinks,
			4), number.Fixed(g.MeasuredMostLinks, 4), number.Fixed(g.IdleLowShare, 4), number.Fixed(g.IdleHighShare, 4),
		fmt.Sprint(g.FullTrials), number.Fixed(g.FullLeastLinks, 4)}
}

// flowsChart is a drawing of curves over the number of flows.
type flowsChart struct {
	curves []view.Curve
	unit   string
	most   float64 // end of the axis
	limit  string  // label of the maximum; empty: none
	ticks  []float64
	labels []string
	point  func(record.Hashing) flowsPoint
	// between returns the prediction for a number of flows that was not tried.
	between func(g record.Hashing, flows int) float64
}

// flowsPoint is the prediction for a number of flows, with the band in which measured values should
// lie, and the measured value with its interval; low = high if there is none.
type flowsPoint struct {
	expected, least, most float64
	measured, low, high   float64
	trials                []dot // nil: single trials have no such value
	tip                   string
}

// carriedChart returns the chart of goodput, as a multiple of what one link can carry.
func carriedChart(run *record.Run, curves []view.Curve) flowsChart {
	links, link := curves[0].Links, 0.0
	for _, c := range curves {
		link = max(link, c.Groups[0].LinkBps)
	}
	chart := flowsChart{
		curves: curves, most: float64(links), limit: "limit " + number.LinkRate(link*float64(links)),
		unit: fmt.Sprintf("goodput in links' worth (%s each)", number.LinkRate(link)),
		point: func(g record.Hashing) flowsPoint {
			p := flowsPoint{expected: g.ExpectedLinks, least: g.ExpectedLowLinks * (1 - run.Margin),
				most: g.ExpectedHighLinks, measured: g.MeasuredLinks, low: g.MeasuredLowLinks,
				high: g.MeasuredHighLinks}
			for _, t := range run.TrialsOf(g.Treatment) {
				worth := t.GoodputBps / g.LinkBps
				p.trials = append(p.trials, dot{worth, run.Outlier(metric.Goodput.Name, t.Order) != nil,
					fmt.Sprintf("%s, trial %d in block %d: %s links' worth", g.Treatment, t.Order, t.Block,
						number.Fixed(worth, 2))})
			}
			p.tip = fmt.Sprintf("%s: measured %s links' worth, expected %s (%s to %s)", g.Treatment,
				number.Fixed(g.MeasuredLinks, 2), number.Fixed(g.ExpectedLinks, 2), number.Fixed(g.ExpectedLowLinks, 2),
				number.Fixed(g.ExpectedHighLinks, 2))
			return p
		},
		between: func(g record.Hashing, flows int) float64 {
			if g.Chosen {
				return float64(min(flows, g.Links))
			}
			return ecmp.Alike(g.Links, 1).ExpectedUsed(flows)
		},
	}
	for n := 0; n <= links; n += max(1, (links+7)/8) {
		chart.ticks, chart.labels = append(chart.ticks, float64(n)), append(chart.labels, fmt.Sprint(n))
	}
	return chart
}

// idleChart returns the chart of the share of trials that left a link idle.
func idleChart(curves []view.Curve) flowsChart {
	return flowsChart{
		curves: curves, most: 1, unit: "trials that left a link idle",
		ticks: []float64{0, 0.25, 0.5, 0.75, 1}, labels: []string{"0", "25 %", "50 %", "75 %", "100 %"},
		point: func(g record.Hashing) flowsPoint {
			all := float64(g.Replicates)
			p := flowsPoint{expected: g.IdleChance, least: float64(g.IdleLowTrials) / all,
				most: float64(g.IdleHighTrials) / all, measured: float64(g.IdleTrials) / all}
			if g.Placements >= g.Links { // otherwise some link is certainly idle
				p.low, p.high = g.IdleLowShare, g.IdleHighShare
			}
			p.tip = fmt.Sprintf("%s: a link was idle in %d of %s, expected in %d to %d", g.Treatment, g.IdleTrials,
				words.Count(g.Replicates, "trial"), g.IdleLowTrials, g.IdleHighTrials)
			return p
		},
		between: func(g record.Hashing, flows int) float64 {
			chance, _ := ecmp.Alike(g.Links, 1).SomeUnused(flows)
			return chance
		},
	}
}

func (c flowsChart) draw(width float64) *figure.Drawing {
	var flows []float64
	for _, curve := range c.curves {
		for _, g := range curve.Groups {
			flows = append(flows, float64(g.Flows))
		}
	}
	slices.Sort(flows)
	flows = slices.Compact(flows)
	p := plot{left: 42, right: width - min(width*0.2, 130), top: 26, bottom: 250}
	p.Drawing = figure.New(width, p.bottom+36)
	p.x = logarithmic(flows[0], flows[len(flows)-1], p.left+18, p.right-18)
	p.y = linear(0, c.most*1.06, p.bottom, p.top)

	// Bands are behind everything else.
	for _, curve := range c.curves {
		c.band(p, curve)
	}
	p.yAxis(c.ticks, c.labels, c.unit)
	if c.limit != "" {
		p.across(figure.Limit, 1.6, c.most).Dash()
		p.Text(p.right, p.y(c.most)-6, c.limit, figure.Style{Size: sizeSmall, Role: figure.Limit, Anchor: figure.End})
	}
	p.xAxis(flows, tickLabels(flows), "flows at once")

	var ends []curveEnd
	room := 36.0 // for dots beside a point
	if len(c.curves) > 1 {
		room = 14
	}
	for i, curve := range c.curves {
		role := figure.SeriesRole(curve.Place)
		p.Line(role, 1.6, c.line(p, curve)...)
		for _, g := range curve.Groups {
			// Curves with the same values are drawn side by side.
			x := p.x(float64(g.Flows)) + 9*(float64(i)-float64(len(c.curves)-1)/2)
			point := c.point(g)
			if point.high > point.low {
				p.Line(role, 1.2, figure.Point{X: x, Y: p.y(point.low)},
					figure.Point{X: x, Y: p.y(point.high)}).Tip(point.tip)
			}
			p.Circle(figure.Point{X: x, Y: p.y(point.measured)}, 4.5, role).Tip(point.tip)
			p.dots(point.trials, room, role, p.y, func(at, away float64) figure.Point {
				return figure.Point{X: x + 5 + away, Y: at}
			})
		}
		end := c.point(curve.Groups[len(curve.Groups)-1])
		ends = append(ends, curveEnd{curve.Name, p.y(end.expected), role})
	}
	p.nameCurves(ends)
	return p.Drawing
}

// line returns the predicted curve: at every number of flows if each flow is placed independently,
// otherwise where it was tried.
func (c flowsChart) line(p plot, curve view.Curve) []figure.Point {
	var points []figure.Point
	for i, g := range curve.Groups {
		points = append(points, p.at(float64(g.Flows), c.point(g).expected))
		if i+1 == len(curve.Groups) || g.Placements != g.Flows ||
			curve.Groups[i+1].Placements != curve.Groups[i+1].Flows {
			continue
		}
		next := curve.Groups[i+1].Flows
		stride := max(1, (next-g.Flows)/16)
		for k := g.Flows + stride; k < next; k += stride {
			points = append(points, p.at(float64(k), c.between(g, k)))
		}
	}
	return points
}

// band shades where measured values should lie, for flows that a hash placed.
func (c flowsChart) band(p plot, curve view.Curve) {
	if !curve.ByChance() {
		return
	}
	var upper, lower []figure.Point
	for _, g := range curve.Groups {
		point := c.point(g)
		at, low, high := p.x(float64(g.Flows)), p.y(point.least), p.y(point.most)
		if len(curve.Groups) == 1 { // wide enough to be visible
			upper, lower = append(upper, figure.Point{X: at - 16, Y: high}),
				append(lower, figure.Point{X: at - 16, Y: low})
			at += 16
		}
		upper, lower = append(upper, figure.Point{X: at, Y: high}), append(lower, figure.Point{X: at, Y: low})
	}
	slices.Reverse(lower)
	p.Polygon(figure.Faint, append(upper, lower...)...)
}

// spreadTitle says which share of the flows each link had, at least and at most.
func spreadTitle(v *view.View) string {
	var parts []string
	for _, c := range v.HashedCurves() {
		on, all := c.OnEach(), 0
		for _, n := range on {
			all += n
		}
		low, high := number.Percent(float64(slices.Min(on))/float64(all)),
			number.Percent(float64(slices.Max(on))/float64(all))
		if low != high {
			low += " to " + high
		}
		parts = append(parts, fmt.Sprintf("each of %s had %s", words.Count(c.Links, "link"), low))
	}
	return words.Sentence(strings.Join(parts, ", ") + " of the flows")
}
