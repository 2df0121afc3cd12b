package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// runLevel is a level of a run: what the figures beside an effect are of.
type runLevel struct{ run, level string }

// does says what the list does on a level, as a predicate, of several settings in the plural.
func (t tuned) does(level string, e *record.Effect, many bool) string {
	verb := func(one, more string) string {
		if many {
			return more
		}
		return one
	}
	at := runLevel{t.Run, level}
	also, size := t.also(at, e, many), t.change(at, t.of, e)
	switch e.Verdict {
	case record.Improves, record.Worsens:
		return " " + verb(e.Verdict, strings.TrimSuffix(e.Verdict, "s")) + " " + t.of.Label + ": " + size + also
	case record.NoDifference:
		what := ""
		if len(t.Responses) > 1 {
			what = " of " + t.of.Label
		}
		return fmt.Sprintf(" %s no difference%s beyond ±%.3g %%: %s%s", verb("makes", "make"), what, 100*t.Margin,
			size, also)
	}
	if e.ByInterval() { // which stands there already
		return fmt.Sprintf(" %s no certain effect on %s beyond ±%.3g %%: %s%s", verb("has", "have"), t.of.Label,
			100*t.Margin, size, also)
	}
	return fmt.Sprintf("%s inconclusive: %s %s, %s%s", verb(" is", " are"), t.of.Label, size, e.Why, also)
}

// besides has what a level does beside the response that counts, each as "LABEL CHANGE".
type besides struct{ worse, slight, better, open []string }

func (t tuned) besides(at runLevel, e *record.Effect) (s besides) {
	for _, r := range t.others() {
		b := r.Effect(e)
		switch {
		case b == nil:
		case b.Verdict == record.Worsens && isSlight(b, e):
			s.slight = append(s.slight, r.Label+" "+t.change(at, r, b))
		case b.Verdict == record.Worsens:
			s.worse = append(s.worse, r.Label+" "+t.change(at, r, b))
		case b.Verdict == record.Improves:
			s.better = append(s.better, r.Label+" "+t.change(at, r, b))
		case b.Verdict == record.Inconclusive && isWorse(r, b, t.Margin):
			s.open = append(s.open, fmt.Sprintf("%s may be worse, %s, inconclusive%s", r.Label,
				wording.EffectSize(r, b), whyOpen(b)))
		case b.Verdict == record.Inconclusive:
			s.open = append(s.open, fmt.Sprintf("%s is inconclusive, %s%s", r.Label, wording.EffectSize(r, b),
				whyOpen(b)))
		}
	}
	return s
}

// also continues a sentence with every change beside the response that counts, and what is
// inconclusive.
func (t tuned) also(at runLevel, e *record.Effect, many bool) string {
	text, and := t.changes(at, e, many)
	return and + text
}

// changes is what also says, and what joins it to the sentence before: ", and ", ", but " or
// nothing, where the text has its own beginning.
func (t tuned) changes(at runLevel, e *record.Effect, many bool) (text, and string) {
	if e == nil {
		return "", ""
	}
	s := t.besides(at, e)
	verb := func(one, more string) string {
		if many {
			return more
		}
		return one
	}
	add := func(joint, part string) {
		if text == "" && and == "" {
			and = joint
		} else {
			text += joint
		}
		text += part
	}
	if len(s.worse) > 0 {
		joint := ", and "
		if e.Verdict != record.Worsens {
			joint = ", but "
		}
		add(joint, verb("worsens ", "worsen ")+words.Join(s.worse, "and"))
	}
	if len(s.slight) > 0 {
		text += ", at the cost of " + words.Join(s.slight, "and")
	}
	if len(s.better) > 0 {
		joint := ", and "
		if e.Verdict == record.Worsens || len(s.worse) > 0 {
			joint = ", but "
		}
		add(joint, verb("improves ", "improve ")+words.Join(s.better, "and"))
	}
	for _, one := range s.open {
		text += "; " + one
	}
	return text, and
}

