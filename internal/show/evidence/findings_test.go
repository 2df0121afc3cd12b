package evidence

import (
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/document"
	"linerate/internal/show/view"
)

// TestFindingOrder: what the baseline has comes first, with its evidence, also where a treatment
// that was tried has the same finding and is listed before it.
func TestFindingOrder(t *testing.T) {
	run := sciencetest.Run(7, 2)
	conclude.Conclude(run)
	baseline := view.New(run).Baseline.Treatments[0].Name
	i := slices.IndexFunc(run.Treatments, func(one record.Treatment) bool { return !one.Baseline })
	tried := run.Treatments[i].Name
	run.Findings = []record.Finding{
		{ID: "arp-flux", Confidence: record.Likely, Host: "client", Summary: "tried", Treatments: []string{tried},
			Evidence: []string{"of the tried"}},
		{ID: "arp-flux", Confidence: record.Likely, Host: "server", Summary: "baseline", Treatments: []string{baseline},
			Evidence: []string{"of the baseline"}},
	}
	var got []string
	for _, block := range FindingStatements(view.New(run)) {
		s := block.(document.Statement)
		got = append(got, s.Label, s.Text)
		if s.Items[0].Mark == "·" {
			got = append(got, s.Items[0].Text)
		}
	}
	if want := []string{"Findings", "arp-flux (likely, server): baseline", "of the baseline", "",
		"arp-flux (likely, client): tried"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
