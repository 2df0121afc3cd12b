package present

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"linerate/internal/model/record"

	"linerate/internal/science/conclude"
	"linerate/internal/science/limits"
	"linerate/internal/show/figure"
)

// account is one way of counting along the levels of a factor, measured or published.
type account struct {
	name   string
	points []accountPoint
	dash   bool // not measured here
	role   figure.Role
}

type accountPoint struct{ x, bps, low, high float64 }

// leastRows is how many levels make a curve.
const leastRows = 3

// accountsFigure draws what was received, and what others count as it, over the
// levels of the factor that the run is about: points and a smooth line each, and the
// limit. Published tables are laid over it.
func accountsFigure(v *view) (figure.Figure, bool) {
	factor, there := conclude.Subject(v.run)
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
			f.Data = append(f.Data, []string{a.name, exact(p.x), exact(p.bps), exact(p.low), exact(p.high)})
		}
	}
	f.Note = "The axis does not begin at 0. Dashed: not measured here."
	for _, p := range v.run.Published {
		f.Note += " " + p.Name + ": " + p.Origin + "."
	}
	wire := publishedLimit(v, factor)
	if wire == limit {
		wire = 0
	}
	f.Panels = []figure.Panel{{Draw: func(width float64) *figure.Drawing { return accountsPanel(v, factor, list, limit, wire, width) }}}
	return f, true
}

// accounts are the curves that there are, what was received first.
func accounts(v *view, factor record.Factor) (list []account, limit float64) {
	rows := conclude.Rows(v.run, factor)
	if len(rows) < leastRows || !slices.ContainsFunc(rows, func(t record.Treatment) bool { return t.ToolReported != nil }) {
		return nil, 0
	}
	received, said := account{name: "received"}, account{}
	predicted, written := account{name: "predicted", dash: true}, account{name: "counted at the last write"}
	for _, t := range rows {
		x, err := strconv.ParseFloat(t.Levels[factor.Name], 64)
		if err != nil {
			return nil, 0 // names have no distance from each other
		}
		g := t.Goodput
		received.points = append(received.points, accountPoint{x, g.MeanBps, g.LowBps, g.HighBps})
		limit = max(limit, t.LimitBps)
		s := t.ToolReported
		if s == nil {
			continue
		}
		if said.name = s.Tool + " says"; s.Processes == 0 {
			said.name = "counted at the senders"
		}
		said.points = append(said.points, accountPoint{x: x, bps: s.SumBps})
		if s.PredictedBps != 0 {
			predicted.points = append(predicted.points, accountPoint{x: x, bps: s.GoodputBps + s.PredictedBps})
		}
		if mean := senderMean(v, t.Name); mean > 0 && s.Processes > 0 {
			written.points = append(written.points, accountPoint{x: x, bps: mean})
		}
	}
	list = []account{received, said, predicted, written}
	for _, p := range v.run.Published {
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
		slices.SortFunc(list[i].points, func(a, b accountPoint) int { return int(math.Copysign(1, a.x-b.x)) })
		list[i].role = figure.SeriesRole(i)
	}
	return list, limit
}

// senderMean is what counting at the sender gives, up to the last write.
func senderMean(v *view, treatment string) (mean float64) {
	trials := trialsOf(v.run, treatment)
	for _, t := range trials {
		mean += t.SenderReportedBps / float64(len(trials))
	}
	return mean
}

func accountsTitle(v *view, factor record.Factor, list []account, limit float64) string {
	last := func(a account) accountPoint { return a.points[len(a.points)-1] }
	received, said := last(list[0]), last(list[1])
	text := fmt.Sprintf("At %s %s: %s %s, received %s", exact(said.x), factor.Name, list[1].name, v.scale.with(said.bps), v.scale.with(received.bps))
	if limit > 0 && said.bps > limit*1.005 {
		text += "; the path carries " + v.scale.with(limit)
	}
	return text
}

// publishedLimit is the most that TCP could carry over the wire of the published
// tables: real Ethernet, with frames of 1500 bytes and timestamps. 0: not known.
func publishedLimit(v *view, factor record.Factor) (most float64) {
	for _, p := range v.run.Published {
		if p.Factor == factor.Name {
			most = max(most, p.LinkBps*limits.Frame{}.Fraction())
		}
	}
	return most
}

