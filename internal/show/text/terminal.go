package text

import (
	"io"
	"regexp"
	"strings"

	"linerate/internal/show/figure"
	"linerate/internal/show/words"
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

// flush writes what was collected.
func (t *terminal) flush(w io.Writer) error {
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *terminal) blank() { t.out.WriteByte('\n') }

// line writes one line; spaces at its end are dropped.
func (t *terminal) line(attribute, text string) {
	text = cut(strings.TrimRight(figure.Plain(text), " "), t.width)
	t.out.WriteString(t.paint(attribute, text) + "\n")
}

// Paragraph wraps text to a width, the first line after head, the others after rest.
func Paragraph(head, rest, text string, width int) string {
	t := terminal{width: width}
	t.paragraph("", head, rest, text)
	return t.out.String()
}

// paragraph wraps text, the first line after head, the others after rest.
func (t *terminal) paragraph(attribute, head, rest, text string) {
	for i, line := range wrap(figure.Plain(text), t.width-words.Width(rest), t.width-words.Width(head)) {
		if i > 0 {
			head = rest
		}
		t.out.WriteString(head + t.paint(attribute, line) + "\n")
	}
}

// labelWidth is where the second column begins.
const labelWidth = 12

// labelled writes text in the second column, beside a label.
func (t *terminal) labelled(attribute, label, text string) {
	t.paragraph(attribute, "  "+pad(label, labelWidth-2), strings.Repeat(" ", labelWidth), text)
}

// command wraps a command so that it can still be copied into a shell: a
// broken line ends with a backslash. Other advice is wrapped as prose.
func (t *terminal) command(head, rest, text string) {
	text = figure.Plain(text)
	first, _, _ := strings.Cut(text, " ")
	switch first {
	case "sysctl", "ip", "arp", "ethtool", "tc", "bridge", "echo", "linerate", "nft":
	default:
		t.paragraph("", head, rest, text)
		return
	}
	lines := wrap(text, t.width-words.Width(rest)-2, t.width-words.Width(head)-2)
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

func pad(text string, n int) string { return text + strings.Repeat(" ", max(0, n-words.Width(text))) }

func padLeft(text string, n int) string {
	return strings.Repeat(" ", max(0, n-words.Width(text))) + text
}

// chop splits a text after at most n cells.
func chop(text string, n int) (head, tail string) {
	used := 0
	for i, r := range text {
		if used += words.Width(string(r)); used > n {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// cut shortens a text to n cells with an ellipsis.
func cut(text string, n int) string {
	if words.Width(text) <= n {
		return text
	}
	head, _ := chop(text, n-1)
	return head + "…"
}

// units stay on the line of their number.
var units = regexp.MustCompile(`([0-9]) (%|points|[kMGT]?bit/s|[kMGT]?B|MB/s|bytes|m?s|µs)([ ,.;:)]|$)`)

// wrap breaks text at spaces into lines of at most n cells, the first of at
// most first. A longer word is broken where it must be.
func wrap(text string, n, first int) []string {
	var lines []string
	line, room := "", max(first, 8)
	n = max(n, 8)
	flush := func() { lines, line, room = append(lines, line), "", n }
	for _, word := range splitWords(text) {
		if line != "" && words.Width(line)+1+words.Width(word) > room {
			flush()
		}
		for line == "" && words.Width(word) > room {
			line, word = chop(word, room)
			flush()
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}

// splitWords splits at spaces, but not between a number and its unit.
func splitWords(text string) []string {
	const joint = "\x00"
	words := strings.Fields(units.ReplaceAllString(text, "$1"+joint+"$2$3"))
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, joint, " ")
	}
	return words
}
