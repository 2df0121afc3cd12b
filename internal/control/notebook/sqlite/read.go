package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/kernel/file"
	"linerate/internal/model/record"
)

// Run returns a run with its trials and notes.
func (s *Store) Run(ctx context.Context, id string) (*record.Run, error) {
	before, err := s.progress(ctx, id)
	if err != nil {
		return nil, err
	}
	run, err := s.run(ctx, id)
	if err == nil && s.dead(run.ID, run.Status) {
		// Its holder writes before it unlocks: what is written now is final. Reading takes long.
		var after progress
		if after, err = s.progress(ctx, id); err == nil && after != before {
			run, err = s.run(ctx, id)
		}
		if err == nil && run.Status == notebook.Running {
			run.Status = notebook.Interrupted
		}
	}
	return run, err
}

// progress is what a run's holder changes.
type progress struct {
	status string
	trials int
}

func (s *Store) progress(ctx context.Context, id string) (p progress, err error) {
	err = s.read(ctx, "read run "+id, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT status, (SELECT count(*) FROM trial WHERE trial.run = run.number) "+
			"FROM run WHERE id = ?", id).Scan(&p.status, &p.trials)
		if errors.Is(err, sql.ErrNoRows) {
			return notebook.ErrNotFound
		}
		return err
	})
	return p, err
}

func (s *Store) run(ctx context.Context, id string) (*record.Run, error) {
	var run record.Run
	err := s.read(ctx, "read run "+id, func(tx *sql.Tx) error {
		run = record.Run{}
		var number int64
		var status string
		var document []byte
		err := tx.QueryRowContext(ctx, "SELECT number, status, document FROM run WHERE id = ?", id).
			Scan(&number, &status, &document)
		if errors.Is(err, sql.ErrNoRows) {
			return notebook.ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := unpack(document, &run); err != nil {
			return err
		}
		if run.Schema != record.RunSchema {
			return fmt.Errorf("%w (its schema is %.40q, this version reads %s)", notebook.ErrOldRun, run.Schema,
				record.RunSchema)
		}
		run.Status = status // the document has the status at the time it was written
		run.Trials, err = query(ctx, tx, readTrial, "SELECT place, document FROM trial WHERE run = ? ORDER BY place",
			number)
		if err != nil {
			return err
		}
		if err := notebook.Join(&run); err != nil {
			return err
		}
		run.Notes, err = query(ctx, tx, readNote, "SELECT time, text FROM note WHERE run = ? ORDER BY number", number)
		if len(run.Notes) == 0 {
			run.Notes = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if n := len(run.Trials); n > 0 && run.Status == notebook.Running {
		// The duration is not saved yet: it was at least this long.
		last := run.Trials[n-1]
		run.DurationS = max(run.DurationS, last.ElapsedS)
		if run.DurationS == 0 { // trials of older versions lack it
			run.DurationS = last.Started.Sub(run.Started).Seconds() + last.WindowS
		}
	}
	return &run, nil
}

// query returns the result of read for each row; never nil.
func query[T any](ctx context.Context, tx *sql.Tx, read func(*sql.Rows) (T, error), text string, args ...any) (
	[]T, error) {
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		one, err := read(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func readTrial(rows *sql.Rows) (trial record.Trial, err error) {
	var place int
	var document []byte
	if err = rows.Scan(&place, &document); err == nil {
		if err = unpack(document, &trial); err != nil {
			err = fmt.Errorf("trial %d: %w", place, err)
		}
	}
	return trial, err
}

func readNote(rows *sql.Rows) (note record.Note, err error) {
	var at string
	if err = rows.Scan(&at, &note.Text); err == nil {
		if note.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
			err = fmt.Errorf("%w: note: %w", notebook.ErrDamaged, err)
		}
	}
	return note, err
}

func readSummary(rows *sql.Rows) (one notebook.Summary, err error) {
	var seed, started, conclusion string
	if err = rows.Scan(&one.ID, &one.Name, &one.Study, &seed, &started, &one.Status, &conclusion, &one.Trials,
		&one.Notes); err != nil {
		return one, err
	}
	var seedErr, startedErr error
	one.Seed, seedErr = strconv.ParseUint(seed, 10, 64)
	one.Started, startedErr = time.Parse(time.RFC3339Nano, started)
	if err = errors.Join(seedErr, startedErr, json.Unmarshal([]byte(conclusion), &one.Conclusion)); err != nil {
		err = fmt.Errorf("%w: run %s: %w", notebook.ErrDamaged, one.ID, err)
	}
	return one, err
}

// Runs lists runs, the latest first.
func (s *Store) Runs(ctx context.Context, filter notebook.Filter) ([]notebook.Summary, error) {
	limit := filter.Limit
	if limit <= 0 {
		limit = -1 // no limit in SQLite
	}
	var all []notebook.Summary
	err := s.read(ctx, "list runs", func(tx *sql.Tx) (err error) {
		all, err = query(ctx, tx, readSummary, `SELECT id, name, study, seed, started, status, conclusion,
				(SELECT count(*) FROM trial WHERE trial.run = run.number),
				(SELECT count(*) FROM note WHERE note.run = run.number)
			FROM run WHERE (?1 = '' OR study = ?1) AND (NOT ?3 OR status = 'running') ORDER BY number DESC LIMIT ?2`, filter.Study, limit, filter.Active)
		for i := range all {
			if all[i].Notes > 0 && err == nil {
				all[i].NoteList, err = query(ctx, tx, readNote, `SELECT time, text FROM note
					WHERE run = (SELECT number FROM run WHERE id = ?) ORDER BY number`, all[i].ID)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		one := &all[i]
		if one.Status != notebook.Interrupted && !s.dead(one.ID, one.Status) {
			continue
		}
		run, err := s.Run(ctx, one.ID) // detects and updates a dead run
		switch {
		case errors.Is(err, notebook.ErrNotFound):
			one.ID = "" // removed meanwhile
		case err == nil:
			one.Status, one.Conclusion, one.Error = run.Status, run.Conclusion, run.Error
		case errors.Is(err, notebook.ErrOldRun): // list it with its error, since the others are readable
			one.Status, one.Error = notebook.Interrupted, notebook.ErrOldRun.Error()
		case errors.Is(err, notebook.ErrDamaged): // same here
			one.Status, one.Error = notebook.Interrupted, err.Error()
		default:
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(one notebook.Summary) bool {
		return one.ID == "" || filter.Active && one.Status != notebook.Running
	}), nil
}

// Resolve returns the ID of the run that a reference means.
func (s *Store) Resolve(ctx context.Context, reference string) (string, error) {
	var runs []notebook.Reference
	err := s.read(ctx, "find run "+reference, func(tx *sql.Tx) (err error) {
		runs, err = query(ctx, tx, func(rows *sql.Rows) (run notebook.Reference, err error) {
			err = rows.Scan(&run.ID, &run.Name, &run.Results)
			return run, err
		}, "SELECT id, name, EXISTS (SELECT 1 FROM trial WHERE trial.run = run.number) FROM run ORDER BY number DESC")
		return err
	})
	if err != nil {
		return "", err
	}
	return notebook.Find(reference, s.path, runs)
}

// dead reports whether a run marked as running has no holder.
func (s *Store) dead(id, status string) bool {
	if status != notebook.Running {
		return false
	}
	held, err := file.FileLocked(s.lockPath(id))
	// If locks cannot be queried, the status must be trusted.
	return err == nil && !held
}
