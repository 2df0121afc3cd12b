package report

import (
	"fmt"
	"io"
	"math"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
)

// Figure is one figure of a run. It is described once, for any width, and
// written as SVG or PNG.
type Figure struct {
	// Name is what the figure is called on a command line.
	Name string
	// Title says what the figure shows, in this run.
	Title string

	panels []panel
	// note explains marks that are not labelled themselves.
	note string
	csv  [][]string
}

// panel is one part of a figure, such as one condition.
type panel struct {
	title string
	draw  func(width float64) *figure.Drawing
}

// Sizes of figures in pixels: a page's column, a phone's, and between panels.
const (
	wideFigure   = 1040.0
	narrowFigure = 350.0
	panelGap     = 36.0
	figureMargin = 24.0
)

// Text sizes in figures.
const (
	sizeTitle = 18.0
	sizePanel = 14.0
	sizeText  = 12.5
	sizeSmall = 11.5
)

// Figures lists the figures that the run has data for.
func Figures(run *record.Run) []Figure { return newView(run).figuresOf() }

func (v *view) figuresOf() []Figure {
	var out []Figure
	flows, hashed := v.flowsFigure()
	if hashed && v.alongCurve() { // what the answer is about comes first
		out = append(out, flows)
	}
	for _, m := range v.measures {
		if f, ok := v.responseFigure(m); ok {
			out = append(out, f)
		}
	}
	if hashed && !v.alongCurve() {
		out = append(out, flows)
	}
	for _, make := range []func() (Figure, bool){v.accountsFigure, v.effectsFigure, v.predictedFigure, v.portsFigure, v.topologyFigure, v.waysFigure, v.seriesFigure} {
		if f, ok := make(); ok {
			out = append(out, f)
		}
	}
	return out
}

// panelWidth is how wide each panel is drawn on a page's column.
func (f Figure) panelWidth() float64 {
	if len(f.panels) == 1 {
		return wideFigure
	}
	return (wideFigure - panelGap) / 2
}

// noteLines is how many lines a figure's note may take.
const noteLines = 8

// compose puts title and panels on one drawing, two panels beside each other.
func (f Figure) compose() *figure.Drawing {
	d := figure.New(wideFigure+2*figureMargin, 0)
	y := figureMargin + sizeTitle
	for _, line := range figure.Wrap(plain(f.Title), wideFigure, sizeTitle, true, 3) {
		d.Text(figureMargin, y, line, figure.Style{Size: sizeTitle, Bold: true})
		y += sizeTitle * 1.35
	}
	width := f.panelWidth()
	for i := 0; i < len(f.panels); i += 2 {
		tallest := 0.0
		for k := i; k < min(i+2, len(f.panels)); k++ {
			x := figureMargin + float64(k-i)*(width+panelGap)
			top := y + 8
			if title := f.panels[k].title; title != "" {
				d.Text(x, top+sizePanel, figure.Fit(plain(title), width, sizePanel, true), figure.Style{Size: sizePanel, Bold: true})
				top += sizePanel + 12
			}
			part := f.panels[k].draw(width)
			d.Place(x, top, part)
			tallest = max(tallest, top+part.Height-y)
		}
		y += tallest + 14
	}
	if f.note != "" {
		for _, line := range figure.Wrap(plain(f.note), wideFigure, sizeSmall, false, noteLines) {
			d.Text(figureMargin, y+6, line, figure.Style{Size: sizeSmall, Role: figure.Muted})
			y += 18
		}
	}
	d.Height = y + figureMargin/2
	return d
}

// SVG writes the figure as a file of its own.
func (f Figure) SVG(w io.Writer) error {
	if err := figure.SVG(w, f.compose(), f.Title); err != nil {
		return fmt.Errorf("write figure %s as SVG: %w", f.Name, err)
	}
	return nil
}

// PNG writes the figure as a picture; at scale 1 it is about 1,100 pixels wide.
func (f Figure) PNG(w io.Writer, scale float64) error {
	if err := figure.PNG(w, f.compose(), scale); err != nil {
		return fmt.Errorf("write figure %s as PNG: %w", f.Name, err)
	}
	return nil
}

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
func (v *view) nameColumn(width float64) (room float64, names [][]string, height float64) {
	widest, lines := 0.0, 2
	if width < wideFigure/2-panelGap {
		lines = 3
	}
	for _, r := range v.rows {
		widest = max(widest, figure.TextWidth(plain(r.name), sizeText, false))
	}
	room = min(widest+2, width*0.34)
	most := 1
	for _, r := range v.rows {
		names = append(names, figure.Wrap(plain(r.name), room, sizeText, false, lines))
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
