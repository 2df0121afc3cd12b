package present

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// outages says what events in the window did to running flows, a row for each
// treatment and instant; nil: there were no events.
func outages(v *view) *Table {
	t := &Table{Name: "outages", Data: exported(v.run, "outages"), Columns: []Column{{Head: "running flows"}, {Head: "what happened", Wrap: true, Extra: true},
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

// lostFor spells how long flows of a group received nothing: the median, and the longest.
func lostFor(g record.OutageGroup, resolutionS float64) string {
	text := unit.FormatSeconds(g.LostS)
	switch {
	case g.Flows == 0:
		return "–"
	case g.Stopped == g.Flows:
		return "the rest of the window"
	case g.LostS == 0:
		text = "less than " + unit.FormatSeconds(resolutionS)
	}
	switch most := unit.FormatSeconds(g.MostLostS); {
	case g.Stopped > 0:
		text += fmt.Sprintf(" (%d of %d for the rest of the window)", g.Stopped, g.Flows)
	case g.MostLostS > max(g.LostS, resolutionS) && most != unit.FormatSeconds(g.LostS):
		text += " (at most " + most + ")"
	}
	return text
}

// moved spells how many flows of a group came by another path.
func moved(g record.OutageGroup) string {
	switch {
	case g.Flows == 0:
		return "–"
	case g.Moved == 0:
		return fmt.Sprintf("none of %d", g.Flows)
	case g.Moved == g.Flows:
		return fmt.Sprintf("all %d", g.Flows)
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", g.Moved, g.Flows, 100*float64(g.Moved)/float64(g.Flows))
}
