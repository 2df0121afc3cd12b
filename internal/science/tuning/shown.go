package tuning

import (
	"slices"

	"linerate/internal/model/record"
)

// This file decides what the answer of tune may claim about settings. Package answer has its sentences.

// Keyed returns the settings with the given keys.
func Keyed(settings []record.TuneSetting, keys []string) []record.TuneSetting {
	return slices.DeleteFunc(slices.Clone(settings), func(s record.TuneSetting) bool {
		return !slices.Contains(keys, s.Key)
	})
}

// SameAlone reports whether a setting alone is shown to make no difference in the first response.
func SameAlone(s record.TuneSetting) bool {
	e := s.Alone
	return e != nil && e.Verdict == record.NoDifference && e.Ratio.High > 0
}

// Missed divides the settings that help into those that caused the list's gain (did) and those
// that help alone but make no difference when they are removed from the list (spare). If the
// removal of none of them worsens the list, all are in did.
func Missed(helps []record.TuneSetting) (did, spare []record.TuneSetting) {
	for _, s := range helps {
		if s.Alone != nil && s.Removed != nil && s.Removed.Verdict == record.NoDifference {
			spare = append(spare, s)
		} else {
			did = append(did, s)
		}
	}
	if !slices.ContainsFunc(did, func(s record.TuneSetting) bool {
		return s.Removed != nil && s.Removed.Verdict == record.Worsens
	}) {
		return helps, nil
	}
	return did, spare
}

// MostAlone returns an upper bound of the ratio that any of the settings reaches by itself: the
// highest end of their intervals, which hold simultaneously. 0: an interval is unknown.
func MostAlone(settings []record.TuneSetting) (most float64) {
	for _, s := range settings {
		if s.Alone == nil || s.Alone.Ratio.None || s.Alone.Ratio.High == 0 {
			return 0
		}
		most = max(most, s.Alone.Ratio.High)
	}
	return most
}

// NothingToKeep reports whether a list of several settings was tried in full and neither it nor a
// setting of it is shown to improve anything.
func NothingToKeep(t *record.Tune) bool {
	if t.Offer != nil || len(t.Settings) < 2 {
		return false
	}
	effects := []*record.Effect{t.List, t.Written}
	if t.Proof != nil {
		effects = append(effects, t.Proof.Effect)
	}
	for _, e := range effects {
		if e == nil {
			continue
		}
		if Gains(e, t.Margin) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Settings, func(s record.TuneSetting) bool {
		return s.Keep || s.Verdict != record.NotTried && s.Verdict != record.NoDifference &&
			s.Verdict != record.Inconclusive && s.Verdict != record.Harms
	})
}
