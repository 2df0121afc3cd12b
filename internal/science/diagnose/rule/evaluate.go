package rule

import (
	"cmp"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// Set is a list of rules. Findings of one confidence are listed in the order of their rules.
type Set struct {
	rules []Rule
	last  Rule // for flows that could not connect for a reason that no other rule has found
	at    map[string]int
}

// NewSet joins lists of rules, in this order. The rule last is for flows that could not connect for
// a reason that no other rule has found.
func NewSet(last Rule, lists ...[]Rule) *Set {
	s := &Set{rules: slices.Concat(lists...), last: last, at: map[string]int{}}
	for i := len(s.rules) - 1; i >= 0; i-- {
		s.at[s.rules[i].ID] = i
	}
	return s
}

// MostFindings bounds the findings of one rule, so that one fault of many hosts does not hide the
// other findings.
const MostFindings = 100

// evaluate applies the rules that meet a condition, and calls found with the findings of each.
func (s *Set) evaluate(f facts.Trial, of func(*Rule) bool, found func(*Rule, []record.Finding)) {
	for i := range s.rules {
		if r := &s.rules[i]; of(r) {
			found(r, named(r.ID, r.Find(f)))
		}
	}
}

func named(id string, findings []record.Finding) []record.Finding {
	for i := range findings {
		findings[i].ID = id
	}
	return findings
}

// Trial applies the rules for trials to one trial.
func (s *Set) Trial(f facts.Trial) (findings []record.Finding) {
	add := func(_ *Rule, found []record.Finding) {
		for _, finding := range found {
			if f.Trial.Treatment != "" {
				finding.Treatments = []string{f.Trial.Treatment}
			}
			findings = append(findings, finding)
		}
	}
	s.evaluate(f, func(r *Rule) bool { return !r.Host }, add)
	stops := func(id string) bool { return s.ruleOf(id).Stops }
	add(&s.last, named(s.last.ID, s.last.After(f, findings, stops)))
	return findings
}

// Hosts applies every rule to snapshots of hosts: to what grew between their readings (now), and
// for rules with Growth also to what was counted since the boot.
func (s *Set) Hosts(now, boot facts.Trial) (e record.Evaluation) {
	e.Findings = []record.Finding{}
	about := func(r *Rule) bool { return slices.ContainsFunc(now.Hosts, r.about) }
	s.evaluate(now, about, func(r *Rule, found []record.Finding) {
		for i := range min(len(found), MostFindings) {
			inInterval(r, now, &found[i])
		}
		missing := lacking(*r, now)
		e.Unevaluated = append(e.Unevaluated, missing...)
		// One host may have what another one lacks of a rule that compares them.
		lack := lists.Count(now.Hosts, func(h *facts.Host) bool { return !r.about(h) })
		lack += lists.Count(missing, func(m record.Unevaluated) bool { return m.Interfaces == "" })
		if lack < len(now.Hosts) || len(found) > 0 {
			e.Evaluated = append(e.Evaluated, r.ID)
			for _, part := range r.needs() {
				if part = facts.Base(part); !slices.Contains(e.Judged, part) {
					e.Judged = append(e.Judged, part)
				}
			}
		}
		if r.Growth {
			known := map[record.FindingKey]bool{}
			for _, finding := range found {
				known[finding.Key()] = true
			}
			for _, finding := range named(r.ID, r.Find(boot)) {
				key := finding.Key()
				if known[key] {
					continue
				}
				known[key] = true
				finding.Confidence, finding.Boot = record.Possible, true
				found = append(found, finding)
			}
		}
		e.Findings = append(e.Findings, found[:min(len(found), MostFindings)]...)
	})
	e.Findings = append([]record.Finding{}, s.Merge(e.Findings)...)
	systems(now, e.Findings)
	cabled(now, e.Findings)
	s.explain(e.Findings)
	slices.SortStableFunc(e.Findings, func(a, b record.Finding) int {
		return cmp.Compare(Rank(a.Confidence), Rank(b.Confidence))
	})
	return e
}

// Around applies the rules for hosts to the snapshots and the trials of a run. See diagnose.Around.
func (s *Set) Around(run *record.Run, known []record.Finding) []record.Finding {
	var found []record.Finding
	states := map[string]netstate.HostSnapshot{}
	var latest []netstate.HostSnapshot
	for _, snapshots := range run.Snapshots {
		if l := snapshots.Latest(); l != nil {
			one := *l
			one.Reading.Host = snapshots.Host
			latest, states[snapshots.Host] = append(latest, one), one
		}
	}
	apply := func(list []netstate.HostSnapshot, growth bool, treatment string, flows []record.Flow,
		set []record.Applied) {
		f := facts.Observe(list, false)
		for _, h := range f.Hosts {
			h.Flows = flows
		}
		s.evaluate(f, func(r *Rule) bool {
			return r.Host && r.Growth == growth && (!r.Load || r.Holds != nil) &&
				!slices.ContainsFunc(r.Explains, s.ofTrials)
		}, func(r *Rule, findings []record.Finding) {
			findings = findings[:min(len(findings), MostFindings)]
			cabled(f, findings)
			for _, finding := range findings {
				if finding.Confidence == record.Possible || !r.Own && !run.Real(finding.Host) ||
					s.follows(finding, known) || isSet(finding, set) || r.Holds != nil &&
					!holdsOne(f, r.Holds, finding.Host, run) {
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
	for _, t := range run.Split() {
		var list []netstate.HostSnapshot
		for _, h := range t.Hosts {
			list = append(list, netstate.HostSnapshot{Host: states[h.Host].Host, State: states[h.Host].State,
				OverS: t.WindowS, Reading: h})
		}
		apply(list, true, t.Treatment, t.Flows, t.Settings)
	}
	found = s.Merge(found)
	s.explain(found)
	return slices.DeleteFunc(found, func(f record.Finding) bool { return f.ExplainedBy != "" })
}

// holdsOne reports whether a rule's buffer or queue on a host holds back a flow of the trials. A
// finding on a lab's host is checked against the flows of all hosts, because they have the same
// parameters.
func holdsOne(f facts.Trial, holds func(*facts.Host, record.Flow) bool, name string, run *record.Run) bool {
	i := slices.IndexFunc(f.Hosts, func(h *facts.Host) bool { return h.Name == name })
	held := func(at string, fl record.Flow) bool {
		h := *f.Hosts[i]
		h.Name = at
		return (at == name || !run.Real(name)) && holds(&h, fl)
	}
	return i >= 0 && slices.ContainsFunc(run.Trials, func(t record.Trial) bool {
		return slices.ContainsFunc(t.Flows, func(fl record.Flow) bool { return held(fl.From, fl) || held(fl.To, fl) })
	})
}

// ofTrials reports whether a rule is for trials.
func (s *Set) ofTrials(id string) bool {
	i, is := s.at[id]
	return is && !s.rules[i].Host
}

// follows reports whether a finding has the cause of one of the known findings on its host, or
// follows from one.
func (s *Set) follows(f record.Finding, known []record.Finding) bool {
	return slices.ContainsFunc(known, func(cause record.Finding) bool {
		return cause.Host == f.Host && (cause.ID == f.ID || slices.Contains(s.ruleOf(cause.ID).Explains, f.ID))
	})
}
