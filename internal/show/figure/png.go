package figure

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"slices"

	scaled "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Length of a dash and of the gap after it, in pixels.
const dashOn, dashOff = 5.0, 4.0

// maxPixels limits the size of a picture, so that a mistyped scale does not exhaust memory.
const maxPixels = 100e6

// writePNG writes the drawing on white. Scale is the number of pixels in the file for one of the
// drawing.
func writePNG(w io.Writer, d *Drawing, scale float64) error {
	width, height := math.Ceil(d.Width*scale), math.Ceil(d.Height*scale)
	if !(scale > 0) || width < 1 || height < 1 || width*height > maxPixels {
		return fmt.Errorf(
			"cannot draw %g × %g pixels at scale %g: expected a positive scale and at most %g million pixels",
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
		c.union(s.role, [][]Point{points})
	case kindCircle:
		c.union(s.role, [][]Point{disc(points[0], s.width*c.scale)})
	case kindLine:
		lines := [][]Point{points}
		if s.dash {
			lines = dashes(points, dashOn*c.scale, dashOff*c.scale)
		}
		for _, line := range lines {
			c.union(s.role, stroke(line, s.width*c.scale))
		}
	case kindText:
		return c.text(points[0], s)
	case kindImage:
		at := image.Rect(int(math.Round(points[0].X)), int(math.Round(points[0].Y)), int(math.Round(points[1].X)),
			int(math.Round(points[1].Y)))
		scaled.NearestNeighbor.Scale(c.image, at, s.image, s.image.Bounds(), draw.Over, nil)
	}
	return nil
}

// union fills the area that at least one of the polygons covers. Each polygon is drawn into the
// mask separately: the rasteriser adds areas, which would leave dots where two smooth edges
// overlap.
func (c *raster) union(role Role, polygons [][]Point) {
	area := c.bounds(slices.Concat(polygons...))
	if area.Empty() {
		return
	}
	mask := image.NewAlpha(area)
	for _, polygon := range polygons {
		part := c.bounds(polygon)
		if len(polygon) < 3 || part.Empty() {
			continue
		}
		r := vector.NewRasterizer(part.Dx(), part.Dy())
		x, y := float64(part.Min.X), float64(part.Min.Y)
		r.MoveTo(float32(polygon[0].X-x), float32(polygon[0].Y-y))
		for _, p := range polygon[1:] {
			r.LineTo(float32(p.X-x), float32(p.Y-y))
		}
		r.ClosePath()
		one := image.NewAlpha(part)
		r.Draw(one, part, image.Opaque, image.Point{})
		for row := part.Min.Y; row < part.Max.Y; row++ {
			to := mask.Pix[mask.PixOffset(part.Min.X, row):][:part.Dx()]
			for i, alpha := range one.Pix[one.PixOffset(part.Min.X, row):][:part.Dx()] {
				to[i] = max(to[i], alpha)
			}
		}
	}
	draw.DrawMask(c.image, area, image.NewUniform(role.light()), image.Point{}, mask, area.Min, draw.Over)
}

// bounds returns the pixels that the points touch. It is empty if a coordinate is no number.
func (c *raster) bounds(points []Point) image.Rectangle {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, p := range points {
		low = Point{min(low.X, p.X), min(low.Y, p.Y)}
		high = Point{max(high.X, p.X), max(high.Y, p.Y)}
	}
	if !(low.X <= high.X && low.Y <= high.Y) {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(low.X)), int(math.Floor(low.Y)), int(math.Ceil(high.X))+1,
		int(math.Ceil(high.Y))+1).
		Intersect(c.image.Bounds())
}

func (c *raster) text(at Point, s *Shape) error {
	key := Style{Size: s.style.Size, Bold: s.style.Bold}
	face, ok := c.faces[key]
	if !ok {
		var err error
		face, err = opentype.NewFace(fontOf[key.Bold](), &opentype.FaceOptions{Size: key.Size * c.scale, DPI: 72,
			Hinting: font.HintingNone})
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

// stroke converts a line with a width to polygons: one per segment, and a disc at each inner
// corner.
func stroke(points []Point, width float64) [][]Point {
	var out [][]Point
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		if length == 0 {
			continue
		}
		nx, ny := -(b.Y-a.Y)/length*width/2, (b.X-a.X)/length*width/2
		out = append(out, []Point{{a.X + nx, a.Y + ny}, {b.X + nx, b.Y + ny}, {b.X - nx, b.Y - ny},
			{a.X - nx, a.Y - ny}})
		if i > 1 {
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

// dashes cuts a line into dashes.
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
