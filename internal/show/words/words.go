// Package words joins names and counts to English text: lists, numerals, sentences.
// It knows nothing of runs.
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

// List joins names as in a sentence: the first three of many, and the number of the
// others.
func List(names []string) string { return FirstFew(names, "and") }

// Join is "a, b and c" where word is "and".
func Join(list []string, word string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + word + " " + list[len(list)-1]
}

// FirstFew joins a list, or its first three with the number of the others.
func FirstFew(list []string, word string) string {
	if more := len(list) - 3; more > 1 {
		return strings.Join(list[:3], ", ") + fmt.Sprintf(" %s %s others", word, Numeral(more))
	}
	return Join(list, word)
}

// Name is the name of a level or a treatment within a sentence: in quotes where it could be
// read as a part of that, and as it is where a character or digit shows that it is a name,
// such as arp_ignore=1.
func Name(name string) string {
	if !strings.Contains(name, " ") && strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) ||
		name == "" {
		return name
	}
	return "“" + name + "”"
}

// ForName is " for" and a name; empty where that is.
func ForName(name string) string {
	if name == "" {
		return ""
	}
	return " for " + name
}

// Numeral is a number as a word, up to twelve.
func Numeral(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// Every is "all four", or "both".
func Every(n int) string {
	if n == 2 {
		return "both"
	}
	return "all " + Numeral(n)
}

// Verb is one of two words, by number.
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Sentence starts with a capital letter, unless it starts with a name that must keep
// its spelling: one of names, or one that looks so, such as arp_ignore=1.
func Sentence(text string, names ...string) string {
	word, _, _ := strings.Cut(text, " ")
	word = strings.TrimRight(word, ":,")
	if text == "" || slices.Contains(names, word) || strings.ContainsAny(word, "_=.:/0123456789") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// FullStop is a whole sentence.
func FullStop(text string) string {
	if text = Sentence(text); strings.HasSuffix(text, ".") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// Count spells a number of things: "1 trial", "3 trials".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Width is how many columns of a terminal a text takes.
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

// Shorten cuts a text to n columns of a terminal, at a space where there is one in the
// second half of them, and ends it with an ellipsis. A figure is not parted from its unit:
// the cut is before both, unless the text begins with them.
func Shorten(text string, n int) string {
	if Width(text) <= n {
		return text
	}
	end, space, used := 0, 0, 0
	for i, r := range text {
		if used += Width(string(r)); used >= n { // the ellipsis takes one
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

// isFigure: a word, which may be cut off, is a number or the first part of one, and its unit
// may follow.
func isFigure(word string) bool {
	word = strings.TrimLeft(word, "(±≥≤<>=~+-−")
	return word != "" && strings.Trim(word, "0123456789.,–-") == "" && strings.ContainsAny(word[:1], "0123456789")
}

// ByText collects names by what is said of them, texts and names in the order in
// which they first come.
type ByText struct {
	Texts []string
	Names map[string][]string
}

// Add says text of a name.
func (b *ByText) Add(text, name string) {
	if b.Names == nil {
		b.Names = map[string][]string{}
	}
	if b.Names[text] == nil {
		b.Texts = append(b.Texts, text)
	}
	b.Names[text] = Distinct(b.Names[text], name)
}

// Distinct adds a value to a list that does not have it.
func Distinct[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// Natural compares names so that their numbers count as numbers.
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

// FalseFirst compares as false < true.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ByHost writes the host of commands, “on nas: ip link …”, once for those that follow each
// other: on a line of its own, with the commands indented below it.
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

// hostOf is the “on nas: ” that a line begins with.
func hostOf(line string) string {
	if host, _, found := strings.Cut(line, ": "); found && strings.HasPrefix(host, "on ") &&
		!strings.Contains(host[3:], " ") {
		return host + ": "
	}
	return ""
}
