package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"unicode/utf16"

	"linerate/internal/model/deep"
	"linerate/internal/model/plain"
)

// Indented writes JSON for people: two spaces per level, and objects and arrays that contain no
// further objects on one line. A number that is not finite becomes null: JSON has no NaN, and one
// unknown value must not prevent the others from being written.
func Indented(w io.Writer, v any) error {
	text, err := encoded(v)
	if _, is := errors.AsType[*json.UnsupportedValueError](err); is {
		if text, err = encoded(finite(reflect.ValueOf(v)).Interface()); err == nil {
			text = bytes.ReplaceAll(text, []byte(notFinite), []byte("null"))
		}
	}
	if err != nil {
		return err
	}
	_, err = w.Write(append(indent(bytes.TrimSpace(text)), '\n'))
	return err
}

func encoded(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return escaped(text.Bytes()), err
}

// escaped replaces characters that act on a terminal and that encoding/json keeps by escapes such
// as \u009b. JSON only contains them in strings.
func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return plain.Rune(r) != r }) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if plain.Rune(r) == r {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}

// stand replaces a number that is not finite; no measurement has this value. notFinite is stand in
// JSON.
const (
	stand     = -math.MaxFloat64
	notFinite = "-1.7976931348623157e+308"
)

// finite returns a copy of a value in which stand replaces every number that is not finite.
func finite(v reflect.Value) reflect.Value {
	return deep.Copy(v, func(v reflect.Value) (done bool) {
		if v.Kind() == reflect.Float64 && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
			v.SetFloat(stand)
		}
		return false
	})
}

// indent adds white space to compact JSON.
func indent(text []byte) []byte {
	var out bytes.Buffer
	whole := onOneLine(text)
	if text[0] == '{' && len(text) > len("{}") {
		whole[0] = false
	}
	depth, flat := 0, 0 // depth of brackets on their own lines, and within a value on one line
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

// onOneLine returns the positions of the opening brackets of values that contain no object and no
// array of arrays.
func onOneLine(text []byte) map[int]bool {
	found := map[int]bool{}
	type bracket struct {
		at      int
		object  bool // whether it contains an object
		nesting int  // depth of arrays inside
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
