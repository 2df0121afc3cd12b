package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// hashed is a run over so many spines: policy 0, where all flows share a link,
// policy 1, where chance places them, and chosen ports.
func hashed(spines int, flows []int, place func(flow int, source *rand.Rand) int) *record.Run {
	run := &record.Run{
		Study: "ecmp-hash", Confidence: 0.95, Margin: 0.02, Topology: sciencetest.Fabric(spines, "1"),
		Factors: []record.Factor{{Name: "hash", Role: "compare", Baseline: "policy 0"}, {Name: "flows", Role: "condition"}},
	}
	byAddress := sciencetest.Fabric(spines, "0")
	source := rand.New(rand.NewPCG(1, 2))
	for _, hash := range []string{"policy 0", "policy 1", "chosen ports"} {
		run.Factors[0].Levels = append(run.Factors[0].Levels, record.Level{Name: hash})
	}
	for _, n := range flows {
		level := fmt.Sprint(n, " flows")
		run.Factors[1].Levels = append(run.Factors[1].Levels, record.Level{Name: level})
		for _, hash := range run.Factors[0].Levels {
			name, levels := hash.Name+", "+level, map[string]string{"hash": hash.Name, "flows": level}
			run.Treatments = append(run.Treatments, record.Treatment{Name: name, Levels: levels, Baseline: hash.Name == "policy 0", Trials: 10})
			for range 10 {
				on, ports := make([]int, n), "drawn"
				for i := range on {
					switch hash.Name {
					case "policy 1":
						on[i] = place(i, source)
					case "chosen ports":
						on[i], ports = i%spines, "even"
					}
				}
				t := sciencetest.Hashed(name, spines, ports, on...)
				t.Levels = levels
				if hash.Name == "policy 0" {
					t.Topology = &byAddress
				}
				run.Trials = append(run.Trials, t)
			}
		}
	}
	return run
}

func TestFlowsFigure(t *testing.T) {
	for _, spines := range []int{2, 4} {
		byChance := func(_ int, source *rand.Rand) int { return source.IntN(spines) }
		f, ok := newView(hashed(spines, []int{1, 2, 3, 8, 32}, byChance)).flowsFigure()
		if !ok {
			t.Fatal("no figure")
		}
		if want := "4 of 4 means inside"; !strings.Contains(f.Title, want) {
			t.Errorf("title %q, want %q", f.Title, want)
		}
		if len(f.csv) != 1+3*5 || len(f.panels) != 2 {
			t.Errorf("%d lines of data, %d panels", len(f.csv), len(f.panels))
		}
		for _, row := range f.csv {
			if len(row) != len(f.csv[0]) {
				t.Errorf("%q", row)
			}
		}
		var svg bytes.Buffer
		if err := f.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"flows at once", "policy 1", "chosen ports", "links&#39; worth (992 Mbit/s each)", ">32<"} {
			if !strings.Contains(svg.String(), want) {
				t.Errorf("no %q in the figure", want)
			}
		}
	}
	// All flows on one of four links: polarised, whatever they hashed.
	stuck := func(int, *rand.Rand) int { return 3 }
	run := hashed(4, []int{8}, stuck)
	f, ok := newView(run).flowsFigure()
	if !ok || !strings.Contains(f.Title, "in 0 of 1 cases; outside the band: policy 1, 8 flows") {
		t.Errorf("title %q", f.Title)
	}
	if err := f.PNG(&bytes.Buffer{}, 1); err != nil {
		t.Error(err)
	}
	var page bytes.Buffer
	if err := HTML(&page, run); err != nil || !strings.Contains(page.String(), `<section id="flows">`) {
		t.Errorf("%v: no figure of flows on the page", err)
	}
	// A run that hashes nothing has no such figure.
	if _, ok := newView(arpFlux()).flowsFigure(); ok {
		t.Error("arp-flux has one")
	}
}

