package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
)

// line is one interface's load over the window.
type line struct {
	port string
	at   []float64 // seconds since the window began
	bps  []float64
}

func (l line) mean() float64 {
	sum := 0.0
	for _, v := range l.bps {
		sum += v / float64(len(l.bps))
	}
	return sum
}

// spread is how far the load strays from its mean, as a part of it.
func (l line) spread() float64 {
	mean, worst := l.mean(), 0.0
	for _, v := range l.bps {
		worst = max(worst, v-mean, mean-v)
	}
	return worst / mean
}

// seriesFigure draws the load of every interface of the host in question over the
// window, for the baseline and the best fix.
func seriesFigure(v *view) (figure.Figure, bool) {
	f := figure.Figure{Name: "series"}
	high, steadiest, worst := 0.0, 0.0, ""
	type source struct {
		lines []line
		limit float64
		title string
	}
	var sources []source
	f.Data = append(f.Data, []string{"treatment", "trial", "host", "interface", "at_s", "load_bps"})
	for _, at := range v.spots() {
		t := at.r.cells[at.c].Treatment
		trial := shown(v, t)
		lines := lines(v, t, trial)
		if len(lines) == 0 {
			continue
		}
		s := source{lines: lines, title: v.label(at.r, at.c) + fmt.Sprintf(" (trial %d)", trial.Order)}
		for _, p := range portsOf(t, v.focus) {
			s.limit = max(s.limit, p.LimitBps)
		}
		busiest := 0.0
		for _, l := range lines {
			busiest = max(busiest, l.mean())
			high = max(high, slices.Max(l.bps))
			for i := range l.at {
				f.Data = append(f.Data, []string{t.Name, fmt.Sprint(trial.Order), v.focus, l.port, fixed(l.at[i], 4), fixed(l.bps[i], 0)})
			}
		}
		for _, l := range lines {
			if l.mean() > busiest/10 && l.spread() > steadiest {
				steadiest, worst = l.spread(), l.port+", "+v.label(at.r, at.c)
			}
		}
		high = max(high, s.limit)
		sources = append(sources, s)
	}
	if len(sources) == 0 || high <= 0 {
		return figure.Figure{}, false
	}
	f.Title = fmt.Sprintf("Every busy interface of %s keeps its load through the window, within %s", v.focus, percent(steadiest))
	if steadiest > 0.1 {
		f.Title = fmt.Sprintf("Load changes within the window, by up to %s of its mean (%s)", percent(steadiest), worst)
	}
	f.Note = "Load by the interface's own counters. The trial shown is the one nearest to its treatment's mean."
	for _, s := range sources {
		f.Panels = append(f.Panels, figure.Panel{Title: s.title, Draw: func(width float64) *figure.Drawing { return seriesPanel(s.lines, s.limit, high, width) }})
	}
	return f, true
}

// lines turns a trial's samples of one host's interfaces into loads in the
// direction the data flows.
func lines(v *view, t *record.Treatment, trial *record.Trial) []line {
	if trial == nil {
		return nil
	}
	at := slices.IndexFunc(trial.Hosts, func(h record.HostReading) bool { return h.Host == v.focus })
	if at < 0 {
		return nil
	}
	ports := portsOf(t, v.focus)
	received := dataRx(ports)
	begin := trial.Hosts[at].Begin.BeganNs
	if samples := trial.Hosts[at].Series; len(samples) > 0 && (begin == 0 || begin > samples[0].AtNs) {
		begin = samples[0].AtNs
	}
	var out []line
	for _, p := range ports {
		l := line{port: p.Interface}
		var last record.InterfaceCounters
		for i, sample := range trial.Hosts[at].Series {
			k := slices.IndexFunc(sample.Interfaces, func(c record.InterfaceCounters) bool { return c.Interface == p.Interface })
			if k < 0 {
				continue
			}
			now := sample.Interfaces[k]
			if now.AtNs == 0 {
				now.AtNs = sample.AtNs
			}
			moved, before := now.TxBytes, last.TxBytes
			if received {
				moved, before = now.RxBytes, last.RxBytes
			}
			if i > 0 && last.AtNs > 0 && now.AtNs > last.AtNs && moved >= before {
				l.at = append(l.at, (float64(now.AtNs+last.AtNs)/2-float64(begin))/1e9)
				l.bps = append(l.bps, float64(moved-before)*8e9/float64(now.AtNs-last.AtNs))
			}
			last = now
		}
		if len(l.at) > 1 {
			out = append(out, l)
		}
	}
	return out
}

