package answer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Answer is a run's conclusion in words: one sentence of at most about 30 words, then up to four
// short statements, including the caveats: why its figures may be wrong, and how the run ended if
// it did not complete its design.
type Answer struct {
	Headline   string
	Statements []string
	Caveats    []string
}

const (
	goodWords = 30 // of a headline, if there is a choice of wordings
	mostWords = 35 // of any headline; longer ones are truncated
)

// fit returns the first of several wordings with at most goodWords, otherwise the first with at
// most mostWords. If all are longer, it truncates the last one.
func fit(wordings ...string) string {
	for _, most := range []int{goodWords, mostWords} {
		for _, text := range wordings {
			if len(strings.Fields(text)) <= most && (most == mostWords || text != wordings[len(wordings)-1]) {
				return text
			}
		}
	}
	words := strings.Fields(wordings[len(wordings)-1])
	if len(words) > mostWords {
		return strings.Join(words[:mostWords], " ") + "…"
	}
	return strings.Join(words, " ")
}

// lead returns the metric that a run is judged by.
func lead(c *record.Conclusion) metric.Metric {
	if r, known := responseOf(c, c.Response); known {
		return r
	}
	return metric.Goodput
}

// responseOf returns one of the run's responses, with the label that fits its estimates.
func responseOf(c *record.Conclusion, name string) (metric.Metric, bool) {
	r, known := metric.Find(name)
	var estimates []record.ResponseEstimate
	for _, at := range c.Conditions {
		if at.Baseline != nil {
			estimates = append(estimates, estimate(at.Baseline, r))
		}
		for i := range at.Candidates {
			estimates = append(estimates, estimate(&at.Candidates[i], r))
		}
	}
	return r.Of(estimates), known
}

// estimate returns a candidate's estimate in a response. Its Trials is 0 if there is none.
func estimate(of *record.Candidate, r metric.Metric) record.ResponseEstimate {
	return r.Estimate(&record.Treatment{Goodput: of.Goodput, Responses: of.Responses, Trials: 1})
}

// figureOf returns a candidate's value, "3.12 ms", or why there is none. It includes the interval
// if that is wider than the margin.
func figureOf(c *record.Conclusion, of *record.Candidate, r metric.Metric) string {
	return value(c, of, r) + wide(c, of, r)
}

// value is figureOf without the interval.
func value(c *record.Conclusion, of *record.Candidate, r metric.Metric) string {
	e := estimate(of, r)
	if e.Trials == 0 {
		return "unknown (" + r.Absent + ")"
	}
	mean, _, _ := digits(c, r, e, e.Mean)
	text := r.Scale(c.Unit, e.Mean).With(mean)
	if e.Rank != "" {
		text += " (" + e.Rank + ")"
	}
	return text
}

// within formats the interval of a figure: " (939.9–941.1)". Empty: it is unknown, or narrower than
// the last digit of the figure.
func within(c *record.Conclusion, of *record.Candidate, r metric.Metric) string {
	e := estimate(of, r)
	if e.Confidence == 0 {
		return ""
	}
	_, low, high := digits(c, r, e, e.Mean)
	if low == high {
		return ""
	}
	return " (" + low + "–" + high + ")"
}

// wide is like within, but only for an interval that is wider than the margin on either side. If it
// is wide because of chance in other trials, while all trials of this run used the same single
// interface, only the table shows it.
func wide(c *record.Conclusion, of *record.Candidate, r metric.Metric) string {
	single := of.Chance != nil && of.Interfaces != nil && of.Interfaces.Most == 1
	if e := estimate(of, r); single || e.High-e.Low <= 2*c.Margin*math.Abs(e.Mean) {
		return ""
	}
	return within(c, of, r)
}

// digits formats an estimate and the ends of its interval without their unit, in the unit that
// suits scale. It uses the digits of decimals or, if these are fewer, those that tables show
// because the interval justifies no more.
func digits(c *record.Conclusion, r metric.Metric, e record.ResponseEstimate, scale float64) (mean, low, high string) {
	spell := func(v float64) string { return decimals(c, r, v, scale) }
	if half, per := e.HalfWidth(), r.Scale(c.Unit, scale).Per; e.Confidence > 0 && half > 0 {
		earned := func(v float64) string { return number.Round(v*per, number.Earned(half*per)) }
		if view.Ranged(e) {
			mean, low, high = view.SpellRanged(e, per)
			if words.Width(mean) < words.Width(spell(e.Mean)) {
				return mean, low, high
			}
		} else if words.Width(earned(e.Mean)) < words.Width(spell(e.Mean)) {
			spell = earned
		}
	}
	return spell(e.Mean), spell(e.Low), spell(e.High)
}

