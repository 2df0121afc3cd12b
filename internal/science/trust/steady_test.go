package trust

import (
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// TestSteady: a drift that is hardly too much fails, and one of requests and responses is of
// transactions.
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
	if j, _ := steady(v); j.Pass || !rests(j.Check, `"first":100000,`) {
		t.Errorf("%+v", j)
	}
	asks := of(100_000, 100_000, 50_000)
	asks.Protocol, asks.Transactions = flow.RR, &record.Transactions{Done: 2500}
	v.Flows = []record.Flow{asks}
	if j, _ := steady(v); j.Pass ||
		!rests(j.Check, `{"first":1000,"last":500,"transactions":true,"change":-0.5,`) {
		t.Errorf("%+v", j)
	}
	v.Flows = append(v.Flows, bulk) // a probe beside a load
	if j, _ := steady(v); rests(j.Check, `"transactions"`) {
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
		!rests(j.Check, `"by":"attack"`) {
		t.Errorf("%+v", j)
	}
	if j, judged := steady(v); judged {
		t.Errorf("%+v", j)
	}
}
