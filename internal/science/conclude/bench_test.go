package conclude

import (
	"fmt"
	"testing"

	"linerate/internal/science/sciencetest"
)

// BenchmarkConclude is a run with many trials, and one with many flows in each of 56 trials: twice as many take
// about twice the time and memory.
func BenchmarkConclude(b *testing.B) {
	for _, blocks := range []int{18, 36, 72} { // of 14 trials
		b.Run(fmt.Sprintf("trials=%d", 14*blocks), func(b *testing.B) { conclude(b, sciencetest.Study, blocks) })
	}
	for _, clients := range []int{12, 25, 50} {
		lab := sciencetest.Lab{Ports: 4, Clients: clients}
		b.Run(fmt.Sprintf("flows=%d", lab.Ports*lab.Clients), func(b *testing.B) { conclude(b, lab, 4) })
	}
}

func conclude(b *testing.B, lab sciencetest.Lab, blocks int) {
	run := lab.Run(7, blocks)
	b.ReportAllocs()
	for b.Loop() {
		Conclude(run)
	}
}
