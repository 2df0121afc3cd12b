// Package accepted keeps which findings of doctor the user accepts, and until when, in a
// file of mode 0600 beside the notebook.
//
// What an acceptance covers is for packages record and diagnose.
package accepted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/kernel/file"
	"linerate/internal/model/record"
)

// Name is the name of the file in the notebook's directory.
const Name = "accepted.json"

// lockTimeout bounds how long Change waits for another one.
const lockTimeout = 5 * time.Second

// Read returns what is accepted: nothing where there is no file. A file that others may read
// or write, that is no document of its schema or that is too large is an error.
func Read(getenv func(string) string) (record.AcceptedRules, error) {
	path, err := path(getenv)
	if err != nil {
		return record.AcceptedRules{}, err
	}
	return read(path)
}

// Change reads what is accepted, has change alter it, and writes it in one step: a reader
// sees what was there before or after. Nothing is written if change fails. Concurrent changes
// follow each other.
func Change(getenv func(string) string, change func(*record.AcceptedRules) error) error {
	path, err := path(getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return wrap(err)
	}
	unlock, err := file.LockDirectory(filepath.Dir(path), lockTimeout)
	if err != nil {
		return wrap(err)
	}
	defer func() { _ = unlock() }()
	rules, err := read(path)
	if err != nil {
		return err
	}
	if err := change(&rules); err != nil {
		return err
	}
	return wrap(file.Replace(path, 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(rules)
	}))
}

func path(getenv func(string) string) (string, error) {
	beside, err := notebook.Path(getenv)
	return filepath.Join(filepath.Dir(beside), Name), err
}

func read(path string) (record.AcceptedRules, error) {
	text, err := file.ReadOwn(path, record.LargestAccepted)
	if errors.Is(err, fs.ErrNotExist) {
		return record.AcceptedRules{Schema: record.AcceptedSchema, Accepted: []record.AcceptedRule{}}, nil
	}
	if err != nil {
		return record.AcceptedRules{}, wrap(err)
	}
	rules, err := record.ParseAccepted(text)
	if err != nil {
		err = fmt.Errorf("accepted findings: %s: %w", path, err)
	}
	return rules, err
}

func wrap(err error) error {
	if err != nil {
		err = fmt.Errorf("accepted findings: %w", err)
	}
	return err
}
