package tuning

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// proved says what the settings that were proven do, by the verdict of their proof. Of those
// that are not shown to be needed nothing else is claimed.
func proved(t *record.Tune, of metric.Metric) []string {
	p := t.Proof
	e, at := p.Effect, runLevel{p.Run, KeptLevel}
	if p.AgainstList == nil {
		at.level = settingfile.TheList
	}
	kept := keyed(t.Settings, p.Settings)
	spare := slices.DeleteFunc(slices.Clone(kept), func(s record.TuneSetting) bool { return !unshown(s) })
	did := slices.DeleteFunc(slices.Clone(kept), func(s record.TuneSetting) bool {
		return unshown(s) || len(keptFor(s, t.Responses, of)) > 0
	})
	n, names := len(p.Settings), list(kept)
	by := plural(n, "by itself ", "by themselves ")
	cost := ""
	if t.Offer == nil {
		if costs := worse(t, at, e); costs != "" {
			cost = ", at the cost of " + costs
		}
	}
	switch {
	case e == nil:
		return []string{"what " + names + plural(n, " does by itself", " do by themselves") + " is not known"}
	case e.Verdict == record.Worsens && t.Offer != nil: // which says it
		return nil
	case e.Verdict == record.Improves && p.Gain != nil && *p.Gain < 1-SmallLoss:
		return []string{fmt.Sprintf("%s %s %.0f %% of its gain: %s", names, plural(n, "keeps", "keep"), 100**p.Gain,
			change(t, at, of, e))}
	case e.Verdict == record.Improves && len(did) < n:
		return append(partly(t, kept, did, spare, of, change(t, at, of, e)+ofGain(p)+cost), fewer(t, of)...)
	case e.Verdict == record.Improves && p.AgainstList == nil && t.List.Verdict == record.Improves && p.Run == t.Run:
		return []string{names + plural(n, " does it", " do it") + together(t.List, kept, of)}
	case e.Verdict == record.Improves:
		text := names + doIt(t, n, of)
		figures := change(t, at, of, e) + ofGain(p) + cost
		if how := together(e, kept, of); how != "" {
			return append([]string{text + how, by + plural(n, "it gives ", "they give ") + figures}, fewer(t, of)...)
		}
		return append([]string{text + ": " + by + figures}, fewer(t, of)...)
	case gains(e, t.Margin):
		beside := strings.TrimPrefix(strings.TrimPrefix(also(t, at, e, n > 1), ", and "), ", but ")
		if n > 1 && len(spare) == n {
			return []string{names + " by themselves " + beside, "which of " + names + " are needed is not known"}
		}
		return []string{names + " " + beside}
	}
	return []string{fmt.Sprintf("%s %s: %s, %s", names, strings.TrimSpace(by), change(t, at, of, e), e.Verdict)}
}

// doIt is what settings are proven to do: what the list does, or more.
func doIt(t *record.Tune, n int, of metric.Metric) string {
	if t.List != nil && t.List.Verdict != record.Improves {
		return plural(n, " improves ", " improve ") + of.Label
	}
	return plural(n, " does it", " do it")
}

// partly says what several settings do together some of which, spare, are not shown to be needed,
// and some are kept for another response than the one that counts, which the others do.
func partly(t *record.Tune, kept, did, spare []record.TuneSetting, of metric.Metric, figures string) []string {
	if len(did) == 0 {
		said := []string{list(kept) + doIt(t, len(kept), of) + ": by themselves " + figures}
		if len(spare) > 1 {
			said = append(said, "which of "+list(spare)+" are needed is not known")
		}
		return said
	}
	how := together(t.Proof.Effect, did, of)
	text := list(did) + doIt(t, len(did), of) + how
	if len(spare) > 0 {
		text = list(did) + plural(len(did), " is", " are") + " needed" + strings.TrimPrefix(how, " together")
	}
	said := []string{text, list(kept) + " by themselves: " + figures}
	if t.Fewer != nil { // which says it of those that it does without
		spare = keyed(spare, t.Fewer.Settings)
	}
	if len(spare) > 0 {
		said = append(said, list(spare)+plural(len(spare), " is", " are")+" kept, and not shown to be needed")
	}
	return said
}

