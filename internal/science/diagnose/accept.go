package diagnose

import "linerate/internal/model/record"

// Accept takes the findings that the user accepts on a day (time.DateOnly) out of those of an
// evaluation, and lists them apart. What follows from an accepted cause is not accepted with
// it: a risk that the user takes is found again when it does harm.
func Accept(e *record.Evaluation, accepted []record.AcceptedRule, day string) {
	rest := []record.Finding{}
	for _, f := range e.Findings {
		f.ExplainedBy = ""
		if a, is := acceptance(accepted, f, day); is {
			e.Accepted = append(e.Accepted, record.AcceptedFinding{Finding: f, Until: a.Until, Because: a.Because})
		} else {
			rest = append(rest, f)
		}
	}
	explain(rest)
	e.Findings = rest
}

// acceptance is the one that covers a finding; that of its host before that of every host.
func acceptance(accepted []record.AcceptedRule, f record.Finding, day string) (found record.AcceptedRule, is bool) {
	for _, a := range accepted {
		if a.Covers(f, day) && (!is || a.Host != "") {
			found, is = a, true
		}
	}
	return found, is
}
