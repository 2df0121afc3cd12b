package measure

import (
	"maps"
	"slices"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestRunOfBothDirections: each direction is a treatment with its own goodput, limit and
// flows, of the same trial, whose failed check puts both in doubt and is one.
func TestRunOfBothDirections(t *testing.T) {
	client, server := record.NodeClient, record.NodeServer
	both := record.Trial{
		Started: time.Unix(1, 0), GoodputBps: 1300, LimitWhy: "unknown",
		Hosts: []netstate.HostReading{{Host: client, ProcessCPUS: 1}},
		Flows: []record.Flow{
			{ID: "w1", From: client, To: server, GoodputBps: 300, Connected: true},
			{ID: "r1", From: server, To: client, GoodputBps: 1000, Connected: true},
			{ID: "p1", From: client, To: server, Protocol: flow.RR, TransactionsPerS: 7, Probe: true,
				Connected: true, Transactions: &record.Transactions{Done: 7}},
		},
		TransactionsPerS: 7,
		Parts: []record.Part{{From: client, To: server, GoodputBps: 300, LimitBps: 310,
			Limit: record.Limit{None: "tbf"}},
			{From: server, To: client, GoodputBps: 1000, Limit: record.Limit{None: "unknown"}}},
	}
	for _, modes := range [][]string{{""}, {"copy", "splice"}} {
		s := &session{options: Options{Addresses: []string{"nas"}, Modes: modes}}
		for i, mode := range modes {
			one := both
			one.Mode, one.Parts = mode, slices.Clone(both.Parts)
			one.Started = both.Started.Add(time.Duration(i) * time.Second)
			s.trials = append(s.trials, one)
		}
		r := s.run()
		if len(r.Treatments) != 2*len(modes) || len(r.Trials) != len(modes) {
			t.Fatalf("%d treatments, %d trials", len(r.Treatments), len(r.Trials))
		}
		want := map[string]string{flow.Write: "tbf", flow.Read: "unknown"}
		for _, got := range r.Treatments {
			way := got.Levels["direction"]
			if bps := map[string]float64{flow.Write: 300, flow.Read: 1000}[way]; got.Goodput.MeanBps != bps ||
				got.Limit.None != want[way] {
				t.Errorf("%s: %+v, limit %v (%+v)", got.Name, got.Goodput, got.LimitBps, got.Limit)
			}
			of := r.TrialsOf(got.Name)
			if len(of) != 1 || len(of[0].Flows) != 2 || of[0].Flows[0].ID != way[:1]+"1" ||
				of[0].TransactionsPerS != 7 {
				t.Errorf("%s: %+v", got.Name, of)
			}
		}
		var failed []int
		for _, c := range r.Trust {
			if !c.Pass {
				failed = append(failed, c.Trial)
			}
		}
		if len(failed) != len(modes) || failed[0] != 1 { // the trials have no window
			t.Errorf("checks: %+v", r.Trust)
		}
		if got := r.Conclusion.Doubts; !slices.Equal(got, []string{"clock"}) {
			t.Errorf("doubts: %q, of checks %+v", got, r.Trust)
		}
	}
}

// TestNamedOptions: a measurement keeps the values that its flows do not show, as they are
// and not as they were typed.
func TestNamedOptions(t *testing.T) {
	spec := flow.Spec{Protocol: flow.TCP, Direction: flow.Read, Streams: 3, RateCap: 100e6}.Fitted()
	got := Options{Duration: 2 * time.Second, Warmup: time.Second / 2, Interval: time.Second, Modes: []string{"auto"},
		Flows: spec}.named()
	want := map[string]string{"duration": "2s", "warmup": "500ms", "interval": "1s",
		"rate_cap": flow.Find("rate_cap").Text(&spec), "mode": "auto"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
