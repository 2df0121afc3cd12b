package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// Measure is one of the run's responses with its display unit.
type Measure struct {
	metric.Metric
	Shown  number.Scale       // display unit
	Trials map[string][]Trial // by treatment
}

// Trial is the value of one trial.
type Trial struct {
	Block, Order int
	Value        float64
	Outlier      *record.Outlier // nil: it is no outlier
}

func newMeasures(run *record.Run) []*Measure {
	var list []*Measure
	for _, r := range metric.Of(run) {
		largest := 0.0
		for i := range run.Treatments {
			largest = max(largest, r.Estimate(&run.Treatments[i]).Mean)
		}
		m := &Measure{Metric: r, Shown: number.Scale{Scale: r.Scale(run.Unit, largest)}}
		if m.Goodput() {
			m.Shown = goodputScale(run)
		}
		m.Trials = map[string][]Trial{}
		for _, t := range run.Split() {
			if value, ok := r.Value(t); ok {
				m.Trials[t.Treatment] = append(m.Trials[t.Treatment],
					Trial{t.Block, t.Order, value, run.Outlier(r.Name, t.Order)})
			}
		}
		list = append(list, m)
	}
	return list
}

// EffectOn returns a treatment's effect on the response relative to the baseline. Nil: there is
// none.
func (m *Measure) EffectOn(t *record.Treatment) *record.Effect {
	if t == nil {
		return nil
	}
	return m.Effect(t.Effect)
}

// Goodput reports whether the response is goodput, the only one that has a limit.
func (m *Measure) Goodput() bool { return m.Name == metric.Goodput.Name }

// OfLimit formats goodput as a share of the limit. Empty: the limit is unknown.
func OfLimit(t *record.Treatment) string {
	if !(t.LimitBps > 0) {
		return ""
	}
	half := metric.Goodput.Estimate(t).HalfWidth() / t.LimitBps * 100
	places := 1
	if half > 0 {
		places = max(0, min(1, number.Earned(half)))
	}
	return number.Round(t.Efficiency*100, places) + " %"
}

// LimitName names the limit of a treatment. For a measurement it is not that of the path.
func LimitName(run *record.Run, t *record.Treatment) string {
	if run.Study == record.MeasureStudy {
		return wording.MeasuredLimit(t.Limit, t.LimitWhy, run.Design.Options["peer"])
	}
	return "the limit"
}

// Spell formats a treatment's estimate with its unit.
func (m *Measure) Spell(t *record.Treatment) string {
	if e := m.Estimate(t); e.Trials == 0 && !m.Goodput() {
		return "not measured"
	}
	// Four digits, or fewer if its interval justifies no more.
	most := m.Shown.Value(m.Estimate(t).Mean)
	if mean, _ := m.Interval(t); words.Width(mean) < words.Width(most) {
		most = mean
	}
	return m.Shown.With(most)
}

// SpellTrial formats a trial's value with its unit and, for an outlier, what was seen in it.
func (m *Measure) SpellTrial(t Trial) string {
	text := fmt.Sprintf("trial %d in block %d: %s", t.Order, t.Block, m.Shown.Spell(t.Value))
	if o := t.Outlier; o != nil {
		text += ", apart from the others (" + m.Shown.Spell(o.Others) + ")"
		if len(o.Saw) > 0 {
			text += ": " + strings.Join(o.Saw, "; ")
		}
	}
	return text
}

// Head returns the head of a column of figures: "goodput, MB/s".
func (m *Measure) Head() string { return m.Label + ", " + m.Shown.Unit }

// Sense returns a remark for responses of which less is better.
func (m *Measure) Sense() string {
	if m.Lower {
		return " · less is better"
	}
	return ""
}

// Against formats the size of an effect: a ratio or, if there is none, a difference.
func (m *Measure) Against(e *record.Effect) (size, interval string) {
	d := e.Difference
	if d == nil {
		return Ratio(e.Ratio)
	}
	mean, half := m.Shown.Interval(d.Mean, d.HalfWidth())
	size = m.Apart().With(number.Plus(mean))
	if half != "" {
		interval = "±" + half
	}
	return size, interval
}