// decimals formats a value of a response without its unit, in the unit that suits scale.
func decimals(c *record.Conclusion, r metric.Metric, v, scale float64) string {
	if r.Name == metric.Goodput.Name {
		value, _ := quantity(c.Unit, v, scale)
		return value
	}
	return three(v * r.Scale(c.Unit, scale).Per)
}

// goodputs formats goodputs relative to their limit: "119.5 and 119.6 of 478.2 MB/s", with the
// interval if that is wide. Of more than three it shows the lowest and the highest.
func goodputs(c *record.Conclusion, list []*record.Candidate) string {
	limit := list[0].LimitBps
	scale := limit
	for _, o := range list {
		if o.LimitBps != limit {
			limit = 0
		}
		scale = max(scale, o.Goodput.MeanBps)
	}
	sorted := slices.Clone(list)
	if len(list) > 3 {
		slices.SortFunc(sorted, func(a, b *record.Candidate) int {
			return cmp.Compare(a.Goodput.MeanBps, b.Goodput.MeanBps)
		})
	}
	var values []string
	suffix := ""
	for _, o := range sorted {
		_, s := quantity(c.Unit, 0, scale)
		value, _, _ := digits(c, metric.Goodput, estimate(o, metric.Goodput), scale)
		values, suffix = words.Distinct(values, value+wide(c, o, metric.Goodput)), s
	}
	text := words.Join(values, "and")
	if len(values) > 3 {
		text = values[0] + " to " + values[len(values)-1]
	}
	if limit > 0 {
		value, _ := quantity(c.Unit, limit, scale)
		text += " of " + value
	}
	return text + " " + suffix
}

// quantity formats a goodput in the unit that suits scale, with as many decimals as scale needs for
// four digits.
func quantity(unit string, bps, scale float64) (value, suffix string) {
	s := metric.Goodput.Scale(unit, scale)
	decimals := 3
	for x := scale * s.Per; x >= 9.9995 && decimals > 0; x /= 10 {
		decimals--
	}
	return fmt.Sprintf("%.*f", decimals, bps*s.Per), s.Unit
}

// three formats a value with three digits, or all digits of the integer part.
func three(v float64) string {
	switch {
	case v < 0:
		return "−" + three(-v)
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.2f", v)
	case v == 0:
		return "0"
	}
	return fmt.Sprintf("%.3f", v)
}

// margin formats what makes no difference in a response: "±2 %", or "±2 % or 0.1 points" if it has
// a Floor.
func margin(c *record.Conclusion, r metric.Metric) string {
	ratio := fmt.Sprintf("±%.3g %%", 100*c.Margin)
	if r.Floor == 0 {
		return ratio
	}
	floor := r.Scale(c.Unit, r.Floor).With(fmt.Sprintf("%.3g", r.Floor*r.Scale(c.Unit, r.Floor).Per))
	if r.Unit == metric.Lost.Unit {
		floor = fmt.Sprintf("%.3g points", 100*r.Floor)
	}
	if r.Signed {
		return "±" + floor
	}
	return ratio + " or " + floor
}

// sized appends the size of an effect in parentheses to a name.
func sized(unit, name string, r metric.Metric, e *record.Effect) string {
	if text := Size(unit, r, e); text != "" {
		return name + " (" + strings.NewReplacer(" (", ", ", ")", "").Replace(text) + ")"
	}
	return name
}

// Size formats the size of an effect in a response: its ratio with the interval or, without a
// ratio, its difference; goodput is in the given unit. Empty: there is neither.
func Size(unit string, r metric.Metric, e *record.Effect) string {
	if e = r.Effect(e); e == nil || e.Difference == nil && (e.Ratio.None || e.Ratio.Mean == 0) {
		return ""
	}
	m := view.Measure{Metric: r}
	if d := e.Difference; d != nil {
		m.Shown = number.Scale{Scale: r.Scale(unit, math.Abs(d.Mean))}
	}
	return number.Bracketed(m.Against(e))
}

// Condition joins the levels of a run's other factors that a result is about.
func Condition(c *record.Tune) string {
	return strings.Join(slices.Sorted(maps.Values(c.At)), ", ")
}
