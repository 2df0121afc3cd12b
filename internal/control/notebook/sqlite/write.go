package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"linerate/internal/control/notebook"
	"linerate/internal/kernel/file"
	"linerate/internal/model/record"
)

// Begin adds a run and holds it.
func (s *Store) Begin(ctx context.Context, run *record.Run) error {
	operation := "begin run " + run.ID
	if err := notebook.CheckID(run.ID); err != nil {
		return s.fail(operation, err)
	}
	if run.Name != "" {
		if err := notebook.CheckName(run.Name); err != nil {
			return s.fail(operation, err)
		}
	}
	named := *run
	var hold *file.FileLock
	err := s.write(ctx, operation, func(tx *sql.Tx) (err error) {
		// Release the lock of the previous, failed attempt.
		if err := unlock(&hold); err != nil {
			return err
		}
		var taken bool
		err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?)", run.Name).Scan(&taken)
		if err == nil && taken {
			err = fmt.Errorf("name %q: %w", run.Name, notebook.ErrNameTaken)
		}
		if err != nil {
			return err
		}
		ids, err := query(ctx, tx, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) },
			"SELECT id FROM run UNION SELECT name FROM run")
		if err != nil {
			return err
		}
		named.ID = notebook.FreeID(run.ID, ids)
		// Locked before the run becomes visible, so that it never appears as interrupted.
		if hold, err = s.lock(named.ID); err != nil {
			return err
		}
		document, err := header(&named)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO run (id, name, study, seed, started, status, document)
			VALUES (?, ?, ?, ?, ?, ?, ?)`, named.ID, run.Name, run.Study, strconv.FormatUint(run.Seed, 10),
			clock(run.Started), notebook.Running, document)
		return err
	})
	if err != nil {
		return errors.Join(err, unlock(&hold))
	}
	run.ID, run.Status = named.ID, notebook.Running
	s.keep(run.ID, hold)
	return nil
}

// Resume holds an existing run; a complete one only if extend is true.
func (s *Store) Resume(ctx context.Context, id string, extend bool) (*record.Run, error) {
	operation := "resume run " + id
	if _, err := s.Run(ctx, id); err != nil { // check before creating a lock
		return nil, err
	}
	if s.readOnly {
		return nil, s.fail(operation, notebook.ErrReadOnly)
	}
	hold, err := s.lock(id)
	if err != nil {
		return nil, s.fail(operation, err)
	}
	err = s.write(ctx, operation, func(tx *sql.Tx) error {
		var status string
		err := tx.QueryRowContext(ctx, "SELECT status FROM run WHERE id = ?", id).Scan(&status)
		if errors.Is(err, sql.ErrNoRows) {
			return notebook.ErrNotFound // removed meanwhile
		}
		if err != nil {
			return err
		}
		if status == notebook.Complete && !extend {
			return notebook.ErrComplete
		}
		_, err = tx.ExecContext(ctx, "UPDATE run SET status = ? WHERE id = ?", notebook.Running, id)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, unlock(&hold))
	}
	run, err := s.Run(ctx, id)
	if err != nil {
		return nil, errors.Join(err, unlock(&hold))
	}
	s.keep(id, hold)
	return run, nil
}

// Describe saves what has become known about an unfinished run.
func (s *Store) Describe(ctx context.Context, run *record.Run) error {
	return s.update(ctx, "describe run "+run.ID, run, notebook.Running)
}

// update replaces the document of a held run.
func (s *Store) update(ctx context.Context, operation string, run *record.Run, status string) error {
	if !s.held(run.ID) {
		return s.fail(operation, notebook.ErrNotHeld)
	}
	document, err := header(run)
	if err != nil {
		return s.fail(operation, err)
	}
	conclusion, err := json.Marshal(run.Conclusion)
	if err != nil {
		return s.fail(operation, err)
	}
	return s.write(ctx, operation, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE run SET status = ?, conclusion = ?, document = ? WHERE id = ?",
			status, string(conclusion), document, run.ID)
		return err
	})
}

// SaveTrial saves one trial durably.
func (s *Store) SaveTrial(ctx context.Context, id string, trial record.Trial) error {
	ctx = context.WithoutCancel(ctx)
	operation := fmt.Sprintf("save trial %d of run %s", trial.Order, id)
	if !s.held(id) {
		return s.fail(operation, notebook.ErrNotHeld)
	}
	if trial.Order < 1 {
		return s.fail(operation, errors.New("a trial's order counts from 1"))
	}
	document, err := pack(trial)
	if err != nil {
		return s.fail(operation, err)
	}
	return s.write(ctx, operation, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO trial (run, place, treatment, block, started, goodput_bps, document)
			SELECT number, ?, ?, ?, ?, ?, ? FROM run WHERE id = ?`,
			trial.Order, trial.Treatment, trial.Block, clock(trial.Started), trial.GoodputBps, document, id)
		if isAny(err, sqlite3.SQLITE_CONSTRAINT) {
			return notebook.ErrTrialExists
		}
		return err
	})
}

