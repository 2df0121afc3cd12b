package rule

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// planned returns the kernel parameters that a run's topology sets on its hosts.
func planned(run *record.Run) (set []record.Applied) {
	for _, h := range run.Topology.Hosts {
		for _, s := range h.Sysctls {
			set = append(set, record.Applied{Host: h.Name, Kind: "sysctl", What: s.Key})
		}
	}
	return set
}

// isSet reports whether a finding is about something that was set on its host: a kernel parameter
// that it names, or an interface whose qdisc, link or driver was changed.
func isSet(f record.Finding, set []record.Applied) bool {
	names := f.Names()
	return slices.ContainsFunc(set, func(a record.Applied) bool {
		what := a.What
		switch a.Kind {
		case "sysctl":
		case "qdisc", "link", "nic":
			what, _, _ = strings.Cut(what, " ") // the interface
		default:
			return false
		}
		return a.Host == f.Host && slices.Contains(names, what)
	})
}

// words splits a line into words and names.
func words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" =,;:()", r) })
}
