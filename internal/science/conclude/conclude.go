// Package conclude draws a run's conclusions: it fills in the treatments' estimates, the effects,
// the trust checks and the findings, recommends a treatment, and sums up what a reader must know
// first as a record.Conclusion. It adds no judgement of its own to those of packages stats, trust
// and diagnose, and writes no sentences: package show/answer does.
package conclude

import (
	"cmp"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/chance"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/ecmp"
	"linerate/internal/science/failover"
	"linerate/internal/science/outlier"
	"linerate/internal/science/stats"
	"linerate/internal/science/toolreport"
	"linerate/internal/science/trust"
)

// Conclude fills in everything of a run that follows from its trials. Call it again after trials
// were added.
func Conclude(run *record.Run) {
	checks, findings := judged(run)
	run.Confidence, run.Margin = cmp.Or(run.Confidence, 0.95), cmp.Or(run.Margin, 0.02)
	chance.Fill(run)
	run.Treatments = []record.Treatment{}
	inference := stats.Of(run)
	for _, trials := range byTreatment(run) {
		run.Treatments = append(run.Treatments, treatment(run, inference, trials))
	}
	varied := chances(run)
	levels, treatments := inference.Effects()
	for _, list := range [][]record.Effect{levels, treatments} {
		if onGoodput(run) {
			byChance(run, varied, list)
		}
		unsettled(run, list)
	}
	run.Effects = levels
	recommend(run, treatments...)
	run.Trust = checks
	run.Findings = slices.Concat(findings, diagnose.Around(run, findings))
	for _, f := range run.Findings {
		slices.SortFunc(f.Treatments, func(a, b string) int { return place(run, a) - place(run, b) })
	}
	run.Hashing = ecmp.Placements(run)
	run.Outliers = outlier.Find(run, inference)
	run.Conclusion = conclusion(run)
	// A list without entries is [] in JSON, not null.
	run.Effects, run.Trust, run.Findings = entries(run.Effects), entries(run.Trust), entries(run.Findings)
}

// judged returns the trust checks and findings of a run's trials. A measurement's trials, one for
// each mode, are judged one by one.
func judged(run *record.Run) (checks []record.Check, findings []record.Finding) {
	if run.Study == record.MeasureStudy {
		for _, t := range run.Trials {
			c, f := Trial(t)
			checks, findings = append(checks, c...), append(findings, f...)
		}
		return checks, findings
	}
	for _, t := range run.Trials {
		findings = append(findings, diagnose.Diagnose(t, &run.Topology)...)
	}
	return trust.Run(run.Trials, &run.Topology), diagnose.Merge(lasting(run, findings))
}

// Findings returns what the current version finds in the trials and snapshots of a stored run.
func Findings(run *record.Run) []record.Finding {
	_, found := judged(run)
	return append(found, diagnose.Around(run, found)...)
}

// Trial returns the trust checks of a measurement's trial and the causes that its records show.
// Both are never nil.
func Trial(t record.Trial) ([]record.Check, []record.Finding) {
	t.Treatment = "" // findings of the only treatment need not name it
	known := t.Topology
	if known == nil { // only the hosts themselves are known
		known = &topology.Topology{}
		for _, h := range t.Hosts {
			known.Hosts = append(known.Hosts, topology.Host{Name: h.Host})
		}
	}
	return trust.Trial(t, t.Topology), append([]record.Finding{}, diagnose.Merge(diagnose.Diagnose(t, known))...)
}

// againstBaseline sets each treatment's effect against the baseline: that of its only changed
// level, or of several together.
func againstBaseline(run *record.Run, several []record.Effect) {
	for i := range run.Treatments {
		t := &run.Treatments[i]
		changed := lists.Where(run.Factors, func(f record.Factor) bool {
			return compared(f) && t.Levels[f.Name] != f.Baseline
		})
		own := func(e record.Effect) bool {
			if e.Factor == "" || len(changed) != 1 {
				return e.Factor == "" && e.To == t.Name
			}
			f := changed[0]
			return e.Factor == f.Name && e.From == f.Baseline && e.To == t.Levels[f.Name] && at(t.Levels, &e)
		}
		for _, list := range [][]record.Effect{several, run.Effects} {
			for k := range list {
				e := &list[k]
				if t.Baseline || !own(*e) {
					continue
				}
				if b := baselineOf(run, t); b != nil && lifts(t, b) {
					e.Reason = record.Reason{Code: record.ReasonNoLimit}
					e.Why = "this level takes the link's rate away, so that its limit is unknown: no fix"
				}
				one := *e
				t.Effect = &one
			}
		}
	}
}

