package chart

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/mesh"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// The colours of pairs are transparent or opaque enough to be distinguished on a light and on a dark
// page, with the hues of figure's palette: the slower a pair, the stronger its orange.
var (
	pairColours = color.Palette{color.NRGBA{}, // not measured
		color.NRGBA{0x00, 0x72, 0xb2, 0xff}, color.NRGBA{0xd5, 0x5e, 0x00, 0xff}, color.NRGBA{0xd5, 0x5e, 0x00, 0xb8},
		color.NRGBA{0xd5, 0x5e, 0x00, 0x78}, color.NRGBA{0xd5, 0x5e, 0x00, 0x40}, color.NRGBA{0x7f, 0x8c, 0x99, 0x38}}
	// pairBounds are the least qualities (view.Mesh.Quality) of the colours from pairSlowest on.
	pairBounds = []float64{0, 0.25, 0.5, 0.8, 0.95}
)

// Places in pairColours.
const (
	pairUnmeasured = iota
	pairFailed
	pairSlowest
)

// pairColour returns the place of a pair's colour in pairColours.
func pairColour(quality float64) uint8 {
	if math.IsNaN(quality) {
		return pairUnmeasured
	}
	if quality == 0 {
		return pairFailed
	}
	i := len(pairBounds) - 1
	for quality < pairBounds[i] {
		i--
	}
	return uint8(pairSlowest + i)
}

// pairLegend returns the meaning of each of pairColours.
func pairLegend(m *view.Mesh) []string {
	slow, best := "%d to %d %%", "%d %% or more of %s"
	typical := m.Spell(view.MeshPair{Measured: true, Value: m.Typical})
	if m.Latency {
		return []string{"not measured", "failed", "more than 4 × " + typical, "2 to 4 ×", "1.25 to 2 ×",
			"1.05 to 1.25 ×",
			"up to 1.05 × " + typical}
	}
	return []string{"not measured", "failed", "less than 25 %", fmt.Sprintf(slow, 25, 50), fmt.Sprintf(slow, 50, 80),
		fmt.Sprintf(slow, 80, 95), fmt.Sprintf(best, 95, typical)}
}

// MeshFigures returns the figures of a mesh: the matrix of its pairs, and the distribution of what
// its hosts send and receive. Nil: no pair was measured.
func MeshFigures(m *view.Mesh) []figure.Figure {
	if m.Typical == 0 {
		return nil
	}
	return []figure.Figure{
		{Name: "matrix", Title: "Every pair: rows send, columns receive", Data: pairData(m),
			Panels: []figure.Panel{{Draw: func(width float64) *figure.Drawing { return drawMatrix(m, width) }}},
			Note:   matrixNote(m)},
		{Name: "hosts", Title: "What each host sends to its peers, and receives from them",
			Panels: []figure.Panel{
				{Title: "sends", Draw: func(width float64) *figure.Drawing { return drawHosts(m, width, false) }},
				{Title: "receives", Draw: func(width float64) *figure.Drawing { return drawHosts(m, width, true) }}},
			Note: "One dot for each host: the median of its pairs."},
	}
}

// mostData is up to how many pairs a page contains the data of its matrix.
const mostData = 10_000

// pairData returns a row for each pair that was measured. Nil: there are too many for a page.
func pairData(m *view.Mesh) [][]string {
	data := [][]string{{"from", "to", "from_rack", "to_rack", m.Unit()}}
	for i, row := range m.Pairs {
		for j, p := range row {
			if p.Measured {
				data = append(data, []string{m.Hosts[i].Name, m.Hosts[j].Name, m.Hosts[i].Rack, m.Hosts[j].Rack,
					number.Exact(p.Value)})
			}
		}
	}
	if len(data) > mostData {
		return nil
	}
	return data
}

func matrixNote(m *view.Mesh) string {
	note := "Hosts of a rack are together."
	if !slices.ContainsFunc(m.Hosts, func(h mesh.Host) bool { return h.Rack != "" }) {
		note = "Hosts in the order of their names."
	}
	if len(m.Hosts) > int(figure.Narrow) {
		note += " Where there is no room for every pair, the slowest of some stands for them."
	}
	if n := len(m.Hosts); n*(n-1) > mostData {
		note += " linerate export " + m.Run.ID + " has the data."
	}
	return note
}

