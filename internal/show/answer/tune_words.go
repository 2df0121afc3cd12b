package answer

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// TuneWords composes the texts of the studies and files that tune writes. It implements
// tune.Words.
type TuneWords struct{}

// Setting returns a setting with its reasons in words.
func (TuneWords) Setting(s record.TuneSetting) record.TuneSetting { return wording.Setting(s) }

// Effect describes an effect on all responses.
func (TuneWords) Effect(e *record.Effect) string { return wording.Effect(e) }

// Question returns the question that trials of sets of settings answer: whether the settings in
// out can be left out or, if out is empty, whether those found are enough.
func (TuneWords) Question(out []string) string {
	if len(out) == 0 {
		return "Do the settings found keep the list's gain by themselves?"
	}
	return "Can " + source.And(out) + " be left out without loss?"
}

// Because says what the value of a kept setting was before, and why the setting is kept.
func (TuneWords) Because(s record.TuneSetting) string {
	s = wording.Setting(s)
	var said []string
	if was := prior(s.Prior); was != "" {
		said = append(said, "was "+was)
	}
	if s.Corrected != "" {
		said = append(said, "corrected from "+s.Corrected)
	}
	if s.Added != "" {
		said = append(said, "added: "+s.Added)
	}
	if s.Alone != nil {
		said = append(said, "alone "+wording.Effect(s.Alone))
	}
	if s.Removed != nil {
		said = append(said, "the list without it "+wording.Effect(s.Removed))
	}
	return strings.Join(said, "; ")
}

// prior is the value that a setting had: "4096 131072 6291456", or "1 on a and 2 on b" where
// hosts differ.
func prior(values map[string]string) string {
	var texts []string
	for _, host := range slices.Sorted(maps.Keys(values)) {
		texts = append(texts, values[host]+" on "+host)
	}
	distinct := slices.Sorted(maps.Values(values))
	if distinct = slices.Compact(distinct); len(distinct) == 1 {
		return distinct[0]
	}
	return words.Join(texts, "and")
}
