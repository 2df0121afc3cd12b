package stream

import (
	"math"
	"slices"
	"testing"
)

// try lets a choice run with candidates of these paces, in bytes per nanosecond of
// sending, where growth is how much faster everything becomes per slice.
func try(c *choice, paces []float64, growth float64) (turns []int, best int) {
	var at, bytes, busy int64
	c.begin(at)
	scale := 1.0
	for i := 0; ; {
		if c.turn == math.MaxInt64 {
			return turns, i
		}
		spent := c.turn - at
		at = c.turn
		busy += spent / 2
		bytes += int64(paces[i] * scale * float64(spent/2))
		scale *= growth
		next, over := c.next(at, bytes, busy)
		if i = next; !over {
			turns = append(turns, i)
		}
	}
}

func TestChoice(t *testing.T) {
	for _, c := range []struct {
		what   string
		paces  []float64
		growth float64
		refuse []int
		turns  []int
		best   int
	}{
		{"the fastest", []float64{5, 6, 14, 13}, 1, nil, []int{0, 1, 2, 3, 3, 2, 1, 0}, 2},
		{"the first of the nearly equal", []float64{10, 10.3, 10.4}, 1, nil, []int{0, 1, 2, 2, 1, 0}, 0},
		{"growth favours none", []float64{10, 10, 10, 10}, 1.02, nil, []int{0, 1, 2, 3, 3, 2, 1, 0}, 0},
		{"a refused one has no turn", []float64{5, 99, 14}, 1, []int{1}, []int{0, 2, 2, 0}, 2},
		{"nothing moves", []float64{0, 0}, 1, nil, []int{0, 1, 1, 0}, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			books := newChoice(len(c.paces))
			for _, i := range c.refuse {
				books.refused[i] = true
			}
			turns, best := try(books, c.paces, c.growth)
			if !slices.Equal(turns, c.turns) || best != c.best {
				t.Errorf("turns %v and then %d; want %v and then %d", turns, best, c.turns, c.best)
			}
		})
	}
}

func TestCoalescer(t *testing.T) {
	var n readCoalescer
	for _, c := range []struct {
		what      string
		bytes, at int64
		want      int64
	}{
		{"the first time nothing is known", 1000, 1e9, 0},
		{"1 Gbit/s is slow", 1000 + 125_000, 1e9 + 1e6, 0},
		{"40 Gbit/s: as long as may be", 126_000 + 500_000, 1.001e9 + 1e5, coalesceNs},
		{"160 Gbit/s: 600 kB's time", 626_000 + 2_000_000, 1.0011e9 + 1e5, 30_000},
		{"nothing came", 2_626_000, 1.0013e9, 0},
		{"no time passed", 2_626_000, 1.0013e9, 0},
	} {
		if got := n.next(c.bytes, c.at); got != c.want {
			t.Errorf("%s: %d ns, want %d", c.what, got, c.want)
		}
	}
}
