package rule

import (
	"slices"

	"linerate/internal/model/record"
)

// Accept moves the findings that the user accepts on a day (in the form time.DateOnly) from
// e.Findings to e.Accepted, with the findings that state the same fact under another name.
func (s *Set) Accept(e *record.Evaluation, accepted []record.AcceptedRule, day string) {
	rest := []record.Finding{}
	for _, f := range e.Findings {
		f.ExplainedBy = ""
		if a, is := acceptance(accepted, f, day); is {
			e.Accepted = append(e.Accepted, record.AcceptedFinding{Finding: f, Until: a.Until, Because: a.Because})
		} else {
			rest = append(rest, f)
		}
	}
	for i := 0; i < len(e.Accepted); i++ { // those that are added as well
		cause := e.Accepted[i]
		rest = slices.DeleteFunc(rest, func(f record.Finding) bool {
			is := s.restates(f, cause.Finding)
			if f.ExplainedBy = cause.ID; is {
				e.Accepted = append(e.Accepted, record.AcceptedFinding{Finding: f, Until: cause.Until,
					Because: cause.Because})
			}
			return is
		})
	}
	s.explain(rest)
	e.Findings = rest
}

// restates reports whether a finding states the same fact as its cause: it follows from the cause,
// and is about the same subject, or has no facts other than those of the cause. A finding with
// evidence of its own is a further fact, such as harm that the cause has done.
func (s *Set) restates(f, cause record.Finding) bool {
	if !s.explainedBy(f, cause) {
		return false
	}
	if f.Of() != "" && f.Of() == cause.Of() {
		return true
	}
	return len(f.Facts) > 0 && record.Within(f.Facts, cause.Facts)
}

// acceptance returns the acceptance that covers a finding. One for its host is preferred to one for
// every host.
func acceptance(accepted []record.AcceptedRule, f record.Finding, day string) (found record.AcceptedRule, is bool) {
	for _, a := range accepted {
		if a.Covers(f, day) && (!is || a.Host != "") {
			found, is = a, true
		}
	}
	return found, is
}
