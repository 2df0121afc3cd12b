// Package plain replaces the characters of text that act on a terminal instead of being
// shown. Names, notes, errors and versions come from files and other hosts: with an escape
// sequence they could move the cursor, rename the window or hide a line (CWE-150).
package plain

import (
	"strings"
	"unicode"
)

// Rune returns r, or U+FFFD if r is a control character (C0, DEL, C1) other than line feed and tab,
// or a format character, such as those that reverse the direction of text.
func Rune(r rune) rune {
	if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
		return r
	}
	return unicode.ReplacementChar
}

// Text returns text with Rune applied to each character. It may have several lines; CR LF becomes
// LF.
func Text(text string) string { return strings.Map(Rune, strings.ReplaceAll(text, "\r\n", "\n")) }

// Line returns Text on one line: line ends and tabs become spaces.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return Rune(r)
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// Short returns Line cut to at most n characters.
func Short(text string, n int) string {
	short := []rune(Line(text))
	return string(short[:min(len(short), n)])
}
