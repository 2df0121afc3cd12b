package chart

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/show/answer"
	"linerate/internal/show/view"
)

// TestProbeOnce: the probe of a window in both directions is shown once, and goodput of each.
func TestProbeOnce(t *testing.T) {
	run := &record.Run{Study: record.MeasureStudy, Unit: "bit/s", Confidence: 0.95, Margin: 0.02, Responses: []string{"goodput", "latency_p50"},
		Factors: []record.Factor{{Name: "direction", Role: "condition", Baseline: "write", Levels: []record.Level{{Name: "write"}, {Name: "read"}}}}}
	for i, way := range []string{"write", "read"} {
		run.Trials = append(run.Trials, record.Trial{Started: time.Unix(7, 0), Treatment: way, Levels: map[string]string{"direction": way}, Block: 1, Order: i + 1, WindowS: 1, GoodputBps: 1e8,
			Flows:   []record.Flow{{ID: way[:1] + "1", Protocol: "tcp"}, {ID: "p1", Protocol: "rr"}},
			Latency: &record.Distribution{Count: 1000, P50Us: 12_100, P99Us: 20_000, MaxUs: 30_000}})
	}
	conclude.Conclude(run)
	for _, f := range Figures(view.New(run)) {
		ways := strings.Contains(f.Title, "write")
		if f.Name == "goodput" && !ways || f.Name == "latency_p50" && (ways || !strings.Contains(f.Title, "12.1")) {
			t.Errorf("%s: %q", f.Name, f.Title)
		}
	}
	if said := answer.Run(run).Statements; !slices.Contains(said, "Latency under the load of both: p50 12.1 ms.") {
		t.Errorf("%q", said)
	}
}