// fewer says what is known of a smaller set, which costs more.
func fewer(t *record.Tune, of metric.Metric) []string {
	if t.Fewer == nil {
		return nil
	}
	at, n := runLevel{t.Fewer.Run, FewerLevel}, len(t.Fewer.Settings)
	said := fmt.Sprintf("%s alone %s as much, %s, but %s %s, which is more than is accepted",
		list(keyed(t.Settings, t.Fewer.Settings)), plural(n, "gives", "give"), change(t, at, of, t.Fewer.Effect),
		plural(n, "worsens", "worsen"), worse(t, at, t.Fewer.Effect))
	more := keyed(t.Settings, subtract(Open(t.Settings), t.Fewer.Settings))
	if len(more) == 0 {
		return []string{said}
	}
	why := "is kept for " + worseIn(t, t.Fewer.Effect)
	if len(more) > 1 {
		why = "are kept together for " + worseIn(t, t.Fewer.Effect) + " (which of them it takes is not known)"
	}
	return []string{fmt.Sprintf("%s %s, and not shown to be needed for %s: %s", list(more), why, of.Label, said)}
}

// worseIn names the responses that an effect worsens beside the one that counts.
func worseIn(t *record.Tune, e *record.Effect) string {
	var names []string
	for _, r := range others(t.Responses) {
		if b := r.Effect(e); b != nil && b.Verdict == record.Worsens {
			names = append(names, r.Label)
		}
	}
	return join(names)
}

// worse is what a level of a run worsens beside the response that counts; empty: it is not shown to.
func worse(t *record.Tune, at runLevel, e *record.Effect) string {
	var costs []string
	for _, r := range others(t.Responses) {
		if b := r.Effect(e); b != nil && b.Verdict == record.Worsens {
			costs = append(costs, r.Label+" "+change(t, at, r, b))
		}
	}
	return join(costs)
}

func ofGain(p *record.TuneProof) string {
	if p.Gain == nil || p.AgainstList == nil {
		return ""
	}
	return fmt.Sprintf(", %.0f %% of the best set's gain", min(100, 100**p.Gain))
}

// lever names the setting that does most, if alone it surely does more than any of the
// others alone, and at least half of what they do together.
func lever(settings []record.TuneSetting, together *record.Effect, of metric.Metric) []string {
	if len(settings) < 2 || together == nil || together.Verdict != record.Improves {
		return nil
	}
	whole, _, _, _ := relative(of, together, 0)
	for i, s := range settings {
		alone, bad, _, known := relative(of, s.Alone, 0)
		if !known || s.Alone.Verdict != record.Improves || alone < whole/2 {
			continue
		}
		most := !slices.ContainsFunc(settings, func(other record.TuneSetting) bool {
			_, _, good, known := relative(of, other.Alone, 0)
			return other.Key != settings[i].Key && (!known || good >= bad)
		})
		if most {
			return []string{"the largest lever is " + named(s) + ", alone " + ratioText(s.Alone)}
		}
	}
	return nil
}

// keptFor are the responses, other than the one that counts, that a setting is kept for, each with
// the effect that shows it: "latency p99 (alone 0.50× (0.48–0.52))". None: it is kept for the one that counts.
func keptFor(s record.TuneSetting, responses []string, of metric.Metric) []string {
	if v, _, _ := verdict(of.Effect(s.Alone), of.Effect(s.Removed)); s.Needed || v != record.NoDifference &&
		v != record.Inconclusive {
		return nil
	}
	if s.Beside != nil {
		r, _ := metric.Find(s.Beside.Response)
		return []string{r.Label + " (without it " + sizeText(r, s.Beside) + ")"}
	}
	gains, _ := traded(s, responses)
	return gains
}

// keptBeside names the settings that are kept for what they improve beside the response
// that counts.
func keptBeside(settings []record.TuneSetting, responses []string, of metric.Metric) (said []string) {
	for _, s := range settings {
		if better := keptFor(s, responses, of); len(better) > 0 && len(settings) > 1 {
			said = append(said, fmt.Sprintf("%s is kept for %s", named(s), join(better)))
		}
	}
	return said
}
