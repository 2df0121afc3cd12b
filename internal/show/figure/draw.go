// Package figure describes a figure once and writes it as SVG or PNG.
//
// A Drawing is a list of shapes in pixels of the page. Each has a role instead of a colour, so that
// the same drawing follows the reader's light or dark page and prints in black on white. The
// package knows nothing about runs or axes: package chart decides what is drawn.
//
// SVG: https://www.w3.org/TR/SVG11/. The PNG back end fills paths with golang.org/x/image/vector
// and sets text in the Go fonts, so that a picture looks the same on machines without fonts.
package figure

import (
	"image"
	"math"
)

// Role is the meaning of a shape. The palette assigns a colour to it.
type Role uint8

const (
	Ink     Role = iota // text and what matters
	Muted               // axis text, remarks
	Faint               // grid lines, idle links
	Paper               // the page
	Box                 // boxes
	Base                // the baseline
	Change              // compared with the baseline
	Limit               // the physical limit, and what has reached it
	Series1             // lines with their own colours, labelled directly
	Series2
	Series3
	Series4
	Series5
	Series6
	roles
)

// SeriesRole returns the role of the n-th line of a plot. Roles repeat after six.
func SeriesRole(n int) Role { return Series1 + Role(n%6) }

// Point is a position in the drawing, in pixels from its upper left corner.
type Point struct{ X, Y float64 }

// Anchor says which part of a text is at its x coordinate.
type Anchor uint8

const (
	Start Anchor = iota
	Middle
	End
)

// Style describes how a text is set. The zero Anchor is Start. Size is in pixels.
type Style struct {
	Size   float64
	Role   Role
	Bold   bool
	Anchor Anchor
}

type kind uint8

const (
	kindPolygon kind = iota // filled
	kindLine                // stroked
	kindCircle              // filled
	kindText
	kindImage // between two corners
	kindArea  // not drawn
)

// Shape is an element of a drawing.
type Shape struct {
	kind   kind
	points []Point
	width  float64 // of a stroke; radius of a circle
	role   Role
	dash   bool
	text   string
	style  Style
	tip    string
	image  image.Image
}

// Dash makes a line dashed.
func (s *Shape) Dash() *Shape { s.dash = true; return s }

// Tip sets the text that is shown when the reader points at the shape on a page.
func (s *Shape) Tip(text string) *Shape { s.tip = text; return s }

// Drawing is a figure without its title.
type Drawing struct {
	Width, Height float64
	shapes        []*Shape
}

// New returns an empty drawing. Height may be set later.
func New(width, height float64) *Drawing { return &Drawing{Width: width, Height: height} }

func (d *Drawing) add(s *Shape) *Shape {
	d.shapes = append(d.shapes, s)
	return s
}

// Rect adds a filled rectangle.
func (d *Drawing) Rect(x, y, w, h float64, role Role) *Shape {
	return d.Polygon(role, Point{x, y}, Point{x + w, y}, Point{x + w, y + h}, Point{x, y + h})
}

// Polygon adds a filled polygon.
func (d *Drawing) Polygon(role Role, points ...Point) *Shape {
	return d.add(&Shape{kind: kindPolygon, points: points, role: role})
}

// Line adds a line through points.
func (d *Drawing) Line(role Role, width float64, points ...Point) *Shape {
	return d.add(&Shape{kind: kindLine, points: points, role: role, width: width})
}

// Circle adds a filled circle.
func (d *Drawing) Circle(center Point, radius float64, role Role) *Shape {
	return d.add(&Shape{kind: kindCircle, points: []Point{center}, width: radius, role: role})
}

// Text adds one line of text. y is its baseline.
func (d *Drawing) Text(x, y float64, text string, style Style) *Shape {
	return d.add(&Shape{kind: kindText, points: []Point{{x, y}}, text: text, style: style, role: style.Role})
}

// Image adds a picture, each of whose pixels becomes a rectangle of one colour. Transparent pixels
// show what is below.
func (d *Drawing) Image(x, y, w, h float64, picture image.Image) *Shape {
	return d.add(&Shape{kind: kindImage, points: []Point{{x, y}, {x + w, y + h}}, image: picture})
}

// Area adds a rectangle that is not drawn, for its Tip.
func (d *Drawing) Area(x, y, w, h float64) *Shape {
	return d.add(&Shape{kind: kindArea, points: []Point{{x, y}, {x + w, y + h}}})
}

// Place adds a copy of another drawing's shapes at (x, y).
func (d *Drawing) Place(x, y float64, other *Drawing) {
	for _, s := range other.shapes {
		moved := *s
		moved.points = make([]Point, len(s.points))
		for i, p := range s.points {
			moved.points[i] = Point{p.X + x, p.Y + y}
		}
		d.add(&moved)
	}
}

// Curve samples a cubic curve with horizontal tangents from a to b, for links between the sides of
// two boxes.
func Curve(a, b Point) []Point {
	if math.Abs(a.Y-b.Y) < 0.5 {
		return []Point{a, b}
	}
	const steps = 24
	bend := (b.X - a.X) / 2
	var points []Point
	for i := 0; i <= steps; i++ {
		points = append(points, onCubic(a, Point{a.X + bend, a.Y}, Point{b.X - bend, b.Y}, b, float64(i)/steps))
	}
	return points
}

func onCubic(a, b, c, d Point, t float64) Point {
	u := 1 - t
	wa, wb, wc, wd := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
	return Point{wa*a.X + wb*b.X + wc*c.X + wd*d.X, wa*a.Y + wb*b.Y + wc*c.Y + wd*d.Y}
}
