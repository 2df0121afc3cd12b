package chart

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

func TestFlowsFigure(t *testing.T) {
	for _, spines := range []int{2, 4} {
		byChance := func(_ int, source *rand.Rand) int { return source.IntN(spines) }
		run := hashedRun(spines, []int{1, 2, 3, 8, 32}, byChance)
		conclude.Conclude(run)
		f, ok := flowsFigure(view.New(run))
		if !ok {
			t.Fatal("no figure")
		}
		if want := "4 of 4 means inside"; !strings.Contains(f.Title, want) {
			t.Errorf("title %q, want %q", f.Title, want)
		}
		if len(f.Data) != 1+3*5 || len(f.Panels) != 2 {
			t.Errorf("%d lines of data, %d panels", len(f.Data), len(f.Panels))
		}
		for _, row := range f.Data {
			if len(row) != len(f.Data[0]) {
				t.Errorf("%q", row)
			}
		}
		var svg bytes.Buffer
		if err := f.WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"flows at once", "policy 1", "chosen ports",
			"links&#39; worth (992 Mbit/s each)", ">32<"} {
			if !strings.Contains(svg.String(), want) {
				t.Errorf("no %q in the figure", want)
			}
		}
	}
	// All flows on one of four links: polarised, whatever they hashed.
	stuck := func(int, *rand.Rand) int { return 3 }
	run := hashedRun(4, []int{8}, stuck)
	conclude.Conclude(run)
	f, ok := flowsFigure(view.New(run))
	if !ok || !strings.Contains(f.Title, "in 0 of 1 cases; outside the band: policy 1, 8 flows") {
		t.Errorf("title %q", f.Title)
	}
	if err := f.WritePNG(&bytes.Buffer{}, 1); err != nil {
		t.Error(err)
	}
	// A run that hashes nothing has no such figure.
	if _, ok := flowsFigure(view.New(showtest.ArpFlux())); ok {
		t.Error("arp-flux has one")
	}
}

// TestPathsFigure: every flow is a line on each link of its path, coloured by the path;
// a path that no flow took is there, what is on none is not.
func TestPathsFigure(t *testing.T) {
	run := sciencetest.Curve([]int{4}, []int{2, 5, 16}, 1, func(int) int { return 0 })
	on := []int{0, 0, 2, 3, 0}
	five := sciencetest.Hashed("4 links, 5 flows", 4, "drawn", on...)
	five.Levels, five.Topology, five.Order = run.Trials[1].Levels, run.Trials[1].Topology, run.Trials[1].Order
	run.Trials[1] = five
	run.Topology = sciencetest.Fabric(6, "1") // of which two spines have no route
	conclude.Conclude(run)
	f, ok := pathsFigure(view.New(run))
	if !ok || f.Title != "Flows on their paths: 3 of 4 equal-cost paths are used" || len(f.Panels) != 1 ||
		!strings.HasPrefix(f.Panels[0].Title, "4 links, 5 flows (trial 2): ") {
		t.Fatalf("%t %+v", ok, f)
	}
	var svg bytes.Buffer
	if err := f.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]int{"s1": 2 * 3, "s2": 0, "s3": 2, "s4": 2} {
		if n := strings.Count(svg.String(), `class="k-`+role+`"`); n != want {
			t.Errorf("%d lines of colour %s, want %d", n, role, want)
		}
	}
	if !strings.Contains(svg.String(), "spine2") || strings.Contains(svg.String(), "spine5") ||
		strings.Count(svg.String(), "stroke-dasharray") != 2 {
		t.Errorf("idle paths are not drawn as such:\n%s", svg.String())
	}
	if _, ok := pathsFigure(view.New(showtest.ArpFlux())); ok {
		t.Error("arp-flux has no equal-cost paths")
	}
}

// TestAccountsFigure: what was received, said, predicted and published are curves over
// the aliases, the last of a row on top of the other; a factor of names has none.
func TestAccountsFigure(t *testing.T) {
	run := sciencetest.Aliases(3, 2, sciencetest.Limit*0.0006, 1.03)
	conclude.Conclude(run)
	v := view.New(run)
	list, limit := accounts(v, run.Factors[1])
	if limit != sciencetest.Limit || len(list) != 5 {
		t.Fatalf("%d curves, limit %g", len(list), limit)
	}
	for i, want := range []struct {
		name   string
		points int
		dash   bool
	}{{"received", 3, false}, {"iperf says", 3, false}, {"predicted", 3, true}, {"counted at the last write", 3, false},
		{"a-table, tcp", 3, true}} {
		if a := list[i]; a.name != want.name || len(a.points) != want.points || a.dash != want.dash {
			t.Errorf("%+v, want %+v", a, want)
		}
	}
	if last := list[1].points[2]; last.x != 254 || last.bps < sciencetest.Limit*1.1 {
		t.Errorf("%+v", last)
	}
	f, ok := accountsFigure(v)
	if !ok || !strings.HasPrefix(f.Title, "At 254 aliases: iperf says") || len(f.Data) != 16 {
		t.Errorf("%t %q, %d lines", ok, f.Title, len(f.Data))
	}
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil || !strings.Contains(b.String(), "limit of the published link") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if list, _ := accounts(v, run.Factors[2]); list != nil {
		t.Errorf("names have no distance: %+v", list)
	}
}

// hashedRun is a run over so many spines: policy 0, where all flows share a link,
// policy 1, where chance places them, and chosen ports.
func hashedRun(spines int, flows []int, place func(flow int, source *rand.Rand) int) *record.Run {
	run := &record.Run{
		Study: "ecmp-hash", Confidence: 0.95, Margin: 0.02, Topology: sciencetest.Fabric(spines, "1"),
		Factors: []record.Factor{{Name: "hash", Role: "compare", Baseline: "policy 0"},
			{Name: "flows", Role: "condition"}},
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
			run.Treatments = append(run.Treatments, record.Treatment{Name: name, Levels: levels,
				Baseline: hash.Name == "policy 0", Trials: 10})
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
