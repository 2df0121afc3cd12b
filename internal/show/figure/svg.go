package figure

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"
)

// fonts are fonts of the reader's system: nothing is loaded.
const fonts = `system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif`

// InlineSVG writes the drawing as an svg element for a page that contains Variables and Classes.
// Screen readers read the label.
func InlineSVG(w io.Writer, d *Drawing, label, class string) error {
	return d.svg(w, "", ` class="`+escape(class)+`"`, label, "")
}

// writeSVG writes the drawing as an SVG file on white.
func writeSVG(w io.Writer, d *Drawing, label string) error {
	style := "\n<style>text{font-family:" + strings.ReplaceAll(fonts, `"`, `'`) +
		";font-variant-numeric:tabular-nums}" +
		classes(func(t tone) string { return t.light }) + "</style>\n" +
		`<rect class="f-paper" width="100%" height="100%"/>` + "\n"
	return d.svg(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n", "", label, style)
}

func (d *Drawing) svg(w io.Writer, head, attributes, label, content string) error {
	width, height := num(d.Width), num(d.Height)
	var b bytes.Buffer
	fmt.Fprintf(&b,
		`%s<svg xmlns="http://www.w3.org/2000/svg"%s role="img" aria-label="%s" width="%s" height="%s" viewBox="0 0 %s %s">%s`,
		head, attributes, escape(label), width, height, width, height, content)
	d.elements(&b)
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func (d *Drawing) elements(b *bytes.Buffer) {
	for _, s := range d.shapes {
		name, attributes, content := s.element()
		b.WriteString("<" + name + " " + attributes)
		if s.tip != "" {
			content += "<title>" + escape(s.tip) + "</title>"
		}
		if content == "" {
			b.WriteString("/>\n")
			continue
		}
		b.WriteString(">" + content + "</" + name + ">\n")
	}
}

func (s *Shape) element() (name, attributes, content string) {
	tone := palette[s.role].name
	first := s.points[0]
	switch s.kind {
	case kindPolygon:
		return "polygon", `class="f-` + tone + `" points="` + coordinates(s.points) + `"`, ""
	case kindCircle:
		return "circle", `class="f-` + tone + `" cx="` + num(first.X) + `" cy="` + num(first.Y) + `" r="` +
			num(s.width) + `"`, ""
	case kindArea:
		return "rect", `fill="none" pointer-events="all"` + rectangle(s.points), ""
	case kindImage:
		return "image", `preserveAspectRatio="none" style="image-rendering:pixelated"` + rectangle(s.points) +
			` href="data:image/png;base64,` + base64PNG(s.image) + `"`, ""
	case kindLine:
		attributes = `class="k-` + tone + `" stroke-width="` + num(s.width) + `" stroke-linejoin="round" points="` +
			coordinates(s.points) + `"`
		if s.dash {
			attributes += ` stroke-dasharray="` + num(dashOn) + " " + num(dashOff) + `"`
		}
		return "polyline", attributes, ""
	}
	attributes = `class="f-` + tone + `" x="` + num(first.X) + `" y="` + num(first.Y) + `" font-size="` +
		num(s.style.Size) + `"`
	switch s.style.Anchor {
	case Middle:
		attributes += ` text-anchor="middle"`
	case End:
		attributes += ` text-anchor="end"`
	}
	if s.style.Bold {
		attributes += ` font-weight="600"`
	}
	return "text", attributes, escape(s.text)
}

// rectangle returns the attributes of the rectangle between two corners.
func rectangle(corners []Point) string {
	a, b := corners[0], corners[1]
	return ` x="` + num(a.X) + `" y="` + num(a.Y) + `" width="` + num(b.X-a.X) + `" height="` + num(b.Y-a.Y) + `"`
}

func base64PNG(picture image.Image) string {
	var b bytes.Buffer
	// Writing to a bytes.Buffer never fails; a picture without pixels is empty.
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, picture)
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func coordinates(points []Point) string {
	var b strings.Builder
	for i, p := range points {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(num(p.X) + "," + num(p.Y))
	}
	return b.String()
}

// num formats a coordinate to a tenth of a pixel. A value that is no number would make the whole
// file invalid, so it becomes zero.
func num(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

func escape(text string) string {
	var b bytes.Buffer
	// Writing to a bytes.Buffer never fails. Characters that XML cannot contain become U+FFFD.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
