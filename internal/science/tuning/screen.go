package tuning

import (
	"cmp"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Screened sorts the keys of a list's tried settings by the effect of each alone and by the
// effect of removing it from the list.
type Screened struct {
	All []string
	// Trades are settings that worsen a response and are not worth keeping, if trades are not
	// wanted. They are in no other list.
	Trades []string
	// Harmful settings worsen alone, or the list is better without them, or they are known to be
	// harmful and no effect speaks for them. Rivals improve alone, and the list is better without
	// them.
	Harmful, Rivals []string
	// Core settings are those without which the list is worse, or which help alone and may be
	// needed. Doubtful is the part of Core that is not known to be needed.
	Core, Doubtful []string
	// Spare settings may be enough, or needed, in combination. Spare[0] has those that show no
	// effect, Spare[1] those that help alone but make no difference to the list. Both begin with
	// the settings that are most likely not needed.
	Spare [2][]string
}

// Screen sorts settings by their effects in a run, or by what nearly all blocks agree on if the
// effects are inconclusive; later trials decide. Trades says whether a loss in one response is
// wanted for a gain in another; if not, settings with such a loss are only in Screened.Trades,
// unless they are worth keeping.
func Screen(run *record.Run, settings []record.TuneSetting, trades bool) Screened {
	var s Screened
	first := metric.Of(run)[0]
	missing := map[string]float64{} // relative gain of the list without the setting
	for _, one := range settings {
		if one.Verdict == record.NotTried {
			continue
		}
		if !trades && !one.Keep && (one.Verdict == record.Trades || costs(run, &one)) {
			s.Trades = append(s.Trades, one.Key)
			continue
		}
		s.All = append(s.All, one.Key)
		missing[one.Key], _, _, _ = Relative(first, one.Removed, 0)
		alone, removed := leans(run, one.Alone, first), leans(run, one.Removed, first)
		switch {
		case alone == record.Improves && removed == record.Improves:
			s.Rivals = append(s.Rivals, one.Key)
		case removed == record.Worsens:
			s.Core = append(s.Core, one.Key)
		case one.Verdict == record.Harms, one.Verdict == record.Trades && !one.Keep, alone == record.Worsens,
			removed == record.Improves:
			s.Harmful = append(s.Harmful, one.Key)
		case alone == record.Improves && removed == record.NoDifference:
			s.Spare[1] = append(s.Spare[1], one.Key)
		case alone == record.Improves:
			s.Core, s.Doubtful = append(s.Core, one.Key), append(s.Doubtful, one.Key)
		case one.Keep:
			s.Core = append(s.Core, one.Key)
		case harms(one.Key, one.Value): // on other paths than this
			s.Harmful = append(s.Harmful, one.Key)
		default:
			s.Spare[0] = append(s.Spare[0], one.Key)
		}
	}
	for _, spare := range s.Spare {
		slices.SortStableFunc(spare, func(a, b string) int { return cmp.Compare(missing[b], missing[a]) })
	}
	return s
}

// costs reports whether a setting worsens a response other than the first.
func costs(run *record.Run, s *record.TuneSetting) bool {
	return slices.ContainsFunc(metric.Of(run)[1:], func(r metric.Metric) bool {
		return leans(run, s.Alone, r) == record.Worsens || leans(run, s.Removed, r) == record.Improves
	})
}