// headroom above the highest load is where the limit is named.
const headroom = 1.14

func seriesPanel(lines []line, limit, high, width float64) *figure.Drawing {
	s := bitScale(high)
	labelWidth := min(width*0.24, 110)
	marks := ticks(high*headroom*s.per, 4)
	labels := tickLabels(marks)
	left := 8.0
	for _, label := range labels {
		left = max(left, figure.TextWidth(label, sizeSmall, false)+8)
	}
	right := width - labelWidth
	const top, bottom = 24.0, 190.0
	d := figure.New(width, bottom+34)
	end := 0.0
	for _, l := range lines {
		end = max(end, l.at[len(l.at)-1]*1.05)
	}
	x := func(at float64) float64 { return left + at/end*(right-left) }
	y := func(bps float64) float64 { return bottom - bps/(high*headroom)*(bottom-top) }
	for i, label := range labels {
		at := y(marks[i] / s.per)
		d.Line(figure.Faint, 1, figure.Point{X: left, Y: at}, figure.Point{X: right, Y: at})
		d.Text(left-6, at+4, label, figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.End})
	}
	d.Text(0, top-12, s.unit, figure.Style{Size: sizeSmall, Role: figure.Muted})
	times := ticks(end, 5)
	for i, label := range tickLabels(times) {
		d.Text(x(times[i]), bottom+16, label, figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.Middle})
	}
	d.Text(right, bottom+31, "seconds since the window began", figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.End})
	if limit > 0 {
		d.Line(figure.Limit, 1.6, figure.Point{X: left, Y: y(limit)}, figure.Point{X: right, Y: y(limit)}).Dash()
		d.Text(right, y(limit)-11, "rate of each link "+linkRate(limit), figure.Style{Size: sizeSmall, Role: figure.Limit, Anchor: figure.End})
	}
	for i, l := range lines {
		points := make([]figure.Point, len(l.at))
		for k := range l.at {
			points[k] = figure.Point{X: x(l.at[k]), Y: y(l.bps[k])}
		}
		stroke := 2.0
		if len(lines) > 8 {
			stroke = 1
		}
		d.Line(figure.SeriesRole(i), stroke, points...).Tip(l.port + ": mean " + linkRate(l.mean()))
	}
	lineLabels(d, lines, y, right+6, labelWidth-6, top, bottom)
	return d
}

// lineLabels names the lines at their right end. Lines too close to be named
// apart share a label.
func lineLabels(d *figure.Drawing, lines []line, y func(float64) float64, x, width, top, bottom float64) {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	last := func(i int) float64 { return y(lines[i].mean()) }
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case last(a) < last(b):
			return -1
		case last(a) > last(b):
			return 1
		}
		return a - b
	})
	const apart = 15.0
	floor := top
	for i := 0; i < len(order); {
		n := i + 1
		for n < len(order) && last(order[n])-last(order[n-1]) < apart {
			n++
		}
		var names []string
		members := slices.Sorted(slices.Values(order[i:n]))
		for _, k := range members {
			names = append(names, lines[k].port)
		}
		style := figure.Style{Size: sizeSmall, Role: figure.Ink}
		if n == i+1 {
			style.Role = figure.SeriesRole(order[i])
		}
		text := strings.Join(names, ", ")
		if len(names) > 4 {
			text = fmt.Sprintf("%s … %s (%d)", names[0], names[len(names)-1], len(names))
		}
		rows := figure.Wrap(figure.Plain(text), width, sizeSmall, false, 2)
		at := max((last(order[i])+last(order[n-1]))/2-float64(len(rows)-1)*7, floor)
		at = min(at, bottom-float64(len(rows)-1)*14)
		for _, row := range rows {
			d.Text(x, at+4, row, style).Tip(text)
			at += 14
		}
		floor = at
		i = n
	}
}
