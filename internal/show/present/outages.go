package present

import (
	"fmt"
	"linerate/internal/show/export"
	"strings"
)

// outages says what events in the window did to running flows, a row for each
// treatment and instant; nil: there were no events.
func outages(v *view) *Table {
	t := &Table{Name: "outages", Data: export.Rows(v.run, "outages"), Columns: []Column{{Head: "running flows"}, {Head: "what happened", Wrap: true, Extra: true},
		{Head: "withdrawn", Align: Right}, {Head: "others", Align: Right, Extra: true}, {Head: "others received nothing for", Extra: true},
		{Head: "others moved"}, {Head: "received nothing for", Wrap: true}},
		Notes: []string{"Withdrawn: flows whose path had an interface by which no flow arrives any more. " +
			"Received nothing: at the receiver, from the last packet before the event to the first one after it (median). " +
			"A pause shorter than twice the flow's longest one before may be chance."}}
	for c, col := range v.columns {
		t.section(col.name)
		for _, r := range v.rows {
			cell := r.cells[c]
			if cell == nil {
				continue
			}
			for _, o := range cell.Outages {
				others := moved(o.Others)
				if n := o.Others.Stopped; n > 0 {
					others += fmt.Sprintf(", %d stopped", n)
				}
				name, at := r.name, fmt.Sprintf("%g s", o.AtS)
				if len(cell.Outages) > 1 {
					name += ", " + at
				}
				cells := append(Cells(name), Cell{Text: strings.Join(o.What, "; "), Detail: "at " + at})
				t.Rows = append(t.Rows, Row{Cells: append(cells, Cells(fmt.Sprint(o.Withdrawn.Flows), fmt.Sprint(o.Others.Flows),
					lostFor(o.Others, o.ResolutionS), others, lostFor(o.Withdrawn, o.ResolutionS))...)})
			}
		}
	}
	t.DropEmptySections()
	return t.orNil()
}
