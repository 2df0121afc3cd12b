package counter

import (
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// TestGrowths: each rule of counters is found when its counters grow so much, as sure as it
// says, and not when they grow by less.
func TestGrowths(t *testing.T) {
	set := rule.NewSet(rule.Rule{}, Rules)
	for _, g := range growths {
		if strings.Contains(strings.Join(g.fix, " "), "table of drops") {
			t.Errorf("%s: a finding is shown without that table as well: %q", g.id, g.fix)
		}
		for _, short := range []bool{false, true} {
			s := diagnosetest.HostNamed("nas", 15)
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
			list := []record.HostSnapshot{s}
			e := set.Hosts(facts.Observe(list, false), facts.Observe(list, true))
			i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == g.id })
			if found := i >= 0; found == short || found && e.Findings[i].Confidence != g.confidence {
				t.Errorf("%s: %s grew by %d: %+v", g.id, g.counters[0], n, e.Findings)
			}
		}
	}
}

// TestOwnConnections: rules of how connections end say that linerate's own end so.
func TestOwnConnections(t *testing.T) {
	for _, id := range []string{"closed-with-data", "resets-received"} {
		i := slices.IndexFunc(growths, func(g growth) bool { return g.id == id })
		if r := growths[i].rule(); !strings.Contains(r.About, "linerate's own connections") ||
			!strings.Contains(strings.Join(growths[i].fix, " "), "if only linerate ran") ||
			growths[i].confidence != record.Possible {
			t.Errorf("%s: %s", id, r.About)
		}
	}
}
