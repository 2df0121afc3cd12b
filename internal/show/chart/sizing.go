package chart

import (
	"fmt"
	"math"
	"strconv"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// sizing describes how the comparisons of a forest plot are sized: by ratios on a logarithmic axis
// or, if there are none, by differences in the unit of the response.
type sizing struct {
	panel, axis string  // added to the titles of a panel and of the axis
	none        float64 // the size that means no difference
	margin      float64 // around none: what does not matter
	size        func(*record.Effect) (record.EffectSize, bool)
	block       func(stats.Pair) (float64, bool) // the size in one block
	spell       func(float64) string
	span        func([]effectGroup) [2]float64 // of the axis
	scale       func(low, high, from, to float64) func(float64) float64
	ticks       func(low, high float64, n int) (values []float64, labels []string)
}

// effectGroup has comparisons with the same level under the same conditions.
type effectGroup struct {
	against string
	effects []drawnEffect
}

// drawnEffect is a comparison with its size, and with its size in each block.
type drawnEffect struct {
	*record.Effect
	size   record.EffectSize
	blocks []dot
}

func newDrawnEffect(v *view.View, e *record.Effect, s sizing) drawnEffect {
	d := drawnEffect{Effect: e}
	d.size, _ = s.size(e)
	m := v.MeasureOf(e)
	for _, pair := range stats.Pairs(v.Run, e) {
		if value, ok := s.block(pair); ok {
			d.blocks = append(d.blocks, dot{value: value, tip: fmt.Sprintf("%s in one block: %s (%s, %s)", e.To,
				s.spell(value), m.Shown.Spell(pair.Level), m.Shown.Spell(pair.Base))})
		}
	}
	return d
}

func ratiosOf(v *view.View) sizing {
	return sizing{
		axis: " as a ratio", none: 1, margin: v.Run.Margin,
		size: func(e *record.Effect) (record.EffectSize, bool) {
			return e.Ratio, e.Difference == nil && !e.Ratio.None && e.Ratio.Mean > 0
		},
		block: func(p stats.Pair) (float64, bool) { return p.Level / p.Base, p.Base > 0 && p.Level > 0 },
		spell: func(ratio float64) string { return number.Significant(ratio, 4) + "×" },
		span: func(groups []effectGroup) [2]float64 {
			low, high := spanOf(groups, 1/(1+4*max(v.Run.Margin, 0.02)), 1+4*max(v.Run.Margin, 0.02),
				func(r record.EffectSize) (low, high float64) { return r.Mean / 2, r.Mean * 2 })
			low = max(low, high/1e6)
			room := math.Pow(high/low, 0.03)
			return [2]float64{low / room, high * room}
		},
		scale: logarithmic,
		ticks: func(low, high float64, n int) (marks []float64, labels []string) {
			marks = ratioTicks(low, high, n)
			for _, mark := range marks {
				labels = append(labels, strconv.FormatFloat(mark, 'g', 4, 64)+"×")
			}
			return marks, labels
		},
	}
}

func differencesOf(v *view.View) sizing {
	m := v.Lead()
	unit := m.Apart()
	return sizing{
		panel: ": differences", axis: ", difference in " + unit.Unit, margin: m.Floor,
		size: func(e *record.Effect) (record.EffectSize, bool) {
			if e.Difference == nil {
				return record.EffectSize{}, false
			}
			return *e.Difference, true
		},
		block: func(p stats.Pair) (float64, bool) { return p.Level - p.Base, true },
		spell: func(apart float64) string { return unit.With(number.Plus(unit.Value(apart))) },
		span: func(groups []effectGroup) [2]float64 {
			low, high := spanOf(groups, -2*m.Floor, 2*m.Floor, func(d record.EffectSize) (low, high float64) {
				return d.Mean - 2*math.Abs(d.Mean), d.Mean + 2*math.Abs(d.Mean)
			})
			low, high = min(low, 0), max(high, 0)
			room := 0.03 * (high - low)
			return [2]float64{low - room, high + room}
		},
		scale: linear,
		ticks: func(low, high float64, n int) (marks []float64, labels []string) {
			marks = ticks(low*unit.Per, high*unit.Per, n)
			labels = tickLabels(marks)
			for i := range marks {
				marks[i] /= unit.Per
				labels[i] = number.Plus(labels[i])
			}
			return marks, labels
		},
	}
}

// spanOf returns the range of comparisons, which includes low to high, all figures and blocks, and
// intervals unless they are much wider (near).
func spanOf(groups []effectGroup, low, high float64, near func(record.EffectSize) (low, high float64)) (
	float64, float64) {
	for _, g := range groups {
		for _, e := range g.effects {
			low, high = min(low, e.size.Mean), max(high, e.size.Mean)
			if e.size.High > e.size.Low {
				least, most := near(e.size)
				low, high = min(low, max(e.size.Low, least)), max(high, min(e.size.High, most))
			}
			for _, b := range e.blocks {
				low, high = min(low, b.value), max(high, b.value)
			}
		}
	}
	return low, high
}

// ratioLadders are the labelled ratios within a power of ten, densest first.
var ratioLadders = [][]float64{{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}}

// ratioTicks returns round ratios between two, including one, at most n of them. Close to one they
// are evenly spaced, which is easier to read than powers of ten.
func ratioTicks(low, high float64, n int) []float64 {
	if low > 0.4 && high <= 2 {
		return ticks(low, high, n)
	}
	list := logTicks(low, high, n, ratioLadders...)
	if len(list) > n {
		return []float64{1}
	}
	return list
}
