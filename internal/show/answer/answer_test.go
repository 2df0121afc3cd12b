package answer

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

var updateAnswers = flag.Bool("update-answers", false, "write the expected answers anew")

// answered is a run whose answer is expected in testdata/answers.txt.
type answered struct {
	name string
	run  *record.Run
}

// concluded are runs that are concluded from their trials, of every kind that is
// answered differently.
func concluded(t *testing.T) (list []answered) {
	add := func(name string, run *record.Run) { list = append(list, answered{name, run}) }
	text, err := os.ReadFile("../../model/record/testdata/arp-flux-run.json")
	if err != nil {
		t.Fatal(err)
	}
	var stored record.Run
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	add("the stored arp-flux", &stored)
	for seed := range uint64(3) {
		add(fmt.Sprint("arp-flux, seed ", seed+1), sciencetest.Run(seed+1, 4))
	}
	add("arp-flux, one block", sciencetest.Run(1, 1))

	single := sciencetest.Few(1, 4)
	single.Unit = "bit/s"
	single.Trials[0].Flows = single.Trials[0].Flows[:1]
	single.Trials[0].GoodputBps, single.Trials[0].LimitBps = 956.1e6, 956.407e6
	unlimited := sciencetest.Few(4, 0, 4)
	for i := range unlimited.Trials {
		unlimited.Trials[i].LimitBps = 0
	}
	partial := sciencetest.Few(1, 0, 3)
	partial.Status = "interrupted"
	faster := sciencetest.Few(4, 0, 3)
	for i := range faster.Trials {
		faster.Trials[i].GoodputBps = 2 * faster.Trials[i].LimitBps
	}
	wrong := sciencetest.Few(4, 0, 3)
	wrong.Trials[1].GoodputBps *= 1.2
	shaky := sciencetest.Few(4, 0, 3)
	for i := range shaky.Trials {
		if shaky.Trials[i].Block == 1 && shaky.Trials[i].GoodputBps > 1e9 {
			shaky.Trials[i].GoodputBps *= 0.95
		}
	}
	accounted := sciencetest.Few(2, 4)
	for i := range accounted.Trials {
		accounted.Trials[i].AccountSender = true
		accounted.Trials[i].SenderReportedBps = 1.4 * sciencetest.Limit
	}
	oneInterface := sciencetest.Few(4, 0, 4)
	oneInterface.Topology.Hosts[0].Interfaces = oneInterface.Topology.Hosts[0].Interfaces[:1]
	for i := range oneInterface.Trials {
		oneInterface.Trials[i].Flows = nil
	}
	add("no trial", sciencetest.Run(1, 0))
	add("one trial", single)
	add("several trials of one treatment", sciencetest.Few(4, 4))
	add("no limit known", unlimited)
	add("a fix that does not help", sciencetest.Few(4, 0, 5))
	add("nothing left to do", sciencetest.Few(4, 4, 0))
	add("one fix, one block, interrupted", partial)
	add("a figure that cannot be", wrong)
	add("links faster than their rates", faster)
	add("an interval that reaches below the limit", shaky)
	add("figures counted at the sender", accounted)
	add("no several interfaces", oneInterface)
	for _, ended := range []struct {
		status string
		blocks int
		until  float64
	}{{record.StatusBudget, 4, 1e-9}, {record.StatusBudget, 4, 0.9}, {record.StatusBlocks, 5, 1e-9},
		{"interrupted", 4, 1e-9}} {
		run := sciencetest.Few(ended.blocks, 0, 4)
		run.Status, run.Design.Until, run.Design.Replicates = ended.status, ended.until, 6
		add(fmt.Sprintf("ended: %s, until %g", ended.status, ended.until), run)
	}
	doubtful := sciencetest.Few(2, 0, 4)
	doubtful.Status, doubtful.Design.Until = record.StatusBudget, 1e-9
	doubtful.Trials[1].GoodputBps *= 1.2
	add("in doubt, and ended by the budget", doubtful)
	list = append(list, comparedRuns()...)
	list = append(list, judgedRuns()...)
	list = append(list, ofOtherKinds()...)
	for _, a := range list {
		conclude.Conclude(a.run)
	}
	return append(list, withdrawnRuns()...)
}

