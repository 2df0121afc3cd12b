package rule

import (
	"linerate/internal/science/diagnose/facts"
)

// lack is a host on which a rule cannot be evaluated, and why.
type lack struct{ name, why string }

// lacking are the hosts whose snapshots do not have what a rule needs.
func lacking(r Rule, f facts.Trial) (list []lack) {
	for _, h := range f.Hosts {
		why := ""
		for _, part := range r.needs() {
			if missing := h.Missing(part); missing != "" && why == "" {
				why = part + ": " + missing
			}
		}
		if why != "" {
			list = append(list, lack{h.Name, why})
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
