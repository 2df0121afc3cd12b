package present

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
)

// TestComparisonAnswer: every verdict has its words, in the response's own unit.
func TestComparisonAnswer(t *testing.T) {
	treatment := func(name, verdict string, ratio float64) record.ComparedTreatment {
		return record.ComparedTreatment{Name: name, Verdict: verdict, Ratio: record.EffectSize{Mean: ratio,
			Low: ratio - 0.02, High: ratio + 0.02}}
	}
	points := func(verdict string, mean float64) record.ComparedTreatment {
		return record.ComparedTreatment{Name: "a", Verdict: verdict, Ratio: record.EffectSize{None: true},
			Difference: &record.EffectSize{Mean: mean, Low: mean - 0.01, High: mean + 0.01}}
	}
	same, less, better := treatment("same", record.NoDifference, 1), treatment("less", record.Worsens, 0.5),
		treatment("more", record.Improves, 1.5)
	for _, test := range []struct {
		response   string
		treatments []record.ComparedTreatment
		want       string
	}{
		{"", nil, "one and two cannot be compared: they have no treatment in common."},
		{"", []record.ComparedTreatment{{Verdict: record.NotComparable, Why: "the workload differs"}},
			"one and two cannot be compared: the workload differs."},
		{"", []record.ComparedTreatment{same, same}, "two carries as much as one in both treatments, within ±2 %."},
		{"", []record.ComparedTreatment{less, same, same},
			"Against one, two carries less in “less” and carries as much in 2 of 3 treatments; the change is 0.50× " +
				"(0.48–0.52)."},
		{"latency_p99", []record.ComparedTreatment{less, better},
			"Against one, two has a better latency p99 in “more” and has a worse latency p99 in “less”; the " +
				"largest change is 0.50× (0.48–0.52), “less”."},
		{"", []record.ComparedTreatment{less, treatment("also", record.Worsens, 0.51)},
			"Against one, two carries less in both treatments; one of the largest changes is 0.50× (0.48–0.52), " +
				"“less”."},
		{"surplus", []record.ComparedTreatment{points(record.NoDifference, 0.005)},
			"two has the same surplus as one in the only treatment that both have, within ±2 points."},
		{"surplus", []record.ComparedTreatment{points(record.Worsens, 0.3)},
			"Against one, two has a worse surplus in “a”; the change is +30.0 points (±1.0)."},
	} {
		c := &record.Comparison{From: record.ComparedRun{ID: "one"}, To: record.ComparedRun{ID: "two"}, Margin: 0.02,
			Response: test.response, Treatments: test.treatments,
			Comparable: len(test.treatments) > 0 && test.treatments[0].Verdict != record.NotComparable}
		if got := ComparisonAnswer(c); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestOneProbe: the latency of the one probe of a window whose directions are two treatments is
// listed once, and what differs between them for each.
func TestOneProbe(t *testing.T) {
	of := func(response string, mean float64) record.ComparedResponse {
		return record.ComparedResponse{Response: response, From: record.ResponseEstimate{Mean: mean, Trials: 1},
			To: record.ResponseEstimate{Mean: 2 * mean, Trials: 1}}
	}
	c := &record.Comparison{Treatments: []record.ComparedTreatment{
		{Name: "write", Others: []record.ComparedResponse{of("latency_p50", 100), of("cpu_per_gigabyte", 1)}},
		{Name: "read", Others: []record.ComparedResponse{of("latency_p50", 100), of("cpu_per_gigabyte", 3)}},
	}}
	var names []string
	for _, row := range beside(c).Rows {
		names = append(names, row.Cells[0].Text)
	}
	if got := strings.Join(names, "; "); got != "latency p50; write, CPU time per GB; read, CPU time per GB" {
		t.Errorf("%s", got)
	}
}

// TestBesideErrors: what is no percentile of too few requests is not called one, and requests that
// failed are named in a warning.
func TestBesideErrors(t *testing.T) {
	of := func(mean float64, rank string) record.ResponseEstimate {
		return record.ResponseEstimate{Mean: mean, Trials: 1, Rank: rank}
	}
	c := &record.Comparison{From: record.ComparedRun{ID: "a"}, To: record.ComparedRun{ID: "b"},
		Treatments: []record.ComparedTreatment{{Name: "measurement", Others: []record.ComparedResponse{
			{Response: "latency_p99", From: of(55930, "2nd slowest of 54"), To: of(55870, "2nd slowest of 54")},
			{Response: "errors", From: of(0, ""), To: of(1, "")},
		}}}}
	var cells []string
	for _, cell := range beside(c).Rows[0].Cells[:3] {
		cells = append(cells, cell.Text)
	}
	if got := strings.Join(cells, "; "); got != "latency by rank; 55.93 ms, 2nd slowest; 55.87 ms, 2nd slowest" {
		t.Errorf("%s", got)
	}
	if got := strings.Join(failures(c),
		"; "); got != "0 % of the requests of a failed, and 100 % of b: rates and latencies count these, too" {
		t.Errorf("%s", got)
	}
	c.Treatments[0].Others[1].To = of(0, "")
	if got := failures(c); got != nil {
		t.Errorf("without errors: %q", got)
	}
}

// TestNothingElse: that nothing else differs is said only of what both runs recorded.
func TestNothingElse(t *testing.T) {
	for _, test := range []struct {
		study string
		hosts []record.ComparedHost
		want  string
	}{
		{record.MeasureStudy, []record.ComparedHost{
			{Host: "client", Parts: []string{"interfaces", "2 kernel parameters"}},
			{Host: "server", Parts: []string{"interfaces"}}},
			"Of what both recorded, nothing else differs: of client kernel, CPUs, interfaces and 2 kernel " +
				"parameters; of server kernel, CPUs and interfaces. The network between the hosts is not recorded."},
		{record.MeasureStudy, nil,
			"Of what both recorded, nothing else differs: kernels and CPUs. Neither the state of the hosts nor the " +
				"network between them is recorded."},
		{"arp-flux", nil, "Nothing else is known to differ: hosts, network and study are the same."},
	} {
		c := &record.Comparison{From: record.ComparedRun{Study: test.study}, To: record.ComparedRun{Study: test.study},
			Hosts: test.hosts}
		if got := nothingElse(c); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestComparedNames: a run that has a name is called by it, the table explains only what it
// has, and of two measurements without a verdict it says how to get one.
func TestComparedNames(t *testing.T) {
	size := func(mean, half float64) record.EffectSize {
		return record.EffectSize{Mean: mean, Low: mean - half, High: mean + half}
	}
	const advice = "For a verdict, repeat the measurement as a study of the two hosts: linerate new hosts"
	for name, test := range map[string]struct {
		treatment record.ComparedTreatment
		trials    int
		notes     string
	}{
		"one trial": {record.ComparedTreatment{Verdict: record.Inconclusive, Why: "too few", Ratio: size(25, 0)},
			1, "Ratios of “after” to “before”. " + advice},
		"eight trials": {record.ComparedTreatment{Verdict: record.Improves, Ratio: size(25, 1)}, 8,
			"Ratios of “after” to “before”; the intervals hold together at 95 %, no difference means within ±2 %."},
		"not comparable": {record.ComparedTreatment{Verdict: record.NotComparable, Why: "the workload differs"}, 1, ""},
	} {
		test.treatment.Name, test.treatment.FromTrials, test.treatment.ToTrials = "measurement", test.trials,
			test.trials
		c := &record.Comparison{
			From:   record.ComparedRun{ID: "run-1", Name: "before", Study: record.MeasureStudy, Trials: test.trials},
			To:     record.ComparedRun{ID: "run-2", Name: "after", Study: record.MeasureStudy, Trials: test.trials},
			Margin: 0.02, Confidence: 0.95, Treatments: []record.ComparedTreatment{test.treatment},
			Comparable: test.treatment.Verdict != record.NotComparable,
		}
		if got := ComparisonAnswer(c); strings.Contains(got, "run-") || !strings.Contains(got, "“before”") ||
			!strings.Contains(got, "“after”") {
			t.Errorf("%s: %q", name, got)
		}
		other := *c
		for _, of := range []struct{ from, to, why string }{
			{"write", "both", "; a read beside a write is another load than a write alone"},
			{"both", "read", "; a read beside a write is another load than a read alone"}, {"write", "read", ""},
		} {
			other.Treatments, other.Comparable, other.Differences = nil, false,
				[]record.Difference{{What: "direction", From: of.from, To: of.to}}
			if got, want := ComparisonAnswer(&other), "“before” and “after” cannot be compared: direction: "+of.from+
				" → "+of.to+of.why+"."; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		same := *c
		if same.To.Name = "before"; !strings.Contains(ComparisonAnswer(&same), "run-1") {
			t.Errorf("%s: two runs of one name: %q", name, ComparisonAnswer(&same))
		}
		for _, part := range Compare(c, false).Summary {
			if table, is := part[0].(*document.Table); is {
				if got := strings.Join(table.Notes, " "); got != test.notes || (table.Key != "") != (test.notes != "") {
					t.Errorf("%s: key %q, notes %q, want %q", name, table.Key, got, test.notes)
				}
			}
		}
	}
}
