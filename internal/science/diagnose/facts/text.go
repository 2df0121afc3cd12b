package facts

import (
	"fmt"
	"slices"
	"strings"
)

// Join makes "a, b and c", and counts where there are many.
func Join(list []string) string {
	switch n := len(list); {
	case n == 0:
		return ""
	case n == 1:
		return list[0]
	case n > 6:
		return strings.Join(list[:5], ", ") + fmt.Sprintf(" and %d more", n-5)
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
}

// Texts joins what prints itself, such as addresses: "192.0.2.1/24 and 192.0.2.2/24".
func Texts[T fmt.Stringer](list []T) string {
	var all []string
	for _, x := range list {
		all = append(all, x.String())
	}
	return Join(all)
}

// Percent spells a share from 0 to 1: "25 %".
func Percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Union appends to a what it does not have.
func Union(a []string, more ...string) []string {
	for _, line := range more {
		if !slices.Contains(a, line) {
			a = append(a, line)
		}
	}
	return a
}
