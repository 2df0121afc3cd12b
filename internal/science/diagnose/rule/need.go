package rule

import (
	"errors"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/diagnose/facts"
)

// lacking returns the hosts whose snapshots lack a part that a rule needs, each with the first such
// part. Of a part that a text has of some interfaces of a host only, the entry names the others.
func lacking(r Rule, f facts.Trial) (list []record.Unevaluated) {
	for _, h := range f.Hosts {
		if !r.about(h) {
			continue
		}
		if i := slices.IndexFunc(r.needs(), h.Foreign); i >= 0 {
			list = append(list, record.Unevaluated{Rule: r.ID, Host: h.Name, Part: facts.Base(r.needs()[i]),
				System: h.System, Foreign: true})
			continue
		}
		for _, part := range r.needs() {
			if err := h.Missing(part); err != nil {
				notPasted, name := errors.Is(err, facts.ErrNotPasted), facts.Base(part)
				if !notPasted {
					name = facts.Whole(part)
				}
				list = append(list, record.Unevaluated{Rule: r.ID, Host: h.Name, Part: name, NotPasted: notPasted,
					System: h.System, Why: name + ": " + err.Error()})
				break
			}
			if names := h.Lacking(part); len(names) > 0 {
				list = append(list, record.Unevaluated{Rule: r.ID, Host: h.Name, Part: facts.Base(part),
					Interfaces: strings.Join(names, ", "), System: h.System,
					NotPasted: true, Why: facts.Base(part) + ": " + facts.ErrNotPasted.Error()})
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
	case !r.Host:
		return []string{facts.Measurement}
	}
	return []string{"interfaces"}
}

// about reports whether the rule is about a host.
func (r *Rule) about(h *facts.Host) bool { return r.If == nil || r.If(h) }

// OtherSystem reports whether the system of a host is not Linux.
func OtherSystem(h *facts.Host) bool { return h.System != "" }
