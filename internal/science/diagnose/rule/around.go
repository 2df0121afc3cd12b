package rule

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// planned are the kernel parameters that a run's topology sets on its hosts.
func planned(run *record.Run) (set []record.Applied) {
	for _, h := range run.Topology.Hosts {
		for _, s := range h.Sysctls {
			set = append(set, record.Applied{Host: h.Name, Kind: "sysctl", What: s.Key})
		}
	}
	return set
}

// isSet reports whether a finding is about what was set on its host: a kernel parameter that
// its fix or its evidence names, or an interface whose qdisc, link or driver was changed.
func isSet(f record.Finding, set []record.Applied) bool {
	lines := slices.Concat(f.Evidence, f.Fix, f.Names())
	for _, s := range f.Settings {
		for _, k := range s.Sysctl {
			lines = append(lines, k.Key)
		}
	}
	return slices.ContainsFunc(set, func(a record.Applied) bool {
		what := a.What
		switch a.Kind {
		case "sysctl":
		case "qdisc", "link", "nic":
			what, _, _ = strings.Cut(what, " ") // the interface
		default:
			return false
		}
		return a.Host == f.Host && slices.ContainsFunc(lines, func(line string) bool { return mentions(line, what) })
	})
}

// mentions reports whether a line has a name as a word.
func mentions(line, name string) bool {
	return slices.Contains(words(line), name)
}

// words are the words and names of a line.
func words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" =,;:()", r) })
}
