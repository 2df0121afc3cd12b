// Package accepted stores which of doctor's findings the user accepts, and until when, in a file of mode 0600
// beside the notebook.
//
// Packages record and diagnose decide what an acceptance covers.
package accepted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"linerate/internal/control/notebook"
	"linerate/internal/kernel/file"
	"linerate/internal/model/record"
)

// Name is the name of the file in the notebook's directory.
const Name = "accepted.json"

// Read returns the accepted rules; none if there is no file. It fails if others may read or write the file, if
// it does not match its schema, or if it is too large.
func Read(getenv func(string) string) (record.AcceptedRules, error) {
	path, err := path(getenv)
	if err != nil {
		return record.AcceptedRules{}, err
	}
	text, err := file.ReadOwn(path, record.LargestAccepted)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return record.AcceptedRules{}, wrap(err)
	}
	rules, err := parse(path, text)
	return rules, wrap(err)
}

// Change reads the accepted rules, lets change modify them, and replaces the file atomically (file.Change).
func Change(getenv func(string) string, change func(*record.AcceptedRules) error) error {
	path, err := path(getenv)
	if err != nil {
		return err
	}
	return wrap(file.Change(path, record.LargestAccepted, func(old []byte) ([]byte, error) {
		rules, err := parse(path, old)
		if err != nil {
			return nil, err
		}
		if err := change(&rules); err != nil {
			return nil, err
		}
		text, err := json.MarshalIndent(rules, "", "  ")
		return append(text, '\n'), err
	}))
}

func path(getenv func(string) string) (string, error) {
	directory, err := notebook.Directory(getenv)
	return filepath.Join(directory, Name), err
}

// parse parses the text of the file; nil if there is none.
func parse(path string, text []byte) (record.AcceptedRules, error) {
	if text == nil {
		return record.AcceptedRules{Schema: record.AcceptedSchema, Accepted: []record.AcceptedRule{}}, nil
	}
	rules, err := record.ParseAccepted(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return rules, err
}

func wrap(err error) error {
	if err != nil {
		err = fmt.Errorf("accepted findings: %w", err)
	}
	return err
}
