package tuning

import (
	"slices"

	"linerate/internal/model/record"
)

// This file has what the answer claims of a list's settings. Package answer has its words.

// Keyed are the settings of these keys.
func Keyed(settings []record.TuneSetting, keys []string) []record.TuneSetting {
	return slices.DeleteFunc(slices.Clone(settings), func(s record.TuneSetting) bool {
		return !slices.Contains(keys, s.Key)
	})
}

// SameAlone reports whether a setting alone makes no difference of the response that counts.
func SameAlone(s record.TuneSetting) bool {
	e := s.Alone
	return e != nil && e.Verdict == record.NoDifference && e.Ratio.High > 0
}

// Missed parts the settings that help: those that the list is worse without did it,
// and others that help a little when they are alone did not. Where the list misses
// none of them, each that helps did it.
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

// MostAlone is the ratio that none of several settings exceeds by itself: the highest end
// of their intervals, which hold together. 0: one of them is not known.
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
