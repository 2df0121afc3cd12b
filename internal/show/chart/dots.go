package chart

import (
	"cmp"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/show/figure"
	"linerate/internal/show/view"
)

// Trials are drawn as dots beside the estimate that is computed from them. Dots with equal values
// are stacked, so that they can be counted.

// dot is one trial, or one block of a comparison.
type dot struct {
	value float64
	apart bool // an outlier
	tip   string
}

// dotRadii are the sizes of dots, largest first. Smaller ones are used if a stack does not fit.
var dotRadii = []float64{2.1, 1.7, 1.3}

// dotPlot has the positions of dots beside an axis: at along the axis, away from it, in pixels.
type dotPlot struct {
	radius, height float64
	at, away       []float64
}

// dotPlotOf stacks dots that are closer to each other than their width, in the middle of their
// values (Wilkinson 1999, "Dot Plots"). If even the smallest dots do not fit, those of a stack
// overlap.
func dotPlotOf(values []float64, room float64) (d dotPlot) {
	for _, radius := range dotRadii {
		wide, highest := 2*radius+0.4, 0
		stacks := stacksOf(values, wide)
		for _, stack := range stacks {
			highest = max(highest, len(stack))
		}
		d = dotPlot{radius, float64(highest-1)*wide + 2*radius, make([]float64, len(values)),
			make([]float64, len(values))}
		if d.height > room {
			wide, d.height = (room-2*radius)/float64(highest-1), room
		}
		for _, stack := range stacks {
			for i, k := range stack {
				d.at[k], d.away[k] = (values[stack[0]]+values[stack[len(stack)-1]])/2, radius+wide*float64(i)
			}
		}
		if wide > 2*radius {
			return d
		}
	}
	return d
}

// stacksOf returns the indices of values by stack. The values of a stack differ by less than wide.
func stacksOf(values []float64, wide float64) (stacks [][]int) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	for _, i := range order {
		if n := len(stacks) - 1; n >= 0 && values[i]-values[stacks[n][0]] < wide {
			stacks[n] = append(stacks[n], i)
		} else {
			stacks = append(stacks, []int{i})
		}
	}
	return stacks
}

// along returns the positions of dots on an axis in pixels.
func along(list []dot, axis func(float64) float64) []float64 {
	return lists.Map(list, func(d dot) float64 { return axis(d.value) })
}

// dots draws dots. Axis converts values to pixels, and place returns the point at a position along
// the axis and a distance from it. An outlier has a ring.
func (p plot) dots(list []dot, room float64, role figure.Role, axis func(float64) float64,
	place func(at, away float64) figure.Point) {
	of := dotPlotOf(along(list, axis), room)
	for i, d := range list {
		centre := place(of.at[i], of.away[i])
		if d.apart {
			p.Circle(centre, of.radius+2.4, figure.Limit).Tip(d.tip)
			p.Circle(centre, of.radius+1.1, figure.Paper).Tip(d.tip)
		}
		p.Circle(centre, of.radius, role).Tip(d.tip)
	}
}

// dotRoom returns the height of the highest of several dot plots, within bounds.
func dotRoom(lists [][]dot, axis func(float64) float64, least, most float64) float64 {
	for _, list := range lists {
		least = max(least, dotPlotOf(along(list, axis), most).height)
	}
	return least
}

// trialDots returns the dots for the trials of a treatment in a measure.
func trialDots(m *view.Measure, treatment, label string) (list []dot) {
	for _, t := range m.Trials[treatment] {
		list = append(list, dot{t.Value, t.Outlier != nil, label + ", " + m.SpellTrial(t)})
	}
	return list
}
