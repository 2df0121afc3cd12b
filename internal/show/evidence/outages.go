package evidence

import (
	"fmt"
	"strings"

	"linerate/internal/show/answer"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/view"
)

// Outages says what events in the window did to running flows, a row for each
// treatment and instant; nil: there were no events.
func Outages(v *view.View) *document.Table {
	t := &document.Table{Name: "outages", Data: export.Rows(v.Run, "outages"), Columns: []document.Column{{Head: "running flows"}, {Head: "what happened", Wrap: true, Extra: true},
		{Head: "withdrawn", Align: document.Right}, {Head: "others", Align: document.Right, Extra: true}, {Head: "others received nothing for", Extra: true},
		{Head: "others moved"}, {Head: "received nothing for", Wrap: true}},
		Notes: []string{"Withdrawn: flows whose path had an interface by which no flow arrives any more. " +
			"Received nothing: at the receiver, from the last packet before the event to the first one after it (median). " +
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
				cells := append(document.Cells(name), document.Cell{Text: strings.Join(o.What, "; "), Detail: "at " + at})
				t.Rows = append(t.Rows, document.Row{Cells: append(cells, document.Cells(fmt.Sprint(o.Withdrawn.Flows), fmt.Sprint(o.Others.Flows),
					answer.LostFor(o.Others, o.ResolutionS), others, answer.LostFor(o.Withdrawn, o.ResolutionS))...)})
			}
		}
	}
	t.DropEmptySections()
	return t.OrNil()
}
