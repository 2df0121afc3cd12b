package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
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
			if err == nil { // it is in use again
				_, err = tx.ExecContext(ctx, "DELETE FROM leftover WHERE path = ?", path)
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

// Remove removes runs and their files.
func (s *Store) Remove(ctx context.Context, ids ...string) (err error) {
	if err := s.forget(ctx, ids...); err != nil {
		return err
	}
	return s.sweep(ctx)
}

// forget removes runs from the notebook, and leaves their files to sweep.
func (s *Store) forget(ctx context.Context, ids ...string) (err error) {
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
	return s.write(ctx, operation, func(tx *sql.Tx) error {
		for _, id := range ids {
			number, err := numberOf(ctx, tx, id)
			for _, statement := range []string{
				"INSERT OR IGNORE INTO leftover SELECT path FROM file WHERE run = ?",
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
		return nil
	})
}

// sweep removes the files of removed runs. It holds the notebook's lock, so that a new run adds a file with the
// same path (AddFiles) before or after. The error lists those that could not be removed; they are not tried
// again.
func (s *Store) sweep(ctx context.Context) error {
	var left bool
	err := s.read(ctx, "find files of removed runs", func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM leftover)").Scan(&left)
	})
	if err != nil || !left {
		return err
	}
	var problems []error
	err = s.write(ctx, "remove files of removed runs", func(tx *sql.Tx) error {
		problems = nil
		// Longer paths first: the content of a directory before the directory.
		paths, err := query(ctx, tx, readText, "SELECT path FROM leftover ORDER BY length(path) DESC")
		if err != nil {
			return err
		}
		for _, path := range paths {
			problems = append(problems, erase(path))
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM leftover")
		return err
	})
	return errors.Join(append(problems, err)...)
}

// erase removes a file, or a directory if it is empty.
func erase(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if entries, _ := os.ReadDir(path); len(entries) > 0 && os.IsPathSeparator(path[len(path)-1]) {
		return nil // the user has other files in it
	}
	return err
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
