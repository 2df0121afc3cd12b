package compare

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// only are the differences.
func only(list []record.Difference, _ []record.ComparedHost) []record.Difference { return list }

// steady keeps the treatments whose goodput is not left to chance.
func steady(run *record.Run) *record.Run {
	run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool {
		return t.Levels["fix"] != "arp + source routing" && t.Levels["fix"] != "static ARP entries"
	})
	return run
}

func concluded(seed uint64, change func(*record.Run)) *record.Run {
	run := steady(sciencetest.Run(seed, 4))
	if change != nil {
		change(run)
	}
	conclude.Conclude(run)
	return run
}

func find(t *testing.T, c *record.Comparison, name string) record.ComparedTreatment {
	t.Helper()
	for _, treatment := range c.Treatments {
		if treatment.Name == name {
			return treatment
		}
	}
	t.Fatalf("no treatment %q in %+v", name, c.Treatments)
	panic("unreachable")
}

func TestARunAgainstItsRepetition(t *testing.T) {
	c := Runs(concluded(7, nil), concluded(8, nil))
	if !c.Comparable || len(c.Differences) != 0 || len(c.StudyLines) != 0 || len(c.OnlyFrom)+len(c.OnlyTo) != 0 ||
		len(c.Treatments) != 4 {
		t.Errorf("%+v", c)
	}
	for _, treatment := range c.Treatments {
		if treatment.Verdict == record.Improves || treatment.Verdict == record.Worsens {
			t.Errorf("%s: %s, although nothing changed: %+v", treatment.Name, treatment.Verdict, treatment.Ratio)
		}
		if treatment.FromTrials != 4 || treatment.ToTrials != 4 {
			t.Errorf("%s: %d and %d trials", treatment.Name, treatment.FromTrials, treatment.ToTrials)
		}
	}
}

func TestWhatChangedIsFound(t *testing.T) {
	from := concluded(7, nil)
	slower := from.Treatments[0].Name
	to := concluded(8, func(run *record.Run) {
		for i := range run.Trials {
			if run.Trials[i].Treatment == slower {
				run.Trials[i].GoodputBps *= 0.5
			}
		}
		run.Environment.Hosts[0].Kernel = "6.19.0"
		run.Topology.Links[0].Rate *= 2
		run.Design.Set = []string{"workload.duration=5s"}
		run.StudyFile = "# only a comment\n\nstudy: arp-flux\nunit: MB/s\n"
	})
	c := Runs(from, to)
	worse := find(t, c, slower)
	if worse.Verdict != record.Worsens || worse.Ratio.Low > 0.5 || worse.Ratio.High < 0.5 || worse.Ratio.High > 0.6 ||
		worse.P > 0.01 {
		t.Errorf("%+v, want one half", worse)
	}
	for _, other := range c.Treatments {
		if other.Name != slower && (other.Verdict == record.Improves || other.Verdict == record.Worsens) {
			t.Errorf("%s: %s", other.Name, other.Verdict)
		}
	}
	var what []string
	for _, d := range c.Differences {
		what = append(what, d.What+": "+d.From+" → "+d.To)
	}
	got := strings.Join(what, "\n")
	for _, want := range []string{"kernel of conductor: 6.18.0 → 6.19.0",
		"link server.eth0 – switch.p-server-eth0: 1 Gbit/s → 2 Gbit/s", "values set:  → workload.duration=5s"} {
		if !strings.Contains(got, want) {
			t.Errorf("differences:\n%s\nwant %s", got, want)
		}
	}
	if len(c.Differences) != 3 {
		t.Errorf("differences:\n%s\nwant three", got)
	}
	if want := []string{"+ unit: MB/s"}; !slices.Equal(c.StudyLines, want) {
		t.Errorf("study lines %q, want %q", c.StudyLines, want)
	}
}

