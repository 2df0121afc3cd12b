package index

import (
	"maps"
	"slices"
	"testing"
)

func TestIndex(t *testing.T) {
	list := []string{"eth0", "lo", "eth1", "lo2"}
	key := func(s string) byte { return s[0] }
	if got, want := First(list, key), map[byte]int{'e': 0, 'l': 1}; !maps.Equal(got, want) {
		t.Errorf("first: %v, want %v", got, want)
	}
	if got, want := Groups(list, key), map[byte][]int{'e': {0, 2}, 'l': {1, 3}}; !maps.EqualFunc(got, want,
		slices.Equal) {
		t.Errorf("groups: %v, want %v", got, want)
	}
	if got := First([]string(nil), key); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
