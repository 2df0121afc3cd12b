package tuning

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
)

// What is good for goodput may be bad for latency. The verdict on a setting is
// first that of the response which counts; the others can only turn it: what costs
// something else is no help without a word, and what helps something else at no
// cost is one.

// others are the responses beside the one that counts.
func others(responses []string) (list []metric.Metric) {
	for i, name := range responses {
		if r, known := metric.Find(name); known && i > 0 {
			list = append(list, r)
		}
	}
	return list
}

// weigh turns a setting's verdict by the responses beside the one that counts.
func weigh(s *record.TuneSetting, responses []string) {
	var gains, costs, depends []string
	for _, r := range others(responses) {
		alone, removed := r.Effect(s.Alone), r.Effect(s.Removed)
		verdict, why, _ := verdict(alone, removed)
		shown := alone
		if shown == nil || shown.Verdict != record.Improves && shown.Verdict != record.Worsens {
			shown = removed
		}
		switch verdict {
		case record.Helps:
			gains = append(gains, sized(r, shown, shown == removed))
		case record.Harms:
			costs = append(costs, sized(r, shown, shown == removed))
		case record.Mixed: // neither a gain nor a cost: it is which by what else is set
			depends = append(depends, fmt.Sprintf("%s: %s (%s and %s)", r.Label, why, sizeText(r, alone), sizeText(r, removed)))
		}
	}
	because := func(why string, texts ...string) {
		s.Keep, s.Why = false, strings.Join(append([]string{why}, texts...), "; ")
	}
	switch {
	case s.Verdict == record.Together || len(gains)+len(costs) == 0:
	case s.Verdict == record.Helps && len(costs) > 0, s.Verdict == record.Harms && len(gains) > 0:
		s.Verdict = record.Trades
		because(s.Why, append(costs, gains...)...)
	case s.Verdict == record.Helps, s.Verdict == record.Harms, s.Verdict == record.Mixed:
		s.Why = strings.Join(append([]string{s.Why}, append(gains, costs...)...), "; ")
	case len(gains) > 0 && len(costs) > 0:
		s.Verdict = record.Trades
		because(costs[0], append(costs[1:], gains...)...)
	case len(costs) > 0:
		s.Verdict = record.Harms
		because(costs[0], costs[1:]...)
	case s.Verdict == record.NoDifference:
		s.Verdict = record.Helps
		because(gains[0], gains[1:]...)
		s.Keep = true
	default: // whether it costs what counts is not known
		because(s.Why, gains...)
	}
	if s.Verdict == record.Together || len(depends) == 0 {
		return
	}
	if s.Verdict != record.Harms && s.Verdict != record.Trades {
		s.Verdict, s.Keep = record.Mixed, false
	}
	if s.Why != "" {
		depends = append([]string{s.Why}, depends...)
	}
	s.Why = strings.Join(depends, "; ")
}

// sized is an effect in a response beside: "latency p99 worsens, 3.00× (2.80–3.20)".
func sized(r metric.Metric, e *record.Effect, without bool) string {
	text := fmt.Sprintf("%s %s, %s", r.Label, e.Verdict, sizeText(r, e))
	if without {
		text += " without it"
	}
	return text
}

// sizeText is how large an effect is: its ratio, or its difference where there is none.
func sizeText(r metric.Metric, e *record.Effect) string {
	d := e.Difference
	if d == nil {
		return ratioText(e)
	}
	unit := r.Scale("", max(d.Mean, -d.Mean))
	return unit.With(fmt.Sprintf("%+.3g", d.Mean*unit.Per))
}

// Proven says whether an effect improves something and worsens nothing.
func Proven(e *record.Effect) bool {
	if e == nil {
		return false
	}
	improves := e.Verdict == record.Improves
	for i := range e.Beside {
		switch e.Beside[i].Verdict {
		case record.Worsens:
			return false
		case record.Improves:
			improves = improves || e.Verdict == record.NoDifference
		}
	}
	return improves && e.Verdict != record.Worsens
}

// also says what an effect is beside the response that counts: every change, and what is
// inconclusive.
func also(e *record.Effect, responses []string) string {
	var worse, better, open []string
	if e == nil {
		return ""
	}
	for _, r := range others(responses) {
		b := r.Effect(e)
		switch {
		case b == nil:
		case b.Verdict == record.Worsens:
			worse = append(worse, r.Label+" "+sizeText(r, b))
		case b.Verdict == record.Improves:
			better = append(better, r.Label+" "+sizeText(r, b))
		case b.Verdict == record.Inconclusive:
			open = append(open, r.Label+" "+sizeText(r, b))
		}
	}
	var parts []string
	if len(worse) > 0 {
		word := ", and worsens "
		if e.Verdict != record.Worsens {
			word = ", but worsens "
		}
		parts = append(parts, word+join(worse))
	}
	if len(better) > 0 {
		word := ", and improves "
		if e.Verdict == record.Worsens || len(worse) > 0 {
			word = ", but improves "
		}
		parts = append(parts, word+join(better))
	}
	if len(open) > 0 {
		parts = append(parts, "; inconclusive: "+join(open))
	}
	return strings.Join(parts, "")
}
