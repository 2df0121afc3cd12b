package draw

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Length of a dash and of the gap after it, in pixels.
const dashOn, dashOff = 5.0, 4.0

// maxPixels bounds a picture: a mistyped scale must not take the machine's memory.
const maxPixels = 100e6

// PNG writes the drawing on white, scale pixels of the file for one of the
// drawing.
func PNG(w io.Writer, d *Drawing, scale float64) error {
	width, height := math.Ceil(d.Width*scale), math.Ceil(d.Height*scale)
	if !(scale > 0) || width < 1 || height < 1 || width*height > maxPixels {
		return fmt.Errorf("cannot draw %g × %g pixels at scale %g: expected a positive scale and at most %g million pixels",
			d.Width, d.Height, scale, maxPixels/1e6)
	}
	c := &raster{
		image: image.NewRGBA(image.Rect(0, 0, int(width), int(height))),
		scale: scale, faces: map[Style]font.Face{},
	}
	draw.Draw(c.image, c.image.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	for _, s := range d.shapes {
		if err := c.shape(s); err != nil {
			return err
		}
	}
	return png.Encode(w, c.image)
}

type raster struct {
	image *image.RGBA
	scale float64
	faces map[Style]font.Face
}

func (c *raster) shape(s *Shape) error {
	points := make([]Point, len(s.points))
	for i, p := range s.points {
		points[i] = Point{p.X * c.scale, p.Y * c.scale}
	}
	switch s.kind {
	case kindPolygon:
		c.fill(s.role, points)
	case kindCircle:
		c.fill(s.role, disc(points[0], s.width*c.scale))
	case kindLine:
		lines := [][]Point{points}
		if s.dash {
			lines = dashes(points, dashOn*c.scale, dashOff*c.scale)
		}
		for _, line := range lines {
			c.fill(s.role, stroke(line, s.width*c.scale)...)
		}
	case kindText:
		return c.text(points[0], s)
	}
	return nil
}

// fill covers the union of polygons. All are turned the same way round first,
// since the rasteriser adds up signed areas.
func (c *raster) fill(role Role, polygons ...[]Point) {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, polygon := range polygons {
		for _, p := range polygon {
			low = Point{min(low.X, p.X), min(low.Y, p.Y)}
			high = Point{max(high.X, p.X), max(high.Y, p.Y)}
		}
	}
	if !(low.X <= high.X && low.Y <= high.Y) {
		return // nothing, or not numbers
	}
	area := image.Rect(int(math.Floor(low.X)), int(math.Floor(low.Y)), int(math.Ceil(high.X))+1, int(math.Ceil(high.Y))+1).
		Intersect(c.image.Bounds())
	if area.Empty() {
		return
	}
	r := vector.NewRasterizer(area.Dx(), area.Dy())
	x, y := float64(area.Min.X), float64(area.Min.Y)
	for _, polygon := range polygons {
		if len(polygon) < 3 {
			continue
		}
		if signedArea(polygon) < 0 {
			polygon = reversed(polygon)
		}
		r.MoveTo(float32(polygon[0].X-x), float32(polygon[0].Y-y))
		for _, p := range polygon[1:] {
			r.LineTo(float32(p.X-x), float32(p.Y-y))
		}
		r.ClosePath()
	}
	r.Draw(c.image, area, image.NewUniform(role.light()), image.Point{})
}

func (c *raster) text(at Point, s *Shape) error {
	key := Style{Size: s.style.Size, Bold: s.style.Bold}
	face, ok := c.faces[key]
	if !ok {
		var err error
		face, err = opentype.NewFace(fontOf[key.Bold](), &opentype.FaceOptions{Size: key.Size * c.scale, DPI: 72, Hinting: font.HintingNone})
		if err != nil {
			return fmt.Errorf("set text at %g pixels: %w", key.Size*c.scale, err)
		}
		c.faces[key] = face
	}
	pen := font.Drawer{Dst: c.image, Src: image.NewUniform(s.role.light()), Face: face}
	switch s.style.Anchor {
	case Middle:
		at.X -= float64(pen.MeasureString(s.text)) / 64 / 2
	case End:
		at.X -= float64(pen.MeasureString(s.text)) / 64
	}
	pen.Dot = fixed.Point26_6{X: fixed.Int26_6(at.X * 64), Y: fixed.Int26_6(at.Y * 64)}
	pen.DrawString(s.text)
	return nil
}

// stroke is a line of some width as polygons: one per segment, and a disc at
// each inner corner.
func stroke(points []Point, width float64) [][]Point {
	var out [][]Point
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		if length == 0 {
			continue
		}
		nx, ny := -(b.Y-a.Y)/length*width/2, (b.X-a.X)/length*width/2
		out = append(out, []Point{{a.X + nx, a.Y + ny}, {b.X + nx, b.Y + ny}, {b.X - nx, b.Y - ny}, {a.X - nx, a.Y - ny}})
		if i > 1 && width > 1 {
			out = append(out, disc(a, width/2))
		}
	}
	return out
}

func disc(center Point, radius float64) []Point {
	const corners = 24
	var out []Point
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		out = append(out, Point{center.X + radius*cos, center.Y + radius*sin})
	}
	return out
}

// dashes cuts a line into its dashes.
func dashes(points []Point, on, off float64) [][]Point {
	var out [][]Point
	var current []Point
	drawing, left := true, on
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		for done := 0.0; done < length; {
			step := min(left, length-done)
			from, to := done/length, (done+step)/length
			if drawing {
				if current == nil {
					current = []Point{{a.X + (b.X-a.X)*from, a.Y + (b.Y-a.Y)*from}}
				}
				current = append(current, Point{a.X + (b.X-a.X)*to, a.Y + (b.Y-a.Y)*to})
			}
			done += step
			if left -= step; left <= 0 {
				if drawing {
					out, current = append(out, current), nil
				}
				if drawing = !drawing; drawing {
					left = on
				} else {
					left = off
				}
			}
		}
	}
	if current != nil {
		out = append(out, current)
	}
	return out
}

func signedArea(polygon []Point) float64 {
	sum := 0.0
	for i, p := range polygon {
		q := polygon[(i+1)%len(polygon)]
		sum += p.X*q.Y - q.X*p.Y
	}
	return sum
}

func reversed(polygon []Point) []Point {
	out := make([]Point, len(polygon))
	for i, p := range polygon {
		out[len(polygon)-1-i] = p
	}
	return out
}
