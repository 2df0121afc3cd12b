package report

import (
	"fmt"

	"linerate/internal/science/failover"
)

// outageRow is what events at an instant did to a treatment's running flows.
type outageRow struct {
	Treatment, Condition, At string
	Several                  bool // the treatment has events at other instants, too
	What                     []string
	Withdrawn                int
	Lost                     string // by the flows whose way was withdrawn
	Others                   int
	Moved                    string // of these
	OthersLost               string
}

// outages lists them in the order of the table of treatments.
func (v *view) outages() (list []outageRow) {
	for r := range v.rows {
		for c, cell := range v.rows[r].cells {
			if cell.Treatment == nil {
				continue
			}
			for _, o := range cell.Outages {
				moved := failover.Moved(o.Others)
				if n := o.Others.Stopped; n > 0 {
					moved += fmt.Sprintf(", %d stopped", n)
				}
				list = append(list, outageRow{
					Treatment: v.rows[r].name, Condition: v.columns[c].name, At: fmt.Sprintf("%g s", o.AtS), Several: len(cell.Outages) > 1, What: o.What,
					Withdrawn: o.Withdrawn.Flows, Lost: failover.Lost(o.Withdrawn, o.ResolutionS),
					Others: o.Others.Flows, Moved: moved, OthersLost: failover.Lost(o.Others, o.ResolutionS),
				})
			}
		}
	}
	return list
}

// outages writes what became of running flows.
func (t *terminal) outages(v *view) {
	list := v.outages()
	if len(list) == 0 {
		return
	}
	for _, col := range v.columns {
		rows := [][]string{{"running flows", "withdrawn", "others moved", "nothing came for"}}
		for _, o := range list {
			if o.Condition != col.name {
				continue
			}
			at := ""
			if o.Several {
				at = " at " + o.At
			}
			rows = append(rows, []string{cut(o.Treatment, 22-cells(at)) + at, fmt.Sprint(o.Withdrawn), o.Moved, o.Lost})
		}
		if len(rows) > 1 {
			t.blank()
			if col.name != "" {
				t.line(bold, "  "+col.name)
			}
			t.columns(rows)
		}
	}
}

const outagesNote = "Withdrawn: flows that came by an interface by which none came any more. Got nothing: from the last packet before to the first one after, at the receiver, the median. Less than twice a flow's longest pause before is not told from chance."
