package answer

import (
	"fmt"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// proved says what the settings that were proven do, by the verdict of their proof. Of those
// that are not shown to be needed nothing else is claimed.
func (t tuned) proved() []string {
	p := t.Proof
	e, at := p.Effect, runLevel{p.Run, tuning.KeptLevel}
	if p.AgainstList == nil {
		at.level = settingfile.TheList
	}
	kept := tuning.Keyed(t.Settings, p.Settings)
	spare := slices.DeleteFunc(slices.Clone(kept), func(s record.TuneSetting) bool { return !tuning.Unshown(s) })
	did := slices.DeleteFunc(slices.Clone(kept), func(s record.TuneSetting) bool {
		return tuning.Unshown(s) || len(t.keptFor(s)) > 0
	})
	n, names := len(p.Settings), list(kept)
	by := words.Verb(n, "by itself", "by themselves")
	cost := ""
	if t.Offer == nil {
		if costs := t.worse(at, e); costs != "" {
			cost = ", at the cost of " + costs
		}
	}
	switch {
	case e == nil:
		return []string{"what " + names + words.Verb(n, " does by itself", " do by themselves") + " is not known"}
	case e.Verdict == record.Worsens && t.Offer != nil: // which says it
		return nil
	case e.Verdict == record.Improves && p.Gain != nil && *p.Gain < 1-tuning.SmallLoss:
		return []string{fmt.Sprintf("%s %s %.0f %% of its gain: %s", names, words.Verb(n, "keeps", "keep"), 100**p.Gain,
			t.change(at, t.of, e))}
	case e.Verdict == record.Improves && len(did) < n:
		return append(t.partly(kept, did, spare, t.change(at, t.of, e)+ofGain(p)+cost), t.fewer()...)
	case e.Verdict == record.Improves && p.AgainstList == nil && t.List.Verdict == record.Improves && p.Run == t.Run:
		return []string{names + words.Verb(n, " does it", " do it") + t.together(t.List, kept)}
	case e.Verdict == record.Improves:
		text := names + t.doIt(n)
		figures := t.change(at, t.of, e) + ofGain(p) + cost
		if how := t.together(e, kept); how != "" {
			return append([]string{text + how, by + words.Verb(n, " it gives ", " they give ") + figures}, t.fewer()...)
		}
		return append([]string{text + ": " + by + " " + figures}, t.fewer()...)
	case tuning.Gains(e, t.Margin):
		beside, _ := t.changes(at, e, n > 1)
		if n > 1 && len(spare) == n {
			return []string{names + " by themselves " + beside, "which of " + names + " are needed is not known"}
		}
		return []string{names + " " + beside}
	}
	return []string{fmt.Sprintf("%s %s: %s, %s", names, by, t.change(at, t.of, e), e.Verdict)}
}

// doIt is what settings are proven to do: what the list does, or more.
func (t tuned) doIt(n int) string {
	if t.List != nil && t.List.Verdict != record.Improves {
		return words.Verb(n, " improves ", " improve ") + t.of.Label
	}
	return words.Verb(n, " does it", " do it")
}

// partly says what several settings do together some of which, spare, are not shown to be needed,
// and some are kept for another response than the one that counts, which the others do.
func (t tuned) partly(kept, did, spare []record.TuneSetting, figures string) []string {
	if len(did) == 0 {
		said := []string{list(kept) + t.doIt(len(kept)) + ": by themselves " + figures}
		if len(spare) > 1 {
			said = append(said, "which of "+list(spare)+" are needed is not known")
		}
		return said
	}
	text := list(did) + t.doIt(len(did)) + t.together(t.Proof.Effect, did)
	if len(spare) > 0 {
		text = list(did) + words.Verb(len(did), " is", " are") + " needed"
		if none := t.noneAlone(t.Proof.Effect, did); none != "" {
			text += ": " + none
		}
	}
	said := []string{text, list(kept) + " by themselves: " + figures}
	if t.Fewer != nil { // which says it of those that it does without
		spare = tuning.Keyed(spare, t.Fewer.Settings)
	}
	if len(spare) > 0 {
		said = append(said, list(spare)+words.Verb(len(spare), " is", " are")+" kept, and not shown to be needed")
	}
	return said
}

// fewer says what is known of a smaller set, which costs more.
func (t tuned) fewer() []string {
	f := t.Fewer
	if f == nil {
		return nil
	}
	at, n := runLevel{f.Run, tuning.FewerLevel}, len(f.Settings)
	said := fmt.Sprintf("%s alone %s as much, %s, but %s %s, which is more than is accepted",
		list(tuning.Keyed(t.Settings, f.Settings)), words.Verb(n, "gives", "give"), t.change(at, t.of, f.Effect),
		words.Verb(n, "worsens", "worsen"), t.worse(at, f.Effect))
	more := slices.DeleteFunc(slices.Clone(t.Settings), func(s record.TuneSetting) bool {
		return !tuning.Unshown(s) || slices.Contains(f.Settings, s.Key)
	})
	if len(more) == 0 {
		return []string{said}
	}
	why := "is kept for " + t.worseIn(f.Effect)
	if len(more) > 1 {
		why = "are kept together for " + t.worseIn(f.Effect) + " (which of them it takes is not known)"
	}
	return []string{fmt.Sprintf("%s %s, and not shown to be needed for %s: %s", list(more), why, t.of.Label, said)}
}

// worseIn names the responses that an effect worsens beside the one that counts.
func (t tuned) worseIn(e *record.Effect) string {
	var names []string
	for _, r := range t.others() {
		if b := r.Effect(e); b != nil && b.Verdict == record.Worsens {
			names = append(names, r.Label)
		}
	}
	return words.Join(names, "and")
}

// worse is what a level of a run worsens beside the response that counts; empty: it is not shown to.
func (t tuned) worse(at runLevel, e *record.Effect) string {
	var costs []string
	for _, r := range t.others() {
		if b := r.Effect(e); b != nil && b.Verdict == record.Worsens {
			costs = append(costs, r.Label+" "+t.change(at, r, b))
		}
	}
	return words.Join(costs, "and")
}

func ofGain(p *record.TuneProof) string {
	if p.Gain == nil || p.AgainstList == nil {
		return ""
	}
	return fmt.Sprintf(", %.0f %% of the best set's gain", min(100, 100**p.Gain))
}

// keptFor are the responses, other than the one that counts, that a setting is kept for, each with
// the effect that shows it: "latency p99 (alone 0.50× (0.48–0.52))". None: it is kept for the one
// that counts.
func (t tuned) keptFor(s record.TuneSetting) []string {
	if v := tuning.Combined(t.of.Effect(s.Alone), t.of.Effect(s.Removed)); s.Needed || v != record.NoDifference &&
		v != record.Inconclusive {
		return nil
	}
	if s.Beside != nil {
		r, _ := metric.Find(s.Beside.Response)
		return []string{r.Label + " (without it " + wording.EffectSize(r, s.Beside) + ")"}
	}
	gains, _ := tuning.Traded(s, t.Responses)
	return tradeTexts(gains)
}

// keptBeside names the settings that are kept for what they improve beside the response
// that counts.
func (t tuned) keptBeside(settings []record.TuneSetting) (said []string) {
	for _, s := range settings {
		if better := t.keptFor(s); len(better) > 0 && len(settings) > 1 {
			said = append(said, fmt.Sprintf("%s is kept for %s", withValue(s), words.Join(better, "and")))
		}
	}
	return said
}
