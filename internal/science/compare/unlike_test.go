package compare

import (
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
)

// TestNoSuchFigure: requests and bulk flows are not compared by a figure that only one of the two
// has, and the other does not have 0 of it.
func TestNoSuchFigure(t *testing.T) {
	of := func(protocol, response string) *record.Run {
		run := &record.Run{Study: record.MeasureStudy, Status: "complete", Confidence: 0.95, Margin: 0.02,
			Responses: []string{response}, Trials: []record.Trial{{
				Treatment: "measurement", Block: 1, Order: 1, WindowS: 1,
				Flows: []record.Flow{{From: "client", To: "server", OpenedBy: "client", Connected: true,
					Protocol: protocol}},
			}}}
		conclude.Conclude(run)
		return run
	}
	requests, bulk := of(flow.RR, "transactions"), of(flow.TCP, "goodput")
	got := Runs(requests, bulk)
	if one := got.Treatments[0]; got.Comparable || one.Verdict != record.NotComparable ||
		one.Why != "the flows of the first run are of rr, which has no goodput" || one.FromResponse.Trials != 0 ||
		one.ToResponse.Trials != 1 {
		t.Errorf("requests, then bulk: %+v", one)
	}
	if one := Runs(bulk, requests).Treatments[0]; one.Why !=
		"the flows of the first run are of tcp, which has no transaction rate" || one.FromResponse.Trials != 0 {
		t.Errorf("bulk, then requests: %+v", one)
	}
}
