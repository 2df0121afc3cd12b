package diagnose

import (
	"slices"
	"testing"

	"linerate/internal/model/record"
)

// TestGrowths: each rule of counters is found when its counters grow so much, as sure as it
// says, and not when they grow by less.
func TestGrowths(t *testing.T) {
	for _, g := range growths {
		for _, short := range []bool{false, true} {
			s := hostNamed("nas", 15)
			n := max(g.least, 1)
			if short {
				n--
			}
			for _, name := range g.of[:min(len(g.of), 1)] {
				s.Reading.Begin.SNMP[name], s.Reading.End.SNMP[name] = 0, int64(float64(max(g.least, 1))/g.share)
			}
			s.Reading.End.SNMP[g.counters[0]] = n
			e := Hosts([]record.HostSnapshot{s})
			i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == g.id })
			if found := i >= 0; found == short || found && e.Findings[i].Confidence != g.confidence {
				t.Errorf("%s: %s grew by %d: %+v", g.id, g.counters[0], n, e.Findings)
			}
		}
	}
}

// TestRoutelessIPv6: a few packets of IPv6 without a route are those that come before an
// interface has its routes.
func TestRoutelessIPv6(t *testing.T) {
	for n, want := range map[int64]bool{3: false, 30: true} {
		s := hostNamed("nas", 15)
		s.Reading.End.SNMP["Ip6.InNoRoutes"] = n
		if found := slices.ContainsFunc(Hosts([]record.HostSnapshot{s}).Findings, func(f record.Finding) bool { return f.ID == "no-route" }); found != want {
			t.Errorf("%d packets: found %v", n, found)
		}
	}
}