func accountsPanel(v *view, factor record.Factor, list []account, limit, wire, width float64) *figure.Drawing {
	low, high, first, last := math.Inf(1), max(limit, wire), math.Inf(1), 0.0
	for _, a := range list {
		for _, p := range a.points {
			low, high = min(low, p.bps), max(high, p.bps)
			first, last = min(first, p.x), max(last, p.x)
		}
	}
	if limit > 0 {
		low = min(low, limit)
	}
	room := max((high-low)*0.08, high*0.005)
	low, high = max(0, low-room), high+room
	labelWidth := min(width*0.3, 190)
	var marks []float64
	for _, m := range ticks((high-low)*v.scale.per, 6) {
		step := m // those of the span, moved to where it begins
		if step > 0 {
			for at := math.Ceil(low*v.scale.per/step) * step; at <= high*v.scale.per; at += step {
				marks = append(marks, at)
			}
			break
		}
	}
	labels := make([]string, len(marks))
	left := 8.0
	for i, m := range marks {
		labels[i] = strconv.FormatFloat(math.Round(m*1e6)/1e6, 'f', -1, 64)
		left = max(left, figure.TextWidth(labels[i], sizeSmall, false)+8)
	}
	right := width - labelWidth
	const top, bottom = 24.0, 330.0
	d := figure.New(width, bottom+36)
	x := func(n float64) float64 {
		if last == first {
			return left
		}
		return left + 6 + (n-first)/(last-first)*(right-left-12)
	}
	// An interval may be wider than the axis, which is for the figures.
	y := func(bps float64) float64 { return bottom - (min(max(bps, low), high)-low)/(high-low)*(bottom-top) }
	for i, m := range marks {
		at := y(m / v.scale.per)
		d.Line(figure.Faint, 1, figure.Point{X: left, Y: at}, figure.Point{X: right, Y: at})
		d.Text(left-6, at+4, labels[i], figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.End})
	}
	d.Text(0, top-12, v.scale.unit, figure.Style{Size: sizeSmall, Role: figure.Muted})
	for _, n := range ticks(last, int(max(2, (right-left)/70))) {
		if n >= first || n == 0 {
			d.Text(x(max(n, first)), bottom+16, exact(max(n, first)), figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.Middle})
		}
	}
	d.Text(right, bottom+31, factor.Name, figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.End})
	if limit > 0 {
		d.Line(figure.Limit, 1.6, figure.Point{X: left, Y: y(limit)}, figure.Point{X: right, Y: y(limit)})
		d.Text(right-4, y(limit)-5, "limit "+v.scale.value(limit), figure.Style{Size: sizeText, Role: figure.Limit, Bold: true, Anchor: figure.End})
	}
	if wire > 0 {
		d.Line(figure.Limit, 1.2, figure.Point{X: left, Y: y(wire)}, figure.Point{X: right, Y: y(wire)}).Dash()
		d.Text(right-4, y(wire)+13, "limit of the published wire "+v.scale.value(wire), figure.Style{Size: sizeSmall, Role: figure.Limit, Anchor: figure.End})
	}
	for _, a := range list {
		var points []figure.Point
		for _, p := range a.points {
			at := figure.Point{X: x(p.x), Y: y(p.bps)}
			points = append(points, at)
			if p.high > p.low {
				d.Line(a.role, 1.2, figure.Point{X: at.X, Y: y(p.low)}, figure.Point{X: at.X, Y: y(p.high)})
			}
		}
		curve := d.Line(a.role, 1.8, figure.Smooth(points)...)
		if a.dash {
			curve.Dash()
		}
		for i, at := range points {
			d.Circle(at, 2.8, a.role).Tip(fmt.Sprintf("%s, %s %s: %s", a.name, exact(a.points[i].x), factor.Name, v.scale.with(a.points[i].bps)))
		}
	}
	nameAccounts(d, list, y, right+8, labelWidth-8, top, bottom)
	return d
}

// nameAccounts names the curves at their right ends, moved apart where they are close.
func nameAccounts(d *figure.Drawing, list []account, y func(float64) float64, x, width, top, bottom float64) {
	const apart = 15.0
	order := slices.Clone(list)
	end := func(a account) float64 { return y(a.points[len(a.points)-1].bps) }
	slices.SortStableFunc(order, func(a, b account) int { return int(math.Copysign(1, end(a)-end(b))) })
	at := make([]float64, len(order))
	for i, a := range order {
		at[i] = max(end(a), top)
		if i > 0 {
			at[i] = max(at[i], at[i-1]+apart)
		}
	}
	for i := len(order) - 1; i >= 0; i-- { // and not below the axis
		floor := bottom
		if i+1 < len(order) {
			floor = at[i+1] - apart
		}
		at[i] = min(at[i], floor)
	}
	for i, a := range order {
		d.Text(x, at[i]+4, figure.Fit(figure.Plain(a.name), width, sizeSmall, false), figure.Style{Size: sizeSmall, Role: a.role}).Tip(a.name)
	}
}
