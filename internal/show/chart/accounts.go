package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/limits"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// account is what one party counts along the levels of a factor, measured or published.
type account struct {
	name   string
	points []accountPoint
	dash   bool // whether it was published, not measured in this run
	role   figure.Role
}

type accountPoint struct {
	x, bps, low, high float64
	trials            []dot
}

// leastRows is the minimum number of levels for a curve.
const leastRows = 3

// accountsFigure draws goodput, and what others count as it, over the levels of the factor that the
// run is about, each as points with a smooth line, and the limit. Curves of published tables are
// added.
func accountsFigure(v *view.View) (figure.Figure, bool) {
	factor, there := conclude.Subject(v.Run)
	if !there {
		return figure.Figure{}, false
	}
	list, limit := accounts(v, factor)
	if len(list) < 2 {
		return figure.Figure{}, false
	}
	f := figure.Figure{Name: "accounts", Title: accountsTitle(v, factor, list, limit)}
	f.Data = append(f.Data, []string{"account", factor.Name, "bps", "low_bps", "high_bps"})
	for _, a := range list {
		for _, p := range a.points {
			f.Data = append(f.Data, []string{a.name, number.Exact(p.x), number.Exact(p.bps), number.Exact(p.low),
				number.Exact(p.high)})
		}
	}
	f.Note = "The axis does not begin at 0. Small dots are trials. Dashed: not measured here."
	for _, p := range v.Run.Published {
		f.Note += " " + p.Name + ": " + p.Origin + "."
	}
	wire := publishedLimit(v, factor)
	if wire == limit {
		wire = 0
	}
	f.Panels = []figure.Panel{{Draw: func(width float64) *figure.Drawing {
		return accountsPanel(v, factor, list, limit, wire, width)
	}}}
	return f, true
}

// accounts returns the curves of a run; the first one is what was received.
func accounts(v *view.View, factor record.Factor) (list []account, limit float64) {
	rows := conclude.Rows(v.Run, factor)
	if len(rows) < leastRows || !slices.ContainsFunc(rows, func(t record.Treatment) bool {
		return t.ToolReported != nil
	}) {
		return nil, 0
	}
	received, reported := account{name: "received"}, account{}
	predicted, written := account{name: "predicted", dash: true}, account{name: "counted at the last write"}
	for _, t := range rows {
		x, err := strconv.ParseFloat(t.Levels[factor.Name], 64)
		if err != nil {
			return nil, 0 // names have no position on an axis
		}
		g := t.Goodput
		received.points = append(received.points, accountPoint{x, g.MeanBps, g.LowBps, g.HighBps,
			accountDots(v, t.Name, received.name, func(t *record.Trial) float64 { return t.GoodputBps })})
		limit = max(limit, t.LimitBps)
		s := t.ToolReported
		if s == nil {
			continue
		}
		if reported.name = s.Tool + " says"; s.Processes == 0 {
			reported.name = "counted at the senders"
		}
		reported.points = append(reported.points,
			accountPoint{x: x, bps: s.SumBps, trials: accountDots(v, t.Name, reported.name, reportedBps)})
		if s.PredictedBps != 0 {
			predicted.points = append(predicted.points, accountPoint{x: x, bps: s.GoodputBps + s.PredictedBps})
		}
		if mean := senderMean(v, t.Name); mean > 0 && s.Processes > 0 {
			written.points = append(written.points, accountPoint{x: x, bps: mean})
		}
	}
	list = []account{received, reported, predicted, written}
	for _, p := range v.Run.Published {
		for _, s := range p.Series {
			if p.Factor != factor.Name {
				continue
			}
			a := account{name: p.Name + ", " + s.Name, dash: true}
			for _, point := range s.Points {
				if x, err := strconv.ParseFloat(point.Level, 64); err == nil {
					a.points = append(a.points, accountPoint{x: x, bps: point.Bps})
				}
			}
			list = append(list, a)
		}
	}
	list = slices.DeleteFunc(list, func(a account) bool { return len(a.points) == 0 })
	for i := range list {
		slices.SortFunc(list[i].points, func(a, b accountPoint) int { return cmp.Compare(a.x, b.x) })
		list[i].role = figure.SeriesRole(i)
	}
	return list, limit
}

// accountDots returns what one party counted in a treatment's trials. Trials for which of returns 0
// are left out.
func accountDots(v *view.View, treatment, name string, of func(*record.Trial) float64) (list []dot) {
	for _, t := range v.Run.TrialsOf(treatment) {
		if bps := of(t); bps > 0 {
			list = append(list, dot{value: bps, tip: fmt.Sprintf("%s, trial %d in block %d: %s", name, t.Order, t.Block,
				v.Scale.Spell(bps))})
		}
	}
	return list
}

