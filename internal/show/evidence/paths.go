package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/answer"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Paths returns a table of the paths that flows took, in the trial of each treatment that is
// closest to its mean. Nil: flows had only one path.
func Paths(v *view.View) *document.Table {
	unit := v.Scale
	t := &document.Table{Name: "paths", Data: v.PathsCSV(), Columns: []document.Column{{Head: "treatment"},
		{Head: "path"}, {Head: "flows, " + unit.Unit, Wrap: true}, {Head: "together", Align: document.Right}},
		Notes: []string{"Goodput of each flow, by the path it took; of each treatment the trial nearest to its mean."}}
	if len(t.Data) == 1 {
		return nil
	}
	for i := range v.Run.Treatments {
		treatment := &v.Run.Treatments[i]
		trial := v.Typical(treatment)
		if trial == nil {
			continue
		}
		for k, p := range byPath(trial, unit) {
			row := document.Row{Cells: document.Cells("", p.path, p.rates, "")}
			if k == 0 {
				row.Cells[0], row.Cells[3].Text = document.Cell{Text: treatment.Name,
					Detail: fmt.Sprintf("trial %d", trial.Order)}, unit.Value(trial.GoodputBps)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// PathsTitle says how many flows took the predicted path.
func PathsTitle(run *record.Run) string {
	known, same := 0, 0
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			if took, ok := f.AsPredicted(); ok {
				known++
				if took {
					same++
				}
			}
		}
	}
	switch {
	case known == 0:
		return "Which path the flows took"
	case same == known:
		return fmt.Sprintf("All %s took the path predicted by route lookup", words.Count(known, "flow"))
	}
	return fmt.Sprintf("Of %s, %d took the path predicted by route lookup", words.Count(known, "flow"), same)
}

// onPath has the rates of the flows on one path.
type onPath struct{ path, rates string }

// byPath groups the flows of a trial that had several paths.
func byPath(trial *record.Trial, unit number.Scale) []onPath {
	rates := map[string][]float64{}
	last := map[string]string{} // last end of a path, by its name; empty: there are several
	for _, f := range trial.Flows {
		if f.Paths > 1 && f.Placed() {
			name, end := pathName(f.Path), f.Path[len(f.Path)-1]
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
			name = pathName(f.Path)
			if last[name] == "" {
				_, port, _ := strings.Cut(f.Path[len(f.Path)-1], ".")
				name += " → " + port
			}
		}
		rates[name] = append(rates[name], f.GoodputBps)
	}
	var cells []onPath
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		list := rates[name]
		slices.Sort(list)
		var texts []string
		for _, bps := range list[:min(len(list), mostRates)] {
			texts = append(texts, number.Significant(bps*unit.Per, 3))
		}
		text := strings.Join(texts, ", ")
		if more := len(list) - mostRates; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		cells = append(cells, onPath{name, text})
	}
	return cells
}

// mostRates is the maximum number of flows on one path that are listed individually.
const mostRates = 8

// pathName distinguishes a path from the others by its first interface and its nodes.
func pathName(path []string) string {
	_, port, _ := strings.Cut(path[0], ".")
	through := []string{port}
	for _, end := range path[1 : len(path)-1] {
		if node, _, _ := strings.Cut(end, "."); through[len(through)-1] != node {
			through = append(through, node)
		}
	}
	return strings.Join(through, " → ")
}

// Outages returns a table of the effects of events in the window on running flows, with a row for
// each treatment and instant. Nil: there were no events.
func Outages(v *view.View) *document.Table {
	t := &document.Table{Name: "outages", Data: export.Rows(v.Run, "outages"),
		Columns: []document.Column{{Head: "running flows"}, {Head: "what happened", Wrap: true, From: 120},
			{Head: "withdrawn", Align: document.Right}, {Head: "others", Align: document.Right, From: 120},
			{Head: "others received nothing for", From: 120},
			{Head: "others moved"}, {Head: "received nothing for", Wrap: true}},
		Notes: []string{"Withdrawn: flows whose path had an interface by which no flow arrives any more. " +
			"Received nothing: at the receiver, from the last packet before the event to the first one after it " +
			"(median). " +
			"A pause shorter than twice the flow's longest one before may be chance."}}
	for c, col := range v.Columns {
		t.AddSection(col.Name)
		for _, r := range v.Rows {
			cell := r.Treatments[c]
			if cell == nil {
				continue
			}
			for _, o := range cell.Outages {
				others := answer.Moved(o.Others)
				if n := o.Others.Stopped; n > 0 {
					others += fmt.Sprintf(", %d stopped", n)
				}
				name, at := r.Name, fmt.Sprintf("%g s", o.AtS)
				if len(cell.Outages) > 1 {
					name += ", " + at
				}
				cells := append(document.Cells(name), document.Cell{Text: strings.Join(o.What, "; "),
					Detail: "at " + at})
				t.Rows = append(t.Rows, document.Row{
					Cells: append(cells, document.Cells(fmt.Sprint(o.Withdrawn.Flows), fmt.Sprint(o.Others.Flows),
						answer.LostFor(o.Others, o.ResolutionS), others,
						answer.LostFor(o.Withdrawn, o.ResolutionS))...)})
			}
		}
	}
	t.DropEmptySections()
	return t.OrNil()
}
