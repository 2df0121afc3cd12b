package wording

import (
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/rule"
)

// Findings returns a copy of findings with their text. With alone, steps do not name their host.
func Findings(list []record.Finding, alone bool) []record.Finding {
	list = slices.Clone(list)
	for i := range list {
		list[i] = Worded(list[i], alone)
	}
	return list
}

// Run returns a copy of a run whose findings and trust checks have their text, those of a mesh's suspects included.
func Run(run *record.Run) *record.Run {
	shown := *run
	shown.Findings, shown.Trust = Findings(run.Findings, alone(run)), Checks(run.Trust)
	if slices.ContainsFunc(run.Trials, func(t record.Trial) bool { return t.FindMax != nil }) {
		shown.Trials = slices.Clone(run.Trials)
		for i := range shown.Trials {
			shown.Trials[i].FindMax = FindMax(run.Trials[i].FindMax)
		}
	}
	shown.Mesh = meshed(run.Mesh)
	return &shown
}

// meshed returns a copy of a mesh, the findings of whose suspects have their text.
func meshed(m *record.Mesh) *record.Mesh {
	if m == nil || m.Conclusion == nil {
		return m
	}
	shown, conclusion := *m, *m.Conclusion
	conclusion.Suspects = slices.Clone(conclusion.Suspects)
	for i := range conclusion.Suspects {
		s := &conclusion.Suspects[i]
		s.Findings = Findings(s.Findings, false)
	}
	shown.Conclusion = &conclusion
	return &shown
}

// alone reports whether a run has fewer than two hosts.
func alone(run *record.Run) bool {
	hosts := map[string]bool{}
	for _, h := range run.Topology.Hosts {
		hosts[h.Name] = true
	}
	for _, s := range run.Snapshots {
		hosts[s.Host] = true
	}
	for _, t := range run.Trials {
		for _, h := range t.Hosts {
			hosts[h.Host] = true
		}
	}
	return len(hosts) < 2
}

// Evaluation returns a copy of an evaluation whose findings and drops have their text.
func Evaluation(e record.Evaluation) record.Evaluation {
	alone := len(e.Hosts) == 1
	e.Drops = Drops(slices.Clone(e.Drops))
	e.Findings, e.Accepted = Findings(e.Findings, alone), slices.Clone(e.Accepted)
	for i := range e.Accepted {
		e.Accepted[i].Finding = Worded(e.Accepted[i].Finding, alone)
	}
	return e
}

// Sample returns a copy of a host's sample whose findings, drops and flows have their text.
func Sample(s record.HostSample) record.HostSample {
	s.Findings, s.Drops = Findings(s.Findings, true), Drops(slices.Clone(s.Drops))
	s.Flows = slices.Clone(s.Flows)
	for i := range s.Flows {
		f := &s.Flows[i]
		f.LimitedWhy = Limited(f.LimitedFacts, f.LimitedWhy)
	}
	return s
}

// Renewed returns the findings of a stored run. A finding of an earlier version, which has only
// text, is replaced by the same one among again, those that the present rules find; if there is
// none, it keeps its text.
func Renewed(run *record.Run, again []record.Finding) []record.Finding {
	renewed, now := slices.Clone(run.Findings), Findings(again, alone(run))
	for i, stored := range run.Findings {
		of := func(f record.Finding) bool { return f.ID == stored.ID && f.Host == stored.Host }
		k := slices.IndexFunc(now, func(f record.Finding) bool { return of(f) && f.Summary == stored.Summary })
		if k < 0 && count(run.Findings, of) == 1 && count(now, of) == 1 { // worded otherwise meanwhile
			k = slices.IndexFunc(now, of)
		}
		if k < 0 || !stored.Older() || !again[k].IsData() {
			continue
		}
		f := again[k]
		f.Confidence, f.Treatments, f.Boot, f.ExplainedBy = stored.Confidence, stored.Treatments, stored.Boot,
			stored.ExplainedBy
		renewed[i] = f
	}
	return renewed
}

func count(list []record.Finding, of func(record.Finding) bool) (n int) {
	return lists.Count(list, func(f record.Finding) bool { return of(f) })
}

// Rules returns the descriptions of the rules, with the text about when each finds something.
func Rules() []rule.Description {
	list := diagnose.Rules()
	for i := range list {
		list[i].About = Found(list[i].ID)
		if g := list[i].When; g != nil {
			list[i].About = grew(*g) + ": " + list[i].About
		}
	}
	return list
}
