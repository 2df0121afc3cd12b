package conclude

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// TestJudgedByLatency: where less is better the quickest is recommended, and what
// it does to goodput is said beside it.
func TestJudgedByLatency(t *testing.T) {
	run := sciencetest.Loaded(3, 4, "latency_p99", "goodput")
	Conclude(run)
	t.Log(run.Answer)
	for _, want := range []string{
		"With 16 packets latency p99 is 1", "ms. It improves with fq_codel: 1.", "it worsens with 1000 packets: 5", "no difference beyond ±2 % with 17 packets",
		"Beside it, goodput shows no difference.",
	} {
		if !strings.Contains(run.Answer, want) {
			t.Errorf("the answer lacks %q: %s", want, run.Answer)
		}
	}
	for _, tr := range run.Treatments {
		if tr.Best != (tr.Name == "fq_codel") {
			t.Errorf("%s: best is %t", tr.Name, tr.Best)
		}
		if len(tr.Responses) != 2 || tr.Responses[0].Unit != "us" || tr.Responses[1].Mean != tr.Goodput.MeanBps || tr.Latency == nil || tr.Latency.Histogram != nil {
			t.Errorf("%s: responses %+v, latency %+v", tr.Name, tr.Responses, tr.Latency)
		}
	}
	verdicts := map[string]string{"1000 packets": record.Worsens, "fq_codel": record.Improves, "17 packets": record.NoDifference}
	for _, e := range run.Effects {
		if e.Response != "latency_p99" || e.Verdict != verdicts[e.To] || len(e.Beside) != 1 || e.Beside[0].Verdict != record.NoDifference {
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
	t.Log(run.Answer)
	for _, want := range []string{
		"at the limit as they are", "Beside it, latency p99 worsens with 1000 packets (10.0 ms → 5", "and improves with fq_codel", "Transaction rate worsens with 1000 packets",
	} {
		if !strings.Contains(run.Answer, want) {
			t.Errorf("the answer lacks %q: %s", want, run.Answer)
		}
	}
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	var back record.Run
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Effects, run.Effects) || !reflect.DeepEqual(back.Treatments, run.Treatments) {
		t.Errorf("%v: conclusions change on their way through JSON", err)
	}
}

// TestNothingCompared: a study of one treatment says what it has measured.
func TestNothingCompared(t *testing.T) {
	run := sciencetest.Loaded(3, 2, "transactions", "latency_p50")
	run.Factors = nil
	var alone []record.Trial
	for _, trial := range run.Trials {
		if trial.Treatment == sciencetest.Queues[0] {
			alone = append(alone, trial)
		}
	}
	run.Trials = alone
	Conclude(run)
	t.Log(run.Answer)
	if !strings.HasPrefix(run.Answer, "Transaction rate is ") || !strings.Contains(run.Answer, "Beside it, latency p50 is ") {
		t.Error(run.Answer)
	}
}

// TestNoTransactions: where nothing was answered there is no latency, and nobody
// says there is.
func TestNoTransactions(t *testing.T) {
	run := sciencetest.Loaded(3, 4, "latency_p99")
	for i := range run.Trials {
		if run.Trials[i].Treatment == sciencetest.Queues[1] {
			run.Trials[i].Latency = nil
		}
	}
	Conclude(run)
	t.Log(run.Answer)
	if !strings.Contains(run.Answer, "what comes of 1000 packets (in no block have both a value: no transaction was done) is inconclusive") {
		t.Error(run.Answer)
	}
	if e := run.Treatments[1].Responses[0]; e.Trials != 0 || e.Confidence != 0 {
		t.Errorf("an estimate from nothing: %+v", e)
	}
}
