package rule

import (
	"cmp"
	"slices"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// Merge combines findings of several trials that have the same cause and host. The merged finding
// has the facts of the trial in which it has the highest confidence.
func (s *Set) Merge(findings []record.Finding) []record.Finding {
	var merged []record.Finding
	at := map[record.FindingKey]int{} // in merged
	for _, f := range findings {
		key := f.Key()
		i, is := at[key]
		if !is {
			at[key] = len(merged)
			f.Treatments = slices.Clone(f.Treatments)
			merged = append(merged, f)
			continue
		}
		treatments := facts.Union(merged[i].Treatments, f.Treatments...)
		if moreConfident(f, merged[i]) {
			merged[i] = f
		}
		merged[i].Treatments = treatments
	}
	for i := range merged {
		found := record.Distinct(merged[i].Facts)
		merged[i].Facts = found[:min(len(found), maxFacts)]
	}
	slices.SortStableFunc(merged, func(a, b record.Finding) int {
		return cmp.Or(Rank(a.Confidence)-Rank(b.Confidence), s.place(a.ID)-s.place(b.ID))
	})
	return merged
}

// ruleOf returns the rule with an ID; the last one if no rule has it.
func (s *Set) ruleOf(id string) Rule {
	if i := s.place(id); i < len(s.rules) {
		return s.rules[i]
	}
	return s.last
}

// place returns the position of a rule's findings among others of the same confidence.
func (s *Set) place(id string) int {
	if i, is := s.at[id]; is {
		return i
	}
	return len(s.rules)
}

// moreConfident reports whether a has a higher confidence than b, or the same confidence and more facts.
func moreConfident(a, b record.Finding) bool {
	if a.Confidence != b.Confidence {
		return Rank(a.Confidence) < Rank(b.Confidence)
	}
	return len(a.Facts) > len(b.Facts)
}

// Rank orders confidences: 0 for certain, 1 for likely, 2 for possible, -1 for any other.
func Rank(confidence string) int {
	return slices.Index([]string{record.Certain, record.Likely, record.Possible}, confidence)
}

// maxFacts bounds the facts of a merged finding.
const maxFacts = 8
