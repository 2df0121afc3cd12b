package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/science/sciencetest"
)

// BenchmarkRuns lists notebooks with many finished runs: twice as many take about twice the time and memory.
func BenchmarkRuns(b *testing.B) {
	for _, runs := range []int{2500, 5000, 10_000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			s := fill(b, runs, 0)
			b.ReportAllocs()
			for b.Loop() {
				if list, err := s.Runs(b.Context(), notebook.Filter{}); err != nil || len(list) != runs {
					b.Fatalf("%d runs: %v", len(list), err)
				}
			}
		})
	}
}

// BenchmarkRun reads runs with many trials.
func BenchmarkRun(b *testing.B) {
	for _, blocks := range []int{18, 36, 72} { // of 14 trials
		b.Run(fmt.Sprintf("trials=%d", 14*blocks), func(b *testing.B) {
			s := fill(b, 1, blocks)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Run(b.Context(), "run-0"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fill returns a notebook with finished runs, which is not flushed to the disk.
func fill(b *testing.B, runs, blocks int) *Store {
	b.Helper()
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "notebook.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	s.db.SetMaxOpenConns(1)
	if _, err := s.db.ExecContext(b.Context(), "PRAGMA synchronous = OFF"); err != nil {
		b.Fatal(err)
	}
	for i := range runs {
		run := sciencetest.Run(7, blocks)
		run.ID = fmt.Sprint("run-", i)
		if err := s.Begin(b.Context(), run); err != nil {
			b.Fatal(err)
		}
		for _, t := range run.Trials {
			if err := s.SaveTrial(b.Context(), run.ID, t); err != nil {
				b.Fatal(err)
			}
		}
		run.Status = "complete"
		if err := s.Finish(b.Context(), run); err != nil {
			b.Fatal(err)
		}
	}
	return s
}
