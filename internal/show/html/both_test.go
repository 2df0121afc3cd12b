package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/figure"
	"linerate/internal/show/present"
	"linerate/internal/show/showtest"
	"linerate/internal/show/text"
	"linerate/internal/show/words"
)

// storedRun is a run as science concludes it, not as this package imagines it.
func storedRun(t *testing.T) *record.Run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "model", "record", "testdata", "arp-flux-run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := &record.Run{}
	if err := json.Unmarshal(data, run); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestStoredRun(t *testing.T) {
	run := storedRun(t)
	out := textOf(t, run)
	for _, line := range strings.Split(out, "\n") {
		if words.Width(line) > 80 {
			t.Errorf("a line of %d: %s", words.Width(line), line)
		}
	}
	wrong := 0
	for _, e := range parse(t, "stored", html(t, run)) {
		if e.name == "tr" && e.attrs["class"] == "wrong" {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("no poisoned row is marked")
	}
	names := ""
	for _, f := range present.Figures(run) {
		names += f.Name + " "
	}
	if names != "goodput effects interfaces topology " { // it holds no samples to draw a series from
		t.Errorf("figures: %s", names)
	}
}

// TestAlongCurve: a run of nothing but hashed flows is shown by its curves, a line
// for each case, and its flows on their paths in the fabric.
func TestAlongCurve(t *testing.T) {
	next := 0
	// Over two links flows alternate; of four the last is never used.
	run := sciencetest.Curve([]int{2, 4}, []int{1, 2, 3, 8}, 3, func(links int) int {
		next++
		return next % max(2, links-1)
	})
	conclude.Conclude(run)
	text := textOf(t, run)
	for _, want := range []string{
		"2       3       1.750      1.33–2.00", "1.990", "0 of 3    0–2", "4       8       3.600", "✗",
		"On each   of 2 links: 21, 21 flows, all trials together\n            of 4 links: 14, 14, 14, 0 flows",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "),
			strings.Join(strings.Fields(strings.ReplaceAll(want, "\\n", " ")), " ")) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"of limit", "Share of"} {
		if strings.Contains(text, not) {
			t.Errorf("the table of cases says it all, but there is %q too:\n%s", not, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if words.Width(line) > 80 {
			t.Errorf("%d cells: %s", words.Width(line), line)
		}
	}
	for _, f := range present.Figures(run) {
		if want := "Each of 2 links had 50 %, each of 4 links had 0 % to 33 % of the flows"; f.Name == "interfaces" &&
			f.Title != want {
			t.Errorf("title of interfaces %q, want %q", f.Title, want)
		}
	}
	var page bytes.Buffer
	if err := Run(&page, run); err != nil {
		t.Fatal(err)
	}
	shown := page.String()
	curves, goodput := strings.Index(shown, `<section id="flows">`), strings.Index(shown, `<section id="goodput">`)
	if curves < 0 || goodput < curves {
		t.Errorf("the curves begin at %d, the table at %d", curves, goodput)
	}
	for _, want := range []string{"Goodput over 4 links", "Chance that some of 2 links is idle",
		"Every case in figures", `<section id="fabric">`} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

// TestNotAlongCurve: where some treatment has no line in the table of flows that were
// placed one by one, the run has the tables that any other has.
func TestNotAlongCurve(t *testing.T) {
	next := 0
	inTurn := func(links int) int { next++; return next % links }
	byPairs := func(run *record.Run) { // several flows between each of three pairs of addresses
		for i := range run.Trials {
			if run.Trials[i].Treatment != run.Treatments[0].Name {
				continue
			}
			over := sciencetest.Fabric(run.Trials[i].Flows[0].Paths, "0")
			run.Trials[i].Topology = &over
			for j := range run.Trials[i].Flows {
				f := &run.Trials[i].Flows[j]
				f.Source = fmt.Sprintf("10.0.200.%d:%d", 10+j%3, 40000+j)
			}
		}
	}
	for name, change := range map[string]func(*record.Run){
		"placed by pairs": byPairs,
		"some are even": func(run *record.Run) {
			for i := range run.Trials {
				if t := &run.Trials[i]; t.Treatment == run.Treatments[0].Name {
					for j := range t.Flows {
						t.Flows[j].SourcePorts = "even"
					}
				}
			}
		},
	} {
		run := sciencetest.Curve([]int{2, 4}, []int{6, 9}, 3, inTurn)
		change(run)
		conclude.Conclude(run)
		if !slices.ContainsFunc(present.Figures(run), func(f figure.Figure) bool { return f.Name == "flows" }) {
			t.Fatalf("%s: no flows were hashed", name)
		}
		if text := textOf(t, run); !strings.Contains(text, "of limit") {
			t.Errorf("%s: no table of treatments in\n%s", name, text)
		}
	}
}

// TestSaidOnce: what all treatments have is not in each row's name; a figure below zero
// has a minus sign and its interval.
func TestSaidOnce(t *testing.T) {
	run := sciencetest.Aliases(3, 3, -1e5, 1)
	run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool { return t.Levels["queue"] == "short" })
	for i, connections := range []string{"1", "32", "254"} {
		trial := &run.Trials[i]
		trial.Levels, trial.Treatment = map[string]string{"connections": connections, "aliases": "254",
			"queue": "long"}, "connections "+connections+", aliases 254, long"
	}
	run.Factors[2].Levels = run.Factors[2].Levels[1:]
	run.Factors[2].Levels[0].About = "five times as much"
	conclude.Conclude(run)
	got := textOf(t, run)
	for _, want := range []string{"  connections 32, aliases 254 ", "Everywhere: queue long.\n", " −0."} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "aliases 254, long ") || strings.Contains(got, " -0.") {
		t.Errorf("it repeats itself, or has a hyphen for a minus:\n%s", got)
	}
	var b bytes.Buffer
	if err := Run(&b, run); err != nil || strings.Count(b.String(), "five times as much") != 1 {
		t.Errorf("said %d times: %v", strings.Count(b.String(), "five times as much"), err)
	}
}

func textOf(t *testing.T, run *record.Run) string {
	t.Helper()
	var b strings.Builder
	if err := text.Run(&b, present.Report(run), text.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHeld: what was predicted stands beside what was measured, in text, page and
// CSV, and what did not come true is marked.
func TestHeld(t *testing.T) {
	run := showtest.Predicted(func(*record.Flow) {})
	text := textOf(t, run)
	for _, want := range []string{"Predicted and measured", "predicted", "receiver window"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "not as predicted") {
		t.Errorf("all is as predicted:\n%s", text)
	}
	wrong := textOf(t, showtest.Predicted(func(f *record.Flow) { f.GoodputBps /= 2 }))
	if !strings.Contains(strings.Join(strings.Fields(wrong), " "), " 0 of 16 as predicted") {
		t.Errorf("hardly anything is as predicted:\n%s", wrong)
	}
	var page strings.Builder
	if err := Run(&page, run); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="held"`, "a window in 50 ms", "it waited all the time"} {
		if !strings.Contains(plainSpaces(page.String()), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	var table [][]string
	for _, f := range present.Figures(run) {
		if f.Name == "predicted" {
			table = f.Data
		}
	}
	if len(table) < 2 || len(table[0]) != len(table[1]) || table[1][6] != "receiver window" {
		t.Errorf("CSV is %q", table)
	}
}

// TestOutages: what happened in the window stands in text and page, with what became
// of running flows; a run in which nothing did says nothing of it.
func TestOutages(t *testing.T) {
	run := showtest.ArpFlux()
	written := func() (summary, page string) {
		var a, b strings.Builder
		if err := text.Run(&a, present.Report(run), text.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := Run(&b, run); err != nil {
			t.Fatal(err)
		}
		return a.String(), plainSpaces(b.String())
	}
	if text, page := written(); strings.Contains(text, "running flows") || strings.Contains(page, `id="outages"`) {
		t.Error("nothing happened, and it is spoken of")
	}
	run.Treatments[0].Outages = []record.Outages{{
		AtS: 1.5, What: []string{"spine1: link down1 state down"}, ResolutionS: 0.0072,
		Withdrawn: record.OutageGroup{Flows: 8, Moved: 7, Stopped: 1, LostS: 0.214, MostLostS: 2},
		Others:    record.OutageGroup{Flows: 24, Moved: 6, Stopped: 2},
	}}
	run.Trials[0].Flows[0].Outages = []record.Outage{{AtS: 1.5, LostS: 0.214, ResolutionS: 0.0072, Resumed: true,
		Moved: true, Before: []string{"b.eth0"}, After: []string{"b.eth1"}}}
	text, page := written()
	for _, want := range []string{"6 of 24 (25 %), 2 stopped", "214 ms (1 of 8 for"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, want := range []string{"spine1: link down1 state down", "at 1.5 s",
		"214 ms (1 of 8 for the rest of the window)", "6 of 24 (25 %), 2 stopped", "outages.csv"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for line := range strings.Lines(text) {
		if words.Width(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %q", line)
		}
	}
	unwrapped := func() string { return strings.Join(strings.Fields(text), " ") }
	if strings.Contains(unwrapped(), ", 1.5 s") {
		t.Errorf("one instant is shown as if there were others:\n%s", text)
	}
	// Two instants of one treatment, however many treatments there are.
	later := run.Treatments[0].Outages[0]
	later.AtS = 2.5
	run.Treatments[0].Outages = append(run.Treatments[0].Outages, later)
	text, _ = written()
	for _, want := range []string{"kernel defaults, 1.5 s", "kernel defaults, 2.5 s"} {
		if rows := strings.ReplaceAll(unwrapped(), "8 6 of 24 (25 %), 2 stopped 214 ms (1 of 8 for ",
			""); !strings.Contains(rows, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestSearchesOnPage: the page has the trials of each search, also of one that found
// nothing, and their data; without a search it says nothing of one.
func TestSearchesOnPage(t *testing.T) {
	run := sciencetest.Run(7, 2)
	conclude.Conclude(run)
	if page := string(html(t, run)); strings.Contains(page, `id="search"`) {
		t.Error("a search is shown that was not made")
	}
	steps := []record.LossTrial{{OfferedBps: 2e8, WindowS: 1, Sent: 17000, Lost: 8500, LostShare: 0.5},
		{AskedBps: 94e6, OfferedBps: 94e6, WindowS: 10, Sent: 79823, Confirms: true, Pass: true}}
	run.Trials[0].LossFree = &record.LossFree{RateBps: 94e6, LostAtBps: 95e6, Trials: steps}
	run.Trials[1].LossFree = &record.LossFree{Why: "even the lowest rate lost datagrams", Trials: steps[:1]}
	page := plainSpaces(string(html(t, run)))
	for _, want := range []string{`id="search"`, "94 Mbit/s; 95 Mbit/s loses datagrams",
		"even the lowest rate lost datagrams", "8,500 of 17,000 expected lost", "none of 79,823 lost, to confirm it",
		"search.csv"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestPaths: flows that had several paths are grouped by the one they took, and a
// page of a run without such flows says nothing of paths.
func TestPaths(t *testing.T) {
	run := showtest.ArpFlux()
	var b strings.Builder
	if err := Run(&b, run); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), `id="paths"`) {
		t.Error("flows with one path are listed by path")
	}
	for i := range run.Trials {
		for j := range run.Trials[i].Flows {
			f := &run.Trials[i].Flows[j]
			spine := []string{"spine1", "spine2"}[j%2]
			f.Paths, f.Path = 2, []string{"server.eth0", spine + ".a", spine + ".b", "client.eth0"}
			f.Predicted, f.Observed = f.Path, []string{f.Path[1], f.Path[3]}
		}
	}
	odd := &run.Trials[0].Flows[0]
	odd.Observed = []string{"spine9.a"}
	b.Reset()
	if err := Run(&b, run); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="paths"`, "eth0 → spine1", "eth0 → spine2",
		"took the path predicted by route lookup", "Of "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
}
