package words

import (
	"cmp"
	"slices"
	"strings"
)

// ByText collects names by what is said of them, texts and names in the order in
// which they first come.
type ByText struct {
	Texts []string
	Names map[string][]string
}

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
