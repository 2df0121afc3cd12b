package chart

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/science/hostload"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// mostCPUs is the number of CPUs that are drawn of a machine: the busiest ones.
const mostCPUs = 8

// cpuSeries is the load of one CPU over the window. Shares are of the time, 0…1.
type cpuSeries struct {
	cpu                      int
	at, busy                 []float64
	mean, kernel, high, last float64
}

func (c cpuSeries) name() string {
	if c.cpu < 0 {
		return "all CPUs"
	}
	return fmt.Sprintf("CPU %d", c.cpu)
}

// cpusFigure draws the load of the CPUs of each machine over the window, for the baseline and the
// best fix.
func cpusFigure(v *view.View) (figure.Figure, bool) {
	f := figure.Figure{Name: "cpus", Data: [][]string{{"treatment", "trial", "machine", "cpu", "at_s", "busy"}},
		Note: "Busy is all but idle (/proc/stat, which counts in ticks of 10 ms: over short intervals the value is " +
			"coarse). The trial shown is the one nearest to its treatment's mean."}
	var busiest cpuSeries
	var where string
	for _, at := range v.Spots() {
		t := at.Row.Treatments[at.Column]
		trial := v.Typical(t)
		if trial == nil {
			continue
		}
		for _, m := range hostload.Of(*trial, trial.Over(&v.Run.Topology)) {
			i := slices.IndexFunc(trial.Hosts, func(h netstate.HostReading) bool { return h.Host == m.Host })
			for j := range trial.Hosts { // the one that sampled the CPUs of the machine
				if len(hostload.During(trial.Hosts[j])) > 0 && hostload.Same(trial.Hosts[i], trial.Hosts[j]) {
					i = j
				}
			}
			lines := cpusOver(hostload.During(trial.Hosts[i]))
			if len(lines) == 0 {
				continue
			}
			for _, l := range lines {
				for k := range l.at {
					f.Data = append(f.Data, []string{t.Name, fmt.Sprint(trial.Order), m.Name, fmt.Sprint(l.cpu),
						number.Fixed(l.at[k], 4), number.Fixed(l.busy[k], 4)})
				}
			}
			if lines[0].mean > busiest.mean {
				busiest, where = lines[0], fmt.Sprintf("%s of %s", lines[0].name(), m.Name)
				if !v.Single() {
					where += ", " + v.Label(at.Row, at.Column)
				}
			}
			f.Panels = append(f.Panels, figure.Panel{Title: fmt.Sprintf("%s, %s (trial %d)", v.Label(at.Row, at.Column),
				m.Name, trial.Order), Draw: func(width float64) *figure.Drawing {
				return cpusPanel(lines[:min(len(lines), mostCPUs)], width)
			}})
		}
	}
	f.Title = fmt.Sprintf("The busiest CPU was %s busy, at most %s (%s); %s with interrupts and softirqs",
		number.Percent(busiest.mean), number.Percent(busiest.high), where, number.Percent(busiest.kernel))
	return f, busiest.mean > 0
}

// cpusOver returns the loads of the CPUs in the intervals of a window, those with the highest mean
// first.
func cpusOver(window []hostload.Interval) (lines []cpuSeries) {
	for _, in := range window {
		for _, c := range in.CPUs {
			i := slices.IndexFunc(lines, func(l cpuSeries) bool { return l.cpu == c.CPU })
			if i < 0 {
				i, lines = len(lines), append(lines, cpuSeries{cpu: c.CPU})
			}
			l := &lines[i]
			l.at, l.busy = append(l.at, in.AtS), append(l.busy, c.Busy)
			l.kernel += c.Kernel()
		}
	}
	lines = slices.DeleteFunc(lines, func(l cpuSeries) bool { return len(l.at) < 2 })
	for i := range lines {
		l := &lines[i]
		for _, busy := range l.busy {
			l.mean, l.high = l.mean+busy/float64(len(l.busy)), max(l.high, busy)
		}
		l.kernel, l.last = l.kernel/float64(len(l.busy)), l.busy[len(l.busy)-1]
	}
	slices.SortFunc(lines, func(a, b cpuSeries) int { return cmp.Or(cmp.Compare(b.mean, a.mean), a.cpu-b.cpu) })
	return lines
}

func cpusPanel(lines []cpuSeries, width float64) *figure.Drawing {
	marks, labels := []float64{0, 0.25, 0.5, 0.75, 1}, []string{"0", "25", "50", "75", "100"}
	p := plot{left: labelRoom(labels), right: width - min(width*0.24, 110), top: 24, bottom: 150}
	p.Drawing = figure.New(width, p.bottom+34)
	end := 0.0
	for _, l := range lines {
		end = max(end, l.at[len(l.at)-1]*1.05)
	}
	p.x, p.y = linear(0, end, p.left, p.right), linear(0, 1, p.bottom, p.top)
	p.yAxis(marks, labels, "% busy")
	times := ticks(0, end, 5)
	p.xAxis(times, tickLabels(times), "seconds since the window began")
	var ends []curveEnd
	for _, l := range lines {
		role := figure.SeriesRole(max(l.cpu, 0)) // a CPU has the same colour in all panels
		points := make([]figure.Point, len(l.at))
		for k := range l.at {
			points[k] = p.at(l.at[k], l.busy[k])
		}
		p.Line(role, 2, points...).Tip(fmt.Sprintf("%s: %s busy, %s with interrupts and softirqs", l.name(),
			number.Percent(l.mean), number.Percent(l.kernel)))
		ends = append(ends, curveEnd{l.name(), p.y(l.last), role})
	}
	p.nameCurves(ends)
	return p.Drawing
}
