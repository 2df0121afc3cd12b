package figure

import (
	"fmt"
	"io"

	"linerate/internal/model/plain"
)

// Figure is a titled drawing of one or more panels. It is described once, for
// any width, and written as SVG or PNG.
type Figure struct {
	Name  string // on a command line, and of its data's file
	Title string // what it shows, in this run
	// Panels are the parts, such as one for each condition.
	Panels []Panel
	Note   string     // explains marks that are not labelled themselves
	Data   [][]string // what is drawn, the columns' names first; all digits
}

// Panel is one part of a figure.
type Panel struct {
	Title string
	Draw  func(width float64) *Drawing
}

// Widths of figures in pixels: a page's column, a phone's, and between panels.
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
	noteLines = 8 // that a note may take
)

// PanelWidth is how wide each panel is drawn on a page's column.
func (f Figure) PanelWidth() float64 {
	if len(f.Panels) == 1 {
		return Wide
	}
	return (Wide - Gap) / 2
}

// Compose puts title and panels on one drawing, two panels beside each other.
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

// WriteSVG writes the figure as a file of its own.
func (f Figure) WriteSVG(w io.Writer) error {
	if err := writeSVG(w, f.Compose(), f.Title); err != nil {
		return fmt.Errorf("write figure %s as SVG: %w", f.Name, err)
	}
	return nil
}

// WritePNG writes the figure as a picture; at scale 1 it is about 1,100 pixels wide.
func (f Figure) WritePNG(w io.Writer, scale float64) error {
	if err := writePNG(w, f.Compose(), scale); err != nil {
		return fmt.Errorf("write figure %s as PNG: %w", f.Name, err)
	}
	return nil
}
