package report

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// ANSI attributes (ECMA-48 SGR).
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// terminal collects lines of at most width cells.
type terminal struct {
	width int
	color bool
	out   strings.Builder
}

func (t *terminal) paint(attribute, text string) string {
	if !t.color || attribute == "" || text == "" {
		return text
	}
	return attribute + text + reset
}

func (t *terminal) blank() { t.out.WriteByte('\n') }

// line writes one line; spaces at its end are nobody's.
func (t *terminal) line(attribute, text string) {
	text = cut(strings.TrimRight(plain(text), " "), t.width)
	t.out.WriteString(t.paint(attribute, text) + "\n")
}

// paragraph wraps text, the first line after head, the others after rest.
func (t *terminal) paragraph(attribute, head, rest, text string) {
	for i, line := range wrap(plain(text), t.width-cells(rest), t.width-cells(head)) {
		if i > 0 {
			head = rest
		}
		t.out.WriteString(head + t.paint(attribute, line) + "\n")
	}
}

// labelled writes text in the second column, beside a label.
func (t *terminal) labelled(label, text string) {
	t.paragraph("", "  "+pad(label, 10), strings.Repeat(" ", 12), text)
}

// command wraps a command so that it can still be copied into a shell: a
// broken line ends with a backslash. Other advice is wrapped as prose.
func (t *terminal) command(head, rest, text string) {
	text = plain(text)
	first, _, _ := strings.Cut(text, " ")
	switch first {
	case "sysctl", "ip", "arp", "ethtool", "tc", "bridge", "echo", "linerate", "nft":
	default:
		t.paragraph("", head, rest, text)
		return
	}
	lines := wrap(text, t.width-cells(rest)-2, t.width-cells(head)-2)
	for i, line := range lines {
		if i > 0 {
			head = rest
		}
		if i < len(lines)-1 {
			line += ` \`
		}
		t.out.WriteString(head + line + "\n")
	}
}

// plain replaces control characters, so that a name in a study file cannot
// drive the terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\ufffd'
		}
		return r
	}, text)
}

// cells is how many columns of a terminal a text takes.
func cells(text string) int {
	n := 0
	for _, r := range text {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.Is(unicode.Mn, r):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

func pad(text string, n int) string { return text + strings.Repeat(" ", max(0, n-cells(text))) }

func padLeft(text string, n int) string { return strings.Repeat(" ", max(0, n-cells(text))) + text }

// chop splits a text after at most n cells.
func chop(text string, n int) (head, tail string) {
	used := 0
	for i, r := range text {
		if used += cells(string(r)); used > n {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// cut shortens a text to n cells with an ellipsis.
func cut(text string, n int) string {
	if cells(text) <= n {
		return text
	}
	head, _ := chop(text, n-1)
	return head + "…"
}

// wrap breaks text at spaces into lines of at most n cells, the first of at
// most first. A longer word is broken where it must be.
func wrap(text string, n, first int) []string {
	var lines []string
	line, room := "", max(first, 8)
	n = max(n, 8)
	flush := func() { lines, line, room = append(lines, line), "", n }
	for _, word := range strings.Fields(text) {
		if line != "" && cells(line)+1+cells(word) > room {
			flush()
		}
		for line == "" && cells(word) > room {
			line, word = chop(word, room)
			flush()
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}
