package html

import (
	"fmt"
	"io"
	"testing"

	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/export"
)

// BenchmarkRun writes the page, the JSON and the tables of runs with many trials, and with many flows in each of 56
// trials: twice as many take about twice the time and memory.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct{ blocks, clients int }{{18, 2}, {36, 2}, {72, 2}, {4, 12}, {4, 25}, {4, 50}} {
		run := sciencetest.Lab{Ports: 4, Clients: c.clients}.Run(7, c.blocks)
		conclude.Conclude(run)
		name := fmt.Sprintf("trials=%d,flows=%d", len(run.Trials), 4*c.clients)
		b.Run("page/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Run(io.Discard, run); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("export/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := export.JSON(io.Discard, run); err != nil {
					b.Fatal(err)
				}
				for _, t := range export.Tables {
					if err := export.CSV(io.Discard, t, run); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