// comparedRuns are runs of levels with made-up goodputs.
func comparedRuns() (list []answered) {
	add := func(name string, run *record.Run) { list = append(list, answered{name, run}) }
	steady := func(v float64) func(c, l string, b int) float64 {
		return func(_, _ string, b int) float64 { return v * (1 + 0.0005*float64(b%3)) }
	}
	levels := func(c, l string, b int) float64 {
		v := map[string]float64{"a": 100e6, "b": 300e6, "c": 500e6}[l]
		if c == "reads" {
			v *= 1.5
		}
		return v * (1 + 0.001*float64(b%3))
	}
	one, both, abc := []string{""}, []string{"writes", "reads"}, []string{"a", "b", "c"}
	noPath := sciencetest.Levels("bit/s", 0, one, nil, steady(940e6), 4)
	for i := range noPath.Trials {
		noPath.Trials[i].LimitWhy = "unknown: flow f1: no path from a to 10.0.0.2"
	}
	limits := func(base, of, limit float64) *record.Run {
		run := sciencetest.Levels("bit/s", 956e6, one, []string{"a", "b"}, func(_, l string, b int) float64 {
			return map[string]float64{"a": base, "b": of}[l] + float64(b)*1e5
		}, 4)
		for i := range run.Trials {
			if run.Trials[i].Levels["l"] == "b" {
				run.Trials[i].LimitBps = limit
			}
		}
		return run
	}
	add("one treatment, one trial", sciencetest.Levels("bit/s", 956e6, one, nil, steady(940e6), 1))
	add("one treatment", sciencetest.Levels("bit/s", 956e6, one, nil, steady(940e6), 4))
	add("no rates", sciencetest.Levels("bit/s", 0, one, nil, steady(940e6), 4))
	add("no path", noPath)
	add("two conditions", sciencetest.Levels("bit/s", 956e6, both, nil,
		levelOf(map[string]float64{"writes": 940e6, "reads": 400e6}), 4))
	add("many conditions", sciencetest.Levels("bit/s", 956e6, []string{"1", "2", "3", "4", "5", "6"}, nil,
		levelOf(map[string]float64{"1": 9e8, "2": 8e8, "3": 7e8, "4": 1e8, "5": 2e8, "6": 3e8}), 4))
	add("two conditions, three levels", sciencetest.Levels("bit/s", 956e6, both, abc, levels, 4))
	add("three levels", sciencetest.Levels("bit/s", 956e6, one, abc, levels, 4))
	add("three levels, no rates", sciencetest.Levels("bit/s", 0, one, abc, levels, 4))
	add("no improvement", sciencetest.Levels("bit/s", 956e6, one, abc, steady(300e6), 4))
	add("only worse", sciencetest.Levels("bit/s", 956e6, one, []string{"c", "b"}, levels, 4))
	add("same and worse", sciencetest.Levels("bit/s", 956e6, one, []string{"b", "a", "x"},
		func(c, l string, b int) float64 {
			return levels(c, strings.Replace(l, "x", "b", 1), b)
		}, 4))
	add("one block", sciencetest.Levels("bit/s", 956e6, one, abc, levels, 1))
	add("scattered", sciencetest.Levels("bit/s", 956e6, one, []string{"a", "b"}, func(_, l string, b int) float64 {
		return map[string][]float64{"a": {300e6, 350e6, 290e6, 400e6}, "b": {500e6, 300e6, 280e6, 600e6}}[l][b-1]
	}, 4))
	add("nothing at all", sciencetest.Levels("bit/s", 956e6, one, []string{"a", "b"}, steady(0), 4))
	add("many fixes", sciencetest.Levels("bit/s", 956e6, one, []string{"a", "b", "c", "d", "e", "f"},
		func(_, l string, b int) float64 {
			if l == "a" {
				return 300e6
			}
			return 955e6 + float64(b)*1e5
		}, 4))
	add("a lower limit that is reached", limits(300e6, 95e6, 95.6e6))
	add("the limit itself rises", limits(950e6, 985e6, 991e6))
	long := strings.Repeat("a level whose name is a description of all it does ", 2)
	add("long names", sciencetest.Levels("bit/s", 956e6, one, []string{"a", long}, func(_, l string, b int) float64 {
		return map[string]float64{"a": 3e8, long: 955e6}[l] + float64(b)*1e5
	}, 4))
	add("nothing without rates", lifted([]string{"lab", "pfifo"}, 47.82e6))
	add("a fix beside one that lifts", lifted([]string{"lab", "pfifo", "fix"}, 10e6))
	add("a baseline of nothing", sciencetest.Levels("bit/s", 47.82e6, one, []string{"noroute", "route"},
		func(_, l string, b int) float64 {
			return map[string]float64{"route": 47.8e6}[l]
		}, 4))
	for _, scatter := range []float64{0.0005, 0.04} {
		add(fmt.Sprint("another may reach it, scatter ", scatter), sciencetest.Levels("bit/s", 956e6, one,
			[]string{"plain", "x", "y"}, func(_, l string, b int) float64 {
				own := 0.0005
				if l == "y" {
					own = scatter
				}
				return map[string]float64{"plain": 3e8, "x": 955e6, "y": 915e6}[l] * (1 + own*float64(b%3-1))
			}, 4))
	}
	return list
}

