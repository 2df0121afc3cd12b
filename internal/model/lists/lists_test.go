package lists

import (
	"maps"
	"slices"
	"strconv"
	"testing"
)

func TestLists(t *testing.T) {
	list := []int{3, 0, 5}
	odd := func(n int) bool { return n%2 == 1 }
	if got := Map(list, strconv.Itoa); !slices.Equal(got, []string{"3", "0", "5"}) {
		t.Errorf("texts: %q", got)
	}
	if got := Flat(list, func(n int) []int { return make([]int, n) }); len(got) != 8 {
		t.Errorf("%d elements of lists of 3, 0 and 5", len(got))
	}
	if got := Where(list, odd); !slices.Equal(got, []int{3, 5}) {
		t.Errorf("odd: %d", got)
	}
	if got := Count(list, odd); got != 2 {
		t.Errorf("%d are odd", got)
	}
	if got := Sum(list, func(n int) float64 { return float64(n) / 2 }); got != 4 {
		t.Errorf("sum of halves: %v", got)
	}
}

// Documents have null for a list that is nil, and [] for one that is empty.
func TestNothing(t *testing.T) {
	for name, list := range map[string][]int{"nil": nil, "empty": {}} {
		if Map(list, func(n int) int { return n }) != nil || Flat(list, func(int) []int { return list }) != nil ||
			Where(list, func(int) bool { return true }) != nil {
			t.Errorf("lists of a list that is %s are not nil", name)
		}
	}
	if Where([]int{1}, func(int) bool { return false }) != nil {
		t.Error("a list of no elements is not nil")
	}
}

func TestPut(t *testing.T) {
	var m map[string]int
	Put(&m, "a", 1)
	Put(&m, "b", 2)
	if want := map[string]int{"a": 1, "b": 2}; !maps.Equal(m, want) {
		t.Errorf("%v, want %v", m, want)
	}
}
