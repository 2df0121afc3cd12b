package evidence

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// A table of flows that a hash placed on equal-cost links, compared with what chance predicts, with
// a row for each number of flows and links.

// Hashed returns the table of flows that a hash placed on equal-cost links, compared with what
// chance predicts. Nil: no flows were hashed.
func Hashed(v *view.View) *document.Table {
	curves := v.HashedCurves()
	if len(curves) == 0 {
		return nil
	}
	several := slices.ContainsFunc(curves, func(c view.Curve) bool {
		return c.Name != curves[0].Name && c.Links == curves[0].Links
	})
	caption := fmt.Sprintf("Goodput of hashed flows, in links (%s each)", number.LinkRate(curves[0].Groups[0].LinkBps))
	t := &document.Table{Caption: caption, Columns: []document.Column{{Head: "links", Align: document.Right},
		{Head: "flows", Align: document.Right}, {Head: "expected mean", Shorter: []string{"expected"},
			Align: document.Right},
		{Head: v.Confidence() + " of means", Align: document.Right},
		{Head: "measured mean", Shorter: []string{"measured"}, Align: document.Decimal},
		{Head: "link idle in trials", Shorter: []string{"idle in"}, Align: document.Right},
		{Head: "expected in", Shorter: []string{"expected"}, Align: document.Right},
		{Head: "expected chance", Align: document.Right, From: 120}, {Head: "chance by trials", Align: document.Right,
			From: 120}, {}}}
	if several {
		t.Columns = append([]document.Column{{Head: "treatment"}}, t.Columns...)
	}
	wrong, ranges := false, false
	for _, c := range curves {
		for _, g := range c.Groups {
			band := number.Span(number.Fixed(g.ExpectedLowLinks, 2), number.Fixed(g.ExpectedHighLinks, 2))
			counts := number.Span(fmt.Sprint(g.IdleLowTrials), fmt.Sprint(g.IdleHighTrials))
			measured := document.Cell{Text: number.Fixed(g.MeasuredLinks, 3)}
			if e := view.Measured(g); view.Ranged(e) {
				measured.Spread, ranges = "("+number.Fixed(e.Low, 2)+"–"+number.Fixed(e.High, 2)+")", true
			} else if e.Half > 0 {
				measured.Spread = "±" + number.Fixed(e.Half, 3)
			}
			row := document.Row{Cells: append(append(document.Cells(fmt.Sprint(g.Links), fmt.Sprint(g.Flows),
				number.Fixed(g.ExpectedLinks, 3), band), measured),
				document.Cells(fmt.Sprintf("%d of %d", g.IdleTrials, g.Replicates), counts,
					number.Percent(g.IdleChance), number.Percent(g.IdleLowShare)+" to "+
						number.Percent(g.IdleHighShare))...)}
			var why []string
			if !g.Inside {
				why = append(why, "mean outside")
			}
			if !g.IdleAsExpected {
				why = append(why, "idle too rarely or too often")
			}
			if len(why) > 0 {
				wrong, row.Tone = true, document.Wrong
				row.Cells = append(row.Cells, document.Cell{Text: "✗", Detail: strings.Join(why, ", ")})
			}
			if several {
				row.Cells = append(document.Cells(c.Name), row.Cells...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if wrong {
		t.Notes = append(t.Notes,
			"✗ More than chance: the mean is outside its interval, or a link was idle too rarely or too often.")
	}
	if ranges {
		t.Notes = append(t.Notes,
			"Low–high instead of ±: the symmetric interval reaches beyond every trial; this is its part within the "+
				"trials' range.")
	}
	return t
}

// OnEachLink says how many flows each link had, for each curve.
func OnEachLink(v *view.View, several bool) (list []string) {
	for _, c := range v.HashedCurves() {
		name := words.Count(c.Links, "link")
		if several {
			name = c.Name + ", " + name
		}
		list = append(list, fmt.Sprintf("of %s: %s flows, all trials together", name,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(c.OnEach()), " ", ", "), "[]")))
	}
	return list
}
