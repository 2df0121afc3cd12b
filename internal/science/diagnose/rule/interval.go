package rule

import (
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// inInterval adds to a finding about what grew, or about what CPUs did, the interval in which that was, if
// the text has the intervals' times.
func inInterval(r *Rule, f facts.Trial, finding *record.Finding) {
	for _, h := range f.Hosts {
		if h.Name != finding.Host {
			continue
		}
		for _, i := range h.Intervals {
			if !r.Growth && i.Part != "cpu" {
				continue
			}
			if slices.ContainsFunc(r.needs(), func(part string) bool {
				return isOf(i, part, finding.About.Interface)
			}) {
				finding.With(h.Name, fact.Interval{Day: i.Day, From: i.From, To: i.To, Among: i.Among})
			}
		}
	}
}

// isOf reports whether an interval is that of a part that a rule needs, with its details, on an interface.
func isOf(i netstate.Interval, part, interfaceName string) bool {
	base, details, _ := strings.Cut(part, "/")
	return base == i.Part && (i.Name == "" || i.Name == interfaceName ||
		slices.ContainsFunc(strings.Split(details, "|"), func(counter string) bool {
			return strings.HasPrefix(counter, i.Name+".")
		}))
}
