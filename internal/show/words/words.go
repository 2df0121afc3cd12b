// Package words joins names and counts to English text: lists, numerals, sentences.
// It knows nothing of runs.
package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// List joins names as in a sentence: the first three of many, and the number of the
// others.
func List(names []string) string { return FirstFew(names, "and") }

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

func ForName(name string) string {
	if name == "" {
		return ""
	}
	return " for " + name
}

func Numeral(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
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
// its spelling, such as arp_ignore=1.
func Sentence(text string) string {
	if word, _, _ := strings.Cut(text, " "); text == "" || strings.ContainsAny(strings.TrimSuffix(word, ":"), "_=.:/0123456789") {
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