// Dimensions of the matrix, in pixels.
const (
	widestMatrix  = 780.0
	largestCell   = 26.0
	legendWidth   = 200.0
	legendLine    = 20.0
	leastLabelled = 11.0 // height of a row that has a label
	mostTips      = 40   // hosts up to which each pair has a tip
)

// drawMatrix draws a cell for each pair, or for each block of pairs if there is no room.
func drawMatrix(m *view.Mesh, width float64) *figure.Drawing {
	d, n := figure.New(width, 0), len(m.Hosts)
	names := lists.Map(m.Hosts, func(h mesh.Host) string { return h.Name })
	beside := width >= widestMatrix
	left := 8.0
	for _, name := range names {
		left = max(left, min(width/4, figure.TextWidth(name, sizeSmall, false)+8))
	}
	room := width - left
	if beside {
		room = min(widestMatrix, room-legendWidth)
	}
	block := int(math.Ceil(float64(n) / room))
	cells := (n + block - 1) / block
	cell := min(largestCell, math.Floor(room/float64(cells)))
	side, top := cell*float64(cells), 34.0
	picture := image.NewPaletted(image.Rect(0, 0, cells, cells), pairColours)
	for i, row := range m.Pairs {
		for j, p := range row {
			x, y := j/block, i/block
			if c := pairColour(m.Quality(p)); c != pairUnmeasured {
				if was := picture.ColorIndexAt(x, y); was == pairUnmeasured || c < was {
					picture.SetColorIndex(x, y, c)
				}
			}
		}
	}
	perHost := side / float64(n)
	if block > 1 {
		perHost = cell / float64(block)
	}
	drawRacks(d, m, left, top, side, perHost)
	d.Image(left, top, side, side, picture)
	labelMatrix(d, m, names, left, top, side, perHost)
	if n <= mostTips {
		for i, row := range m.Pairs {
			for j, p := range row {
				if i != j {
					d.Area(left+float64(j)*cell, top+float64(i)*cell, cell, cell).Tip(
						names[i] + " → " + names[j] + ": " + m.Spell(p))
				}
			}
		}
	}
	x, y := left, top+side+26
	if beside {
		x, y = left+side+28, top+6
	}
	for i, text := range pairLegend(m) {
		swatch := image.NewPaletted(image.Rect(0, 0, 1, 1), pairColours)
		swatch.SetColorIndex(0, 0, uint8(i))
		if i == pairUnmeasured {
			d.Line(figure.Faint, 1, figure.Point{X: x, Y: y}, figure.Point{X: x + 14, Y: y},
				figure.Point{X: x + 14, Y: y + 14}, figure.Point{X: x, Y: y + 14}, figure.Point{X: x, Y: y})
		} else {
			d.Image(x, y, 14, 14, swatch)
		}
		d.Text(x+22, y+11.5, text, figure.Style{Size: sizeText})
		y += legendLine
	}
	d.Height = max(top+side, y) + 8
	return d
}

// drawRacks draws lines between racks that have room for them, and a frame.
func drawRacks(d *figure.Drawing, m *view.Mesh, left, top, side, perHost float64) {
	line := func(at float64) {
		d.Line(figure.Faint, 1, figure.Point{X: left + at, Y: top}, figure.Point{X: left + at, Y: top + side})
		d.Line(figure.Faint, 1, figure.Point{X: left, Y: top + at}, figure.Point{X: left + side, Y: top + at})
	}
	line(0)
	line(side)
	for i := 1; i < len(m.Hosts); i++ {
		if m.Hosts[i].Rack != m.Hosts[i-1].Rack {
			line(perHost * float64(i))
		}
	}
}

