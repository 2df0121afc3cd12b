package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// wayRow is one trial of a treatment: the goodput of its flows, by the way they took.
type wayRow struct {
	Treatment string
	Trial     int
	Ways      []wayCell
	Total     string
}

// wayCell are the flows of one way.
type wayCell struct{ Way, Rates string }

// ways fills in which way flows took, in the trial of each treatment that is
// nearest to its mean. Flows that had only one are not listed.
func (p *page) ways(v *view) {
	unit := goodputScale(v.run)
	csv := v.waysCSV()
	if len(csv) == 1 {
		return
	}
	known, same := 0, 0
	for _, t := range v.run.Trials {
		for _, f := range t.Flows {
			if took, ok := f.AsPredicted(); ok {
				known++
				if took {
					same++
				}
			}
		}
	}
	for i := range v.run.Treatments {
		t := &v.run.Treatments[i]
		if trial := v.shown(t); trial != nil {
			if cells := byWay(trial, unit); len(cells) > 0 {
				p.Ways = append(p.Ways, wayRow{t.Name, trial.Order, cells, unit.value(trial.GoodputBps)})
			}
		}
	}
	p.WaysUnit = unit.unit
	p.WaysCSV = template.URL(dataURI(csv))
	p.WaysTitle = "Which way the flows took"
	switch {
	case known > 0 && same == known:
		p.WaysTitle = fmt.Sprintf("All %s took the way that the kernels had named beforehand", count(known, "flow"))
	case known > 0:
		p.WaysTitle = fmt.Sprintf("Of %s, %d took the way that the kernels had named beforehand", count(known, "flow"), same)
	}
}

// waysCSV has a line for each flow that had several ways.
func (v *view) waysCSV() [][]string {
	csv := [][]string{{"treatment", "trial", "flow", "ways", "path", "predicted", "observed", "goodput_bps"}}
	for _, t := range v.run.Trials {
		for _, f := range t.Flows {
			if f.Paths > 1 {
				csv = append(csv, []string{t.Treatment, fmt.Sprint(t.Order), f.ID, fmt.Sprint(f.Paths), strings.Join(f.Path, " "), strings.Join(f.Predicted, " "), strings.Join(f.Observed, " "), fmt.Sprint(f.GoodputBps)})
			}
		}
	}
	return csv
}

// byWay groups the flows of a trial that had several ways.
func byWay(trial *record.Trial, unit scale) []wayCell {
	rates := map[string][]float64{}
	var order []string
	last := map[string]string{} // the end of a way, by its name; empty: there are several
	for _, f := range trial.Flows {
		if f.Paths > 1 && f.Placed() {
			name, end := wayName(f.Path), f.Path[len(f.Path)-1]
			if have, known := last[name]; known && have != end {
				end = ""
			}
			last[name] = end
		}
	}
	for _, f := range trial.Flows {
		if f.Paths < 2 {
			continue
		}
		name := "not known"
		if f.Placed() {
			name = wayName(f.Path)
			if last[name] == "" {
				_, port, _ := strings.Cut(f.Path[len(f.Path)-1], ".")
				name += " → " + port
			}
		}
		if rates[name] == nil {
			order = append(order, name)
		}
		rates[name] = append(rates[name], f.GoodputBps)
	}
	slices.Sort(order)
	var cells []wayCell
	for _, name := range order {
		list := rates[name]
		slices.Sort(list)
		var texts []string
		for _, bps := range list[:min(len(list), mostRates)] {
			texts = append(texts, significant(bps*unit.per, 3))
		}
		text := strings.Join(texts, ", ")
		if more := len(list) - mostRates; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		cells = append(cells, wayCell{name, text})
	}
	return cells
}

// mostRates is how many flows of one way are listed one by one.
const mostRates = 8

// wayName tells a way from the others: the interface that it begins with, and what it
// leads through.
func wayName(path []string) string {
	_, port, _ := strings.Cut(path[0], ".")
	through := []string{port}
	for _, end := range path[1 : len(path)-1] {
		if node, _, _ := strings.Cut(end, "."); through[len(through)-1] != node {
			through = append(through, node)
		}
	}
	return strings.Join(through, " → ")
}
