package present

import (
	"linerate/internal/model/record"
	"slices"
)

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
