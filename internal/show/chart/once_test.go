package chart

import (
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/show/answer"
	"linerate/internal/show/view"
)

// TestProbeOnce: the probe of a window in both directions is one value, which is not drawn; the
// goodput of each is, under a title that says what the table does.
func TestProbeOnce(t *testing.T) {
	run := &record.Run{Study: record.MeasureStudy, Unit: "bit/s", Confidence: 0.95, Margin: 0.02,
		Responses: []string{"goodput", "latency_p50"},
		Factors: []record.Factor{{Name: "direction", Role: "condition", Baseline: "write",
			Levels: []record.Level{{Name: "write"}, {Name: "read"}}}}}
	trial := record.Trial{Treatment: "measurement", Block: 1, Order: 1, WindowS: 1,
		Flows:   []record.Flow{{ID: "p1", From: "client", To: "server", Protocol: "rr", Probe: true}},
		Latency: &record.Distribution{Count: 1000, P50Us: 12_100, P99Us: 20_000, MaxUs: 30_000}}
	for i, way := range [][2]string{{"client", "server"}, {"server", "client"}} {
		p := record.Part{From: way[0], To: way[1], GoodputBps: 1e8 - 4e5*float64(i), LimitBps: 1e8}
		p.Treatment, p.Levels = p.Name(), map[string]string{"direction": p.Name()}
		trial.Parts = append(trial.Parts, p)
		trial.Flows = append(trial.Flows, record.Flow{ID: p.Name()[:1] + "1", From: p.From, To: p.To, Protocol: "tcp"})
	}
	run.Trials = []record.Trial{trial}
	conclude.Conclude(run)
	drawn := map[string]string{}
	for _, f := range Figures(view.New(run)) {
		drawn[f.Name] = f.Title
	}
	if _, latency := drawn["latency_p50"]; latency ||
		drawn["goodput"] != "Goodput: 100.0 % of the limit of the ends' interfaces at “write” and 99.6 % of the "+
			"limit of the ends' interfaces at “read”" {
		t.Errorf("%q", drawn)
	}
	if said := answer.Run(run).Statements; !slices.Contains(said, "Latency under the load of both: p50 12.1 ms.") ||
		!slices.Contains(said, "Of the limit of the ends' interfaces: 100.0 % for write and 99.6 % for read.") {
		t.Errorf("%q", said)
	}
}
