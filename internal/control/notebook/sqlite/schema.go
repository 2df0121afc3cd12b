package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"linerate/internal/control/notebook"
)

// applicationID marks the file as a linerate notebook, "lnrt" in ASCII.
const applicationID = 0x6c6e7274

// migrations convert a notebook from one format to the next. The format is the number of migrations applied
// (PRAGMA user_version). Only append to the list.
var migrations = []string{
	`CREATE TABLE run (
		number   INTEGER PRIMARY KEY,   -- in the order of their beginning
		id       TEXT NOT NULL UNIQUE,
		study    TEXT NOT NULL,
		seed     TEXT NOT NULL,         -- 64 bits without sign
		started  TEXT NOT NULL,
		status   TEXT NOT NULL,
		answer   TEXT NOT NULL,
		document BLOB NOT NULL          -- record.Run without trials and notes: JSON, gzip
	) STRICT;
	CREATE TABLE trial (
		run         INTEGER NOT NULL REFERENCES run (number),
		place       INTEGER NOT NULL,   -- record.Trial.Order
		treatment   TEXT NOT NULL,
		block       INTEGER NOT NULL,
		started     TEXT NOT NULL,
		goodput_bps REAL NOT NULL,
		document    BLOB NOT NULL,      -- record.Trial: JSON, gzip
		UNIQUE (run, place)
	) STRICT;
	CREATE TABLE note (
		number INTEGER PRIMARY KEY,
		run    INTEGER NOT NULL REFERENCES run (number),
		time   TEXT NOT NULL,
		text   TEXT NOT NULL
	) STRICT;
	CREATE INDEX note_of_run ON note (run);`,
	// record.Conclusion as JSON replaces its words.
	`ALTER TABLE run DROP COLUMN answer;
	ALTER TABLE run ADD COLUMN conclusion TEXT NOT NULL DEFAULT 'null';`,
	// record.Run.Name, which the document has too.
	`ALTER TABLE run ADD COLUMN name TEXT NOT NULL DEFAULT '';`,
	// Files written for runs. Earlier versions removed the files in leftover when they opened the notebook. Nothing
	// reads it any more, because a notebook may be another's: opening it removes nothing.
	`CREATE TABLE file (
		number INTEGER PRIMARY KEY,
		path   TEXT NOT NULL UNIQUE,
		run    INTEGER NOT NULL REFERENCES run (number)
	) STRICT;
	CREATE TABLE leftover (path TEXT PRIMARY KEY) STRICT;`,
}

// identity is how the file identifies itself.
type identity struct {
	application, format, tables int
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// identify reads everything in one statement, since another process may create the notebook between two. The
// error says why it cannot be read; known is the newest supported format. An empty database is accepted: it
// becomes a notebook.
func identify(ctx context.Context, q querier, known int) (id identity, err error) {
	err = q.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&id.application, &id.format, &id.tables)
	switch {
	case err != nil || id == identity{}:
		return id, err
	case id.application != applicationID:
		return id, fmt.Errorf("%w: an SQLite database of another program", notebook.ErrNotNotebook)
	case id.format > known:
		return id, fmt.Errorf("%w (format %d, known up to %d)", notebook.ErrNewer, id.format, known)
	}
	return id, nil
}

// check returns an error unless the notebook can be read as it is.
func (s *Store) check(ctx context.Context, known int) error {
	id, err := identify(ctx, s.db, known)
	switch {
	case err != nil:
		return s.fail("open", err)
	case id == identity{}:
		return fmt.Errorf("notebook %s: %w", s.path, notebook.ErrNoNotebook)
	case id.format < known:
		return fmt.Errorf("notebook %s: %w (format %d, wanted %d)", s.path, notebook.ErrOlder, id.format, known)
	}
	return nil
}

// begin prepares the file for writing: it becomes a notebook of the newest format, with write-ahead logging if
// the file system supports it.
func (s *Store) begin(ctx context.Context, steps []string) error {
	if _, err := identify(ctx, s.db, len(steps)); err != nil {
		return s.fail("open", err)
	}
	// Without shared memory or locks (some network file systems) SQLite keeps the rollback journal: slower,
	// equally durable.
	err := s.retry(ctx, func() error {
		if s.withoutWAL {
			return nil
		}
		var mode string
		err := s.db.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
		if isAny(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) {
			return err
		}
		return nil
	})
	if err != nil {
		return s.fail("open", err)
	}
	// The transaction runs even without changes: it shows that the file is writable before anything is
	// measured.
	return s.write(ctx, "open", func(tx *sql.Tx) error {
		id, err := identify(ctx, tx, len(steps)) // again, now that no other process can change it
		if err != nil {
			return err
		}
		for format := id.format; format < len(steps); format++ {
			if _, err := tx.ExecContext(ctx, steps[format]); err != nil {
				return fmt.Errorf("bring it to format %d: %w", format+1, err)
			}
		}
		if id.format == len(steps) {
			return nil
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID,
			len(steps)))
		return err
	})
}
