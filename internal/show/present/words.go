package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// list joins names as in a sentence: the first three of many, and the number of the
// others.
func list(names []string) string { return firstFew(names, "and") }

func join(list []string, word string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + word + " " + list[len(list)-1]
}

// firstFew joins a list, or its first three with the number of the others.
func firstFew(list []string, word string) string {
	if more := len(list) - 3; more > 1 {
		return strings.Join(list[:3], ", ") + fmt.Sprintf(" %s %s others", word, numeral(more))
	}
	return join(list, word)
}

func forName(name string) string {
	if name == "" {
		return ""
	}
	return " for " + name
}

func numeral(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// every is "all four", or "both".
func every(n int) string {
	if n == 2 {
		return "both"
	}
	return "all " + numeral(n)
}

// verb is one of two words, by number.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

const (
	goodWords = 30 // of a headline, where its words can be chosen
	mostWords = 35 // of any headline: what is beyond is cut off
)

// fit is the first of several wordings with no more than goodWords, or else with no more
// than mostWords; the last one is cut if it has more.
func fit(wordings ...string) string {
	for _, most := range []int{goodWords, mostWords} {
		for _, text := range wordings {
			if len(strings.Fields(text)) <= most && (most == mostWords || text != wordings[len(wordings)-1]) {
				return text
			}
		}
	}
	words := strings.Fields(wordings[len(wordings)-1])
	if len(words) > mostWords {
		return strings.Join(words[:mostWords], " ") + "…"
	}
	return strings.Join(words, " ")
}

// sentence starts with a capital letter, unless it starts with a name that must keep
// its spelling, such as arp_ignore=1.
func sentence(text string) string {
	if word, _, _ := strings.Cut(text, " "); text == "" || strings.ContainsAny(strings.TrimSuffix(word, ":"), "_=.:/0123456789") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// fullStop is a whole sentence.
func fullStop(text string) string {
	if text = sentence(text); strings.HasSuffix(text, ".") || strings.HasSuffix(text, "…") {
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

// byText collects names by what is said of them, texts and names in the order in
// which they first come.
type byText struct {
	texts []string
	names map[string][]string
}

func (b *byText) add(text, name string) {
	if b.names == nil {
		b.names = map[string][]string{}
	}
	if b.names[text] == nil {
		b.texts = append(b.texts, text)
	}
	b.names[text] = distinct(b.names[text], name)
}

// distinct adds a value to a list that does not have it.
func distinct[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// natural compares names so that their numbers count as numbers.
func natural(a, b string) int {
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

// b2i is 1 for true, which sorts behind false.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
