package arch

import (
	"strings"
	"testing"
)

// diagnosis has a package for each family of rules, on floors of what they share.
const diagnosis = "internal/science/diagnose"

// floors are from the lowest to the highest; a package may import those of lower ones. All others below
// diagnosis are families, above these.
var floors = []string{"facts", "fix", "rule"}

// TestFamilies: a family of rules knows no other one, and what they share knows none.
func TestFamilies(t *testing.T) {
	for _, s := range sources(t) {
		if !within(s.dir, diagnosis) || s.test || isKit(s.dir) {
			continue
		}
		for path, at := range s.imports() {
			if dir, ok := strings.CutPrefix(path, module); ok && within(dir, diagnosis) && floor(dir) >= floor(s.dir) {
				t.Errorf("%s: %s may not import %s: findings of one family are explained by its own rules, and what"+
					" families share is on a lower floor", at, s.dir, dir)
			}
		}
	}
	for _, c := range []struct {
		dir, to string
		may     bool
	}{{"arp", "facts", true}, {"arp", "rule", true}, {"arp", "route", false}, {"facts", "fix", false},
		{"rule", "arp", false}, {"rule", "fix", true}} {
		if got := floor(diagnosis+"/"+c.to) < floor(diagnosis+"/"+c.dir); got != c.may {
			t.Errorf("%s imports %s: %t", c.dir, c.to, got)
		}
	}
}

func floor(dir string) int {
	if dir == diagnosis {
		return len(floors) + 1
	}
	for i, name := range floors {
		if within(dir, diagnosis+"/"+name) {
			return i
		}
	}
	return len(floors)
}
