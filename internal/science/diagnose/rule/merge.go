package rule

import (
	"cmp"
	"slices"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// Merge groups the findings of several trials by cause and host, with the facts of the trial with the
// highest confidence.
func (s *Set) Merge(findings []record.Finding) []record.Finding {
	var merged []record.Finding
	for _, f := range findings {
		i := slices.IndexFunc(merged, func(m record.Finding) bool { return m.Same(f) })
		if i < 0 {
			f.Treatments = slices.Clone(f.Treatments)
			merged = append(merged, f)
			continue
		}
		treatments := facts.Union(merged[i].Treatments, f.Treatments...)
		if surer(f, merged[i]) {
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

// ruleOf is the rule with an ID; that of an unknown ID is the last one.
func (s *Set) ruleOf(id string) Rule {
	if i := s.place(id); i < len(s.rules) {
		return s.rules[i]
	}
	return s.last
}

// place is where a rule's findings come among others.
func (s *Set) place(id string) int {
	if i, is := s.at[id]; is {
		return i
	}
	return len(s.rules)
}

// surer reports whether a has the higher confidence, or as high and more facts.
func surer(a, b record.Finding) bool {
	if a.Confidence != b.Confidence {
		return Rank(a.Confidence) < Rank(b.Confidence)
	}
	return len(a.Facts) > len(b.Facts)
}

// Rank orders confidences: 0 for certain, 1 for likely, 2 for possible.
func Rank(confidence string) int {
	return slices.Index([]string{record.Certain, record.Likely, record.Possible}, confidence)
}

// maxFacts is how many different facts a merged finding has at most.
const maxFacts = 8