// baselineOf returns the baseline in a treatment's condition; nil if it was not measured.
func baselineOf(run *record.Run, t *record.Treatment) *record.Treatment {
	i := slices.IndexFunc(run.Treatments, func(b record.Treatment) bool {
		return b.Baseline && !slices.ContainsFunc(run.Factors, func(f record.Factor) bool {
			return !compared(f) && b.Levels[f.Name] != t.Levels[f.Name]
		})
	})
	if i < 0 {
		return nil
	}
	return &run.Treatments[i]
}

// lifts reports whether the treatment removes the links' rates, which the baseline has.
func lifts(t, baseline *record.Treatment) bool {
	return baseline.LimitBps > 0 && t.LimitBps == 0 && t.LimitWhy == "" && t.Limit.IsZero()
}

// at reports whether a treatment with these levels is at the levels of the other factors at which
// the effect compares (Effect.At).
func at(levels map[string]string, e *record.Effect) bool {
	for f, l := range e.At {
		if levels[f] != l {
			return false
		}
	}
	return true
}

// entry returns the element of a list for which is returns true, and appends added if there is
// none.
func entry[T any](list *[]T, added T, is func(T) bool) *T {
	i := slices.IndexFunc(*list, is)
	if i < 0 {
		i, *list = len(*list), append(*list, added)
	}
	return &(*list)[i]
}

func entries[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// place returns the index of a treatment in run.Treatments; -1: there is none.
func place(run *record.Run, name string) int {
	return slices.IndexFunc(run.Treatments, func(t record.Treatment) bool { return t.Name == name })
}

// byTreatment groups trials by treatment, in the order of the factors' levels.
func byTreatment(run *record.Run) [][]record.Trial {
	var groups [][]record.Trial
	for _, t := range run.Split() {
		group := entry(&groups, nil, func(g []record.Trial) bool { return g[0].Treatment == t.Treatment })
		*group = append(*group, *t)
	}
	levels := func(g []record.Trial) []int {
		return lists.Map(run.Factors, func(f record.Factor) int {
			return slices.IndexFunc(f.Levels, func(l record.Level) bool {
				return l.Name == g[0].Levels[f.Name]
			})
		})
	}
	slices.SortStableFunc(groups, func(a, b []record.Trial) int { return slices.Compare(levels(a), levels(b)) })
	return groups
}

// compared reports whether a factor's levels are compared with a baseline.
func compared(f record.Factor) bool { return f.Role != "condition" }

func treatment(run *record.Run, inference *stats.Inference, trials []record.Trial) record.Treatment {
	first := trials[0]
	t := record.Treatment{Name: first.Treatment, Levels: first.Levels, Trials: len(trials), Baseline: true}
	for _, f := range run.Factors {
		if compared(f) && first.Levels[f.Name] != f.Baseline {
			t.Baseline = false
		}
	}
	sent := 0.0
	for _, trial := range trials {
		if trial.LimitBps > t.LimitBps || t.LimitWhy == "" && t.Limit.IsZero() {
			t.LimitBps, t.Limit, t.LimitWhy = trial.LimitBps, trial.Limit, trial.LimitWhy
		}
		sent += trial.SenderReportedBps / float64(len(trials))
		t.Unconnected += trial.Unconnected()
	}
	g := estimated(run, inference, t.Name, metric.Goodput)
	t.Goodput = record.Estimate{MeanBps: g.Mean, LowBps: g.Low, HighBps: g.High, HalfBps: g.Half,
		Confidence: g.Confidence}
	t.Chance = chance.Span(trials)
	if t.LimitBps > 0 {
		t.Efficiency = t.Goodput.MeanBps / t.LimitBps
	}
	t.ToolReported = toolreport.Mean(trials)
	if t.ToolReported == nil && slices.ContainsFunc(trials, func(t record.Trial) bool { return t.AccountSender }) {
		t.ToolReported = &record.ToolReported{SumBps: sent, Method: toolreport.SenderMethod}
	}
	t.Interfaces = interfaceLoads(run, trials)
	t.Outages = failover.Sum(trials)
	others(run, inference, &t, trials)
	return t
}
