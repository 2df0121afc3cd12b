package conclude

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/record"
)

// lasting leaves out findings of trials that something stands apart from its peers if that is so in
// fewer than half of a treatment's trials: of many trials, chance puts something apart in one.
func lasting(run *record.Run, findings []record.Finding) []record.Finding {
	type key struct {
		treatment, host string
		about           record.Subject
		args            any
	}
	of := func(f record.Finding) key {
		k := key{host: f.Host, about: f.About, args: f.Args}
		if len(f.Treatments) > 0 {
			k.treatment = f.Treatments[0]
		}
		return k
	}
	odd := func(f record.Finding) bool { return f.ID == cause.OddOneOut.Code }
	seen, trials := map[key]int{}, map[string]int{}
	for _, f := range findings {
		if odd(f) {
			seen[of(f)]++
		}
	}
	for _, t := range run.Trials {
		trials[t.Treatment]++
	}
	return slices.DeleteFunc(findings, func(f record.Finding) bool {
		return odd(f) && 2*seen[of(f)] < trials[of(f).treatment]
	})
}

// odd returns the findings of what a sum hides: rates below their declarations, and what stands apart
// from its peers without such a rate. Treatments that all have it are not named.
func odd(run *record.Run) (list []record.Finding) {
	lowered := func(host string) bool {
		return slices.ContainsFunc(run.Findings, func(f record.Finding) bool {
			return f.ID == cause.BelowDeclared.Code && f.Host == host
		})
	}
	for _, f := range run.Findings {
		if f.ID != cause.BelowDeclared.Code && (f.ID != cause.OddOneOut.Code || lowered(f.Host)) {
			continue
		}
		if len(f.Treatments) == len(run.Treatments) {
			f.Treatments = nil
		}
		list = append(list, f)
	}
	return list
}
