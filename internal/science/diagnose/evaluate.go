package diagnose

import (
	"cmp"
	"slices"

	"linerate/internal/model/record"
)

// set are rules in the order in which a reader should meet their findings.
type set struct {
	rules []rule
	last  rule // for flows that could not connect for none of the reasons that the others name
	at    map[string]int
}

func newSet(last rule, lists ...[]rule) *set {
	s := &set{rules: slices.Concat(lists...), last: last, at: map[string]int{}}
	for i := len(s.rules) - 1; i >= 0; i-- {
		s.at[s.rules[i].id] = i
	}
	return s
}

// mostFindings bounds those of one rule, so that one fault of a fleet does not hide the others.
const mostFindings = 100

// evaluate has each rule of which a condition holds look for its cause, and gives what it found.
func (s *set) evaluate(f observed, of func(*rule) bool, found func(*rule, []record.Finding)) {
	for i := range s.rules {
		if r := &s.rules[i]; of(r) {
			found(r, named(r.id, r.find(f)))
		}
	}
}

func named(id string, findings []record.Finding) []record.Finding {
	for i := range findings {
		findings[i].ID = id
	}
	return findings
}

// trial evaluates the rules for trials.
func (s *set) trial(f observed) (findings []record.Finding) {
	add := func(_ *rule, found []record.Finding) {
		for _, finding := range found {
			if f.trial.Treatment != "" {
				finding.Treatments = []string{f.trial.Treatment}
			}
			findings = append(findings, finding)
		}
	}
	s.evaluate(f, func(r *rule) bool { return !r.host }, add)
	stops := func(id string) bool { return s.ruleOf(id).stops }
	add(&s.last, named(s.last.id, s.last.after(f, findings, stops)))
	return findings
}

// hosts evaluates every rule over snapshots of hosts: over what grew between their readings, and
// over what was counted since the boot.
func (s *set) hosts(now, boot observed) (e record.Evaluation) {
	e.Findings = []record.Finding{}
	s.evaluate(now, func(*rule) bool { return true }, func(r *rule, found []record.Finding) {
		missing := lacking(*r, now)
		for _, host := range missing {
			e.Unevaluated = append(e.Unevaluated, record.Unevaluated{Rule: r.id, Host: host.name, Why: host.why})
		}
		// One host may have what another one lacks of a rule that compares them.
		if len(missing) < len(now.hosts) || len(found) > 0 {
			e.Evaluated = append(e.Evaluated, r.id)
		}
		if r.growth {
			for _, finding := range named(r.id, r.find(boot)) {
				if slices.ContainsFunc(found, func(f record.Finding) bool { return s.alike(f, finding) }) {
					continue
				}
				finding.Confidence, finding.Boot = record.Possible, true
				found = append(found, finding)
			}
		}
		e.Findings = append(e.Findings, found[:min(len(found), mostFindings)]...)
	})
	e.Findings = append([]record.Finding{}, s.merge(e.Findings)...)
	now.cabled(e.Findings)
	s.explain(e.Findings)
	slices.SortStableFunc(e.Findings, func(a, b record.Finding) int {
		return cmp.Compare(rank(a.Confidence), rank(b.Confidence))
	})
	return e
}

// around evaluates the rules for hosts over a run: its snapshots, and each trial.
func (s *set) around(run *record.Run, known []record.Finding) []record.Finding {
	var found []record.Finding
	states := map[string]record.HostSnapshot{}
	var latest []record.HostSnapshot
	for _, snapshots := range run.Snapshots {
		if l := snapshots.Latest(); l != nil {
			one := *l
			one.Reading.Host = snapshots.Host
			latest, states[snapshots.Host] = append(latest, one), one
		}
	}
	apply := func(list []record.HostSnapshot, growth bool, treatment string, flows []record.Flow,
		set []record.Applied) {
		f := observe(list, false)
		for _, h := range f.hosts {
			h.flows = flows
		}
		s.evaluate(f, func(r *rule) bool {
			return r.host && r.growth == growth && (!r.load || r.holds != nil) &&
				!slices.ContainsFunc(r.explains, s.ofTrials)
		}, func(r *rule, findings []record.Finding) {
			findings = findings[:min(len(findings), mostFindings)]
			f.cabled(findings)
			for _, finding := range findings {
				if finding.Confidence == record.Possible || !r.own && !run.Real(finding.Host) ||
					s.follows(finding, known) || isSet(finding, set) || r.holds != nil &&
					!f.holdsOne(r.holds, finding.Host, run) {
					continue
				}
				if treatment != "" {
					finding.Treatments = []string{treatment}
				}
				found = append(found, finding)
			}
		})
	}
	apply(latest, false, "", nil, planned(run))
	for _, t := range run.Trials {
		var list []record.HostSnapshot
		for _, h := range t.Hosts {
			list = append(list, record.HostSnapshot{Host: states[h.Host].Host, State: states[h.Host].State,
				OverS: t.WindowS, Reading: h})
		}
		apply(list, true, t.Treatment, t.Flows, t.Settings)
	}
	found = s.merge(found)
	s.explain(found)
	return slices.DeleteFunc(found, func(f record.Finding) bool { return f.ExplainedBy != "" })
}

// holdsOne reports whether a host's buffer that a rule is about holds a flow of the trials back.
// A host of a lab stands for all: they have its parameters.
func (f observed) holdsOne(holds func(*host, record.Flow) bool, name string, run *record.Run) bool {
	i := slices.IndexFunc(f.hosts, func(h *host) bool { return h.name == name })
	held := func(at string, fl record.Flow) bool {
		h := *f.hosts[i]
		h.name = at
		return (at == name || !run.Real(name)) && holds(&h, fl)
	}
	return i >= 0 && slices.ContainsFunc(run.Trials, func(t record.Trial) bool {
		return slices.ContainsFunc(t.Flows, func(fl record.Flow) bool { return held(fl.From, fl) || held(fl.To, fl) })
	})
}

// ofTrials reports whether a rule is for trials.
func (s *set) ofTrials(id string) bool {
	i, is := s.at[id]
	return is && !s.rules[i].host
}

// follows reports whether a finding follows from one of others.
func (s *set) follows(f record.Finding, known []record.Finding) bool {
	return slices.ContainsFunc(known, func(cause record.Finding) bool {
		return cause.Host == f.Host && (cause.ID == f.ID || slices.Contains(s.ruleOf(cause.ID).explains, f.ID))
	})
}
