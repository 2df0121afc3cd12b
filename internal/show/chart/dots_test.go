package chart

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/figure"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

// TestDotPlot: no dot covers another while there is room for all, none is beyond the room,
// and none is moved along the axis by more than its radius.
func TestDotPlot(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	for name, next := range map[string]func() float64{
		"equal":   func() float64 { return 100 },
		"close":   func() float64 { return 100 + 4*source.Float64() },
		"spread":  func() float64 { return 400 * source.Float64() },
		"two":     func() float64 { return 100 + 100*float64(source.IntN(2)) },
		"outlier": func() float64 { return 100 + 50*float64(source.IntN(20)/19) },
	} {
		for _, n := range []int{1, 2, 4, 12, 64} {
			values := make([]float64, n)
			for i := range values {
				values[i] = next()
			}
			for _, room := range []float64{6, 22, 1000} {
				d := dotPlotOf(values, room)
				of := fmt.Sprintf("%s, %d dots in %g pixels", name, n, room)
				for i, v := range values {
					if math.Abs(d.at[i]-v) > d.radius+0.2 || d.away[i]-d.radius < -1e-9 ||
						d.away[i]+d.radius > max(room, 2*d.radius)+1e-9 {
						t.Errorf("%s: %g is drawn at %g, %g", of, v, d.at[i], d.away[i])
					}
					for k := range i {
						gap := math.Hypot(d.at[i]-d.at[k], d.away[i]-d.away[k])
						if gap < 1e-9 || room == 1000 && gap < d.radius {
							t.Errorf("%s: dots %d and %d are %g apart", of, i, k, gap)
						}
					}
				}
			}
		}
	}
}

var trialTip = regexp.MustCompile(`trial (\d+) in block \d+: `)

// TestTrialsAreDrawn: every trial has a dot in the figure of each response, on a page and
// on a phone, and every block in the figure of effects.
func TestTrialsAreDrawn(t *testing.T) {
	for name, run := range map[string]*record.Run{"arp-flux": showtest.ArpFlux(),
		"loaded": showtest.Variants()["loaded"], "lossy": showtest.Variants()["lossy"]} {
		v := view.New(run)
		for _, f := range Figures(v) {
			for _, width := range []float64{figure.Wide, figure.Narrow} {
				found, blocks := map[string]bool{}, 0
				for _, p := range f.Panels {
					var b bytes.Buffer
					if err := figure.InlineSVG(&b, p.Draw(width), "", ""); err != nil {
						t.Fatal(err)
					}
					for _, m := range trialTip.FindAllStringSubmatch(b.String(), -1) {
						found[m[1]] = true
					}
					blocks += strings.Count(b.String(), " in one block: ")
				}
				i := slices.IndexFunc(v.Measures, func(m *view.Measure) bool { return m.Name == f.Name })
				want := 0
				if i >= 0 {
					for _, list := range v.Measures[i].Trials {
						want += len(list)
					}
				}
				if len(found) != want {
					t.Errorf("%s, %s at %g pixels: %d trials are drawn, want %d", name, f.Name, width, len(found), want)
				}
				if want := 0; f.Name == "effects" {
					for _, e := range run.Effects {
						want += e.Blocks
					}
					if blocks != want {
						t.Errorf("%s, effects at %g pixels: %d blocks are drawn, want %d", name, width, blocks, want)
					}
				}
			}
		}
	}
}

// TestOutliersHaveRings: a trial that stands apart has a ring, and what was seen in it.
func TestOutliersHaveRings(t *testing.T) {
	run := sciencetest.Levels("bit/s", 1e9, []string{""}, []string{"plain", "tuned"},
		func(_, _ string, block int) float64 { return 9e8 + 1e6*float64(block) }, 4)
	run.Trials[2].GoodputBps = 4e8
	conclude.Conclude(run)
	run.Outliers = []record.Outlier{{Response: "goodput", Treatment: "plain", Block: 2, Order: 3, Value: 4e8,
		Others: 9.03e8, Saw: []string{"a hypervisor took 34 %"}}}
	for _, f := range Figures(view.New(run)) {
		if f.Name != "goodput" {
			continue
		}
		var b bytes.Buffer
		if err := f.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"trial 3 in block 2: 0.4000 Gbit/s, apart from the others (0.9030 Gbit/s): a hypervisor took 34 %",
			`<circle class="f-limit"`, "a ring marks"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("the figure lacks %q", want)
			}
		}
		return
	}
	t.Error("no figure of goodput")
}
