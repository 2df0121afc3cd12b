// Package words joins names and counts in English texts: lists, numerals, sentences. It knows
// nothing about runs.
package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// List joins names as in a sentence: all of them, or the first three and the number of the others.
func List(names []string) string { return FirstFew(names, "and") }

// Join returns "a, b and c" if word is "and".
func Join(list []string, word string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + word + " " + list[len(list)-1]
}

// FirstFew joins a list, or its first three elements and the number of the others.
func FirstFew(list []string, word string) string {
	if more := len(list) - 3; more > 1 {
		return strings.Join(list[:3], ", ") + fmt.Sprintf(" %s %s others", word, Numeral(more))
	}
	return Join(list, word)
}

// Name formats the name of a level or a treatment for a sentence: in quotes if it could be read as
// part of the sentence, and unchanged if a character or digit shows that it is a name, such as
// arp_ignore=1.
func Name(name string) string {
	if !strings.Contains(name, " ") && strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) ||
		name == "" {
		return name
	}
	return "“" + name + "”"
}

// ForName returns " for" and a name, or "" for an empty name.
func ForName(name string) string {
	if name == "" {
		return ""
	}
	return " for " + name
}

// Numeral returns a number from 0 to 12 as a word, and others in digits.
func Numeral(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve"}
	if n >= 0 && n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// Every returns "all four", or "both".
func Every(n int) string {
	if n == 2 {
		return "both"
	}
	return "all " + Numeral(n)
}

// Verb returns one or many, depending on n.
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Sentence capitalises the first letter, unless the text begins with a name: one of names, or a
// word that looks like one, such as arp_ignore=1.
func Sentence(text string, names ...string) string {
	word, _, _ := strings.Cut(text, " ")
	word = strings.TrimRight(word, ":,")
	if text == "" || slices.Contains(names, word) || strings.ContainsAny(word, "_=.:/0123456789") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// FullStop returns the text as a complete sentence.
func FullStop(text string) string {
	if text = Sentence(text); strings.HasSuffix(text, ".") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// Count formats a number of things: "1 trial", "3 trials".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Width returns the number of terminal columns of a text.
func Width(text string) int {
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

// Shorten truncates a text to n terminal columns, at a space if there is one in the second half,
// and appends an ellipsis. A figure is not separated from its unit: the text is cut before both,
// unless it begins with them.
func Shorten(text string, n int) string {
	if Width(text) <= n {
		return text
	}
	end, space, used := 0, 0, 0
	for i, r := range text {
		if used += Width(string(r)); used >= n { // the ellipsis takes one column
			end = i
			break
		}
		if r == ' ' && used > n/2 {
			space = i
		}
	}
	if strings.ContainsAny(text[end:end+1], " ,;:") || space == 0 {
		space = end
	}
	kept := strings.TrimRight(text[:space], " ")
	if at := strings.LastIndex(kept, " "); at > 0 && isFigure(kept[at+1:]) {
		kept = kept[:at]
	}
	return strings.TrimRight(kept, " ,;:") + "…"
}

// isFigure reports whether a word, which may be truncated, is a number or the beginning of one. Its
// unit may follow.
func isFigure(word string) bool {
	word = strings.TrimLeft(word, "(±≥≤<>=~+-−")
	return word != "" && strings.Trim(word, "0123456789.,–-") == "" && strings.ContainsAny(word[:1], "0123456789")
}

// ByText collects names by text. Texts and names keep the order in which they were added.
type ByText struct {
	Texts []string
	Names map[string][]string
}

// Add adds name to those with this text.
func (b *ByText) Add(text, name string) {
	if b.Names == nil {
		b.Names = map[string][]string{}
	}
	if b.Names[text] == nil {
		b.Texts = append(b.Texts, text)
	}
	b.Names[text] = Distinct(b.Names[text], name)
}

// Distinct appends value to list unless list contains it.
func Distinct[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// Natural compares names with numbers in them by their value.
func Natural(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// FalseFirst compares a and b with false < true.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ByHost writes the host of consecutive commands, "on nas: ip link …", only once: on its own line,
// with the commands indented below.
func ByHost(commands []string) (lines []string) {
	at := ""
	for i, line := range commands {
		host := hostOf(line)
		switch {
		case host == "":
			lines = append(lines, line)
		case host == at:
			lines = append(lines, "  "+line[len(host):])
		case i+1 < len(commands) && hostOf(commands[i+1]) == host:
			lines = append(lines, strings.TrimSpace(host), "  "+line[len(host):])
		default:
			lines = append(lines, line)
			host = ""
		}
		at = host
	}
	return lines
}

// hostOf returns the "on nas: " at the beginning of a line.
func hostOf(line string) string {
	if host, _, found := strings.Cut(line, ": "); found && strings.HasPrefix(host, "on ") &&
		!strings.Contains(host[3:], " ") {
		return host + ": "
	}
	return ""
}
