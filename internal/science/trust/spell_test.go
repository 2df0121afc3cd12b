package trust

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// TestApart: a figure beyond its bound never reads like the bound, and one that is the
// bound does.
func TestApart(t *testing.T) {
	for _, bound := range []float64{1e-6, 0.002, 0.01, 0.1067, 1.002, 4096, 3.7e9} {
		for _, by := range []float64{0, 1e-9, 1e-6, 1e-3, 0.1} {
			for _, sign := range []float64{1, -1} {
				figure := sign * bound * (1 + by)
				for name, spell := range map[string]func(a, b float64) (string, string){"percents": percents,
					"seconds": seconds, "bytes": bytes} {
					a, b := spell(figure, bound)
					if visible := math.Abs(math.Abs(figure)-bound) > 1e-9; strings.TrimPrefix(a, "-") == b && by > 0 &&
						visible || by == 0 && strings.TrimPrefix(a, "-") != b {
						t.Errorf("%s: %g and %g are %q and %q", name, figure, bound, a, b)
					}
				}
			}
		}
	}
	if text := between(-0.1067, -0.1066, 0.5); text != "-10.67 % (allowed -10.66 % to +50 %)" {
		t.Error(text)
	}
}

// TestSteady: a drift that is hardly too much reads so, and one of requests and responses is
// spelled in transactions.
func TestSteady(t *testing.T) {
	of := func(bins ...int64) record.Flow {
		f := record.Flow{ID: "w1", Connected: true, Bins: bins}
		for _, n := range bins {
			f.ReceivedBytes += n
		}
		return f
	}
	bulk := of(100_000, 100_000, 89_560)
	v := view{Trial: record.Trial{WindowS: 45, Flows: []record.Flow{bulk}}} // thirds of 15 s: ±10.07 %
	if j, _ := steady(v); j.Pass || !strings.HasSuffix(j.Detail, "-10.44 % (allowed ±10.07 %)") ||
		!strings.Contains(j.Detail, "100 kB") {
		t.Errorf("%+v", j)
	}
	asks := of(100_000, 100_000, 50_000)
	asks.Protocol, asks.Transactions = flow.RR, &record.Transactions{Done: 2500}
	v.Flows = []record.Flow{asks}
	if j, _ := steady(v); j.Pass ||
		!strings.Contains(j.Detail, "carried 500 transactions and the first 1,000 transactions: -50 %") {
		t.Errorf("%+v", j)
	}
	v.Flows = append(v.Flows, bulk) // a probe beside a load
	if j, _ := steady(v); !strings.Contains(j.Detail, "kB") {
		t.Errorf("%+v", j)
	}
}

// TestBesideAttacks: what flows get beside an attack is the result, and no reason for doubt.
func TestBesideAttacks(t *testing.T) {
	starved := record.Flow{ID: "w1", Connected: true, Protocol: flow.CRR, Transactions: &record.Transactions{Done: 3000,
		Failed: 5}, Bins: []int64{100, 50, 20}, ReceivedBytes: 170}
	v := view{Trial: record.Trial{WindowS: 3, Flows: []record.Flow{starved}}}
	if j, _ := alive(v); j.Pass {
		t.Errorf("without an attack: %+v", j)
	}
	if j, judged := steady(v); !judged || j.Pass {
		t.Errorf("without an attack: %+v", j)
	}
	v.Attacks = []record.Attack{{Kind: "syn-flood"}}
	if j, _ := alive(v); !j.Pass ||
		!strings.Contains(j.Detail, "1 of 1 flows were broken off or not answered beside an attack") {
		t.Errorf("%+v", j)
	}
	if j, judged := steady(v); judged {
		t.Errorf("%+v", j)
	}
}
