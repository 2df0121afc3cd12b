package figure

import (
	"fmt"
	"image/color"
	"strings"
)

// tone is a role's name in CSS and its colours on light and dark pages. The hues are those of Okabe
// and Ito, which colour-blind readers can distinguish, darkened for light pages until text in them
// has a contrast of at least 4.5.
type tone struct{ name, light, dark string }

var palette = [roles]tone{
	Ink:     {"ink", "#1a1d21", "#e8eaed"},
	Muted:   {"muted", "#59626c", "#a3acb6"},
	Faint:   {"faint", "#d5dbe1", "#3a4149"},
	Paper:   {"paper", "#ffffff", "#14171a"},
	Box:     {"panel", "#f3f5f7", "#1e2227"},
	Base:    {"base", "#87919c", "#8a95a1"},
	Change:  {"change", "#0069a8", "#56b4e9"},
	Limit:   {"limit", "#b54a00", "#f2994a"},
	Series1: {"s1", "#0069a8", "#56b4e9"},
	Series2: {"s2", "#00775b", "#2cc295"},
	Series3: {"s3", "#9c4280", "#dc92bf"},
	Series4: {"s4", "#6d6a00", "#d8d15c"},
	Series5: {"s5", "#2f86c5", "#9bd5f7"},
	Series6: {"s6", "#59626c", "#a3acb6"},
}

// Variables returns the palette as CSS custom properties.
func Variables(dark bool) string {
	var b strings.Builder
	for _, t := range palette {
		value := t.light
		if dark {
			value = t.dark
		}
		fmt.Fprintf(&b, "--%s:%s;", t.name, value)
	}
	return b.String()
}

// Classes returns the CSS that colours the shapes of inline SVG by the variables.
func Classes() string {
	return classes(func(t tone) string { return "var(--" + t.name + ")" })
}

func classes(value func(tone) string) string {
	var b strings.Builder
	for _, t := range palette {
		fmt.Fprintf(&b, ".f-%s{fill:%s}.k-%s{stroke:%s;fill:none}", t.name, value(t), t.name, value(t))
	}
	return b.String()
}

func (r Role) light() color.NRGBA {
	var c color.NRGBA
	c.A = 0xff
	fmt.Sscanf(palette[r].light, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}