// TestAlongCurve: a run of nothing but hashed flows is shown by its curves, a line
// for each case, and its flows on their ways in the fabric.
func TestAlongCurve(t *testing.T) {
	next := 0
	// Over two links flows alternate; of four the last is never used.
	run := sciencetest.Curve([]int{2, 4}, []int{1, 2, 3, 8}, 3, func(links int) int { next++; return next % max(2, links-1) })
	conclude.Conclude(run)
	text := textOf(t, run)
	for _, want := range []string{
		"2       3       1.750      1.33–2.00", "1.990", "0 of 3    0–2", "4       8       3.600", "✗", "On each   of 2 links: 21, 21 flows, all trials together\n            of 4 links: 14, 14, 14, 0 flows",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(strings.ReplaceAll(want, "\\n", " ")), " ")) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"of limit", "Share of"} {
		if strings.Contains(text, not) {
			t.Errorf("the table of cases says it all, but there is %q too:\n%s", not, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if cells(line) > 80 {
			t.Errorf("%d cells: %s", cells(line), line)
		}
	}
	if got, want := newView(run).portsTitle(), "Each of 2 links had 50 %, each of 4 links had 0 % to 33 % of the flows"; got != want {
		t.Errorf("title of interfaces %q, want %q", got, want)
	}
	var page bytes.Buffer
	if err := HTML(&page, run); err != nil {
		t.Fatal(err)
	}
	shown := page.String()
	curves, goodput := strings.Index(shown, `<section id="flows">`), strings.Index(shown, `<section id="goodput">`)
	if curves < 0 || goodput < curves {
		t.Errorf("the curves begin at %d, the table at %d", curves, goodput)
	}
	for _, want := range []string{"Goodput over 4 links", "Chance that some of 2 links is idle", "Every case in figures", `<section id="fabric">`} {
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
		v := newView(run)
		if len(v.curves) != 2 || !v.curves[1].byChance() {
			t.Fatalf("%s: no flows were hashed: %+v", name, v.curves)
		}
		if text := textOf(t, run); v.alongCurve() || !strings.Contains(text, "of limit") {
			t.Errorf("%s: no table of treatments in\n%s", name, text)
		}
	}
}

// TestWaysFigure: every flow is a line on each link of its way, coloured by the way;
// a way that no flow took is there, what is on none is not.
func TestWaysFigure(t *testing.T) {
	run := sciencetest.Curve([]int{4}, []int{2, 5, 16}, 1, func(int) int { return 0 })
	on := []int{0, 0, 2, 3, 0}
	five := sciencetest.Hashed("4 links, 5 flows", 4, "drawn", on...)
	five.Levels, five.Topology, five.Order = run.Trials[1].Levels, run.Trials[1].Topology, run.Trials[1].Order
	run.Trials[1] = five
	run.Topology = sciencetest.Fabric(6, "1") // of which two spines have no route
	conclude.Conclude(run)
	f, ok := newView(run).waysFigure()
	if !ok || f.Title != "Flows on their ways: 3 of 4 equal ways are taken" || len(f.panels) != 1 || !strings.HasPrefix(f.panels[0].title, "4 links, 5 flows (trial 2): ") {
		t.Fatalf("%t %+v", ok, f)
	}
	var svg bytes.Buffer
	if err := f.SVG(&svg); err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]int{"s1": 2 * 3, "s2": 0, "s3": 2, "s4": 2} {
		if n := strings.Count(svg.String(), `class="k-`+role+`"`); n != want {
			t.Errorf("%d lines of colour %s, want %d", n, role, want)
		}
	}
	if !strings.Contains(svg.String(), "spine2") || strings.Contains(svg.String(), "spine5") || strings.Count(svg.String(), "stroke-dasharray") != 2 {
		t.Errorf("idle ways are not drawn as such:\n%s", svg.String())
	}
	if _, ok := newView(arpFlux()).waysFigure(); ok {
		t.Error("arp-flux has no equal ways")
	}
}
