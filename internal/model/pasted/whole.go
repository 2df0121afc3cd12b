package pasted

import (
	"strings"

	"linerate/internal/model/lists"
)

// needsAll reports whether a format needs all lines of its section.
func needsAll(f *format) bool { return f.whole != nil }

// wholes returns the formats that need all lines of their section, if a line without a known command
// begins one.
func wholes(text string) (list []*format) {
	return lists.Where(kindsOfFormats().whole, func(f *format) bool { return f.tells(text) })
}

// jsonDepth follows the brackets of JSON over lines.
type jsonDepth struct {
	depth                  int
	begun, quoted, escaped bool
}

// ends reports whether JSON that began in this line or an earlier one ends in it.
func (d *jsonDepth) ends(text string) bool {
	if first := strings.TrimSpace(text); !d.begun && !strings.HasPrefix(first, "[") && !strings.HasPrefix(first, "{") {
		return false
	}
	d.begun = true
	for _, c := range []byte(text) {
		switch {
		case d.escaped:
			d.escaped = false
		case d.quoted && c == '\\':
			d.escaped = true
		case c == '"':
			d.quoted = !d.quoted
		case !d.quoted && (c == '[' || c == '{'):
			d.depth++
		case !d.quoted && (c == ']' || c == '}'):
			d.depth--
		}
	}
	return d.depth <= 0
}