// TestSurplusCompared: what may be below zero, or next to it, is compared by its
// difference, which a floor is there for.
func TestSurplusCompared(t *testing.T) {
	says := func(surplus float64) func(*record.Run) {
		return func(run *record.Run) {
			run.Responses = []string{"surplus"}
			for i := range run.Trials {
				trial := &run.Trials[i]
				noise := 0.001 * float64(i%3-1)
				trial.ToolReported = &record.ToolReported{GoodputBps: trial.GoodputBps,
					SurplusBps: trial.GoodputBps * (surplus + noise)}
			}
		}
	}
	for name, test := range map[string]struct {
		from, to float64
		verdict  string
	}{
		"next to nothing, both": {0.0004, 0.0056, record.NoDifference},
		"from below zero":       {-0.003, 0.3, record.Worsens},
		"and back":              {0.3, -0.003, record.Improves},
	} {
		c := Runs(concluded(7, says(test.from)), concluded(8, says(test.to)))
		for _, treatment := range c.Treatments {
			if d := treatment.Difference; treatment.Verdict != test.verdict || !treatment.Ratio.None || d == nil ||
				d.Low > test.to-test.from || d.High < test.to-test.from {
				t.Errorf("%s: %+v, %+v", name, treatment, d)
			}
		}
	}
}

func TestOneNameTwoTreatments(t *testing.T) {
	from := concluded(7, nil)
	to := concluded(8, func(run *record.Run) {
		for f := range run.Factors {
			for l := range run.Factors[f].Levels {
				if run.Factors[f].Levels[l].Name == "static ARP entries" {
					run.Factors[f].Levels[l].SettingLines = []string{"server: something else"}
				}
			}
		}
		for i := range run.Trials {
			if run.Trials[i].Treatment == from.Treatments[len(from.Treatments)-1].Name {
				run.Trials[i].Flows = run.Trials[i].Flows[:1]
			}
		}
	})
	c := Runs(from, to)
	settings, flows := 0, 0
	for _, treatment := range c.Treatments {
		if treatment.Verdict != record.NotComparable {
			continue
		}
		if treatment.Ratio != (record.EffectSize{}) || treatment.P != 1 {
			t.Errorf("%s: not comparable, and yet %+v", treatment.Name, treatment)
		}
		if strings.Contains(treatment.Why, "other settings") {
			settings++
		}
		if strings.Contains(treatment.Why, "→ 1 flow") {
			flows++
		}
	}
	if settings != 2 || flows != 1 || !c.Comparable {
		t.Errorf("%d with other settings, %d with other flows, comparable %v: want 2, 1, true", settings, flows,
			c.Comparable)
	}
}

func TestNothingInCommon(t *testing.T) {
	from := concluded(7, nil)
	to := concluded(8, func(run *record.Run) {
		run.Study, run.ID = "long-fat", "long-fat-8"
		for i := range run.Trials {
			run.Trials[i].Treatment += " at night"
		}
	})
	c := Runs(from, to)
	if c.Comparable || len(c.Treatments) != 0 || len(c.OnlyFrom) != 4 || len(c.OnlyTo) != 4 {
		t.Errorf("%+v", c)
	}
	if empty := Runs(from, &record.Run{ID: "x"}); empty.Comparable || len(empty.OnlyFrom) != 4 {
		t.Errorf("against a run without trials: %+v", empty)
	}
}

// TestOneLevelLeft: a treatment of a study whose factor has lost its other levels, and with
// them its part of the name, is compared with the one of the same levels.
func TestOneLevelLeft(t *testing.T) {
	from := concluded(7, nil)
	to := concluded(8, func(run *record.Run) {
		run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool {
			return t.Levels["fix"] != "arp + source routing"
		})
		for i := range run.Trials {
			run.Trials[i].Treatment = run.Trials[i].Levels["direction"]
		}
	})
	c := Runs(from, to)
	if !c.Comparable || len(c.Treatments) != 2 || len(c.OnlyFrom) != 2 || len(c.OnlyTo) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestDoubtsAreCarriedAlong(t *testing.T) {
	from := concluded(7, nil)
	from.Trust = append(from.Trust, record.Check{Check: "limit", Detail: "above the wire"})
	if c := Runs(from, concluded(8, nil)); !slices.Contains(c.From.Doubts, "limit: above the wire") ||
		len(c.To.Doubts) != 0 {
		t.Errorf("doubts %q and %q", c.From.Doubts, c.To.Doubts)
	}
}