func levelOf(of map[string]float64) func(c, l string, b int) float64 {
	return func(c, _ string, _ int) float64 { return of[c] }
}

// lifted is a run one of whose levels takes the rate from the link.
func lifted(levels []string, base float64) *record.Run {
	run := sciencetest.Levels("bit/s", 47.82e6, []string{""}, levels, func(_, l string, b int) float64 {
		return map[string]float64{"lab": base, "pfifo": 50e9, "fix": 47.8e6}[l] + float64(b)
	}, 4)
	for i := range run.Trials {
		if run.Trials[i].Levels["l"] == "pfifo" {
			run.Trials[i].LimitBps = 0
		}
	}
	return run
}

// judgedRuns are runs with several responses.
func judgedRuns() (list []answered) {
	add := func(name string, run *record.Run) { list = append(list, answered{name, run}) }
	add("by latency", sciencetest.Loaded(3, 4, "latency_p99", "goodput"))
	add("goodput stays, latency does not", sciencetest.Loaded(3, 4, "goodput", "latency_p99", "transactions"))
	alone := sciencetest.Loaded(3, 2, "transactions", "latency_p50")
	alone.Factors = nil
	alone.Trials = slices.DeleteFunc(alone.Trials, func(t record.Trial) bool {
		return t.Treatment != sciencetest.Queues[0]
	})
	add("nothing compared", alone)
	silent := sciencetest.Loaded(3, 4, "latency_p99")
	for i := range silent.Trials {
		if silent.Trials[i].Treatment == sciencetest.Queues[1] {
			silent.Trials[i].Latency = nil
		}
	}
	add("no transaction was done", silent)
	// What is recommended differs in both factors, and is bad for latency.
	two := sciencetest.Levels("bit/s", 956e6, []string{""}, []string{"default buffers", "8 MiB"}, nil, 0)
	two.Responses = []string{"goodput", "latency_p50", "latency_p99"}
	two.Factors = append(two.Factors, record.Factor{Name: "control", Role: "compare", Baseline: "cubic",
		Levels: []record.Level{{Name: "cubic"}, {Name: "bbr", Settings: 1, SettingLines: []string{"x: bbr"}}}})
	for b := 1; b <= 4; b++ {
		for i, l := range []string{"default buffers", "8 MiB"} {
			for j, m := range []string{"cubic", "bbr"} {
				at := 2*i + j
				two.Trials = append(two.Trials, record.Trial{
					Treatment: l + " " + m, Levels: map[string]string{"l": l, "control": m}, Block: b,
					Order: len(two.Trials) + 1, WindowS: 1,
					GoodputBps: []float64{1e8, 1e8, 4e8, 9.5e8}[at] + float64(b)*1e5, LimitBps: 956e6,
					Flows: []record.Flow{{Connected: true, Alive: true, GoodputBps: 1e8}},
					Latency: &record.Distribution{Count: 1000, P50Us: []float64{1000, 1000, 1000, 1160}[at] +
						float64(b), P99Us: []float64{2000, 2001, 2002, 4080}[at] + float64(b)},
				})
			}
		}
	}
	add("two factors, worse latency", two)
	return list
}