// whyOpen follows an inconclusive effect's size: why it is, unless by its interval alone.
func whyOpen(e *record.Effect) string {
	if e.ByInterval() {
		return ""
	}
	return ": " + e.Why
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

// isWorse: an estimate, of which nothing is sure, is worse by more than the margin, and its
// interval does not reach as far to the better.
func isWorse(r metric.Metric, e *record.Effect, margin float64) bool {
	mean, _, good, ok := tuning.Relative(r, e, 0)
	return ok && mean < -margin && good < margin
}

// change is an effect with what the response was and is where that is known: "24.1 → 60
// Mbit/s, 2.49× (2.41–2.57)".
func (t tuned) change(at runLevel, r metric.Metric, e *record.Effect) string {
	from, to := t.figure(runLevel{at.run, settingfile.AsItIs}, r), t.figure(at, r)
	if from == nil || to == nil {
		return wording.EffectSize(r, e)
	}
	return fromTo(r, *from, *to) + ", " + wording.EffectSize(r, e)
}

func (t tuned) figure(at runLevel, r metric.Metric) *record.ResponseEstimate {
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

// Offered says what an offer gains and what it costs, in absolute units.
func Offered(o *record.TuneOffer) string {
	spell := func(trades []record.TuneTrade) string {
		var said []string
		for _, t := range trades {
			r, _ := metric.Find(t.Response)
			text := r.Label + " " + fromTo(r, t.From, t.To)
			if t.Effect.Verdict == record.Worsens && t.Worst != nil {
				text += fmt.Sprintf(" (at most %.0f %% worse)", max(1, math.Ceil(100**t.Worst)))
			} else {
				text += " (" + wording.EffectSize(r, t.Effect) + ")"
			}
			said = append(said, text)
		}
		return words.Join(said, "and")
	}
	return fmt.Sprintf("%s %s %s at the cost of %s", words.Join(o.Settings, "and"),
		words.Verb(len(o.Settings), "improves", "improve"), spell(o.Gains), spell(o.Costs))
}

// mostReasons is how many reasons, and settings of each, a sentence names.
const mostReasons = 3

// untriedOf says which settings of a list were not tried, and why.
func untriedOf(settings []record.TuneSetting) []string {
	var not []record.Untried
	of := tuning.Count(settings).Of
	for _, s := range settings {
		if s.Verdict == record.NotTried {
			not = append(not, record.Untried{Key: s.Key, Value: s.Value, Why: s.Why})
		}
	}
	if len(not) == 0 {
		return nil
	}
	if len(not) > mostReasons {
		return []string{fmt.Sprintf("%d of the list's %d settings were not tried: see below.", len(not), of)}
	}
	return []string{fmt.Sprintf("Of the list's %d %s, %d %s not tried: %s.", of, words.Verb(of, "setting", "settings"),
		len(not), words.Verb(len(not), "was", "were"), whyUntried(not))}
}

// whyUntried names settings that were not tried, with the reasons: "a and b (machine-wide); c
// (no such file)". Of many it counts the last ones.
func whyUntried(not []record.Untried) string {
	var whys, said []string
	by := map[string][]string{}
	for _, u := range not {
		if by[u.Why] == nil {
			whys = append(whys, u.Why)
		}
		by[u.Why] = append(by[u.Why], u.Key)
	}
	left := len(not)
	for i, why := range whys {
		if i == mostReasons {
			said = append(said, fmt.Sprintf("%d for other reasons", left))
			break
		}
		keys := by[why]
		left -= len(keys)
		if more := len(keys) - mostReasons; more > 1 {
			keys = append(slices.Clone(keys[:mostReasons]), fmt.Sprintf("%d others", more))
		}
		said = append(said, words.Join(keys, "and")+" ("+why+")")
	}
	return strings.Join(said, "; ")
}
