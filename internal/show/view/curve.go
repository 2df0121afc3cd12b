package view

import (
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
)

// AlongCurve reports whether the run compares nothing, and all its treatments are in the table of
// flows that a hash placed.
func (v *View) AlongCurve() bool {
	if len(v.Rows) == 0 || v.Baseline != nil {
		return false
	}
	held := lists.Sum(v.HashedCurves(), func(c Curve) int { return len(c.Groups) })
	return held == len(v.Run.Treatments)
}

// HashedCurves returns the curves of rows in which a hash placed each flow independently.
func (v *View) HashedCurves() (curves []Curve) {
	for _, c := range v.Curves() {
		c.Groups = slices.DeleteFunc(slices.Clone(c.Groups), func(g record.Hashing) bool { return !g.EachPlaced() })
		if len(c.Groups) > 0 && c.ByChance() {
			curves = append(curves, c)
		}
	}
	return curves
}

// Measured returns a group's measured mean, as a multiple of what one link can carry, with its
// interval.
func Measured(g record.Hashing) record.ResponseEstimate {
	return record.ResponseEstimate{Mean: g.MeasuredLinks, Low: g.MeasuredLowLinks, High: g.MeasuredHighLinks,
		Half: (g.MeasuredHighLinks - g.MeasuredLowLinks) / 2}
}

// OnEach returns the number of flows on each link, over all treatments of a curve.
func (c Curve) OnEach() []int {
	on := make([]int, c.Links)
	for _, g := range c.Groups {
		for i, load := range g.PerLink {
			on[i] += load.Flows
		}
	}
	return on
}

// Curve is a row of treatments over this number of links, by the number of flows.
type Curve struct {
	Name   string
	Links  int
	Groups []record.Hashing
	Place  int // index among the curves over the same number of links
}

// ByChance reports whether a hash placed the flows of some treatment.
func (c Curve) ByChance() bool {
	return slices.ContainsFunc(c.Groups, func(h record.Hashing) bool { return h.ByChance })
}

// Curves returns the rows whose flows were hashed over equal-cost links, those with few links
// first.
func (v *View) Curves() (curves []Curve) {
	byTreatment := map[string]record.Hashing{}
	for _, g := range v.Run.Hashing {
		byTreatment[g.Treatment] = g
	}
	for _, r := range v.Rows {
		first := len(curves)
		for _, t := range r.Treatments {
			if t == nil {
				continue
			}
			g, ok := byTreatment[t.Name]
			if !ok {
				continue
			}
			at := slices.IndexFunc(curves[first:], func(c Curve) bool { return c.Links == g.Links })
			if at < 0 {
				before := slices.DeleteFunc(slices.Clone(curves), func(c Curve) bool { return c.Links != g.Links })
				at, curves = len(curves)-first, append(curves, Curve{Name: r.Name, Links: g.Links, Place: len(before)})
			}
			curves[first+at].Groups = append(curves[first+at].Groups, g)
		}
	}
	for _, c := range curves {
		slices.SortStableFunc(c.Groups, func(a, b record.Hashing) int { return a.Flows - b.Flows })
	}
	slices.SortStableFunc(curves, func(a, b Curve) int { return a.Links - b.Links })
	return curves
}

// Confidence formats the confidence level of the run's intervals.
func (v *View) Confidence() string {
	if v.Run.Confidence > 0 {
		return number.Percent(v.Run.Confidence)
	}
	return "95 %"
}