// ofOtherKinds are runs about other programs' figures, hashing, and lists of settings.
func ofOtherKinds() (list []answered) {
	add := func(name string, run *record.Run) { list = append(list, answered{name, run}) }
	const perConnection = sciencetest.Limit * 0.0006
	add("a published rise that is an artefact", sciencetest.Aliases(3, 6, perConnection, 1.03))
	add("a published rise, not predicted", sciencetest.Aliases(3, 6, perConnection, 0.5))
	add("no surplus", sciencetest.Aliases(3, 6, perConnection/1000, 1))
	add("a surplus by chance", sciencetest.Lottery(sciencetest.Aliases(3, 6, perConnection, 1)))
	add("a surplus, a single block", sciencetest.Aliases(3, 1, perConnection, 1))
	settled := sciencetest.Aliases(3, 6, perConnection, 1)
	settled.Trials = slices.DeleteFunc(settled.Trials, func(t record.Trial) bool {
		return t.Levels["aliases"] != "254" || t.Levels["connections"] != "254"
	})
	for i := range settled.Trials {
		if s := settled.Trials[i].ToolReported; settled.Trials[i].Levels["queue"] == "long" {
			s.SurplusBps, s.SumBps = s.SurplusBps+0.2*s.GoodputBps, s.SumBps+0.2*s.GoodputBps
		}
	}
	for i := range settled.Factors[:2] {
		settled.Factors[i].Levels = settled.Factors[i].Levels[2:]
	}
	add("all aliases in every trial", settled)
	standIn := sciencetest.Aliases(3, 6, perConnection, 1.03)
	for i := range standIn.Trials {
		s := standIn.Trials[i].ToolReported
		s.Tool, s.Processes, s.UnsentBytes = "linerate", 0, int64(s.SurplusBps/8*standIn.Trials[i].WindowS)
		standIn.Trials[i].Tools = nil
	}
	add("linerate in place of the program", standIn)
	flows := []int{1, 2, 3, 8}
	for name, idle := range map[string][]int{"one link, or both by chance": {0, 2, 1, 0},
		"never enough flows": {0, 2, 1, 1}, "a link that eight flows never reach": {0, 2, 1, 3}} {
		add(name, sciencetest.OverTwoLinks(map[string][]int{"policy 0": {0, 4, 4, 4}, "policy 1": idle}, flows, 4))
	}
	slices.SortFunc(list[len(list)-3:], func(a, b answered) int { return strings.Compare(a.name, b.name) })
	next := 0
	add("a curve of flows over links", sciencetest.Curve([]int{2, 4}, []int{1, 2, 3, 8}, 4, func(links int) int {
		next++
		return next % links
	}))
	listed := func(path string, levels ...string) *record.Run {
		return sciencetest.Listed([]string{path}, levels, func(_, level string) float64 {
			return map[string]float64{"as it is": 400, "the list": 800, "only net.a": 800, "only net.b": 400}[level]
		})
	}
	add("a list, a part alone", listed("long", "only net.a"))
	add("a list, one of the parts", listed("long", "the list", "only net.a"))
	add("a list, all of the parts", listed("öffentlich", "the list", "only net.a", "only net.b"))
	partly := sciencetest.Listed([]string{"long"}, []string{"the list", "only net.a", "only net.b"},
		func(_, _ string) float64 { return 400 })
	partly.Factors[1].Untried = []record.Untried{{Key: "net.c", Why: "machine-wide"},
		{Key: "net.d", Why: "no such file"}, {Key: "net.e", Why: "machine-wide"}}
	conclude.Conclude(partly)
	add("a list, which could partly be tried", partly)
	whole := sciencetest.Listed([]string{"long"}, []string{"the list"}, func(_, level string) float64 {
		return map[string]float64{"as it is": 400, "the list": 800}[level]
	})
	whole.Factors[1].Untried = partly.Factors[1].Untried[:1]
	conclude.Conclude(whole)
	add("a list, which could partly be tried, as a whole", whole)
	return list
}

