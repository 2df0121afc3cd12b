package tuning

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// proved says what the settings that were proven do, by the verdict of their proof.
func proved(t *record.Tune, of metric.Metric) string {
	p := t.Proof
	e, level := p.Effect, KeptLevel
	if p.AgainstList == nil {
		level = settingfile.TheList
	}
	n, names := len(p.Settings), list(keyed(t.Settings, p.Settings))
	switch {
	case e == nil:
		return "what " + names + plural(n, " does by itself", " do by themselves") + " is not known"
	case e.Verdict == record.Improves && p.Gain != nil && *p.Gain < 1-SmallLoss:
		return fmt.Sprintf("%s %s %.0f %% of its gain: %s", names, plural(n, "keeps", "keep"), 100**p.Gain, change(t, level, of, e))
	case e.Verdict == record.Improves && p.AgainstList == nil && t.List.Verdict == record.Improves && p.Run == t.Run:
		return names + plural(n, " does it", " do it") + together(t.List, keyed(t.Settings, p.Settings), of)
	case e.Verdict == record.Improves:
		text := names + plural(n, " does it", " do it")
		if how := together(e, keyed(t.Settings, p.Settings), of); how != "" {
			text += how + ";"
		} else {
			text += ":"
		}
		text += plural(n, " by itself ", " by themselves ") + change(t, level, of, e) + ofGain(p)
		if cost := worse(t, level, e); t.Offer == nil && cost != "" {
			text += ", at the cost of " + cost
		}
		return text
	case gains(e):
		return names + plural(n, " improves ", " improve ") + strings.TrimPrefix(strings.TrimPrefix(also(t, level, e), ", and improves "), ", but improves ")
	}
	return fmt.Sprintf("%s by %s: %s, %s", names, plural(n, "itself", "themselves"), change(t, level, of, e), e.Verdict)
}

// worse is what a level worsens beside the response that counts; empty: it is not shown to.
func worse(t *record.Tune, level string, e *record.Effect) string {
	var costs []string
	for _, r := range others(t.Responses) {
		if b := r.Effect(e); b != nil && b.Verdict == record.Worsens {
			costs = append(costs, r.Label+" "+change(t, level, r, b))
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

// keptBeside names the settings that are kept for what they improve beside the response
// that counts.
func keptBeside(settings []record.TuneSetting, responses []string, of metric.Metric) (said []string) {
	for _, s := range settings {
		v, _, _ := verdict(of.Effect(s.Alone), of.Effect(s.Removed))
		if v != record.NoDifference && v != record.Inconclusive {
			continue
		}
		var better []string
		for _, r := range others(responses) {
			if v, _, _ := verdict(r.Effect(s.Alone), r.Effect(s.Removed)); v == record.Helps {
				better = append(better, r.Label)
			}
		}
		if len(better) > 0 && len(settings) > 1 {
			said = append(said, fmt.Sprintf("%s is kept for %s", s.Key, join(better)))
		}
	}
	return said
}
