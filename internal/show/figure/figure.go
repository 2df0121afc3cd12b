package figure

import (
	"fmt"
	"io"

	"linerate/internal/model/plain"
)

// Figure is a titled drawing of one or more panels. It is described once for any width, and written
// as SVG or PNG.
type Figure struct {
	Name  string // on the command line and in the name of the data's file
	Title string // what it shows in this run
	// Panels are the parts, for example one for each condition.
	Panels []Panel
	Note   string     // explains marks without a label
	Data   [][]string // the drawn data: the names of the columns first, then unrounded values
}

// Panel is a part of a figure.
type Panel struct {
	Title string
	Draw  func(width float64) *Drawing
}

// Widths of figures in pixels: a page's column, a phone's, and the gap between panels.
const (
	Wide   = 1040.0
	Narrow = 350.0
	Gap    = 36.0
)

const (
	margin    = 24.0
	sizeTitle = 18.0
	sizePanel = 14.0
	sizeNote  = 11.5
	noteLines = 8 // maximum number of lines of a note
)

// PanelWidth returns the width of each panel on a page.
func (f Figure) PanelWidth() float64 {
	if len(f.Panels) == 1 {
		return Wide
	}
	return (Wide - Gap) / 2
}

// Compose returns title and panels in one drawing, two panels side by side.
func (f Figure) Compose() *Drawing {
	d := New(Wide+2*margin, 0)
	y := margin + sizeTitle
	for _, line := range Wrap(plain.Line(f.Title), Wide, sizeTitle, true, 3) {
		d.Text(margin, y, line, Style{Size: sizeTitle, Bold: true})
		y += sizeTitle * 1.35
	}
	width := f.PanelWidth()
	for i := 0; i < len(f.Panels); i += 2 {
		tallest := 0.0
		for k := i; k < min(i+2, len(f.Panels)); k++ {
			x := margin + float64(k-i)*(width+Gap)
			top := y + 8
			if title := f.Panels[k].Title; title != "" {
				d.Text(x, top+sizePanel, Fit(plain.Line(title), width, sizePanel, true),
					Style{Size: sizePanel, Bold: true})
				top += sizePanel + 12
			}
			part := f.Panels[k].Draw(width)
			d.Place(x, top, part)
			tallest = max(tallest, top+part.Height-y)
		}
		y += tallest + 14
	}
	if f.Note != "" {
		for _, line := range Wrap(plain.Line(f.Note), Wide, sizeNote, false, noteLines) {
			d.Text(margin, y+6, line, Style{Size: sizeNote, Role: Muted})
			y += 18
		}
	}
	d.Height = y + margin/2
	return d
}

// WriteSVG writes the figure as an SVG file.
func (f Figure) WriteSVG(w io.Writer) error {
	if err := writeSVG(w, f.Compose(), f.Title); err != nil {
		return fmt.Errorf("write figure %s as SVG: %w", f.Name, err)
	}
	return nil
}

// WritePNG writes the figure as a PNG file. At scale 1 it is about 1,100 pixels wide.
func (f Figure) WritePNG(w io.Writer, scale float64) error {
	if err := writePNG(w, f.Compose(), scale); err != nil {
		return fmt.Errorf("write figure %s as PNG: %w", f.Name, err)
	}
	return nil
}
