package trust

import (
	"testing"

	"linerate/internal/model/record"
)

// What another program says is held against what its receivers read, and against
// the limit.
func TestToolAgrees(t *testing.T) {
	for _, test := range []struct {
		name    string
		surplus float64 // of the goodput
		doctor  func(*record.Trial)
		fact    string // empty: passes
	}{
		{"the same", 0, func(*record.Trial) {}, ""},
		{"a little less", -0.015, func(*record.Trial) {}, ""},
		{"less", -0.05, func(*record.Trial) {}, `"change":-0.05`},
		{"more, as predicted", 0.5, func(t *record.Trial) {
			t.ToolReported.PredictedBps = t.ToolReported.SurplusBps
		}, `"explains":true,"unsent_bytes":1000000`},
		{"more, and not predicted", 0.5, func(t *record.Trial) {
			t.ToolReported.PredictedBps = t.ToolReported.SurplusBps / 3
		}, `"why":{"predicted_bps":637`},
		{"above the limit", 0.5, func(*record.Trial) {}, `"limit_share":1.`},
		{"a process without a figure", 0, func(t *record.Trial) {
			t.Tools[0].Error = "iperf3 was killed"
		}, `"error":"iperf3 was killed"`},
	} {
		tr, over := limitedTrial()
		for i := range tr.Flows {
			tr.Flows[i].Process = "p1w"
		}
		tr.Tools = []record.ToolRun{{ID: "p1w", Tool: "iperf3"}}
		tr.ToolReported = &record.ToolReported{
			SumBps: tr.GoodputBps * (1 + test.surplus), GoodputBps: tr.GoodputBps,
			SurplusBps: tr.GoodputBps * test.surplus,
			Processes:  1, Seconds: 2, UnsentBytes: 1e6, Method: "what iperf3 says",
		}
		test.doctor(&tr)
		if c := checkOf(t, tr, over, ToolAgrees); c.Pass != (test.fact == "") ||
			!rests(c, test.fact) {
			t.Errorf("%s: %+v, want %q", test.name, c, test.fact)
		}
	}
}

// A flow that only the interfaces count has no sender to be compared with.
func TestConservationOfPorts(t *testing.T) {
	tr, over := limitedTrial()
	tr.Flows[0].WrittenBytes, tr.Flows[0].SentBytes, tr.Flows[0].SenderInfo = 0, 0, nil
	if c := checkOf(t, tr, over, Conservation); c.Pass {
		t.Errorf("received, and never written: %+v", c)
	}
	tr.Flows[0].CountedAt = record.CountedAtInterfaces
	if c := checkOf(t, tr, over, Conservation); !c.Pass {
		t.Errorf("%+v", c)
	}
}
