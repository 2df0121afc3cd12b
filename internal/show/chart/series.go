package chart

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/show/export"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// loadSeries is one interface's load over the window.
type loadSeries struct {
	name string
	at   []float64 // seconds since the beginning of the window
	bps  []float64
}

func (l loadSeries) mean() float64 {
	return lists.Sum(l.bps, func(v float64) float64 { return v / float64(len(l.bps)) })
}

// spread returns the largest deviation of the load from its mean, relative to the mean.
func (l loadSeries) spread() float64 {
	mean, worst := l.mean(), 0.0
	for _, v := range l.bps {
		worst = max(worst, v-mean, mean-v)
	}
	return worst / mean
}

// seriesFigure draws the load of every interface of the host in question over the window, for the
// baseline and the best fix.
func seriesFigure(v *view.View) (figure.Figure, bool) {
	f := figure.Figure{Name: "series", Data: [][]string{{"treatment", "trial", "host", "interface", "at_s",
		"load_bps"}},
		Note: "Load by the interface's own counters. The trial shown is the one nearest to its treatment's mean."}
	high, steadiest, worst, does := 0.0, 0.0, "", ""
	var drawn []string
	for _, at := range v.Spots() {
		t := at.Row.Treatments[at.Column]
		trial := v.Typical(t)
		lines := loadsIn(v, t, trial)
		if len(lines) == 0 {
			continue
		}
		limit, busiest := rateOf(view.InterfacesOf(t, v.Focus)), 0.0
		this := "sends"
		if view.Receives(view.InterfacesOf(t, v.Focus)) {
			this = "receives"
		}
		if does = cmp.Or(does, this); does != this {
			does = "carries"
		}
		for _, l := range lines {
			busiest = max(busiest, l.mean())
			high = max(high, slices.Max(l.bps), limit.bps)
			for i := range l.at {
				f.Data = append(f.Data, []string{t.Name, fmt.Sprint(trial.Order), v.Focus, l.name,
					number.Fixed(l.at[i], 4), number.Fixed(l.bps[i], 0)})
			}
		}
		for _, l := range lines {
			if l.mean() > busiest/10 && l.spread() > steadiest {
				steadiest, worst = l.spread(), l.name+", "+v.Label(at.Row, at.Column)
			}
		}
		drawn = append(drawn, v.Label(at.Row, at.Column))
		f.Panels = append(f.Panels, figure.Panel{Title: v.Label(at.Row, at.Column) + fmt.Sprintf(" (trial %d)",
			trial.Order), Draw: func(width float64) *figure.Drawing {
			return seriesPanel(lines, limit, high, width) // high is that of all panels
		}})
	}
	f.Title = fmt.Sprintf("Every busy interface of %s %s at a steady rate through the window, within %s", v.Focus, does,
		number.Percent(steadiest))
	if all := len(v.Spots()); len(drawn) < all && len(drawn) > 0 { // the others have no interface of the host
		f.Title += " (" + words.List(drawn) + ")"
	}
	if steadiest > 0.1 {
		f.Title = fmt.Sprintf("The rate at which %s %s changes within the window, by up to %s of its mean (%s)",
			v.Focus, does, number.Percent(steadiest), worst)
	}
	return f, high > 0
}

// loadsIn returns the loads of a host's interfaces in the direction of the data.
func loadsIn(v *view.View, t *record.Treatment, trial *record.Trial) (out []loadSeries) {
	if trial == nil {
		return nil
	}
	at := slices.IndexFunc(trial.Hosts, func(h netstate.HostReading) bool { return h.Host == v.Focus })
	if at < 0 {
		return nil
	}
	interfaces, series := view.InterfacesOf(t, v.Focus), export.Series(trial.Hosts[at])
	received := view.Receives(interfaces)
	for _, p := range interfaces {
		i := slices.IndexFunc(series, func(s export.InterfaceSeries) bool { return s.Interface == p.Interface })
		if i < 0 || len(series[i].AtS) < 2 {
			continue
		}
		l := loadSeries{p.Interface, series[i].AtS, series[i].TxBps}
		if received {
			l.bps = series[i].RxBps
		}
		out = append(out, l)
	}
	return out
}

// linkRate is the rate that loads are compared with, and its description.
type linkRate struct {
	of  string
	bps float64
}

// rateOf returns the rate of the links of a host's interfaces, the highest one if they differ.
func rateOf(interfaces []record.TreatmentInterface) linkRate {
	rate := linkRate{of: "rate of the link"}
	for i, p := range interfaces {
		switch {
		case i > 0 && (p.LimitBps != rate.bps || rate.of == "rate of the fastest link"):
			rate.of = "rate of the fastest link"
		case i > 0:
			rate.of = "rate of each link"
		}
		rate.bps = max(rate.bps, p.LimitBps)
	}
	return rate
}

// headroom is the space above the highest load for the name of the limit.
const headroom = 1.14

func seriesPanel(lines []loadSeries, limit linkRate, high, width float64) *figure.Drawing {
	s := number.BitScale(high)
	marks := ticks(0, high*headroom*s.Per, 4)
	labels := tickLabels(marks)
	for i := range marks {
		marks[i] /= s.Per
	}
	p := plot{left: labelRoom(labels), right: width - min(width*0.24, 110), top: 24, bottom: 190}
	p.Drawing = figure.New(width, p.bottom+34)
	end := 0.0
	for _, l := range lines {
		end = max(end, l.at[len(l.at)-1]*1.05)
	}
	p.x, p.y = linear(0, end, p.left, p.right), linear(0, high*headroom, p.bottom, p.top)
	p.yAxis(marks, labels, s.Unit)
	times := ticks(0, end, 5)
	p.xAxis(times, tickLabels(times), "seconds since the window began")
	if limit.bps > 0 {
		p.across(figure.Limit, 1.6, limit.bps).Dash()
		p.Text(p.right, p.y(limit.bps)-11, limit.of+" "+number.LinkRate(limit.bps),
			figure.Style{Size: sizeSmall, Role: figure.Limit, Anchor: figure.End})
	}
	var ends []curveEnd
	for i, l := range lines {
		points := make([]figure.Point, len(l.at))
		for k := range l.at {
			points[k] = p.at(l.at[k], l.bps[k])
		}
		stroke := 2.0
		if len(lines) > 8 {
			stroke = 1
		}
		p.Line(figure.SeriesRole(i), stroke, points...).Tip(l.name + ": mean " + number.LinkRate(l.mean()))
		ends = append(ends, curveEnd{l.name, p.y(l.mean()), figure.SeriesRole(i)})
	}
	p.nameCurves(ends)
	return p.Drawing
}
