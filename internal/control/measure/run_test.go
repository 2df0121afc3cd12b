package measure

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// TestRunOfBothDirections: each direction is a condition with its own goodput, limit and
// flows, of the same window, and a check that failed puts both in doubt, and no other does.
func TestRunOfBothDirections(t *testing.T) {
	both := record.Trial{
		Started: time.Unix(1, 0), WindowS: 1, GoodputBps: 1300, Limit: record.Limit{None: record.NoLimitSpeed},
		Hosts: []record.HostReading{{Host: record.NodeClient, ProcessCPUS: 1}},
		Flows: []record.Flow{
			{ID: "w1", From: record.NodeClient, To: record.NodeServer, GoodputBps: 300, Connected: true},
			{ID: "r1", From: record.NodeServer, To: record.NodeClient, GoodputBps: 1000, Connected: true},
			{ID: probeID, From: record.NodeClient, To: record.NodeServer, Protocol: flow.RR, TransactionsPerS: 7,
				Connected: true, Transactions: &record.Transactions{Done: 7}},
		},
	}
	m := &record.Measure{
		Trust: []record.Check{{Check: "wire", Pass: true}, {Check: "steady"}},
		Directions: []record.MeasureDirection{
			{Direction: flow.Write, GoodputBps: 300, LimitBps: 310, Limit: record.Limit{None: "tbf"}},
			{Direction: flow.Read, GoodputBps: 1000, Limit: record.Limit{None: "unknown"}},
		},
	}
	for _, modes := range [][]string{{""}, {"copy", "splice"}} {
		s := &session{options: Options{Addresses: []string{"nas"}, Modes: modes}}
		whole := *m
		for _, mode := range modes {
			one := *m
			one.Mode = mode
			s.trials = append(s.trials, both)
			if len(modes) > 1 {
				s.trials[len(s.trials)-1].Started = both.Started.Add(time.Duration(len(s.trials)) * time.Second)
				whole.Modes = append(whole.Modes, &one)
			}
		}
		r, err := s.run(&whole)
		if err != nil || len(r.Treatments) != 2*len(modes) || len(r.Trials) != 2*len(modes) ||
			len(r.Windows()) != len(modes) {
			t.Fatalf("%d treatments, %d trials, %d windows: %v", len(r.Treatments), len(r.Trials),
				len(r.Windows()), err)
		}
		want := map[string]string{flow.Write: "tbf", flow.Read: "unknown"}
		for i, got := range r.Treatments {
			way := got.Levels["direction"]
			if bps := map[string]float64{flow.Write: 300, flow.Read: 1000}[way]; got.Goodput.MeanBps != bps ||
				got.Limit.None != want[way] {
				t.Errorf("%s: %+v, limit %v (%+v)", got.Name, got.Goodput, got.LimitBps, got.Limit)
			}
			if flows := r.Trials[i].Flows; len(flows) != 2 || flows[0].ID != way[:1]+"1" ||
				r.Trials[i].TransactionsPerS != 7 || r.Trials[i].Hosts[0].ProcessCPUS != 0 {
				t.Errorf("%s: %+v", got.Name, r.Trials[i])
			}
		}
		failed := map[int]bool{}
		for _, c := range r.Trust {
			failed[c.Trial] = failed[c.Trial] || !c.Pass
		}
		if len(failed) != len(r.Trials) || !failed[1] || !failed[2] {
			t.Errorf("checks: %+v", r.Trust)
		}
		if got := r.Conclusion.Doubts; !slices.Equal(got, []string{"steady"}) {
			t.Errorf("doubts: %q, of checks %+v", got, r.Trust)
		}
	}
	if both.Hosts[0].ProcessCPUS != 1 {
		t.Error("the measured trial is changed")
	}
}

// TestKeptOnce: the readings of hosts are saved with the first direction of a window, and the
// other one has them when both are read back.
func TestKeptOnce(t *testing.T) {
	began, hosts := time.Unix(1, 0), []record.HostReading{{Host: record.NodeClient}}
	run := &record.Run{Study: record.MeasureStudy, Trials: []record.Trial{
		{Order: 1, Started: began, Hosts: hosts}, {Order: 2, Started: began, Hosts: hosts},
		{Order: 3, Started: began.Add(time.Minute), Hosts: hosts},
	}}
	saved := &keeping{}
	if err := Keep(t.Context(), saved, run); err != nil {
		t.Fatal(err)
	}
	if got := saved.trials; len(got) != 3 || len(got[0].Hosts) != 1 || len(got[1].Hosts) != 0 ||
		len(got[2].Hosts) != 1 {
		t.Errorf("saved %+v", got)
	}
	back := &record.Run{Study: record.MeasureStudy, Trials: saved.trials}
	back.ShareReadings()
	if !reflect.DeepEqual(back.Trials, run.Trials) {
		t.Errorf("read back %+v", back.Trials)
	}
}

// keeping is a store that keeps what is saved.
type keeping struct {
	notebook.Store
	trials []record.Trial
}

func (k *keeping) Begin(context.Context, *record.Run) error  { return nil }
func (k *keeping) Finish(context.Context, *record.Run) error { return nil }
func (k *keeping) SaveTrial(_ context.Context, _ string, t record.Trial) error {
	k.trials = append(k.trials, t)
	return nil
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
