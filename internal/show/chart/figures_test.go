package chart

import (
	"bytes"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestPicturesHaveTheirSize(t *testing.T) {
	for _, f := range Figures(view.New(showtest.ArpFlux())) {
		d := f.Compose()
		for _, scale := range []float64{0.5, 1} {
			var b bytes.Buffer
			if err := f.WritePNG(&b, scale); err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(&b)
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			size := picture.Bounds().Size()
			if dx, dy := float64(size.X)-d.Width*scale, float64(size.Y)-d.Height*scale; dx < 0 || dx >= 1 ||
				dy < 0 || dy >= 1 {
				t.Errorf("%s at %g: %v for a drawing of %g × %g", f.Name, scale, size, d.Width, d.Height)
			}
			if r, g, bl, a := picture.At(1, 1).RGBA(); r&g&bl&a != 0xffff {
				t.Errorf("%s: the corner is not white", f.Name)
			}
		}
		for _, scale := range []float64{0, -1, 1000} {
			if err := f.WritePNG(io.Discard, scale); err == nil ||
				!strings.Contains(err.Error(), "expected a positive scale") {
				t.Errorf("%s at scale %g: %v", f.Name, scale, err)
			}
		}
	}
}

func TestFigureGolden(t *testing.T) {
	for _, f := range Figures(view.New(showtest.ArpFlux())) {
		if f.Name != "goodput" && f.Name != "topology" {
			continue
		}
		var b bytes.Buffer
		if err := f.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", f.Name+".svg")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s differs from %s: look at both, and go test -update when the change is meant", f.Name, path)
		}
	}
}

// TestCaptions: a figure names intervals only where one is drawn, and says of an unknown
// limit why it is unknown.
func TestCaptions(t *testing.T) {
	for _, blocks := range []int{1, 4} {
		run := sciencetest.Few(blocks, 4, 0)
		for i := range run.Trials {
			run.Trials[i].LimitBps, run.Trials[i].LimitWhy = 0,
				"unknown: neither end's interface has hardware that reports a speed"
			run.Trials[i].GoodputBps *= 1 - 0.01*float64(i)
		}
		conclude.Conclude(run)
		var b strings.Builder
		if err := Figures(view.New(run))[0].WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "intervals 95 %"); got != (blocks > 1) {
			t.Errorf("%d trials: intervals %v", blocks, got)
		}
		if want := "limit unknown: neither end"; !strings.Contains(b.String(), want) ||
			strings.Contains(b.String(), "no link of the path") {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
}
