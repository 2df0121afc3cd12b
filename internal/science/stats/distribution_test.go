package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"linerate/internal/model/record"
)

// TestDistribution: percentiles are those of the sorted values, as near as three
// digits are, and parts add up to the whole.
func TestDistribution(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	whole, parts := NewHistogram(), []*record.Distribution{nil}
	var values []float64
	for range 3 {
		h := NewHistogram()
		for range 20_000 {
			ns := int64(math.Exp(draw.NormFloat64()+10)) + 1
			values = append(values, float64(ns)/1e3)
			Record(h, ns)
			Record(whole, ns)
		}
		d, err := Distribution(h)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, d)
	}
	together, err := Together(parts...)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Distribution(whole)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(values)
	for _, q := range []struct {
		name               string
		share              float64
		together, oneByOne float64
	}{
		{"p50", 0.5, together.P50Us, alone.P50Us}, {"p90", 0.9, together.P90Us, alone.P90Us},
		{"p99", 0.99, together.P99Us, alone.P99Us}, {"p99.9", 0.999, together.P999Us, alone.P999Us},
		{"p99.99", 0.9999, together.P9999Us, alone.P9999Us}, {"max", 1, together.MaxUs, alone.MaxUs},
	} {
		want := values[min(len(values)-1, int(math.Ceil(q.share*float64(len(values))))-1)]
		if math.Abs(q.together/want-1) > 0.002 || q.together != q.oneByOne {
			t.Errorf("%s is %.3f µs put together and %.3f µs in one, want %.3f µs", q.name, q.together,
				q.oneByOne, want)
		}
	}
	if together.Count != int64(len(values)) {
		t.Errorf("%d times, want %d", together.Count, len(values))
	}
}

// TestDistributionAtItsEnds: nothing is no distribution, and times beyond the
// histogram's bounds are not lost.
func TestDistributionAtItsEnds(t *testing.T) {
	h := NewHistogram()
	if d, err := Distribution(h); d != nil || err != nil {
		t.Errorf("nothing: %+v, %v", d, err)
	}
	Record(h, -5)
	Record(h, 5*longestNs)
	d, err := Distribution(h)
	if err != nil || d.Count != 2 || d.MinUs > 0.002 || d.MaxUs < longestNs/1e3*0.998 {
		t.Errorf("beyond the bounds: %+v, %v", d, err)
	}
	if _, err := Together(&record.Distribution{Count: 1, Histogram: []byte("no histogram")}); err == nil {
		t.Error("put together with what is no histogram")
	}
}
