package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

// luminance is WCAG 2's relative luminance.
func luminance(hex string) float64 {
	var c [3]uint8
	fmt.Sscanf(hex, "#%02x%02x%02x", &c[0], &c[1], &c[2])
	weights, sum := [3]float64{0.2126, 0.7152, 0.0722}, 0.0
	for i, v := range c {
		x := float64(v) / 255
		if x <= 0.04045 {
			x /= 12.92
		} else {
			x = math.Pow((x+0.055)/1.055, 2.4)
		}
		sum += weights[i] * x
	}
	return sum
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestWordsCanBeRead(t *testing.T) {
	for _, role := range []Role{Ink, Muted, Change, Limit, Series1, Series2, Series3, Series4, Series6} {
		p := palette[role]
		if c := contrast(p.light, palette[Paper].light); c < 4.5 {
			t.Errorf("%s on light paper: contrast %.1f", p.name, c)
		}
		if c := contrast(p.dark, palette[Paper].dark); c < 4.5 {
			t.Errorf("%s on dark paper: contrast %.1f", p.name, c)
		}
	}
	for role, p := range palette {
		if p.name == "" || len(p.light) != 7 || len(p.dark) != 7 {
			t.Errorf("role %d has no colours: %+v", role, p)
		}
		if !strings.Contains(Variables(false), "--"+p.name+":"+p.light+";") ||
			!strings.Contains(Classes(), ".f-"+p.name+"{") {
			t.Errorf("%s is missing in the style", p.name)
		}
	}
}

func example() *Drawing {
	d := New(100, 60)
	d.Rect(10, 10, 20, 20, Change).Tip(`a "tip" & <more>`)
	d.Line(Limit, 2, Point{0, 50}, Point{50, 30}, Point{100, 50}).Dash()
	d.Circle(Point{70, 20}, 5, Ink)
	d.Text(50, 20, "<&>\x00\x1b", Style{Size: 10, Anchor: Middle, Bold: true})
	return d
}

func TestSVGIsXML(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"file":   func(w io.Writer) error { return writeSVG(w, example(), `label "&"`) },
		"inline": func(w io.Writer) error { return InlineSVG(w, example(), `label "&"`, "wide") },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&b)
		var elements []string
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if s, ok := token.(xml.StartElement); ok {
				elements = append(elements, s.Name.Local)
			}
		}
		want := "svg polygon title polyline circle text"
		if name == "file" {
			want = "svg style rect polygon title polyline circle text"
		}
		if got := strings.Join(elements, " "); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
	bad := New(10, 10)
	bad.Line(Ink, 1, Point{math.NaN(), 1}, Point{math.Inf(1), 2})
	var b bytes.Buffer
	if err := writeSVG(&b, bad, ""); err != nil || strings.Contains(b.String(), "NaN") ||
		strings.Contains(b.String(), "Inf") {
		t.Errorf("%v: %s", err, b.String())
	}
	if err := writePNG(io.Discard, bad, 1); err != nil {
		t.Error(err)
	}
}

func TestPNGShowsWhatWasDrawn(t *testing.T) {
	var b bytes.Buffer
	if err := writePNG(&b, example(), 2); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	at := func(x, y int) string {
		r, g, b, _ := m.At(x, y).RGBA()
		return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	for _, c := range []struct {
		x, y int
		role Role
	}{{40, 40, Change}, {140, 40, Ink}, {4, 4, Paper}, {198, 4, Paper}} {
		if got := at(c.x, c.y); got != palette[c.role].light {
			t.Errorf("%d,%d is %s, expected %s", c.x, c.y, got, palette[c.role].light)
		}
	}
}

// A joint of a thin line must not be darker or wider than the line itself.
func TestJointsDoNotShow(t *testing.T) {
	d := New(100, 20)
	var points []Point
	for x := 5.0; x <= 95; x += 5 {
		points = append(points, Point{x, 10.5})
	}
	d.Line(Ink, 1.5, points...)
	var b bytes.Buffer
	if err := writePNG(&b, d, 1); err != nil {
		t.Fatal(err)
	}
	m, _ := png.Decode(&b)
	for y := 8; y < 14; y++ {
		for x := 10; x < 90; x++ {
			if m.At(x, y) != m.At(12, y) {
				t.Fatalf("%d,%d differs from the rest of the line: %v, %v", x, y, m.At(x, y), m.At(12, y))
			}
		}
	}
}

func TestDashes(t *testing.T) {
	got := dashes([]Point{{0, 0}, {10, 0}, {10, 13}}, 5, 4)
	want := [][]Point{{{0, 0}, {5, 0}}, {{9, 0}, {10, 0}, {10, 4}}, {{10, 8}, {10, 13}}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, expected %v", got, want)
	}
}

func TestWrapAndFit(t *testing.T) {
	text := "arp_ignore=1 + arp_announce=2 with source routing"
	for _, width := range []float64{60, 100, 200, 1000} {
		lines := Wrap(text, width, 12, false, 2)
		if len(lines) > 2 {
			t.Errorf("%d lines at %g", len(lines), width)
		}
		for _, line := range lines {
			if TextWidth(line, 12, false) > width {
				t.Errorf("%q is wider than %g", line, width)
			}
		}
	}
	if got := Fit("short", 500, 12, false); got != "short" {
		t.Error(got)
	}
	if got := Fit("does not fit", 0, 12, false); got != "…" {
		t.Error(got)
	}
	if TextWidth("日本", 10, false) < 20 {
		t.Error("a glyph of another font has no width")
	}
}

func TestPlace(t *testing.T) {
	inner, outer := example(), New(200, 200)
	outer.Place(100, 10, inner)
	if outer.shapes[0].points[0] != (Point{110, 20}) || inner.shapes[0].points[0] != (Point{10, 10}) {
		t.Errorf("placed at %v, original at %v", outer.shapes[0].points[0], inner.shapes[0].points[0])
	}
}