// Apart returns the unit in which differences are shown.
func (m *Measure) Apart() number.Scale {
	unit := m.Shown
	if m.Unit == metric.Lost.Unit {
		unit.Unit = "points" // 5 % more than 5 % is not 10 %
	}
	return unit
}

// Pane is one response in one condition: a group of columns, or a panel of a figure.
type Pane struct {
	*Measure
	At    int    // index of the condition among the columns
	Title string // empty if there is only one pane
}

// RangesNote explains intervals without a half-width.
const RangesNote = "Low–high instead of ±: the interval is bounded by what is possible, or is not symmetric."

// Ranged reports whether an interval is shown by its ends, because it is bounded by what is
// possible or not symmetric. An interval that is narrow relative to its mean is not: that it ends
// at the limit only shows the precision of the limit.
func Ranged(e record.ResponseEstimate) bool {
	half, width := e.HalfWidth(), e.High-e.Low
	return half >= 0.01*math.Abs(e.Mean) && (2*half > 1.1*width || math.Abs(e.High+e.Low-2*e.Mean) > 0.1*width)
}

// Interval formats a treatment's estimate and its error: "119.5" and "±0.2", or "(0.99–1.98)" if
// the interval is not symmetric; a dash if nothing was measured.
func (m *Measure) Interval(t *record.Treatment) (mean, spread string) { return m.Figure(m.Estimate(t)) }

// Figure formats an estimate like Interval.
func (m *Measure) Figure(e record.ResponseEstimate) (mean, spread string) {
	if e.Trials == 0 && !m.Goodput() {
		return "–", ""
	}
	mean, half := m.Shown.Interval(e.Mean, e.HalfWidth())
	if half == "" {
		return mean, ""
	}
	if Ranged(e) {
		mean, low, high := SpellRanged(e, m.Shown.Per)
		return mean, "(" + low + "–" + high + ")"
	}
	return mean, "±" + half
}

// SpellRanged formats the mean and the ends of an interval that is shown by its ends, multiplied by
// per. It uses three digits, and four for the mean if three would put it outside of the interval.
func SpellRanged(e record.ResponseEstimate, per float64) (mean, low, high string) {
	mean, low, high = number.Significant(e.Mean*per, 3), number.Significant(e.Low*per, 3),
		number.Significant(e.High*per, 3)
	rounded, err := strconv.ParseFloat(strings.Replace(mean, "−", "-", 1), 64)
	if err == nil && (rounded < e.Low*per || rounded > e.High*per) {
		mean = number.Significant(e.Mean*per, 4)
	}
	return mean, low, high
}

// Ratio formats an effect: "4.00×" and "3.98–4.01".
func Ratio(r record.EffectSize) (mean, interval string) {
	if r.None || !number.Finite(r.Mean) {
		return "–", ""
	}
	// The interval of a ratio is wider upwards. Its narrower half determines the digits.
	half := min(r.High-r.Mean, r.Mean-r.Low)
	if !(half > 0) || !number.Finite(half) {
		return number.Significant(r.Mean, 3) + "×", ""
	}
	places := max(0, min(3, -int(math.Floor(math.Log10(half*1.001)))))
	if places == 0 && half < 10 {
		places = 1 // 1.7 (0.3–9.6), not 2 (0–10)
	}
	low, high := number.Round(r.Low, places), number.Round(r.High, places)
	switch {
	case r.High >= 1000*r.Mean: // mere chance: no useful upper bound
		interval = "at least " + low
	case low != high:
		interval = low + "–" + high
	}
	return number.Round(r.Mean, places) + "×", interval
}

// goodputScale returns MB/s if the run requests it, and otherwise the bit rate unit in which the
// run's largest figure is at least one.
func goodputScale(run *record.Run) number.Scale {
	largest := 0.0
	for _, t := range run.Treatments {
		largest = max(largest, t.Goodput.MeanBps, t.LimitBps)
	}
	return number.Scale{Scale: metric.Goodput.Scale(run.Unit, largest)}
}
