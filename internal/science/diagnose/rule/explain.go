package rule

import (
	"slices"

	"linerate/internal/model/record"
)

// explain sets ExplainedBy of each finding that follows from another one with at least the same
// confidence. If two causes explain it, the one that also explains the other cause is named.
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

// explainedBy reports whether a finding follows from a cause: both are about the same subject, or
// the cause is on the host that the finding's connections lead to; they concern the same places;
// and they were counted over the same time. Two rules that explain each other explain nothing.
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
