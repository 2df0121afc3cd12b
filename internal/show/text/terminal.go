package text

import (
	"io"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
	"linerate/internal/show/words"
)

// ANSI attributes (ECMA-48 SGR). Output for people contains no others.
const (
	Bold   = "\x1b[1m"
	Dim    = "\x1b[2m"
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Reset  = "\x1b[0m"
)

// Attribute returns the length of the attribute at the beginning of output. Whole is false if more
// output is needed to tell. 0: output does not begin with an attribute.
func Attribute(output []byte) (length int, whole bool) {
	for _, attribute := range []string{Bold, Dim, Red, Green, Yellow, Reset} {
		if n := min(len(output), len(attribute)); n > 0 && string(output[:n]) == attribute[:n] {
			return n, n == len(attribute)
		}
	}
	return 0, false
}

// terminal collects lines of at most width columns.
type terminal struct {
	width int
	color bool
	out   strings.Builder
}

func (t *terminal) paint(attribute, text string) string {
	if !t.color || attribute == "" || text == "" {
		return text
	}
	return attribute + text + Reset
}

// flush writes what was collected.
func (t *terminal) flush(w io.Writer) error {
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *terminal) blank() { t.out.WriteByte('\n') }

// line writes one line without trailing spaces.
func (t *terminal) line(attribute, text string) {
	text = cut(strings.TrimRight(plain.Line(text), " "), t.width)
	t.out.WriteString(t.paint(attribute, text) + "\n")
}

// Paragraph wraps text to a width. The first line begins with head, the others with rest.
func Paragraph(head, rest, text string, width int) string {
	t := terminal{width: width}
	t.paragraph("", head, rest, text)
	return t.out.String()
}

// paragraph wraps text. The first line begins with head, the others with rest.
func (t *terminal) paragraph(attribute, head, rest, text string) {
	for i, line := range wrap(plain.Line(text), t.width-words.Width(rest), t.width-words.Width(head)) {
		if i > 0 {
			head = rest
		}
		t.out.WriteString(head + t.paint(attribute, line) + "\n")
	}
}

// labelWidth is the position of the second column.
const labelWidth = 12

// Message formats what a command prints on a terminal while it runs: paragraphs, one per line of
// text, with further lines indented. Commands on lines of their own are not wrapped; with width 0
// nothing is.
func Message(text string, width int) string {
	if text == "" {
		return ""
	}
	t := terminal{width: width}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		line = plain.Line(line)
		said := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(said)]
		if width == 0 || words.Width(line) <= width || indent != "" && isCommand(said) {
			t.out.WriteString(line + "\n")
			continue
		}
		t.paragraph("", indent, indent+"  ", said)
	}
	return t.out.String()
}

// isCommand reports whether a text is a shell command.
func isCommand(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	switch first {
	case "sysctl", "ip", "arp", "ethtool", "tc", "bridge", "echo", "printf", "linerate", "iperf3", "nft", "modprobe",
		"systemctl":
		return true
	}
	return false
}

// command wraps a command so that it can still be copied into a shell: lines are broken with a
// backslash, outside of quotes, where it would have another meaning. Other advice is wrapped as
// prose.
func (t *terminal) command(head, rest, text string) {
	text = plain.Line(text)
	if host, command, found := strings.Cut(text, ": "); found && strings.HasPrefix(host, "on ") && isCommand(command) {
		head, text = head+host+": ", command
	}
	if !isCommand(text) {
		t.paragraph("", head, rest, text)
		return
	}
	const broken = ` \`
	parts := shellWords(text)
	line := head + parts[0]
	for i, word := range parts[1:] {
		room := t.width
		if i < len(parts)-2 {
			room -= len(broken)
		}
		if longer := line + " " + word; words.Width(longer) <= room {
			line = longer
			continue
		}
		t.out.WriteString(line + broken + "\n")
		line = rest + word
	}
	t.out.WriteString(line + "\n")
}

// shellWords splits a command at the spaces outside of quotes.
func shellWords(text string) (list []string) {
	quote, escaped, begin := rune(0), false, 0
	for i, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ':
			list, begin = append(list, text[begin:i]), i+1
		}
	}
	return append(list, text[begin:])
}

func pad(text string, n int) string { return text + strings.Repeat(" ", max(0, n-words.Width(text))) }

func padLeft(text string, n int) string {
	return strings.Repeat(" ", max(0, n-words.Width(text))) + text
}

// chop splits a text after at most n columns.
func chop(text string, n int) (head, tail string) {
	used := 0
	for i, r := range text {
		if used += words.Width(string(r)); used > n {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// cut shortens a text to n columns with an ellipsis.
func cut(text string, n int) string {
	if words.Width(text) <= n {
		return text
	}
	head, _ := chop(text, n-1)
	return head + "…"
}

// Words that stay on one line: a number with its unit, and a command after a colon or in
// parentheses.
var (
	units    = pattern.MustCompile(`([0-9]) (%|points|[kMGT]?bit/s|[kMGT]?B|MB/s|bytes|m?s|µs)([ ,.;:)]|$)`)
	commands = pattern.MustCompile(`(: |\()((?:linerate |(?:sysctl|iperf3|ss) -)(?:[^;:,()]|[:,]\S)*)`)
)

// paths matches paths and URLs, which are never broken.
var paths = pattern.MustCompile(`^["“(]?(?:https?://|[\w.~-]*/)[\w./@+%:?=&~-]*[)”",.;:]*$`)

// unbroken reports whether a word must stay whole even if it is longer than a line.
func unbroken(word string) bool { return strings.Contains(word, " ") || paths.MatchString(word) }

// wrap breaks text at spaces into lines of at most n columns, the first of at most first. A longer
// word is broken only if necessary and if it is not to be copied.
func wrap(text string, n, first int) []string {
	var lines []string
	line, room := "", max(first, leastWrap)
	n = max(n, leastWrap)
	flush := func() { lines, line, room = append(lines, line), "", n }
	for _, word := range splitWords(text) {
		width := words.Width(word)
		if line != "" && words.Width(line)+1+width > room {
			flush()
		}
		for breaks := width > room && !unbroken(word); breaks && width > room; flush() {
			line, word = chop(word, room)
			width -= words.Width(line)
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}

// leastWrap is the minimum width of a line: one wide character.
const leastWrap = 2

// splitWords splits a text at spaces, except within what must stay together.
func splitWords(text string) []string {
	const joint = "\x00"
	text = commands.Regexp().ReplaceAllStringFunc(text, func(s string) string {
		parts := commands.FindStringSubmatch(s)
		command := strings.TrimRight(parts[2], " ")
		return parts[1] + strings.ReplaceAll(command, " ", joint) + parts[2][len(command):]
	})
	words := strings.Fields(units.Regexp().ReplaceAllString(text, "$1"+joint+"$2$3"))
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, joint, " ")
	}
	return words
}