func TestHostsThatShareADifference(t *testing.T) {
	hosts := func(kernels ...string) record.Environment {
		var e record.Environment
		for i, k := range kernels {
			e.Hosts = append(e.Hosts, netstate.HostEnvironment{Host: string(rune('a' + i)), Kernel: k})
		}
		return e
	}
	for _, c := range []struct {
		from, to record.Environment
		want     []record.Difference
	}{
		{hosts("6.1", "6.1"), hosts("6.2", "6.2"),
			[]record.Difference{{What: "kernel of every host", From: "6.1", To: "6.2"}}},
		{hosts("6.1", "6.1"), hosts("6.2", "6.1"), []record.Difference{{What: "kernel of a", From: "6.1", To: "6.2"}}},
		{hosts("6.1", "6.1"), hosts("6.2", "6.3"), []record.Difference{{What: "kernel of a", From: "6.1", To: "6.2"},
			{What: "kernel of b", From: "6.1", To: "6.3"}}},
		{hosts("6.1"), hosts(), []record.Difference{}},
	} {
		if got := only(differences(&record.Run{Environment: c.from}, &record.Run{Environment: c.to})); !slices.Equal(
			got, c.want) {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

func TestChangedLines(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{"", "", []string{}},
		{"a\nb\nc\n", "a\nb\nc", []string{}},
		{"a\n# x\n\nb  \n", "a\n  # y\nb\n", []string{}},
		{"a\nb\nc\n", "a\nx\nc\n", []string{"- b", "+ x"}},
		{"a\nb\nc\nd\n", "b\nx\nd\ne\n", []string{"- a", "- c", "+ x", "+ e"}},
		{"", "a\n  b\n", []string{"+ a", "+   b"}},
		{strings.Repeat("a\nb\n", 1500), "x\n" + strings.Repeat("b\nc\n", 1500), nil},
	} {
		got := changedLines(c.from, c.to)
		if c.want == nil { // too much to look for what is common: everything is listed
			if len(got) != 6001 {
				t.Errorf("two long files: %d lines, want 6001", len(got))
			}
			continue
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// TestMeasurementsOptions: two measurements that are not of the same flows differ in the
// options that made these.
func TestMeasurementsOptions(t *testing.T) {
	flows := func(protocol string, write, read int, probe bool) *record.Run {
		trial := record.Trial{Treatment: "measurement", Block: 1, Order: 1, WindowS: 1, GoodputBps: 1e9}
		for i := range write + read {
			f := record.Flow{Protocol: protocol, From: "client", To: "server", OpenedBy: "client", Connected: true}
			if i >= write {
				f.From, f.To = f.To, f.From
			}
			trial.Flows = append(trial.Flows, f)
		}
		if probe {
			trial.Flows = append(trial.Flows, record.Flow{Protocol: "rr", From: "client", To: "server",
				OpenedBy: "client"})
		}
		run := &record.Run{Study: record.MeasureStudy, Status: "complete", Confidence: 0.95, Margin: 0.02,
			Trials: []record.Trial{trial}}
		conclude.Conclude(run)
		return run
	}
	for name, test := range map[string]struct {
		to                *record.Run
		why, what, change string // why: the two cannot be compared
	}{
		"nothing": {flows("", 1, 0, false), "", "", ""},
		"both": {flows("", 1, 1, false), "the workload differs: direction write → both", "direction",
			"write → both"},
		"options": {flows("", 4, 1, false), "the workload differs: direction write → both, streams 1 → 4",
			"streams", "1 → 4"},
		"streams": {flows("", 4, 0, false), "the workload differs: streams 1 → 4", "streams", "1 → 4"},
		"latency": {flows("", 1, 0, true), "the workload differs: latency no → yes", "latency", "no → yes"},
		"direction": {flows("", 0, 1, false), "the workload differs: direction write → read", "direction",
			"write → read"},
		"protocol": {flows("udp", 1, 0, false), "", "protocol", "tcp → udp"},
	} {
		c := Runs(flows("", 1, 0, false), test.to)
		if got := c.Treatments[0]; test.why != "" && got.Why != test.why ||
			(got.Verdict == record.NotComparable) != (test.why != "") {
			t.Errorf("%s: %s, %q; want %q", name, got.Verdict, got.Why, test.why)
		}
		found := ""
		for _, d := range c.Differences {
			if d.What == test.what {
				found = d.From + " → " + d.To
			}
		}
		if found != test.change {
			t.Errorf("%s: %+v, want %q", name, c.Differences, test.change)
		}
	}
}

// TestSingleTrials: what is not known of two single trials is absent, and no NaN, which JSON
// does not have.
func TestSingleTrials(t *testing.T) {
	one := func(bps float64) *record.Run {
		run := &record.Run{Study: record.MeasureStudy, Status: "complete", Confidence: 0.95, Margin: 0.02,
			Trials: []record.Trial{{
				Treatment: "measurement", Block: 1, Order: 1, WindowS: 1, GoodputBps: bps,
				Flows: []record.Flow{{From: "client", To: "server", OpenedBy: "client", Connected: true,
					GoodputBps: bps}},
			}}}
		conclude.Conclude(run)
		return run
	}
	for _, pair := range [][2]float64{{1e9, 9e8}, {1e9, 1e9}, {0, 1e9}, {1e9, 0}, {0, 0}} {
		if _, err := json.Marshal(Runs(one(pair[0]), one(pair[1]))); err != nil {
			t.Errorf("%g and %g: %v", pair[0], pair[1], err)
		}
	}
}

// TestMeasurementsValues: what was set on two command lines, and what the records of older
// versions show of it, is listed where it differs.
func TestMeasurementsValues(t *testing.T) {
	of := func(windowS, capBps float64, options map[string]string) *record.Run {
		f := record.Flow{From: "client", To: "server", OpenedBy: "client", Connected: true, RateCapBps: capBps}
		run := &record.Run{Study: record.MeasureStudy,
			Trials: []record.Trial{{Treatment: "measurement", Block: 1, Order: 1, WindowS: windowS,
				Flows: []record.Flow{f}}}}
		run.Design.Options = options
		return run
	}
	asked := func(duration, rate string) map[string]string {
		options := map[string]string{"duration": duration, "warmup": "1s", "rate_cap": rate}
		maps.DeleteFunc(options, func(_, v string) bool { return v == "" })
		return options
	}
	want := []record.Difference{{What: "duration", From: "10s", To: "2s"}, {What: "rate cap", From: "default",
		To: "100mbit"}}
	if got := only(differences(of(10, 0, asked("10s", "")), of(2, 1e8, asked("2s", "100mbit")))); !slices.Equal(
		got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	two := of(2, 0, asked("2s", ""))
	two.Trials[0].Flows = append(two.Trials[0].Flows, two.Trials[0].Flows[0])
	if why := unlike(sideOf(of(10, 0, asked("10s", ""))), sideOf(two), &record.Treatment{Name: "measurement"},
		&record.Treatment{Name: "measurement"}, metric.Goodput); why != "the workload differs: streams 1 → 2" {
		t.Errorf("what cannot be compared: %q", why)
	}
	want = []record.Difference{{What: "duration", From: "10 s", To: "2 s"}, {What: "rate cap", From: "default",
		To: "100 Mbit/s"}}
	if got := only(differences(of(10.0001, 0, nil), of(2, 1e8, asked("2s", "100mbit")))); !slices.Equal(got, want) {
		t.Errorf("of an older version: %+v, want %+v", got, want)
	}
	if got := only(differences(of(10.0001, 1e8, nil), of(9.9998, 1e8, nil))); len(got) != 0 {
		t.Errorf("alike: %+v", got)
	}
}

// TestCongestionControl: it is listed once, as the flows used it, chosen by flag or by the kernel; where that is
// not known, as it was asked for.
func TestCongestionControl(t *testing.T) {
	of := func(asked, used string) *record.Run {
		run := &record.Run{Study: record.MeasureStudy,
			Environment: record.Environment{Hosts: []netstate.HostEnvironment{
				{Host: "client", CongestionControl: used}, {Host: "server", CongestionControl: used},
			}}}
		if run.Design.Options = map[string]string{"duration": "2s"}; asked != "" {
			run.Design.Options["congestion_control"] = asked
		}
		return run
	}
	for _, c := range []struct {
		name     string
		from, to *record.Run
		want     []record.Difference
	}{
		{"another", of("", "bbr"), of("cubic", "cubic"),
			[]record.Difference{{What: "congestion control of flows of every host", From: "bbr", To: "cubic"}}},
		{"the host's own", of("", "cubic"), of("cubic", "cubic"), []record.Difference{}},
		{"not known", of("", ""), of("cubic", ""),
			[]record.Difference{{What: "congestion control", From: "default", To: "cubic"}}},
		{"known of one", of("", ""), of("cubic", "cubic"),
			[]record.Difference{{What: "congestion control", From: "default", To: "cubic"}}},
	} {
		if got := only(differences(c.from, c.to)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
