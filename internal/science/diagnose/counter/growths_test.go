package counter

import (
	"math"
	"slices"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// TestGrowths: each rule of counters is found when its counters grow so much, as sure as it
// says, and not when they grow by less.
func TestGrowths(t *testing.T) {
	set := rule.NewSet(rule.Rule{}, Rules())
	for _, g := range growths() {
		for _, short := range []bool{false, true} {
			s := diagnosetest.HostNamed("nas", 15)
			if g.foreign {
				s.Host.OS = "freebsd"
			}
			n := max(g.least, 1)
			if g.perS > 0 && !short {
				n = max(n, int64(math.Ceil(g.perS*s.OverS)))
			}
			if short {
				n--
			}
			for _, name := range g.of[:min(len(g.of), 1)] {
				s.Reading.Begin.SNMP[name], s.Reading.End.SNMP[name] = 0, int64(float64(max(g.least, 1))/g.share)
			}
			s.Reading.End.SNMP[g.counters[0]] = n
			list := []netstate.HostSnapshot{s}
			e := set.Hosts(facts.Observe(list, false), facts.Observe(list, true))
			i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == g.cause.Code })
			if found := i >= 0; found == short || found && e.Findings[i].Confidence != g.confidence {
				t.Errorf("%s: %s grew by %d: %+v", g.cause.Code, g.counters[0], n, e.Findings)
			}
		}
	}
}
