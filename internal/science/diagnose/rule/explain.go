package rule

import (
	"slices"

	"linerate/internal/model/record"
)

// explain marks findings that follow from others that are at least as sure; of two such causes
// with the one that explains the other.
func (s *Set) explain(findings []record.Finding) {
	for i, f := range findings {
		for _, cause := range findings {
			if s.explainedBy(f, cause) && Rank(cause.Confidence) <= Rank(f.Confidence) &&
				(findings[i].ExplainedBy == "" ||
					slices.Contains(s.ruleOf(cause.ID).Explains, findings[i].ExplainedBy)) {
				findings[i].ExplainedBy = cause.ID
			}
		}
	}
}

// explainedBy reports whether a finding follows from another one about the same, or of the host to
// which its connections lead, of the same places and at the same time. Of two rules that explain
// each other neither does.
func (s *Set) explainedBy(f, cause record.Finding) bool {
	r := s.ruleOf(cause.ID)
	counter := s.ruleOf(f.ID).Growth
	if r.Growth && counter && f.Boot != cause.Boot {
		return false
	}
	every := !counter // which counts other connections as well
	if f.Toward == cause.Host && slices.Contains(r.AtPeers, f.ID) {
		return f.Shares(cause, true, every)
	}
	return cause.SameSubject(f) && cause.ID != f.ID && slices.Contains(r.Explains, f.ID) &&
		!slices.Contains(s.ruleOf(f.ID).Explains, cause.ID) && f.Shares(cause, false, every)
}