// labelMatrix writes the names of hosts beside their rows and above their columns: those of suspects
// first, then others as far as there is room, or the racks if hosts have none.
func labelMatrix(d *figure.Drawing, m *view.Mesh, names []string, left, top, side, perHost float64) {
	type label struct {
		text string
		at   float64
		bold bool
	}
	var rows, columns []label
	mark := func(points ...figure.Point) { d.Line(figure.Limit, max(2, min(perHost, 4)), points...) }
	for i, name := range names {
		at := perHost * (float64(i) + 0.5)
		sends, receives := m.Suspected(name)
		if sends {
			rows = append(rows, label{name, at, true})
			mark(figure.Point{X: left - 4, Y: top + at}, figure.Point{X: left, Y: top + at})
			mark(figure.Point{X: left + side, Y: top + at}, figure.Point{X: left + side + 8, Y: top + at})
		}
		if receives {
			columns = append(columns, label{name, at, true})
			mark(figure.Point{X: left + at, Y: top - 6}, figure.Point{X: left + at, Y: top})
			mark(figure.Point{X: left + at, Y: top + side}, figure.Point{X: left + at, Y: top + side + 8})
		}
	}
	switch {
	case perHost >= leastLabelled:
		for i, name := range names {
			at := perHost * (float64(i) + 0.5)
			rows, columns = append(rows, label{name, at, false}), append(columns, label{name, at, false})
		}
	default:
		for from := 0; from < len(m.Hosts); {
			to := from
			for to < len(m.Hosts) && m.Hosts[to].Rack == m.Hosts[from].Rack {
				to++
			}
			if rack := m.Hosts[from].Rack; rack != "" {
				one := label{rack, perHost * float64(from+to) / 2, false}
				rows, columns = append(rows, one), append(columns, one)
			}
			from = to
		}
	}
	taken := []label{}
	for _, l := range rows {
		if !slices.ContainsFunc(taken, func(o label) bool { return math.Abs(o.at-l.at) < leastLabelled }) {
			taken = append(taken, l)
			d.Text(left-5, top+l.at+4, figure.Fit(l.text, left-6, sizeSmall, l.bold), labelStyle(l.bold, figure.End))
		}
	}
	type span struct{ from, to float64 }
	var spans []span
	for _, l := range columns {
		half := figure.TextWidth(l.text, sizeSmall, l.bold)/2 + 1.5
		at := min(max(l.at, half-left), side)
		if !slices.ContainsFunc(spans, func(o span) bool { return at+half > o.from && at-half < o.to }) {
			spans = append(spans, span{at - half, at + half})
			d.Text(left+at, top-9, l.text, labelStyle(l.bold, figure.Middle))
			d.Line(figure.Muted, 1, figure.Point{X: left + l.at, Y: top - 6}, figure.Point{X: left + l.at, Y: top - 1})
		}
	}
}

func labelStyle(suspect bool, anchor figure.Anchor) figure.Style {
	if suspect {
		return figure.Style{Size: sizeSmall, Bold: true, Anchor: anchor, Role: figure.Limit}
	}
	return small(anchor)
}

// drawHosts draws a dot for each host at the median of the pairs that it sends to, or receives from.
func drawHosts(m *view.Mesh, width float64, receives bool) *figure.Drawing {
	var list []dot
	most := 0.0
	for i, h := range m.Hosts {
		value, is := m.Sends(i)
		other, isOther := m.Receives(i)
		most = max(most, value, other) // both panels have the same axis
		suspect, suspectOther := m.Suspected(h.Name)
		if receives {
			value, is, suspect = other, isOther, suspectOther
		}
		if is {
			list = append(list, dot{value: value * m.Shown.Per, apart: suspect,
				tip: h.Name + ": " + m.Spell(view.MeshPair{Measured: true, Value: value})})
		}
	}
	low, high := 0.0, most*1.05*m.Shown.Per
	p := plot{Drawing: figure.New(width, 0), left: 8, right: width - 8, top: 10}
	p.x = linear(low, high, p.left, p.right)
	room := dotRoom([][]dot{list}, p.x, 24, 150)
	p.bottom = p.top + room + 12
	p.Line(figure.Faint, 1, figure.Point{X: p.left, Y: p.bottom}, figure.Point{X: p.right, Y: p.bottom})
	p.dots(list, room, figure.Series1, p.x, func(at, away float64) figure.Point {
		return figure.Point{X: at, Y: p.bottom - 4 - away}
	})
	marks := ticks(low, high, 5)
	p.xAxis(marks, tickLabels(marks), m.Shown.Unit)
	p.Height = p.bottom + 38
	return p.Drawing
}
