package present

import (
	"math"

	"linerate/internal/show/figure"
)

// Text sizes in charts, in pixels.
const (
	sizeText  = 12.5
	sizeSmall = 11.5
)

// ticks are round numbers from 0 to at most high, about n of them.
func ticks(high float64, n int) []float64 {
	if !(high > 0) || math.IsInf(high, 0) {
		return []float64{0}
	}
	step := math.Pow(10, math.Floor(math.Log10(high/float64(n))))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if step*m >= high/float64(n) {
			step *= m
			break
		}
	}
	var out []float64
	for i := 0; float64(i)*step <= high*1.0001; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

// tickLabels spells ticks with the places their step needs.
func tickLabels(values []float64) []string {
	places := 0
	if len(values) > 1 {
		for step := values[1]; places < 6 && math.Abs(step-math.Round(step)) > 1e-6*step; places++ {
			step *= 10
		}
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = round(v, places)
	}
	return out
}

// nameColumn is the width that the rows' names get, each name's lines, and the
// height of a row that holds them.
func nameColumn(v *view, width float64) (room float64, names [][]string, height float64) {
	widest, lines := 0.0, 2
	if width < figure.Wide/2-figure.Gap {
		lines = 3
	}
	for _, r := range v.rows {
		widest = max(widest, figure.TextWidth(figure.Plain(r.name), sizeText, false))
	}
	room = min(widest+2, width*0.34)
	most := 1
	for _, r := range v.rows {
		names = append(names, figure.Wrap(figure.Plain(r.name), room, sizeText, false, lines))
		most = max(most, len(names[len(names)-1]))
	}
	return room, names, 10 + sizeText*1.16*float64(most)
}

// drawName sets a row's name centred on y.
func drawName(d *figure.Drawing, lines []string, x, y float64, tip string) {
	y += sizeText*0.36 - float64(len(lines)-1)*sizeText*0.58
	for _, line := range lines {
		d.Text(x, y, line, figure.Style{Size: sizeText}).Tip(tip)
		y += sizeText * 1.16
	}
}
