package figure

import (
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// fontOf parses each embedded font once.
var fontOf = map[bool]func() *sfnt.Font{
	false: sync.OnceValue(func() *sfnt.Font { return parse(goregular.TTF) }),
	true:  sync.OnceValue(func() *sfnt.Font { return parse(gobold.TTF) }),
}

func parse(data []byte) *sfnt.Font {
	f, err := sfnt.Parse(data)
	if err != nil {
		panic("draw: embedded font: " + err.Error()) // compiled in: cannot differ at run time
	}
	return f
}

// widest is the ratio by which a reader's system font may be wider than the Go fonts: DejaVu Sans
// is wider by about an eighth.
const widest = 1.12

// TextWidth returns the maximum width of a text in pixels, whichever font the reader has.
func TextWidth(text string, size float64, bold bool) float64 {
	f := fontOf[bold]()
	var buffer sfnt.Buffer
	ppem := fixed.I(64)
	total := 0.0
	for _, r := range text {
		index, err := f.GlyphIndex(&buffer, r)
		if err != nil || index == 0 {
			total += 64 // a glyph that the font lacks: at most one em
			continue
		}
		advance, err := f.GlyphAdvance(&buffer, index, ppem, font.HintingNone)
		if err != nil {
			advance = ppem
		}
		total += float64(advance) / 64
	}
	return total * size / 64 * widest
}

// Fit shortens a text with an ellipsis to at most the given width.
func Fit(text string, width, size float64, bold bool) string {
	if TextWidth(text, size, bold) <= width {
		return text
	}
	letters := []rune(text)
	for n := len(letters) - 1; n > 0; n-- {
		short := strings.TrimRight(string(letters[:n]), " ") + "…"
		if TextWidth(short, size, bold) <= width {
			return short
		}
	}
	return "…"
}

// Wrap breaks a text at spaces into at most lines lines of the given width. The rest is replaced by
// an ellipsis.
func Wrap(text string, width, size float64, bold bool, lines int) []string {
	var out []string
	line := ""
	words := strings.Fields(text)
	for i, word := range words {
		longer := strings.TrimLeft(line+" "+word, " ")
		if line == "" || TextWidth(longer, size, bold) <= width {
			line = longer
			continue
		}
		if len(out) == lines-1 {
			line = strings.Join(append([]string{line}, words[i:]...), " ")
			break
		}
		out = append(out, Fit(line, width, size, bold))
		line = word
	}
	return append(out, Fit(line, width, size, bold))
}
