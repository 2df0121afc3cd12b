package present

import (
	"fmt"
	"slices"
	"strings"
)

// Flows that a hash placed over equal-cost links, beside what chance leads to expect,
// as a table: a line for each number of flows and links.

// hashed is the table of flows that a hash placed over equal-cost links, beside
// what chance leads to expect; nil: no flows were hashed.
func hashed(v *view) *Table {
	curves := v.hashedCurves()
	if len(curves) == 0 {
		return nil
	}
	several := slices.ContainsFunc(curves, func(c flowCurve) bool { return c.name != curves[0].name && c.links == curves[0].links })
	caption := fmt.Sprintf("Goodput of hashed flows, in links (%s each)", linkRate(curves[0].groups[0].LinkBps))
	t := &Table{Caption: caption, Columns: []Column{{Head: "links", Align: Right}, {Head: "flows", Align: Right}, {Head: "expected mean", Shorter: []string{"expected"}, Align: Right},
		{Head: v.confidence() + " of means", Align: Right}, {Head: "measured mean", Shorter: []string{"measured"}, Align: Decimal}, {Head: "link idle in trials", Shorter: []string{"idle in"}, Align: Right},
		{Head: "expected in", Shorter: []string{"expected"}, Align: Right}, {Head: "expected chance", Align: Right, Extra: true}, {Head: "chance by trials", Align: Right, Extra: true}, {}}}
	if several {
		t.Columns = append([]Column{{Head: "treatment"}}, t.Columns...)
	}
	wrong, ranges := false, false
	for _, c := range curves {
		for _, g := range c.groups {
			band := span(fixed(g.ExpectedLowLinks, 2), fixed(g.ExpectedHighLinks, 2))
			counts := span(fmt.Sprint(g.IdleLowTrials), fmt.Sprint(g.IdleHighTrials))
			measured := Cell{Text: fixed(g.MeasuredLinks, 3)}
			if low, high, clipped := withinTrials(g); clipped {
				measured.Spread, ranges = "("+fixed(low, 2)+"–"+fixed(high, 2)+")", true
			} else if high > low {
				measured.Spread = "±" + fixed((high-low)/2, 3)
			}
			row := Row{Cells: append(append(Cells(fmt.Sprint(g.Links), fmt.Sprint(g.Flows), fixed(g.ExpectedLinks, 3), band), measured),
				Cells(fmt.Sprintf("%d of %d", g.IdleTrials, g.Replicates), counts, percent(g.IdleChance), percent(g.IdleLowShare)+" to "+percent(g.IdleHighShare))...)}
			var why []string
			if !g.Inside {
				why = append(why, "mean outside")
			}
			if !g.IdleAsExpected {
				why = append(why, "idle too rarely or too often")
			}
			if len(why) > 0 {
				wrong, row.Tone = true, Wrong
				row.Cells = append(row.Cells, Cell{Text: "✗", Detail: strings.Join(why, ", ")})
			}
			if several {
				row.Cells = append(Cells(c.name), row.Cells...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if wrong {
		t.Notes = append(t.Notes, "✗ More than chance: the mean is outside its interval, or a link was idle too rarely or too often.")
	}
	if ranges {
		t.Notes = append(t.Notes, "Low–high instead of ±: the symmetric interval reaches beyond every trial; this is its part within the trials' range.")
	}
	return t
}

// onEachLink says how many flows fell on each link, for each curve.
func onEachLink(v *view, several bool) (list []string) {
	for _, c := range v.hashedCurves() {
		name := Count(c.links, "link")
		if several {
			name = c.name + ", " + name
		}
		list = append(list, fmt.Sprintf("of %s: %s flows, all trials together", name, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.onEach()), " ", ", "), "[]")))
	}
	return list
}
