package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/conformance"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// whole returns an error unless a notebook has the run with its first trials, at least
// these many and at most one more, each as it was saved.
func whole(s *Store, id string, least int) error {
	run, err := s.Run(background, id)
	if err != nil {
		return err
	}
	if n := len(run.Trials); n < least || n > least+1 {
		return fmt.Errorf("%d trials, and %d were saved", n, least)
	}
	for i, trial := range run.Trials {
		got, err := json.Marshal(trial)
		want, wantErr := json.Marshal(conformance.Trial(i + 1))
		if err != nil || wantErr != nil || string(got) != string(want) {
			return fmt.Errorf("trial %d is not as it was saved: %w", i+1, errors.Join(err, wantErr))
		}
	}
	return nil
}

// TestPowerCut cuts the power behind each write, sync and rename of a run that is begun,
// measured, described and finished: whatever is left of what was not synced, the notebook
// opens, has each trial that was reported as saved, whole, and takes the next one.
func TestPowerCut(t *testing.T) {
	kerneltest.Slow(t)
	var calls []kerneltest.Call
	if !kerneltest.Supervised(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "notebook.db")
		promise := func(trials int) error {
			return os.WriteFile(filepath.Join(dir, "promised"), []byte{byte('0' + trials)}, 0o600)
		}
		run := conformance.Run("arp-flux", 7)
		for again := range 2 { // the second time on the file as it is
			s := open(t, path)
			do := []func() error{func() error { return s.Begin(background, run) }}
			if again == 1 {
				do[0] = func() error { _, err := s.Resume(background, run.ID, true); return err }
			}
			for i := range 2 {
				order := 1 + 2*again + i
				do = append(do, func() error { return s.SaveTrial(background, run.ID, conformance.Trial(order)) },
					func() error { return promise(order) })
			}
			do = append(do, func() error { return s.AddNote(background, run.ID, record.Note{Text: "x"}) },
				func() error { run.Status = notebook.Complete; return s.Finish(background, run) }, s.Close)
			for i, step := range do {
				if err := step(); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				if i == 0 && again == 0 {
					if err := promise(0); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}, func(dir string, c kerneltest.Call) kerneltest.Fault {
		if strings.HasPrefix(c.Path, dir) {
			calls = append(calls, c)
		}
		return kerneltest.Fault{}
	}) {
		return
	}
	promised, opened := -1, 0
	cuts(t, calls, func(path string) error {
		opened++
		s, err := Open(background, path)
		if err != nil {
			return err
		}
		if promised >= 0 {
			err = whole(s, "arp-flux-7", promised)
		}
		return errors.Join(err, s.Close())
	}, func(c kerneltest.Call) bool {
		if filepath.Base(c.Path) != "promised" {
			return false
		}
		if c.Op == kerneltest.Write {
			promised = int(c.Data[0] - '0')
		}
		return true
	})
	t.Logf("%d calls, %d notebooks opened", len(calls), opened)
	if promised != 4 || opened < 100 {
		t.Errorf("%d trials, %d notebooks: the test does not test", promised, opened)
	}
}

// cuts cuts the power behind each call, and has check look at each notebook that may be
// left. Calls for which aside returns true are not of the notebook.
func cuts(t *testing.T, calls []kerneltest.Call, check func(path string) error, aside func(kerneltest.Call) bool) {
	t.Helper()
	disk, random := kerneltest.NewDisk(), rand.New(rand.NewPCG(1, 2))
	at := filepath.Join(t.TempDir(), "notebook.db")
	var last map[string][]byte // a notebook that was checked is not checked again
	for i, c := range calls {
		if aside(c) {
			last = nil // but for what is promised now
			continue
		}
		disk.Do(c)
		for remains := range kerneltest.Remains {
			found := map[string][]byte{}
			for name, text := range disk.Cut(remains, random) {
				// SQLite makes its shared memory anew.
				if base := filepath.Base(name); strings.HasPrefix(base, "notebook.db") && base != "notebook.db-shm" &&
					filepath.Dir(name) == filepath.Dir(calls[0].Path) {
					found[base] = text
				}
			}
			if reflect.DeepEqual(found, last) {
				continue
			}
			last = found
			for _, name := range []string{at, at + "-wal", at + "-shm", at + "-journal"} {
				if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			for base, text := range found {
				if err := os.WriteFile(filepath.Join(filepath.Dir(at), base), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := check(at); err != nil {
				t.Fatalf("cut behind call %d (%s %s), %d: %v", i, c.Op, filepath.Base(c.Path), remains, err)
			}
		}
	}
}

// TestEveryCallFails has each write, sync, truncation and so on of the same fail in turn,
// with nothing written or with half of it: what was reported as saved is there, and the
// run is carried on.
func TestEveryCallFails(t *testing.T) {
	kerneltest.Slow(t)
	random := rand.New(rand.NewPCG(3, 4))
	var left, failed int
	all := false // have failed
	if !kerneltest.Supervised(t, func(t *testing.T, dir string) {
		// The n-th call from now on fails; 0: none does.
		arm := func(n int) error { return os.WriteFile(filepath.Join(dir, "arm"), []byte{byte(n)}, 0o600) }
		for n := 1; ; n++ {
			if err := arm(n); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, fmt.Sprint(n), "notebook.db")
			saved, problems := measured(path)
			if err := arm(0); err != nil {
				return // there is no call of this number
			}
			s, err := Open(background, path)
			if err != nil {
				t.Fatalf("call %d failed with %v; then: %v", n, problems, err)
			}
			run := conformance.Run("arp-flux", 7)
			if saved < 0 {
				err = s.Begin(background, run)
			} else if err = whole(s, run.ID, saved); err == nil {
				run, err = s.Resume(background, run.ID, true)
			}
			if err == nil {
				err = s.SaveTrial(background, run.ID, conformance.Trial(len(run.Trials)+1))
			}
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatalf("call %d failed with %v; then: %v", n, problems, err)
			}
		}
	}, func(dir string, c kerneltest.Call) kerneltest.Fault {
		switch {
		case c.Path == filepath.Join(dir, "arm"):
			if c.Op == kerneltest.Write {
				if all = all || left > 0; all { // a call of this number did not come
					return kerneltest.Fault{Errno: syscall.ENXIO}
				}
				left = int(c.Data[0])
			}
		case strings.HasPrefix(c.Path, dir) && left > 0:
			if left--; left == 0 {
				failed++
				if random.IntN(2) == 0 {
					return kerneltest.Fault{Errno: syscall.ENOSPC, Torn: true}
				}
				return kerneltest.Fault{Errno: syscall.EIO}
			}
		}
		return kerneltest.Fault{}
	}) {
		return
	}
	t.Logf("%d calls failed", failed)
	if failed < 50 {
		t.Error("the test does not test")
	}
}

// measured carries out a run of two trials; saved is how many were reported as saved, -1
// if the run was not begun.
func measured(path string) (saved int, problems error) {
	saved = -1
	s, err := Open(background, path)
	if err != nil {
		return saved, err
	}
	run := conformance.Run("arp-flux", 7)
	if err := s.Begin(background, run); err != nil {
		return saved, errors.Join(err, s.Close())
	}
	saved = 0
	for order := 1; order <= 2; order++ {
		err := s.SaveTrial(background, run.ID, conformance.Trial(order))
		if problems = errors.Join(problems, err); err != nil {
			return saved, errors.Join(problems, s.Close())
		}
		saved = order
	}
	run.Status = notebook.Complete
	return saved, errors.Join(s.Finish(background, run), s.Close())
}
