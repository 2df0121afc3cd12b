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

// TestDoctorOfDrops: packets that are dropped for an unknown cause are in the answer, each once.
func TestDoctorOfDrops(t *testing.T) {
	drops := []record.Drop{
		{Packets: 40, Verdict: record.Harmful}, {Packets: 40, Verdict: record.Harmful, Again: true},
		{Packets: 7, Verdict: record.Harmful, Boot: true}, {Packets: 9, Verdict: record.Harmless}, {Packets: 9, Verdict: record.Unknown},
	}
	for want, e := range map[string]record.Evaluation{
		"No cause is known for the 40 packets that were dropped.": {Hosts: []string{"x"}, Drops: drops},
		"Nothing was found that slows x down.":                    {Hosts: []string{"x"}, Drops: drops[2:]},
		"The link is down.":                                       {Hosts: []string{"x"}, Drops: drops, Findings: []record.Finding{{Confidence: record.Certain, Summary: "the link is down"}}},
	} {
		if got := Doctor(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Doctor(record.Evaluation{Drops: []record.Drop{{Packets: 1 << 62, Verdict: record.Harmful}, {Packets: 1 << 62, Verdict: record.Harmful}}}); got == "" {
		t.Error("no answer")
	}
}
