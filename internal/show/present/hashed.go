package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// Flows that a hash placed over equal-cost links, beside what chance leads to expect,
// as a table: a line for each number of flows and links.

// alongCurve: the run compares nothing, and all its treatments have a line in the
// table of flows that a hash placed.
func (v *view) alongCurve() bool {
	if len(v.rows) == 0 || v.baseline != nil {
		return false
	}
	held := 0
	for _, c := range v.hashedCurves() {
		held += len(c.groups)
	}
	return held == len(v.run.Treatments)
}

// hashedCurves are the curves of rows in which a hash placed each flow by itself.
func (v *view) hashedCurves() (curves []flowCurve) {
	for _, c := range v.curves() {
		c.groups = slices.DeleteFunc(slices.Clone(c.groups), func(g record.Hashing) bool { return !g.EachPlaced() })
		if len(c.groups) > 0 && c.byChance() {
			curves = append(curves, c)
		}
	}
	return curves
}

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

// withinTrials is the interval of a group's measured mean, clipped to the range
// of its trials: hashed flows use a whole number of links, so that few trials
// have two or three values and a symmetric interval reaches beyond what can be.
func withinTrials(g record.Hashing) (low, high float64, clipped bool) {
	if !(g.MeasuredHighLinks > g.MeasuredLowLinks) {
		return g.MeasuredLowLinks, g.MeasuredHighLinks, false
	}
	low, high = max(g.MeasuredLowLinks, min(g.MeasuredLeastLinks, g.MeasuredLinks)), min(g.MeasuredHighLinks, max(g.MeasuredMostLinks, g.MeasuredLinks))
	return low, high, low > g.MeasuredLowLinks || high < g.MeasuredHighLinks
}

// onEach is how many flows fell on each link, all treatments of a curve together.
func (c flowCurve) onEach() []int {
	on := make([]int, c.links)
	for _, g := range c.groups {
		for i, load := range g.PerLink {
			on[i] += load.Flows
		}
	}
	return on
}

// spreadTitle says which part of the flows each link had, at least and at most.
func spreadTitle(v *view) string {
	var parts []string
	for _, c := range v.hashedCurves() {
		on, all := c.onEach(), 0
		for _, n := range on {
			all += n
		}
		low, high := percent(float64(slices.Min(on))/float64(all)), percent(float64(slices.Max(on))/float64(all))
		if low != high {
			low += " to " + high
		}
		parts = append(parts, fmt.Sprintf("each of %s had %s", Count(c.links, "link"), low))
	}
	return sentence(strings.Join(parts, ", ") + " of the flows")
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

// flowCurve is one row of treatments, by the number of flows, over so many links.
type flowCurve struct {
	name   string
	links  int
	groups []record.Hashing
	place  int // among the curves over as many links
}

// byChance: a hash placed the flows of some treatment.
func (c flowCurve) byChance() bool {
	return slices.ContainsFunc(c.groups, func(h record.Hashing) bool { return h.ByChance })
}

// curves are the rows whose flows were hashed over equal-cost links, with few
// links first.
func (v *view) curves() (curves []flowCurve) {
	byTreatment := map[string]record.Hashing{}
	for _, g := range v.run.Hashing {
		byTreatment[g.Treatment] = g
	}
	for _, r := range v.rows {
		first := len(curves)
		for _, t := range r.cells {
			if t == nil {
				continue
			}
			g, ok := byTreatment[t.Name]
			if !ok {
				continue
			}
			at := slices.IndexFunc(curves[first:], func(c flowCurve) bool { return c.links == g.Links })
			if at < 0 {
				before := slices.DeleteFunc(slices.Clone(curves), func(c flowCurve) bool { return c.links != g.Links })
				at, curves = len(curves)-first, append(curves, flowCurve{name: r.name, links: g.Links, place: len(before)})
			}
			curves[first+at].groups = append(curves[first+at].groups, g)
		}
	}
	for _, c := range curves {
		slices.SortStableFunc(c.groups, func(a, b record.Hashing) int { return a.Flows - b.Flows })
	}
	slices.SortStableFunc(curves, func(a, b flowCurve) int { return a.links - b.links })
	return curves
}

func (v *view) confidence() string {
	if v.run.Confidence > 0 {
		return percent(v.run.Confidence)
	}
	return "95 %"
}
