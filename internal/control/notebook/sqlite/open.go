// Package sqlite stores a notebook in one SQLite file: runs, trials, notes and the files of runs in a table
// each, the records as compressed JSON. While the notebook is open, SQLite's -wal and -shm files are beside it,
// and a directory NAME-locks with one lock file per held run (flock(2)).
//
// It is for one machine: file locks and shared memory do not work across a network file system
// (https://www.sqlite.org/wal.html).
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver, without cgo
	sqlite3 "modernc.org/sqlite/lib"

	"linerate/internal/control/notebook"
	"linerate/internal/kernel/file"
)

// Store is a notebook in a file. It implements notebook.Store.
type Store struct {
	path     string
	db       *sql.DB
	readOnly bool
	// patience is how long a write waits for other processes.
	patience time.Duration
	// withoutWAL keeps the rollback journal; for tests.
	withoutWAL bool

	mu    sync.Mutex
	holds map[string]*file.FileLock // by run ID
}

func init() {
	notebook.Register("", notebook.Opener{
		Open: func(ctx context.Context, path string) (notebook.Store, error) { return opened(Open(ctx, path)) },
		OpenReadOnly: func(ctx context.Context, path string) (notebook.Store, error) {
			return opened(OpenReadOnly(ctx, path))
		},
	})
}

func opened(s *Store, err error) (notebook.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

const (
	// A transaction takes milliseconds, on a slow disk a second: after this time the other process hangs.
	patience    = 30 * time.Second
	busyTimeout = 5 * time.Second
)

// Open opens the notebook at path for reading and writing. It creates the file and its directories if
// necessary.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := prepare(path); err != nil {
		return nil, fmt.Errorf("notebook %s: %w", path, err)
	}
	s := newStore(path, false)
	if err := s.connect(ctx, nil); err != nil {
		return nil, err
	}
	if err := s.begin(ctx, migrations); err != nil {
		s.db.Close()
		return nil, err
	}
	return s, nil
}

// OpenReadOnly opens an existing notebook for reading only, which works on a read-only file system and on a
// full disk. It returns notebook.ErrNoNotebook if there is none at path.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil, fmt.Errorf("notebook %s: %w", path, notebook.ErrNoNotebook)
	case err != nil:
		return nil, fmt.Errorf("notebook %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("notebook %s: %w: it is %s, expected a file", path, notebook.ErrNotNotebook, kind(info))
	}
	if err := file.NotLinked(path, "-wal", "-shm", "-journal"); err != nil {
		return nil, fmt.Errorf("notebook %s: %w: %w", path, notebook.ErrNotNotebook, err)
	}
	s := newStore(path, true)
	open := func(parameters url.Values) error {
		err := s.connect(ctx, parameters)
		if err == nil {
			if err = s.check(ctx, len(migrations)); err != nil {
				s.db.Close()
			}
		}
		return err
	}
	if err = open(url.Values{"mode": {"ro"}}); err == nil {
		return s, nil
	}
	// Reading needs shared memory beside the file, for which permission or space may be missing. Without a log
	// no process is writing, so the file is complete and can be read as immutable.
	log, statErr := os.Stat(path + "-wal")
	if !isAny(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR) || statErr == nil &&
		log.Size() > 0 {
		return nil, err
	}
	if err := open(url.Values{"mode": {"ro"}, "immutable": {"1"}}); err != nil {
		return nil, err
	}
	return s, nil
}

func newStore(path string, readOnly bool) *Store {
	return &Store{path: path, readOnly: readOnly, patience: patience, holds: map[string]*file.FileLock{}}
}

// prepare creates a file at path if necessary, or returns a better error than SQLite's "unable to open database
// file".
func prepare(path string) error {
	if err := file.NotLinked(path, "-wal", "-shm", "-journal"); err != nil {
		return fmt.Errorf("%w: %w", notebook.ErrNotNotebook, err)
	}
	info, err := os.Stat(path)
	if err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%w: it is %s, expected a file", notebook.ErrNotNotebook, kind(info))
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unwritable(err)
	}
	// Do not open the file itself: closing it would release the fcntl locks of another store of this process.
	probe, err := os.CreateTemp(dir, ".notebook-*")
	if err != nil {
		return unwritable(err)
	}
	err = probe.Close()
	// With mode 0600, which SQLite copies to its other files. Where there are no hard links, or another process
	// was faster, SQLite creates the file.
	_ = os.Link(probe.Name(), path)
	return errors.Join(err, os.Remove(probe.Name()))
}

func kind(info fs.FileInfo) string {
	if info.IsDir() {
		return "a directory"
	}
	return "a special file"
}

func unwritable(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", notebook.ErrFull, err)
	}
	return fmt.Errorf("%w: %w; set %s to a file that can be", notebook.ErrReadOnly, err, notebook.Variable)
}

// connect opens the database with the given URI parameters.
func (s *Store) connect(ctx context.Context, parameters url.Values) error {
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"foreign_keys(1)",
		// A saved trial survives a power failure: extra also syncs the directory where there is no write-ahead
		// log; fullfsync is for macOS.
		"synchronous(extra)", "fullfsync(1)", "checkpoint_fullfsync(1)",
	}}
	for key, values := range parameters {
		query[key] = values
	}
	address := url.URL{Scheme: "file", Path: s.path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return s.fail("open", err)
	}
	// One connection, so that goroutines queue in order here instead of polling SQLite's lock.
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return s.fail("open", err)
	}
	s.db = db
	return nil
}

// Close releases all holds and closes the file.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var problems []error
	for id, hold := range s.holds {
		problems = append(problems, hold.Unlock())
		delete(s.holds, id)
	}
	return errors.Join(append(problems, s.fail("close", s.db.Close()))...)
}
