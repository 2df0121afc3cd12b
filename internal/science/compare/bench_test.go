package compare_test

import (
	"fmt"
	"testing"

	"linerate/internal/science/compare"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// BenchmarkRuns compares runs with many trials: twice as many take about twice the time and memory.
func BenchmarkRuns(b *testing.B) {
	for _, blocks := range []int{18, 36, 72} { // of 14 trials
		b.Run(fmt.Sprintf("trials=%d", 14*blocks), func(b *testing.B) {
			from, to := sciencetest.Run(7, blocks), sciencetest.Run(8, blocks)
			conclude.Conclude(from)
			conclude.Conclude(to)
			b.ReportAllocs()
			for b.Loop() {
				compare.Runs(from, to)
			}
		})
	}
}
