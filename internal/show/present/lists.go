package present

import (
	"cmp"
	"slices"
	"strings"
)

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
