package tuning

import (
	"cmp"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Screened are a list's settings by what each did alone and the list lacked without it.
type Screened struct {
	All []string
	// Trades are left out of all else where they are not wanted.
	Trades []string
	// Harmful are worse alone, or the list is better without them; or lint calls them so and
	// nothing speaks for them. Rivals are better alone, and the list is better without them.
	Harmful, Rivals []string
	// Core are those that the list is worse without, or that help alone and may be
	// missed. Of Doubtful ones it is not known that they are missed.
	Core, Doubtful []string
	// Spare may be enough or needed in combinations: first those that show no effect,
	// then those that help alone and that the list does not miss. Each is ordered from
	// what is likeliest not missed.
	Spare [2][]string
}

// Screen sorts settings by what a run showed of them, and where it left that open by what
// nearly all blocks agree on: trials decide in the end. What trades is in the core, unless
// trades are not wanted: it is then left out.
func Screen(run *record.Run, settings []record.TuneSetting, trades bool) Screened {
	var s Screened
	first := metric.Of(run)[0]
	missing := map[string]float64{} // what the list gains without it, relative
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

// costs reports whether a setting makes a response worse that does not count first.
func costs(run *record.Run, s *record.TuneSetting) bool {
	return slices.ContainsFunc(metric.Of(run)[1:], func(r metric.Metric) bool {
		return leans(run, s.Alone, r) == record.Worsens || leans(run, s.Removed, r) == record.Improves
	})
}
