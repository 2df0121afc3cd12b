package conclude

import (
	"encoding/json"
	"reflect"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// TestJudgedByLatency: where less is better the quickest is recommended, and what
// it does to goodput is said beside it.
func TestJudgedByLatency(t *testing.T) {
	run := sciencetest.Loaded(3, 6, "latency_p99", "goodput")
	Conclude(run)
	for _, tr := range run.Treatments {
		if tr.Best != (tr.Name == "fq_codel") {
			t.Errorf("%s: best is %t", tr.Name, tr.Best)
		}
		if len(tr.Responses) != 2 || tr.Responses[0].Unit != "us" || tr.Responses[1].Mean != tr.Goodput.MeanBps ||
			tr.Latency == nil || tr.Latency.Histogram != nil {
			t.Errorf("%s: responses %+v, latency %+v", tr.Name, tr.Responses, tr.Latency)
		}
	}
	verdicts := map[string]string{"1000 packets": record.Worsens, "fq_codel": record.Improves,
		"17 packets": record.NoDifference}
	for _, e := range run.Effects {
		if e.Response != "latency_p99" || e.Verdict != verdicts[e.To] || len(e.Beside) != 1 ||
			e.Beside[0].Verdict != record.NoDifference {
			t.Errorf("%+v", e)
		}
	}
	if ratio := run.Effects[0].Ratio; ratio.Mean < 40 || ratio.Low >= ratio.Mean || ratio.High <= ratio.Mean {
		t.Errorf("the deep queue's ratio is %+v", ratio)
	}
}

// TestLatencyBesideGoodput: a goodput that stays the same must not hide a latency
// that does not.
func TestLatencyBesideGoodput(t *testing.T) {
	run := sciencetest.Loaded(3, 4, "goodput", "latency_p99", "transactions")
	Conclude(run)
	if at := run.Conclusion.Conditions[0]; !at.Baseline.Reaches || len(at.Candidates) != 3 ||
		at.Candidates[0].Effect.Beside[0].Verdict != record.Worsens {
		t.Errorf("%+v", at)
	}
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	var back record.Run
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Effects, run.Effects) ||
		!reflect.DeepEqual(back.Treatments, run.Treatments) || !reflect.DeepEqual(back.Conclusion, run.Conclusion) {
		t.Errorf("%v: conclusions change in JSON", err)
	}
}

// TestNoTransactions: without a response there is no latency, and none is
// reported.
func TestNoTransactions(t *testing.T) {
	run := sciencetest.Loaded(3, 4, "latency_p99")
	for i := range run.Trials {
		if run.Trials[i].Treatment == sciencetest.Queues[1] {
			run.Trials[i].Latency = nil
		}
	}
	Conclude(run)
	if e := run.Conclusion.Conditions[0].Candidates[0].Effect; e.Verdict != record.Inconclusive ||
		e.Why != "in no block have both a value: no transaction was done" {
		t.Errorf("%+v", e)
	}
	if e := run.Treatments[1].Responses[0]; e.Trials != 0 || e.Confidence != 0 {
		t.Errorf("an estimate from nothing: %+v", e)
	}
}

// TestSummed: goodput is that of both directions where every trial has flows both ways between two
// hosts, and requests do not count.
func TestSummed(t *testing.T) {
	flow := func(from, to, protocol string) record.Flow {
		return record.Flow{From: from, To: to, Protocol: protocol}
	}
	one, both := record.Trial{Flows: []record.Flow{flow("a", "b", "tcp")}},
		record.Trial{Flows: []record.Flow{flow("a", "b", "tcp"), flow("b", "a", "tcp")}}
	probe := record.Trial{Flows: []record.Flow{flow("a", "b", "tcp"), flow("b", "a", "rr")}}
	for name, test := range map[string]struct {
		trials []record.Trial
		want   bool
	}{"none": {nil, false}, "one way": {[]record.Trial{one}, false}, "both": {[]record.Trial{both, both}, true},
		"some": {[]record.Trial{both, one}, false}, "a probe": {[]record.Trial{probe}, false}} {
		if got := summed(&record.Run{Trials: test.trials}); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
