package present

import (
	"fmt"
	"strings"

	"linerate/internal/science/failover"
)

// outages says what events in the window did to running flows, a row for each
// treatment and instant; nil: there were no events.
func outages(v *view) *Table {
	t := &Table{Name: "outages", Data: exported(v.run, "outages"), Columns: []Column{{Head: "running flows"}},
		Notes: []string{"Withdrawn: flows that came by an interface by which none came any more. Got nothing: from the last packet before to the first one after, at the receiver, the median. Less than twice a flow's longest pause before is not told from chance."}}
	t.Columns = append(t.Columns, Column{Head: "what happened", Wrap: true, Extra: true}, Column{Head: "withdrawn", Align: Right}, Column{Head: "others", Align: Right, Extra: true},
		Column{Head: "others got nothing for", Extra: true}, Column{Head: "others moved"}, Column{Head: "got nothing for", Wrap: true})
	for c, col := range v.columns {
		t.section(col.name)
		for r := range v.rows {
			cell := v.rows[r].cells[c]
			if cell.Treatment == nil {
				continue
			}
			for _, o := range cell.Outages {
				moved := failover.Moved(o.Others)
				if n := o.Others.Stopped; n > 0 {
					moved += fmt.Sprintf(", %d stopped", n)
				}
				name, at := v.rows[r].name, fmt.Sprintf("%g s", o.AtS)
				if len(cell.Outages) > 1 {
					name += ", " + at
				}
				cells := append(Cells(name), Cell{Text: strings.Join(o.What, "; "), Detail: "at " + at})
				t.Rows = append(t.Rows, Row{Cells: append(cells, Cells(fmt.Sprint(o.Withdrawn.Flows), fmt.Sprint(o.Others.Flows),
					failover.Lost(o.Others, o.ResolutionS), moved, failover.Lost(o.Withdrawn, o.ResolutionS))...)})
			}
		}
	}
	if t.DropEmptySections(); len(t.Rows) == 0 {
		return nil
	}
	return t
}
