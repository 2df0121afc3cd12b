package rule

import (
	"errors"

	"linerate/internal/model/record"
	"linerate/internal/science/diagnose/facts"
)

// lacking returns the hosts whose snapshots lack a part that a rule needs, each with the first such
// part.
func lacking(r Rule, f facts.Trial) (list []record.Unevaluated) {
	for _, h := range f.Hosts {
		for _, part := range r.needs() {
			if err := h.Missing(part); err != nil {
				list = append(list, record.Unevaluated{Rule: r.ID, Host: h.Name, Part: part,
					NotPasted: errors.Is(err, facts.ErrNotPasted), Why: part + ": " + err.Error()})
				break
			}
		}
	}
	return list
}

// needs returns the parts of a snapshot that a rule needs.
func (r Rule) needs() []string {
	switch {
	case len(r.Parts) > 0:
		return r.Parts
	case r.Growth:
		return []string{"interface counters"}
	}
	return []string{"interfaces"}
}
