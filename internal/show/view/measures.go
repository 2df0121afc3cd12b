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

// Measure is one of the responses by which a run is judged, as it is shown.
type Measure struct {
	metric.Metric
	Shown  number.Scale       // the unit that it is shown in
	Trials map[string][]Trial // by treatment
}

// Trial is the value of one trial.
type Trial struct {
	Block, Order int
	Value        float64
	Outlier      *record.Outlier // nil: it does not stand apart
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

// EffectOn is a treatment's effect in the response against the baseline; nil: there is
// none.
func (m *Measure) EffectOn(t *record.Treatment) *record.Effect {
	if t == nil {
		return nil
	}
	return m.Effect(t.Effect)
}

// Goodput has a limit, and no other response has.
func (m *Measure) Goodput() bool { return m.Name == metric.Goodput.Name }

// OfLimit spells goodput as a part of the limit; empty: that is unknown.
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

// LimitName names the limit of a treatment: of a measurement it is not that of the path.
func LimitName(run *record.Run, t *record.Treatment) string {
	if run.Study == record.MeasureStudy {
		return wording.MeasuredLimit(t.Limit, t.LimitWhy, run.Design.Options["peer"])
	}
	return "the limit"
}

// Spell is a treatment's estimate with its unit.
func (m *Measure) Spell(t *record.Treatment) string {
	if e := m.Estimate(t); e.Trials == 0 && !m.Goodput() {
		return "not measured"
	}
	// Four digits, or those that its interval earns where they are fewer.
	most := m.Shown.Value(m.Estimate(t).Mean)
	if mean, _ := m.Interval(t); words.Width(mean) < words.Width(most) {
		most = mean
	}
	return m.Shown.With(most)
}

// SpellTrial is a trial's value with its unit and, of an outlier, what was seen in it.
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

// Head heads a column of figures: "goodput, MB/s".
func (m *Measure) Head() string { return m.Label + ", " + m.Shown.Unit }

// Sense says of a response that is not better the more there is of it.
func (m *Measure) Sense() string {
	if m.Lower {
		return " · less is better"
	}
	return ""
}

// Against spells an effect's size: a ratio, or where there is none a difference.
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

// Apart is the unit of differences.
func (m *Measure) Apart() number.Scale {
	unit := m.Shown
	if m.Unit == metric.Lost.Unit {
		unit.Unit = "points" // 5 % more than 5 % is not 10 %
	}
	return unit
}

// Pane is one response in one condition: a group of columns, a panel of a figure.
type Pane struct {
	*Measure
	At    int    // the condition's place among the columns
	Title string // empty where there is nothing to tell apart
}

// RangesNote explains intervals that have no half-width.
const RangesNote = "Low–high instead of ±: the interval is bounded by what is possible, or is not symmetric."

// Ranged reports whether an interval is shown by its ends: it is bounded by what is
// possible, or is not symmetric. One that is narrow beside its mean is not: that it ends
// at the limit is how far the limit itself is known.
func Ranged(e record.ResponseEstimate) bool {
	half, width := e.HalfWidth(), e.High-e.Low
	return half >= 0.01*math.Abs(e.Mean) && (2*half > 1.1*width || math.Abs(e.High+e.Low-2*e.Mean) > 0.1*width)
}

// Interval spells a treatment's estimate and how far it may be off: "119.5" and
// "±0.2", or "(0.99–1.98)" where that is not symmetric; a dash where nothing was
// measured.
func (m *Measure) Interval(t *record.Treatment) (mean, spread string) { return m.Figure(m.Estimate(t)) }

// Figure spells an estimate as Interval does.
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

// SpellRanged spells the mean and the ends of an interval that is shown by its ends, in a
// unit of which 1 is per: with three digits, and the mean with four where three would put it
// outside of the interval.
func SpellRanged(e record.ResponseEstimate, per float64) (mean, low, high string) {
	mean, low, high = number.Significant(e.Mean*per, 3), number.Significant(e.Low*per, 3),
		number.Significant(e.High*per, 3)
	rounded, err := strconv.ParseFloat(strings.Replace(mean, "−", "-", 1), 64)
	if err == nil && (rounded < e.Low*per || rounded > e.High*per) {
		mean = number.Significant(e.Mean*per, 4)
	}
	return mean, low, high
}

// Ratio spells an effect: "4.00×" and "3.98–4.01".
func Ratio(r record.EffectSize) (mean, interval string) {
	if r.None || !number.Finite(r.Mean) {
		return "–", ""
	}
	// The interval of a ratio is wider upwards; its narrower half earns the digits.
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
	case r.High >= 1000*r.Mean: // chance alone: no upper bound worth a number
		interval = "at least " + low
	case low != high:
		interval = low + "–" + high
	}
	return number.Round(r.Mean, places) + "×", interval
}

// goodputScale is MB/s where the reader thinks in files, and otherwise the bit
// rate unit in which the run's largest figure is at least one.
func goodputScale(run *record.Run) number.Scale {
	largest := 0.0
	for _, t := range run.Treatments {
		largest = max(largest, t.Goodput.MeanBps, t.LimitBps)
	}
	return number.Scale{Scale: metric.Goodput.Scale(run.Unit, largest)}
}
