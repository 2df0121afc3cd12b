package export

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// Indented writes a value for people: two spaces a level, with objects and
// arrays that hold no further objects on one line.
func Indented(w io.Writer, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(append(indent(bytes.TrimSpace(text.Bytes())), '\n'))
	return err
}

// indent adds white space to compact JSON.
func indent(text []byte) []byte {
	var out bytes.Buffer
	whole := onOneLine(text)
	depth, flat := 0, 0 // of brackets on lines of their own, and of those inside one on one line
	newline := func() { out.WriteString("\n" + strings.Repeat("  ", depth)) }
	for i, quoted := 0, false; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			out.WriteByte(c)
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if flat > 0 || whole[i] {
				flat++
				break
			}
			depth++
			out.WriteByte(c)
			newline()
			continue
		case (c == '}' || c == ']') && flat > 0:
			flat--
		case c == '}' || c == ']':
			depth--
			newline()
		case c == ',' && flat == 0:
			out.WriteByte(c)
			newline()
			continue
		case c == ',' || c == ':':
			out.WriteString(string(c) + " ")
			continue
		}
		out.WriteByte(text[i])
	}
	return out.Bytes()
}

// onOneLine finds the opening brackets of values that hold no object, and no array
// of arrays.
func onOneLine(text []byte) map[int]bool {
	found := map[int]bool{}
	type bracket struct {
		at      int
		object  bool // it holds one
		nesting int  // of arrays inside
	}
	open := []bracket{{}}
	for i, quoted := 0, false; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open = append(open, bracket{at: i})
		case c == '}' || c == ']':
			b, outer := open[len(open)-1], &open[len(open)-2]
			open = open[:len(open)-1]
			found[b.at] = !b.object && b.nesting < 2
			outer.object = outer.object || b.object || c == '}'
			outer.nesting = max(outer.nesting, b.nesting+1)
		}
	}
	return found
}