// Finish saves the conclusion and releases the hold.
func (s *Store) Finish(ctx context.Context, run *record.Run) error {
	ctx = context.WithoutCancel(ctx)
	operation := "finish run " + run.ID
	if run.Status == "" || run.Status == notebook.Running {
		return s.fail(operation, fmt.Errorf("status %q: expected how the run ended, such as %s or %s",
			run.Status, notebook.Complete, notebook.Interrupted))
	}
	if err := s.update(ctx, operation, run, run.Status); err != nil {
		return err
	}
	s.mu.Lock()
	hold := s.holds[run.ID]
	delete(s.holds, run.ID)
	s.mu.Unlock()
	return s.fail(operation, unlock(&hold))
}

// AddNote adds a note to a run.
func (s *Store) AddNote(ctx context.Context, id string, note record.Note) error {
	operation := "add a note to run " + id
	return s.write(ctx, operation, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx,
			"INSERT INTO note (run, time, text) SELECT number, ?, ? FROM run WHERE id = ?",
			clock(note.Time), note.Text, id)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(notebook.ErrNotFound, err)
		}
		return nil
	})
}

// SetProven records for a run which settings of its list were kept.
func (s *Store) SetProven(ctx context.Context, id string, proven record.Proven) error {
	operation := "note in run " + id + " what was kept"
	return s.write(ctx, operation, func(tx *sql.Tx) error {
		var document []byte
		err := tx.QueryRowContext(ctx, "SELECT document FROM run WHERE id = ?", id).Scan(&document)
		if errors.Is(err, sql.ErrNoRows) {
			return notebook.ErrNotFound
		}
		if err != nil {
			return err
		}
		var run record.Run
		if err := unpack(document, &run); err != nil {
			return err
		}
		run.Proven = &proven
		if document, err = header(&run); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE run SET document = ? WHERE id = ?", document, id)
		return err
	})
}

// header packs a run without the parts that are stored in other tables.
func header(run *record.Run) ([]byte, error) {
	h := *run
	h.Trials, h.Notes = nil, nil
	return pack(h)
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// lockPath returns the file that the holder of a run keeps locked.
func (s *Store) lockPath(id string) string { return filepath.Join(s.path+"-locks", id) }

func (s *Store) lock(id string) (*file.FileLock, error) {
	path := s.lockPath(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	hold, err := file.LockFile(path, fmt.Sprintf("process %d", os.Getpid()))
	if errors.Is(err, file.ErrLocked) {
		return nil, fmt.Errorf("%w (%w)", notebook.ErrHeld, err)
	}
	return hold, err
}

func unlock(hold **file.FileLock) error {
	if *hold == nil {
		return nil
	}
	err := (*hold).Unlock()
	*hold = nil
	return err
}

func (s *Store) keep(id string, hold *file.FileLock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds[id] = hold
}

func (s *Store) held(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holds[id] != nil
}
