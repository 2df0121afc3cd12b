package sqlite

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/science/sciencetest"
)

// TestDeadRunIsReadOnce: the trials of a run whose process was killed are read as those of others, and not twice.
func TestDeadRunIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notebook.db")
	s := open(t, path)
	for seed, status := range map[uint64]string{1: "", 2: notebook.Complete} {
		run := sciencetest.Run(seed, 6)
		run.ID = notebook.ProposeID(run.Study, seed)
		if err := s.Begin(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		for _, trial := range run.Trials {
			if err := s.SaveTrial(t.Context(), run.ID, trial); err != nil {
				t.Fatal(err)
			}
		}
		if run.Status = status; status != "" {
			if err := s.Finish(t.Context(), run); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil { // which ends what holds its runs
		t.Fatal(err)
	}
	s = open(t, path)
	took := func(id, status string) (least time.Duration) {
		for range 5 {
			var before, after syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
			run, err := s.Run(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if run.Status != status || len(run.Trials) == 0 {
				t.Fatalf("%s: status %s, %v", id, run.Status, err)
			}
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
			if spent := time.Duration(after.Utime.Nano() - before.Utime.Nano()); least == 0 || spent < least {
				least = spent
			}
		}
		return least
	}
	if dead, over := took("arp-flux-1", notebook.Interrupted), took("arp-flux-2", notebook.Complete); dead > over*3/2 {
		t.Errorf("reading a run that was killed takes %v of CPU time, and one that is over %v", dead, over)
	}
}
