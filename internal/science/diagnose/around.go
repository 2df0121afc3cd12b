package diagnose

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// Around applies the rules for hosts to a run: those about a host's state to the latest of the
// run's snapshots of it, and those about counters to what grew in the window of each trial.
// It returns what is at least likely and follows neither from the known findings, those of
// the trials, nor from what the study sets. Left to the trials' own rules is what they look for,
// and no finding is what traffic that fills its path brings about, nor a small buffer that no
// flow is held back by, or nearly. Of a lab's hosts only rules
// about the hosts themselves are evaluated: their links, addresses and losses are the study's.
func Around(run *record.Run, known []record.Finding) []record.Finding {
	var found []record.Finding
	states := map[string]record.HostSnapshot{}
	var latest []record.HostSnapshot
	for _, s := range run.Snapshots {
		if l := s.Latest(); l != nil {
			one := *l
			one.Reading.Host = s.Host
			latest, states[s.Host] = append(latest, one), one
		}
	}
	apply := func(list []record.HostSnapshot, growth bool, treatment string, flows []record.Flow,
		set []record.Applied) {
		f := observe(list, false)
		for _, h := range f.hosts {
			h.flows = flows
		}
		for _, r := range rules {
			if !r.host || r.growth != growth || r.load && r.holds == nil || slices.ContainsFunc(r.explains, ofTrials) {
				continue
			}
			findings := r.find(f)
			findings = named(r.id, findings[:min(len(findings), mostFindings)])
			f.cabled(findings)
			for _, finding := range findings {
				if finding.Confidence == record.Possible || !r.own && !run.Real(finding.Host) ||
					follows(finding, known) || isSet(finding, set) || r.holds != nil &&
					!f.holdsOne(r, finding.Host, run) {
					continue
				}
				if treatment != "" {
					finding.Treatments = []string{treatment}
				}
				found = append(found, finding)
			}
		}
	}
	apply(latest, false, "", nil, planned(run))
	for _, t := range run.Split() {
		var list []record.HostSnapshot
		for _, h := range t.Hosts {
			list = append(list, record.HostSnapshot{Host: states[h.Host].Host, State: states[h.Host].State,
				OverS: t.WindowS, Reading: h})
		}
		apply(list, true, t.Treatment, t.Flows, t.Settings)
	}
	found = Merge(found)
	explain(found)
	return slices.DeleteFunc(found, func(f record.Finding) bool { return f.ExplainedBy != "" })
}

// holdsOne reports whether a host's buffer that a rule is about holds a flow of the trials back.
// A host of a lab stands for all: they have its parameters.
func (f observed) holdsOne(r rule, name string, run *record.Run) bool {
	i := slices.IndexFunc(f.hosts, func(h *host) bool { return h.name == name })
	holds := func(at string, fl record.Flow) bool {
		h := *f.hosts[i]
		h.name = at
		return (at == name || !run.Real(name)) && r.holds(&h, fl)
	}
	return i >= 0 && slices.ContainsFunc(run.Trials, func(t record.Trial) bool {
		return slices.ContainsFunc(t.Flows, func(fl record.Flow) bool { return holds(fl.From, fl) || holds(fl.To, fl) })
	})
}

// ofTrials reports whether a rule is for trials.
func ofTrials(id string) bool {
	i := place(id)
	return i < len(rules) && !rules[i].host
}

// follows reports whether a finding follows from one of others.
func follows(f record.Finding, known []record.Finding) bool {
	return slices.ContainsFunc(known, func(cause record.Finding) bool {
		return cause.Host == f.Host && (cause.ID == f.ID || slices.Contains(ruleOf(cause.ID).explains, f.ID))
	})
}

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
	lines := slices.Concat(f.Evidence, f.Fix)
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
