package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
)

// TestCounting: what is recorded by one while another looks is what an ordinary
// histogram says, at both of its ends and everywhere between.
func TestCounting(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	counting, ordinary := NewCounting(), NewHistogram()
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		last := int64(0)
		for {
			n := counting.Histogram().TotalCount()
			if n < last {
				t.Errorf("%d times, where there were %d before", n, last)
			}
			last = n
			select {
			case <-done:
				return
			default:
			}
		}
	})
	values := []int64{-1, 0, 1, 2, half - 1, half, 2*half - 1, 2 * half, 2*half + 1, longestNs - 1, longestNs,
		longestNs + 1, math.MaxInt64}
	for power := range 40 {
		values = append(values, 1<<power-1, 1<<power, 1<<power+1)
	}
	for range 10_000 {
		values = append(values, int64(math.Exp(25*draw.Float64())))
	}
	for _, ns := range values {
		if at := step(min(max(ns, 1), longestNs)); step(longest(at)) != at || step(longest(at)+1) != at+1 {
			t.Errorf("%d ns are counted at %d, which is up to %d ns", ns, at, longest(at))
		}
		counting.Record(ns)
		Record(ordinary, ns)
	}
	close(done)
	looking.Wait()
	if got, want := counting.Histogram().Export().Counts, ordinary.Export().Counts; !reflect.DeepEqual(got, want) {
		t.Error("counts differ from an ordinary histogram's")
	}
	got, err := Distribution(counting.Histogram())
	if err != nil {
		t.Fatal(err)
	}
	want, _ := Distribution(ordinary)
	if got.Count != int64(len(values)) || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestCountingTakesNoMemory: every transaction is recorded.
func TestCountingTakesNoMemory(t *testing.T) {
	c := NewCounting()
	if n := testing.AllocsPerRun(100, func() { c.Record(12345) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