// withdrawnRuns are runs in which paths were withdrawn, with their outages as they are.
func withdrawnRuns() (list []answered) {
	groups := func(withdrawn, lostMs, others, moved int) record.Outages {
		return record.Outages{
			AtS: 1, ResolutionS: 0.007,
			Withdrawn: record.OutageGroup{Flows: withdrawn, Moved: withdrawn, LostS: float64(lostMs) / 1e3,
				MostLostS: float64(lostMs) / 1e3},
			Others: record.OutageGroup{Flows: others, Moved: moved},
		}
	}
	twice := []record.LevelOutages{{Outages: []record.Outages{groups(3, 200, 9, 0), groups(2, 300, 9, 0)}}}
	twice[0].Outages[1].AtS = 2
	for name, outages := range map[string][]record.LevelOutages{
		"withdrawn: one treatment": {{Outages: []record.Outages{groups(3, 3210, 9, 0)}}},
		"withdrawn: two instants":  twice,
		"withdrawn: levels and conditions": {
			{Label: "ordinary", Condition: "down", Outages: []record.Outages{groups(8, 0, 24, 6)}},
			{Label: "resilient", Condition: "down", Outages: []record.Outages{groups(8, 0, 24, 0)}},
			{Label: "ordinary", Condition: "dead", Outages: []record.Outages{groups(8, 4000, 24, 0)}},
			{Label: "resilient", Condition: "dead", Outages: []record.Outages{groups(8, 0, 24, 0)}},
		},
		"withdrawn: only moved": {{Outages: []record.Outages{groups(0, 0, 9, 2)}}},
	} {
		list = append(list, answered{name,
			&record.Run{Conclusion: &record.Conclusion{Outages: outages,
				Conditions: make([]record.ConditionResult, 1)}}})
	}
	slices.SortFunc(list, func(a, b answered) int { return strings.Compare(a.name, b.name) })
	return list
}

// TestAnswers: every run is answered in one sentence of at most 35 words and up to four
// statements beside what its trials can have missed, and in the words that
// testdata/answers.txt has.
func TestAnswers(t *testing.T) {
	const file = "testdata/answers.txt"
	var b strings.Builder
	for _, of := range concluded(t) {
		a := Run(of.run)
		if n := len(strings.Fields(a.Headline)); n > mostWords || a.Headline == "" ||
			strings.Contains(strings.TrimSuffix(a.Headline, "."), ". ") {
			t.Errorf("%s: a headline of %d words: %s", of.name, n, a.Headline)
		}
		statements := Worded(of.run).Statements
		if n := len(statements); n > mostStatements+1 {
			t.Errorf("%s: %d statements", of.name, n)
		}
		for _, text := range statements {
			if n := len(strings.Fields(text)); n > 45 {
				t.Errorf("%s: a statement of %d words: %s", of.name, n, text)
			}
		}
		fmt.Fprintf(&b, "%s\n  %s\n", of.name, a.Headline)
		for _, text := range statements {
			fmt.Fprintf(&b, "  · %s\n", text)
		}
	}
	if *updateAnswers {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(b.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d of %s:\nwant %s\ngot  %s\n(-update-answers writes it anew)", i+1, file, line,
				got[min(i, len(got)-1)])
		}
	}
}

// TestDigitsAreThoseOfTheTable: what an interval does not earn is not in the headline.
func TestDigitsAreThoseOfTheTable(t *testing.T) {
	for _, c := range []struct {
		mean, half, low, high float64
		want                  string
	}{
		{8560, 8000, 560, 16560, "9 ms (1–17)"}, // 9 ±8 in the table
		{8560, 20, 8540, 8580, "8.56 ms (8.54–8.58)"},
		{16.8, 11000, 15, 21900, "16.8 µs (15.0–21900)"}, // bounded: by its ends
	} {
		of := &record.Candidate{Responses: []record.ResponseEstimate{{Response: "latency_p50", Mean: c.mean, Low: c.low,
			High: c.high, Half: c.half, Confidence: 0.95, Trials: 4}}}
		if got := value(&record.Conclusion{}, of, metric.LatencyP50) + within(&record.Conclusion{}, of,
			metric.LatencyP50); got != c.want {
			t.Errorf("%g ± %g: %q, want %q", c.mean, c.half, got, c.want)
		}
	}
}

