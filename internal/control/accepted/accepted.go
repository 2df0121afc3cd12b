// Package accepted keeps which findings of doctor the user accepts, and until when, in a
// file of mode 0600 beside the notebook.
//
// What an acceptance covers is for packages record and diagnose.
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

// Read returns what is accepted: nothing where there is no file. A file that others may read
// or write, that is no document of its schema or that is too large is an error.
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

// Change reads what is accepted, has change alter it, and writes it in one step (file.Change).
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
	beside, err := notebook.Path(getenv)
	return filepath.Join(filepath.Dir(beside), Name), err
}

// parse reads the text of the file, nil where there is none.
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
