package trust

import (
	"strings"
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
		detail  string // empty: passes
	}{
		{"the same", 0, func(*record.Trial) {}, ""},
		{"a little less", -0.015, func(*record.Trial) {}, ""},
		{"less", -0.05, func(*record.Trial) {}, "-5 %"},
		{"more, as predicted", 0.5, func(t *record.Trial) {
			t.ToolReported.PredictedBps = t.ToolReported.SurplusBps
		}, "as the kernel counts them, make 1.912 Gbit/s of the 1.912"},
		{"more, and not predicted", 0.5, func(t *record.Trial) {
			t.ToolReported.PredictedBps = t.ToolReported.SurplusBps / 3
		}, "would make 637.3 Mbit/s"},
		{"above the limit", 0.5, func(*record.Trial) {}, "and cannot be"},
		{"a process without a figure", 0, func(t *record.Trial) {
			t.Tools[0].Error = "iperf3 was killed"
		}, "iperf3 was killed"},
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
		if c := checkOf(t, tr, over, ToolAgrees); c.Pass != (test.detail == "") ||
			!strings.Contains(c.Detail, test.detail) {
			t.Errorf("%s: %+v, want %q", test.name, c, test.detail)
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
