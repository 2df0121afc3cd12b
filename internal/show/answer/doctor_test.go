package answer

import (
	"testing"

	"linerate/internal/model/record"
)

func TestDoctor(t *testing.T) {
	clock := func(host, confidence string) record.Finding {
		return record.Finding{ID: "clock-unsynchronised", Host: host, Confidence: confidence, Summary: "the clock is not synchronised"}
	}
	mtu := record.Finding{ID: "mtu-differs", Host: "x", Confidence: record.Certain, Summary: "x and y have different MTUs"}
	two := []string{"x", "y"}
	for _, test := range []struct {
		hosts    []string
		findings []record.Finding
		want     string
	}{
		{two, nil, "Nothing was found that slows x, y down."},
		{two, []record.Finding{mtu}, "x and y have different MTUs."},
		{two, []record.Finding{clock("x", record.Certain)}, "x: the clock is not synchronised."},
		{two, []record.Finding{clock("x", record.Likely), clock("y", record.Likely)}, "x and y: the clock is not synchronised."},
		{[]string{"x"}, []record.Finding{clock("x", record.Certain)}, "The clock is not synchronised."},
		{two, []record.Finding{mtu, clock("x", record.Possible), clock("y", record.Possible)}, "x and y have different MTUs. 1 cause is possible."},
		{two, []record.Finding{mtu, clock("x", record.Likely), clock("y", record.Possible)}, "2 causes found; the first: x and y have different MTUs. 1 cause is possible."},
	} {
		if got := Doctor(record.Evaluation{Hosts: test.hosts, Findings: test.findings}); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
