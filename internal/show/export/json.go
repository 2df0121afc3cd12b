package export

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"

	"linerate/internal/model/record"
)

// JSON writes the result document (linerate.run/v1): every figure that the report
// shows. What was sampled in the trials is left to Trials.
func JSON(w io.Writer, run *record.Run) error {
	return Indented(w, documentOf(run))
}

// Trials writes every trial as it was recorded, samples, TCP_INFO and counters
// included: gzip, one JSON document (record.Trial) a line.
func Trials(w io.Writer, run *record.Run) error {
	z := gzip.NewWriter(w)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	for i := range run.Trials {
		if err := e.Encode(&run.Trials[i]); err != nil {
			return err
		}
	}
	return z.Close()
}

// Indented writes a document for people: two spaces a level, with objects and
// arrays that hold no further objects on one line.
func Indented(w io.Writer, document any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(document); err != nil {
		return err
	}
	var out bytes.Buffer
	indent(&out, bytes.TrimSpace(text.Bytes()), 0)
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// indent writes compact JSON that begins with a value, and returns what follows it.
func indent(out *bytes.Buffer, text []byte, depth int) []byte {
	end := extent(text)
	if text[0] != '{' && text[0] != '[' || isFlat(text[:end]) {
		spaced(out, text[:end])
		return text[end:]
	}
	closing := byte(']')
	if text[0] == '{' {
		closing = '}'
	}
	newline := func(depth int) {
		out.WriteByte('\n')
		for range depth {
			out.WriteString("  ")
		}
	}
	out.WriteByte(text[0])
	for text = text[1:]; ; {
		newline(depth + 1)
		if closing == '}' {
			n := extent(text)
			out.Write(text[:n])
			out.WriteString(": ")
			text = text[n+1:]
		}
		if text = indent(out, text, depth+1); text[0] == closing {
			break
		}
		out.WriteByte(',')
		text = text[1:]
	}
	newline(depth)
	out.WriteByte(closing)
	return text[1:]
}

// extent is the length of the value that compact JSON begins with.
func extent(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':'):
			return i
		}
	}
	return len(text)
}

// isFlat says whether a value holds no object, and no array of arrays, inside.
func isFlat(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > 1 && c == '{' || depth > 2 {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

// spaced writes a flat value with a space after each colon and comma.
func spaced(out *bytes.Buffer, text []byte) {
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		out.WriteByte(c)
		switch {
		case quoted && c == '\\':
			i++
			out.WriteByte(text[i])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			out.WriteByte(' ')
		}
	}
}
