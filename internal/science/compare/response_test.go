package compare

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// TestByLatency: runs are compared by what the second is judged by, also where
// the first was judged by something else.
func TestByLatency(t *testing.T) {
	from, to := sciencetest.Loaded(1, 6, "goodput"), sciencetest.Loaded(2, 6, "latency_p99")
	// The second run's shallow queue answers as the first's fq_codel does, and the reverse.
	for block := range 6 {
		of := func(queue string) *record.Trial { return to.TrialsOf(queue)[block] }
		short, fair := of(sciencetest.Queues[0]), of(sciencetest.Queues[2])
		short.Latency, fair.Latency = fair.Latency, short.Latency
	}
	for i := range to.Trials {
		if to.Trials[i].Treatment == sciencetest.Queues[3] {
			to.Trials[i].Latency = nil
		}
	}
	conclude.Conclude(from)
	conclude.Conclude(to)
	c := Runs(from, to)
	want := map[string]struct {
		verdict string
		ratio   float64
	}{
		sciencetest.Queues[0]: {record.Improves, 0.158},
		sciencetest.Queues[2]: {record.Worsens, 6.33},
		sciencetest.Queues[3]: {record.Inconclusive, 0},
	}
	for _, got := range c.Treatments {
		w, ok := want[got.Name]
		if !ok {
			continue
		}
		if got.Verdict != w.verdict || math.Abs(got.Ratio.Mean-w.ratio) > 0.03*w.ratio ||
			got.FromResponse.Unit != "us" || got.FromResponse.Trials != 6 || got.FromTrials != 6 || got.ToTrials != 6 {
			t.Errorf("%s: %+v, want %s and a ratio of %g", got.Name, got, w.verdict, w.ratio)
		}
	}
	if last := c.Treatments[3]; last.ToResponse.Trials != 0 ||
		!strings.Contains(last.Why, "6 of 6 have no value: no transaction was done") {
		t.Errorf("%+v", last)
	}
	if c.Response != "latency_p99" {
		t.Errorf("by %s", c.Response)
	}
	if d := c.Differences[0]; d.What != "judged by" || d.From != "goodput" || d.To != "latency p99" {
		t.Errorf("differences %+v", c.Differences)
	}
}
