package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/conformance"
	"linerate/internal/model/record"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it themselves
	return s
}

func TestConformance(t *testing.T) {
	for _, c := range conformance.Cases {
		t.Run(c.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notebook.db")
			c.Check(t, func() notebook.Store { return open(t, path) })
		})
	}
}

// The suite again on a rollback journal, as on a file system without shared memory.
func TestConformanceWithoutWAL(t *testing.T) {
	for _, c := range conformance.Cases {
		t.Run(c.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notebook.db")
			c.Check(t, func() notebook.Store {
				s := newStore(path, false)
				if err := s.connect(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				s.withoutWAL = true
				if err := s.begin(t.Context(), migrations); err != nil {
					t.Fatal(err)
				}
				var mode string
				if err := s.db.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "delete" {
					t.Fatalf("journal mode %q, %v", mode, err)
				}
				return s
			})
		})
	}
}

func TestEveryTrialIsSynced(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "notebook.db"))
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "3", "foreign_keys": "1"} {
		var got string
		if err := s.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %s, %v, want %s", pragma, got, err, want)
		}
	}
}

// begun makes a notebook with one finished run, closed, and returns its path.
func begun(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deep", "er ?#%", "notebook.db")
	s := open(t, path)
	run := conformance.Run("arp-flux", 7)
	for _, err := range []error{
		s.Begin(t.Context(), run),
		s.SaveTrial(t.Context(), run.ID, conformance.Trial(1)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	run.Status = notebook.Complete
	if err := s.Finish(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnusableFiles(t *testing.T) {
	write := func(t *testing.T, content []byte) string {
		path := filepath.Join(t.TempDir(), "notebook.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	exec := func(t *testing.T, path string, statements ...string) string {
		db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("?", "%3f", "#", "%23", "%", "%25").Replace(path))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, statement := range statements {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	for _, c := range []struct {
		name  string
		make  func(t *testing.T) string
		kind  error
		words string
	}{
		{"directory", func(t *testing.T) string {
			return t.TempDir()
		}, notebook.ErrNotNotebook, "a directory, expected a file"},
		{"text", func(t *testing.T) string { return write(t, []byte(strings.Repeat("hello, world\n", 999))) },
			notebook.ErrNotNotebook, "not a linerate notebook"},
		{"another program's database", func(t *testing.T) string {
			return exec(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE bookmark (x)")
		}, notebook.ErrNotNotebook, "another program"},
		{"a newer notebook", func(t *testing.T) string {
			return exec(t, begun(t), "PRAGMA user_version = 99")
		}, notebook.ErrNewer, "format 99, known up to 4"},
		{"cut short", func(t *testing.T) string {
			path := begun(t)
			if err := os.Truncate(path, 3000); err != nil {
				t.Fatal(err)
			}
			return path
		}, notebook.ErrDamaged, "damaged"},
		{"under a file", func(t *testing.T) string {
			return filepath.Join(write(t, nil), "notebook.db")
		}, nil, "not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.make(t)
			before, _ := os.ReadFile(path)
			for how, open := range map[string]func(context.Context, string) (*Store, error){"Open": Open,
				"OpenReadOnly": OpenReadOnly} {
				s, err := open(t.Context(), path)
				if err == nil {
					s.Close()
					t.Fatalf("%s: no error", how)
				}
				if c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.words) ||
					!strings.Contains(err.Error(), path) {
					t.Errorf("%s: %v\nwant the path, %q and an error that is %v", how, err, c.words, c.kind)
				}
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestSeenWhileMade: a process that reads a notebook while another makes it sees either
// nothing or a notebook.
func TestSeenWhileMade(t *testing.T) {
	for range 20 {
		path := filepath.Join(t.TempDir(), "notebook.db")
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
		if err != nil {
			t.Fatal(err)
		}
		made := make(chan error)
		go func() {
			s, err := Open(t.Context(), path)
			if err == nil {
				s.Close()
			}
			made <- err
		}()
		for id := (identity{}); id.format < len(migrations); {
			if id, err = identify(t.Context(), db, len(migrations)); err == nil {
			}
			if err != nil {
				t.Error(err)
				break
			}
		}
		if err := <-made; err != nil {
			t.Error(err)
		}
		db.Close()
	}
}

func TestDamagedRecord(t *testing.T) {
	path := begun(t)
	s := open(t, path)
	var document []byte
	if err := s.db.QueryRow("SELECT document FROM trial").Scan(&document); err != nil {
		t.Fatal(err)
	}
	document[len(document)/2] ^= 0x40
	if _, err := s.db.Exec("UPDATE trial SET document = ?", document); err != nil {
		t.Fatal(err)
	}
	_, err := s.Run(t.Context(), "arp-flux-7")
	if !errors.Is(err, notebook.ErrDamaged) || !strings.Contains(err.Error(), "trial 1") ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names trial 1 of %s as damaged", err, path)
	}
	// Interrupted, it is read to be listed; the others are listed nonetheless.
	if _, err := s.db.Exec("UPDATE run SET status = 'interrupted'"); err != nil {
		t.Fatal(err)
	}
	runs, err := s.Runs(t.Context(), notebook.Filter{})
	if err != nil || len(runs) != 1 || runs[0].Status != notebook.Interrupted ||
		!strings.Contains(runs[0].Error, "damaged") {
		t.Errorf("%+v, %v", runs, err)
	}
}

// TestOldRun: a run with the keys of an earlier version is not read with figures
// missing; what to do is said.
func TestOldRun(t *testing.T) {
	path := begun(t)
	s := open(t, path)
	document, err := pack(map[string]string{"schema": "linerate.run/v1", "id": "arp-flux-7"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("UPDATE run SET document = ?", document); err != nil {
		t.Fatal(err)
	}
	_, err = s.Run(t.Context(), "arp-flux-7")
	if !errors.Is(err, notebook.ErrOldRun) || !strings.Contains(err.Error(), "linerate.run/v1") ||
		!strings.Contains(err.Error(), "run the study again") {
		t.Errorf("error %v, want one that says what changed and what to do", err)
	}
}

func TestReadOnlyNeedsANotebook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x", "notebook.db")
	if _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, notebook.ErrNoNotebook) {
		t.Errorf("missing: %v, want %v", err, notebook.ErrNoNotebook)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("reading made a directory")
	}
}

func TestReadOnlyWritesNothing(t *testing.T) {
	path := begun(t)
	s, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if run, err := s.Run(t.Context(), "arp-flux-7"); err != nil || len(run.Trials) != 1 {
		t.Errorf("read: %v", err)
	}
	for what, err := range map[string]error{
		"Begin":   s.Begin(t.Context(), conformance.Run("x", 1)),
		"AddNote": s.AddNote(t.Context(), "arp-flux-7", record.Note{Text: "x"}),
		"Resume":  func() error { _, err := s.Resume(t.Context(), "arp-flux-7", false); return err }(),
	} {
		if !errors.Is(err, notebook.ErrReadOnly) {
			t.Errorf("%s: %v, want %v", what, err, notebook.ErrReadOnly)
		}
	}
}

func TestMigration(t *testing.T) {
	path := begun(t)
	steps := append(migrations[:len(migrations):len(migrations)],
		"ALTER TABLE run ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
	broken := append(steps[:len(steps):len(steps)], "CREATE TABLE extra (x); ALTER TABLE nowhere ADD COLUMN x")

	renew := func(steps []string) error {
		s := newStore(path, false)
		if err := s.connect(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.begin(t.Context(), steps)
	}
	if err := renew(broken); err == nil {
		t.Fatal("a step that fails: no error")
	}
	s := open(t, path) // nothing was changed: the old format, with everything in it
	if err := s.check(t.Context(), len(steps)); !errors.Is(err, notebook.ErrOlder) {
		t.Errorf("an older notebook, read: %v, want %v", err, notebook.ErrOlder)
	}
	if err := renew(steps); err != nil {
		t.Fatal(err)
	}
	var mood string
	if err := s.db.QueryRow("SELECT mood FROM run WHERE id = 'arp-flux-7'").Scan(&mood); err != nil || mood != "calm" {
		t.Errorf("after the step: %q, %v", mood, err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, notebook.ErrNewer) {
		t.Errorf("opened by the older program: %v, want %v", err, notebook.ErrNewer)
	}
}

func TestBusyForTooLong(t *testing.T) {
	path := begun(t)
	other, s := open(t, path), open(t, path)
	tx, err := other.db.Begin() // immediate: no other process can write
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("PRAGMA busy_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	s.patience = 50 * time.Millisecond
	err = s.AddNote(t.Context(), "arp-flux-7", record.Note{Text: "x"})
	if !errors.Is(err, notebook.ErrBusy) || !strings.Contains(err.Error(), path) {
		t.Errorf("while locked: %v, want %v", err, notebook.ErrBusy)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := s.AddNote(t.Context(), "arp-flux-7", record.Note{Text: "x"}); err != nil {
		t.Errorf("after the lock is gone: %v", err)
	}
}
