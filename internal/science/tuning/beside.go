package tuning

import (
	"fmt"
	"math"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
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
func weigh(s *record.TuneSetting, responses []string, accept Accepted) {
	var gains, costs, depends []string
	accepted, helps := true, s.Verdict == record.Helps
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
			accepted = accepted && !accept.harmed(r, alone) && !accept.harmed(r, inverse(removed))
		case record.Mixed: // neither a gain nor a cost: it is which by what else is set
			depends = append(depends, fmt.Sprintf("%s: %s (%s and %s)", r.Label, why, sizeText(r, alone),
				sizeText(r, removed)))
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
		s.Keep = helps && accepted
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

// inverse is an effect seen from its other side: what a setting does that a list is
// compared without. An effect without a ratio stays without one.
func inverse(e *record.Effect) *record.Effect {
	if e == nil {
		return nil
	}
	made := *e
	if d := e.Difference; d != nil {
		made.Difference = &record.EffectSize{Mean: -d.Mean, Low: -d.High, High: -d.Low, Half: d.Half}
	}
	if e.Ratio.None || e.Ratio.Low <= 0 {
		made.Ratio = record.EffectSize{None: true}
	} else {
		made.Ratio = record.EffectSize{Mean: 1 / e.Ratio.Mean, Low: 1 / e.Ratio.High, High: 1 / e.Ratio.Low}
	}
	switch e.Verdict {
	case record.Improves:
		made.Verdict = record.Worsens
	case record.Worsens:
		made.Verdict = record.Improves
	}
	return &made
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

// slightPart is the part of a gain, of the logarithms of both ratios, up to which a loss is
// named without contradicting it: 1.07× of a gain of 2×, 1.17× of 5×.
const slightPart = 0.1

// isSlight reports whether a loss is small beside what is gained.
func isSlight(loss, gain *record.Effect) bool {
	if gain.Verdict != record.Improves || gain.Difference != nil || loss.Difference != nil || !(loss.Ratio.Mean > 0) ||
		!(gain.Ratio.Mean > 0) {
		return false
	}
	return math.Abs(math.Log(loss.Ratio.Mean)) <= slightPart*math.Abs(math.Log(gain.Ratio.Mean))
}

// also says what a level does beside the response that counts: every change, and what is
// inconclusive.
func also(t *record.Tune, at runLevel, e *record.Effect, many bool) string {
	var worse, slight, better, open []string
	if e == nil {
		return ""
	}
	count := 1 // of what the verbs are about
	if many {
		count = 2
	}
	for _, r := range others(t.Responses) {
		b := r.Effect(e)
		switch {
		case b == nil:
		case b.Verdict == record.Worsens && isSlight(b, e):
			slight = append(slight, r.Label+" "+change(t, at, r, b))
		case b.Verdict == record.Worsens:
			worse = append(worse, r.Label+" "+change(t, at, r, b))
		case b.Verdict == record.Improves:
			better = append(better, r.Label+" "+change(t, at, r, b))
		case b.Verdict == record.Inconclusive && isWorse(r, b, t.Margin):
			open = append(open, fmt.Sprintf("%s may be worse, %s, inconclusive%s", r.Label, sizeText(r, b), reason(b)))
		case b.Verdict == record.Inconclusive:
			open = append(open, fmt.Sprintf("%s is inconclusive, %s%s", r.Label, sizeText(r, b), reason(b)))
		}
	}
	var parts []string
	if len(worse) > 0 {
		word := ", and "
		if e.Verdict != record.Worsens {
			word = ", but "
		}
		parts = append(parts, word+plural(count, "worsens ", "worsen ")+join(worse))
	}
	if len(slight) > 0 {
		parts = append(parts, ", at the cost of "+join(slight))
	}
	if len(better) > 0 {
		word := ", and "
		if e.Verdict == record.Worsens || len(worse) > 0 {
			word = ", but "
		}
		parts = append(parts, word+plural(count, "improves ", "improve ")+join(better))
	}
	for _, one := range open {
		parts = append(parts, "; "+one)
	}
	return strings.Join(parts, "")
}

// reason follows an inconclusive effect's size: why it is, unless by its interval alone.
func reason(e *record.Effect) string {
	if e.ByInterval() {
		return ""
	}
	return ": " + e.Why
}

// isWorse: an estimate, of which nothing is sure, is worse by more than the margin, and its
// interval does not reach as far to the better.
func isWorse(r metric.Metric, e *record.Effect, margin float64) bool {
	mean, _, good, ok := relative(r, e, 0)
	return ok && mean < -margin && good < margin
}

// runLevel is a level of a run: what the figures beside an effect are of.
type runLevel struct{ run, level string }

// change is an effect with what the response was and is where that is known: "24.1 → 60
// Mbit/s, 2.49× (2.41–2.57)".
func change(t *record.Tune, at runLevel, r metric.Metric, e *record.Effect) string {
	from, to := figureOf(t, runLevel{at.run, settingfile.AsItIs}, r), figureOf(t, at, r)
	if from == nil || to == nil {
		return sizeText(r, e)
	}
	return fromTo(r, *from, *to) + ", " + sizeText(r, e)
}

func figureOf(t *record.Tune, at runLevel, r metric.Metric) *record.ResponseEstimate {
	for _, f := range t.Figures {
		for i := range f.Responses {
			if f.Run == at.run && f.Name == at.level && f.Responses[i].Response == r.Name {
				return &f.Responses[i]
			}
		}
	}
	return nil
}

// fromTo spells two estimates of a response in one unit: "24.1 → 60 Mbit/s".
func fromTo(r metric.Metric, from, to record.ResponseEstimate) string {
	scale := r.Scale("", max(from.Mean, to.Mean, -from.Mean, -to.Mean))
	return fmt.Sprintf("%.3g → %s", from.Mean*scale.Per, scale.With(fmt.Sprintf("%.3g", to.Mean*scale.Per)))
}
