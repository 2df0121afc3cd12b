package metric

import (
	"testing"

	"linerate/internal/model/record"
)

// TestRegistry: each metric has what its users need, once.
func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All {
		u, known := units[m.Unit]
		if seen[m.Name] || !known || m.Label == "" || m.About == "" || m.value == nil ||
			m.response() && (m.Absent == "") != (m.Name == Goodput.Name) ||
			len(m.Protocols) == 0 && !m.Probed || u.example == "" {
			t.Errorf("%s is given twice or lacks something: %+v", m.Name, m)
		}
		seen[m.Name] = true
		if v, err := m.Parse(u.example); err != nil || m.Format(v) == "" {
			t.Errorf("%s: the example %s is read as %g, %v", m.Name, m.Example(), v, err)
		}
	}
}

func TestFormat(t *testing.T) {
	for want, got := range map[string]string{
		"950 Mbit/s": Goodput.Format(950e6), "1 Gbit/s": Goodput.Format(999.96e6), "12 k/s": Transactions.Format(12000),
		"5 ms": LatencyP99.Format(5000),
		"0 %":  Lost.Format(0), "0.2 %": Lost.Format(0.002), "28232 open": Connections.Format(28232),
		"B": grade.Format(3), "-1.5 %": Surplus.Format(-0.015),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOpenSearch: a search that ended too early to confirm a rate has none, and not a rate of 0,
// which one has whose trials all lost.
func TestOpenSearch(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		pass  bool
		known bool
	}{{1e6, true, true}, {0, true, false}, {0, false, true}} {
		trial := record.Trial{LossFree: &record.LossFree{RateBps: c.rate,
			Trials: []record.LossTrial{{Pass: c.pass}, {}}}}
		if got, known := LossFree.Value(&trial); got != c.rate || known != c.known {
			t.Errorf("%+v: %g, %t", c, got, known)
		}
	}
}