// reportedBps returns the goodput of a trial according to another program or, without one, the senders.
func reportedBps(t *record.Trial) float64 {
	if t.ToolReported != nil {
		return t.ToolReported.SumBps
	}
	return t.SenderReportedBps
}

// senderMean returns the goodput counted at the sender up to the last write.
func senderMean(v *view.View, treatment string) (mean float64) {
	trials := v.Run.TrialsOf(treatment)
	return lists.Sum(trials, func(t *record.Trial) float64 { return t.SenderReportedBps / float64(len(trials)) })
}

func accountsTitle(v *view.View, factor record.Factor, list []account, limit float64) string {
	last := func(a account) accountPoint { return a.points[len(a.points)-1] }
	received, said := last(list[0]), last(list[1])
	text := fmt.Sprintf("At %s %s: %s %s, received %s", number.Exact(said.x), factor.Name, list[1].name,
		v.Scale.Spell(said.bps), v.Scale.Spell(received.bps))
	if limit > 0 && said.bps > limit*1.005 {
		text += "; the path carries " + v.Scale.Spell(limit)
	}
	return text
}

// publishedLimit returns the maximum TCP goodput over the link of the published tables: real
// Ethernet with frames of 1500 bytes and timestamps. 0: unknown.
func publishedLimit(v *view.View, factor record.Factor) (most float64) {
	for _, p := range v.Run.Published {
		if p.Factor == factor.Name {
			most = max(most, p.LinkBps*limits.Frame{}.Fraction())
		}
	}
	return most
}

func accountsPanel(v *view.View, factor record.Factor, list []account, limit, wire, width float64) *figure.Drawing {
	low, high, first, last := math.Inf(1), max(limit, wire), math.Inf(1), 0.0
	for _, a := range list {
		for _, p := range a.points {
			low, high = min(low, p.bps), max(high, p.bps)
			for _, t := range p.trials {
				low, high = min(low, t.value), max(high, t.value)
			}
			first, last = min(first, p.x), max(last, p.x)
		}
	}
	if limit > 0 {
		low = min(low, limit)
	}
	room := max((high-low)*0.08, high*0.005)
	low, high = max(0, low-room), high+room
	marks := ticks(low*v.Scale.Per, high*v.Scale.Per, 6)
	labels := tickLabels(marks)
	p := plot{left: labelRoom(labels), right: width - min(width*0.3, 190), top: 24, bottom: 330}
	p.Drawing = figure.New(width, p.bottom+36)
	// Intervals may extend beyond the axis, which covers the figures.
	p.x, p.y = linear(first, last, p.left+6, p.right-6), linear(low, high, p.bottom, p.top)
	for i := range marks {
		marks[i] /= v.Scale.Per
	}
	p.yAxis(marks, labels, v.Scale.Unit)
	var levels []float64
	var names []string
	for _, n := range ticks(0, last, int(max(2, (p.right-p.left)/50))) {
		if n >= first || n == 0 {
			levels, names = append(levels, max(n, first)), append(names, number.Exact(max(n, first)))
		}
	}
	p.xAxis(levels, names, factor.Name)
	var ends []curveEnd
	if limit > 0 {
		p.across(figure.Limit, 1.6, limit)
		ends = append(ends, curveEnd{"limit " + v.Scale.Value(limit), p.y(limit), figure.Limit})
	}
	if wire > 0 {
		p.across(figure.Limit, 1.2, wire).Dash()
		ends = append(ends, curveEnd{"limit of the published link " + v.Scale.Value(wire), p.y(wire), figure.Limit})
	}
	for _, a := range list {
		var points []figure.Point
		for _, point := range a.points {
			points = append(points, p.at(point.x, point.bps))
			if point.high > point.low {
				p.Line(a.role, 1.2, p.at(point.x, point.low), p.at(point.x, point.high))
			}
		}
		if curve := p.Line(a.role, 1.8, figure.Smooth(points)...); a.dash {
			curve.Dash()
		}
		for i, at := range points {
			p.dots(a.points[i].trials, 9, a.role, p.y, func(y, away float64) figure.Point {
				return figure.Point{X: at.X + 4 + away, Y: y}
			})
			p.Circle(at, 2.8, a.role).Tip(fmt.Sprintf("%s, %s %s: %s", a.name, number.Exact(a.points[i].x), factor.Name,
				v.Scale.Spell(a.points[i].bps)))
		}
		ends = append(ends, curveEnd{a.name, points[len(points)-1].Y, a.role})
	}
	p.nameCurves(ends)
	return p.Drawing
}
