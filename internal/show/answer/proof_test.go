package answer

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestBothWays: goodput that is the sum of both directions is called that.
func TestBothWays(t *testing.T) {
	for _, both := range []bool{false, true} {
		at := record.Candidate{Label: "as it is", Goodput: record.Estimate{MeanBps: 1.3e9, LowBps: 0.8e9,
			HighBps: 1.8e9}}
		c := &record.Conclusion{Compared: true, BothWays: both, Unit: "bit/s", Conditions: []record.ConditionResult{
			{Baseline: &at}}}
		run := &record.Run{Study: "prove-sack-off", Conclusion: c,
			Effects: []record.Effect{{From: "as it is", To: "the fix of sack-off", Verdict: record.Improves}}}
		if got := baseline(c); strings.Contains(got, "the flows of both directions together reach 1.3") != both {
			t.Error(got)
		}
		if got := Proof(run); strings.Contains(got, "improves goodput of both directions together") != both {
			t.Error(got)
		}
	}
}

// TestProofUnmet: trials in which the finding was not found do not say that its fix does not help.
func TestProofUnmet(t *testing.T) {
	const unmet = "was not found in the trials as it is"
	filter := func(treatments ...string) record.Finding {
		return record.Finding{ID: "rp-filter-drop", Treatments: treatments}
	}
	for _, test := range []struct {
		study, verdict string
		findings       []record.Finding
		says           bool
	}{
		{"prove-rp-filter-drop", record.Inconclusive, nil, true},
		{"prove-rp-filter-drop", record.NoDifference, []record.Finding{filter("the fix of rp-filter-drop")}, true},
		{"prove-rp-filter-drop", record.Inconclusive, []record.Finding{filter("as it is")}, false},
		{"prove-rp-filter-drop", record.Improves, nil, false},
		{"prove-strict-rp-filter", record.Inconclusive, nil, true},
		// which follows from it
		{"prove-strict-rp-filter", record.Inconclusive, []record.Finding{filter("as it is")}, false},
		{"prove-listen-overflow", record.NoDifference, nil, true},
		{"prove-receive-buffer-small", record.NoDifference, nil, false}, // a state of the host
	} {
		run := &record.Run{Study: test.study, Findings: test.findings, Conclusion: &record.Conclusion{},
			Effects: []record.Effect{{From: "as it is", To: "the fix", Verdict: test.verdict}}}
		if got := Proof(run); strings.Contains(got, unmet) != test.says {
			t.Errorf("%s, %s, %v: %q", test.study, test.verdict, test.findings, got)
		}
	}
}
