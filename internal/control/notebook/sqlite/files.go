package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"linerate/internal/control/notebook"
	"linerate/internal/kernel/file"
	"linerate/internal/model/record"
)

// Notes lists a run's notes.
func (s *Store) Notes(ctx context.Context, id string) (notes []record.Note, err error) {
	err = s.read(ctx, "read the notes of run "+id, func(tx *sql.Tx) (err error) {
		notes, err = query(ctx, tx, readNote,
			"SELECT time, text FROM note WHERE run = (SELECT number FROM run WHERE id = ?) ORDER BY number", id)
		return err
	})
	return notes, err
}

// AddFiles adds paths of files to a run.
func (s *Store) AddFiles(ctx context.Context, id string, paths ...string) error {
	ctx = context.WithoutCancel(ctx)
	return s.write(ctx, "keep the files of run "+id, func(tx *sql.Tx) error {
		number, err := numberOf(ctx, tx, id)
		for _, path := range paths {
			if err == nil {
				_, err = tx.ExecContext(ctx,
					"INSERT INTO file (path, run) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET run = excluded.run",
					path, number)
			}
		}
		return err
	})
}

// Files lists the files of a run.
func (s *Store) Files(ctx context.Context, id string) (paths []string, err error) {
	err = s.read(ctx, "list the files of run "+id, func(tx *sql.Tx) (err error) {
		paths, err = query(ctx, tx, readText,
			"SELECT path FROM file WHERE run = (SELECT number FROM run WHERE id = ?) ORDER BY number", id)
		return err
	})
	return paths, err
}

// Remove removes runs, and calls erase with the files of each.
func (s *Store) Remove(ctx context.Context, erase func(id string, paths []string) error, ids ...string) (err error) {
	operation := "remove " + strings.Join(ids, ", ")
	if s.readOnly {
		return s.fail(operation, notebook.ErrReadOnly)
	}
	for _, id := range ids {
		hold, lockErr := s.lock(id)
		if lockErr != nil {
			return s.fail("remove "+id, lockErr)
		}
		defer func(hold *file.FileLock) { err = errors.Join(err, unlock(&hold)) }(hold)
	}
	var problems []error
	err = s.write(ctx, operation, func(tx *sql.Tx) error {
		problems = nil
		files := map[string][]string{}
		for _, id := range ids {
			number, err := numberOf(ctx, tx, id)
			if err == nil {
				files[id], err = query(ctx, tx, readText, "SELECT path FROM file WHERE run = ? ORDER BY number", number)
			}
			for _, statement := range []string{
				"DELETE FROM file WHERE run = ?",
				"DELETE FROM note WHERE run = ?",
				"DELETE FROM trial WHERE run = ?",
				"DELETE FROM run WHERE number = ?",
			} {
				if err == nil {
					_, err = tx.ExecContext(ctx, statement, number)
				}
			}
			if err != nil {
				return err
			}
		}
		for _, id := range ids { // in the transaction, so that a process that is killed meanwhile leaves the run
			if erase != nil {
				problems = append(problems, erase(id, files[id]))
			}
		}
		return nil
	})
	return errors.Join(append(problems, err)...)
}

// numberOf returns the key of a run.
func numberOf(ctx context.Context, tx *sql.Tx, id string) (number int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT number FROM run WHERE id = ?", id).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		err = notebook.ErrNotFound
	}
	return number, err
}

func readText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}
