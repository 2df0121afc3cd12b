package wording

import (
	"testing"

	diagfacts "linerate/internal/science/diagnose/facts"
)

// TestReasonsHaveMeanings: each reason of the kernel that linerate knows, and no other, has one.
func TestReasonsHaveMeanings(t *testing.T) {
	for name := range diagfacts.Reasons() {
		if meanings[name] == "" {
			t.Errorf("%s has no meaning", name)
		}
	}
	for name := range meanings {
		if _, is := diagfacts.Reasons()[name]; !is {
			t.Errorf("%s is no reason", name)
		}
	}
}
