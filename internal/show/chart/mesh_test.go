package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"
	"testing"

	"linerate/internal/show/figure"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

// svgOf draws the matrix of a mesh of n hosts.
func svgOf(t *testing.T, n int, width float64) string {
	t.Helper()
	var b bytes.Buffer
	if err := figure.InlineSVG(&b, drawMatrix(view.NewMesh(showtest.Mesh(n)), width), "", ""); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMatrixNamesSuspects(t *testing.T) {
	for n, suspect := range map[int]string{12: "h7", 64: "h59", 500: "h495"} {
		for _, width := range []float64{figure.Wide, figure.Narrow} {
			svg := svgOf(t, n, width)
			if !strings.Contains(svg, `font-weight="600">`+suspect+"<") {
				t.Errorf("%d hosts, %g pixels: the matrix does not name %s", n, width, suspect)
			}
			if wide := widthOf(t, svg); wide > width {
				t.Errorf("%d hosts: %g pixels wide, %g permitted", n, wide, width)
			}
		}
	}
	if svg := svgOf(t, 12, figure.Wide); !strings.Contains(svg, "<title>h1 → h7: 4.6") {
		t.Error("a pair of twelve hosts has no tip with its value")
	}
}

// widthOf returns the right end of the rectangles and images of a drawing.
func widthOf(t *testing.T, svg string) (right float64) {
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return right
		}
		if err != nil {
			t.Fatal(err)
		}
		start, is := token.(xml.StartElement)
		if !is || start.Name.Local != "image" && start.Name.Local != "rect" {
			continue
		}
		var x, width float64
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "x":
				fmt.Sscan(a.Value, &x)
			case "width":
				fmt.Sscan(a.Value, &width)
			}
		}
		right = max(right, x+width)
	}
}

// A page has two drawings of the matrix: the picture must not grow to megabytes.
func TestMatrixIsSmall(t *testing.T) {
	if n := len(svgOf(t, 500, figure.Wide)); n > 100_000 {
		t.Errorf("the matrix of 500 hosts has %d bytes", n)
	}
}

// A reader who does not distinguish hues sees by the brightness which pairs are slower.
func TestPairColoursByBrightness(t *testing.T) {
	for name, paper := range map[string]float64{"light": 1, "dark": 0.01} {
		last := math.NaN()
		for _, quality := range []float64{1, 0.9, 0.7, 0.4, 0.1} {
			c := pairColours[pairColour(quality)].(color.NRGBA)
			alpha := float64(c.A) / 255
			mixed := alpha*(0.2126*linearOf(c.R)+0.7152*linearOf(c.G)+0.0722*linearOf(c.B)) + (1-alpha)*paper
			distance := math.Abs(mixed - paper)
			if !math.IsNaN(last) && quality < 0.95 && quality != 0.9 && distance <= last {
				t.Errorf("on %s paper a pair of %g of the typical one is not stronger than a faster one", name, quality)
			}
			last = distance
		}
	}
	if pairColour(math.NaN()) != pairUnmeasured || pairColour(0) != pairFailed || pairColour(2) != pairColour(1) {
		t.Error("pairs that were not measured, failed or are faster than others have other colours")
	}
}

func linearOf(v uint8) float64 { return math.Pow(float64(v)/255, 2.2) }
