package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"linerate/internal/control/notebook"
	"linerate/internal/kernel/file"
)

// isAny reports whether err has one of these primary result codes (https://www.sqlite.org/rescode.html).
func isAny(err error, codes ...int) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && slices.Contains(codes, e.Code()&0xff)
}

// fail adds the notebook, the operation and the meaning of SQLite's error to err; nil stays nil.
func (s *Store) fail(operation string, err error) error {
	if err == nil {
		return nil
	}
	var meaning error
	e, ok := errors.AsType[*driver.Error](err)
	switch {
	case ok && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE, isAny(err, sqlite3.SQLITE_FULL):
		meaning = notebook.ErrFull // also when shared memory cannot grow
	case isAny(err, sqlite3.SQLITE_CORRUPT):
		meaning = notebook.ErrDamaged
	case isAny(err, sqlite3.SQLITE_NOTADB):
		meaning = notebook.ErrNotNotebook
	case isAny(err, sqlite3.SQLITE_CANTOPEN) && !file.Readable(s.path):
		meaning = fmt.Errorf("%w: it belongs to another user, and only that user can read it", fs.ErrPermission)
	case isAny(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
		// The file was found, so SQLite cannot create its log in the directory.
		meaning = fmt.Errorf("%w (it and its directory must be writable)", notebook.ErrReadOnly)
	case isAny(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
		meaning = notebook.ErrBusy
	default:
		return fmt.Errorf("notebook %s: %s: %w", s.path, operation, err)
	}
	if isAny(err, sqlite3.SQLITE_CANTOPEN) {
		err = cannotOpen{err}
	}
	return fmt.Errorf("notebook %s: %s: %w (SQLite: %w)", s.path, operation, meaning, err)
}

// cannotOpen replaces the text of SQLITE_CANTOPEN: the driver's ends with "out of memory", which is SQLite's
// text if there is no database handle.
type cannotOpen struct{ error }

func (cannotOpen) Error() string   { return "unable to open database file" }
func (c cannotOpen) Unwrap() error { return c.error }

// retry calls f until the database is not locked, for a limited time.
func (s *Store) retry(ctx context.Context, f func() error) error {
	for deadline := time.Now().Add(s.patience); ; {
		err := f()
		if !isAny(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// write runs f in one transaction; it calls f again if another process held the lock.
func (s *Store) write(ctx context.Context, operation string, f func(*sql.Tx) error) error {
	if s.readOnly {
		return fmt.Errorf("notebook %s: %s: %w: it was opened for reading", s.path, operation, notebook.ErrReadOnly)
	}
	return s.fail(operation, s.retry(ctx, func() error {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f(tx); err != nil {
			_ = tx.Rollback() // the first error is reported
			return err
		}
		return tx.Commit()
	}))
}

// read runs f on one consistent view of the notebook.
func (s *Store) read(ctx context.Context, operation string, f func(*sql.Tx) error) error {
	return s.fail(operation, s.retry(ctx, func() error {
		tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // there are no changes
		return f(tx)
	}))
}
