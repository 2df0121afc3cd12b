package rule

import (
	"errors"

	"linerate/internal/model/record"
	"linerate/internal/science/diagnose/facts"
)

// lacking are the hosts whose snapshots do not have what a rule needs, each with the first part that
// is missing.
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

// needs are the parts of a snapshot that a rule needs, those of a reading included.
func (r Rule) needs() []string {
	switch {
	case len(r.Parts) > 0:
		return r.Parts
	case r.Growth:
		return []string{"interface counters"}
	}
	return []string{"interfaces"}
}