// TestBrief: in a list of runs that compare nothing the figure comes first, and names what
// it is of unless that is goodput; other answers are as in the report.
func TestBrief(t *testing.T) {
	for _, one := range []struct {
		response, want string
	}{{"", "956.1 Mbit/s, 100.0 % of the limit"}, {"transactions", "17,568 transactions/s"}} {
		run := sciencetest.Few(1, 4)
		run.Unit = "bit/s"
		run.Trials[0].GoodputBps, run.Trials[0].LimitBps, run.Trials[0].TransactionsPerS = 956.1e6, 956.407e6, 17568
		if one.response != "" {
			run.Responses = []string{one.response}
			run.Trials[0].Flows[0].Protocol = "rr"
		}
		conclude.Conclude(run)
		if got := Brief(run.Conclusion); got != one.want {
			t.Errorf("%q, want %q", got, one.want)
		}
	}
	measured := sciencetest.Few(1, 4)
	measured.Study, measured.Unit = record.MeasureStudy, "bit/s"
	measured.Trials[0].GoodputBps = 956.1e6
	flows := measured.Trials[0].Flows
	for i := range flows {
		flows[i].OpenedBy = flows[i].From
	}
	conclude.Conclude(measured)
	if got, want := Brief(measured.Conclusion), fmt.Sprintf("TCP write, %d flows: 956.1 Mbit/s",
		len(flows)); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want it to begin with %q", got, want)
	}
	measured.Design.Options = map[string]string{"peer": "iperf3"}
	conclude.Conclude(measured)
	if got, want := Brief(measured.Conclusion), fmt.Sprintf("iperf3 write, %d flows: 956.1 Mbit/s",
		len(flows)); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want it to begin with %q", got, want)
	}
	measured.Conclusion.Measured.Protocols = []string{"udp"}
	if got := Brief(measured.Conclusion); !strings.HasPrefix(got, "iperf3 UDP write, ") {
		t.Errorf("%q", got)
	}
	measured.Design.Options = nil
	flows[0].OpenedBy = ""
	conclude.Conclude(measured)
	if got := Brief(measured.Conclusion); !strings.HasPrefix(got, fmt.Sprintf("TCP write and read, %d flows each: ",
		len(flows)-1)) {
		t.Errorf("in both directions: %q", got)
	}
	measured.Conclusion.Conditions[0].Baseline.Responses = []record.ResponseEstimate{
		{Response: "lost", Mean: 0.9884, Trials: 1}}
	if got := Brief(measured.Conclusion); !strings.Contains(got, "956.1 Mbit/s, 98.8 % lost, ") ||
		!strings.HasSuffix(got, " % of the limit of the ends' interfaces") {
		t.Errorf("with loss: %q", got)
	}
	measured.Conclusion.Conditions[0].Baseline.Responses[0] = record.ResponseEstimate{Response: "errors",
		Mean: 1, Trials: 1}
	if got, headline := Brief(measured.Conclusion), Conclusion(measured.Conclusion).Headline; !strings.Contains(got,
		", 100 % errors") || !strings.Contains(headline, ", 100 % errors, in a single trial") {
		t.Errorf("with errors: %q; %q", got, headline)
	}
	measured.Conclusion.Conditions[0].Baseline.Responses[0].Mean = 0
	if got := Brief(measured.Conclusion); strings.Contains(got, "errors") {
		t.Errorf("without errors: %q", got)
	}
	for _, one := range concluded(t) {
		conclude.Conclude(one.run)
		c := one.run.Conclusion
		if got, want := Brief(c), Conclusion(c).Headline; c != nil && c.Compared && got != want {
			t.Errorf("%s: %q, want %q", one.name, got, want)
		}
	}
}
