package evidence

import (
	"fmt"
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
)

// TestHostFindings: what is the same on several hosts is one entry, with the evidence of each
// and a common fix; what follows from a cause on another host is named with it.
func TestHostFindings(t *testing.T) {
	var findings []record.Finding
	for n := range 5 {
		host := fmt.Sprint("host", n)
		findings = append(findings, record.Finding{ID: "clock", Host: host, Confidence: record.Possible, Summary: "s",
			Evidence: []string{fmt.Sprint("error ", n)}, Fix: []string{"on " + host + ": chronyd"}})
	}
	findings = append(findings, record.Finding{ID: "clock", Host: "host5", Confidence: record.Certain, Summary: "s",
		Fix: []string{"on host5: chronyd"}},
		record.Finding{ID: "twice", Host: "host1", Subject: "192.0.2.1", Confidence: record.Certain, Summary: "a"},
		record.Finding{ID: "answers", Host: "host2", Subject: "192.0.2.1", Confidence: record.Likely, Summary: "b",
			ExplainedBy: "twice"})
	var got []string
	for _, block := range HostFindings(findings, false) {
		s := block.(document.Statement)
		got = append(got, s.Text)
		for _, item := range s.Items {
			got = append(got, item.Mark+" "+item.Text)
		}
	}
	want := []string{
		"clock (possible, host0, host1, host2 and two others): s", "· host0: error 0", "· host1: error 1",
		"· host2: error 2", "· 2 further hosts: --all", "fix: on each: chronyd",
		"clock (certain, host5): s", "fix: on host5: chronyd",
		"twice (certain, host1): a", "explains: answers",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
