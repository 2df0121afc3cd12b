package facts

import "slices"

// Union appends to a those elements of more that it does not contain.
func Union(a []string, more ...string) []string {
	for _, line := range more {
		if !slices.Contains(a, line) {
			a = append(a, line)
		}
	}
	return a
}
