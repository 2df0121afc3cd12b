package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

// Paths are the files that Write has made.
type Paths struct {
	Page   string // report.html
	JSON   string // run.json
	Trials string // trials.jsonl.gz
}

// Write puts the page, the result document and the recorded trials into a directory,
// which it makes when it is not there. Each file appears whole or not at all.
func Write(dir string, run *record.Run) (Paths, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Paths{}, fmt.Errorf("make directory %s for the report: %w", dir, err)
	}
	paths := Paths{Page: filepath.Join(dir, "report.html"), JSON: filepath.Join(dir, "run.json"), Trials: filepath.Join(dir, "trials.jsonl.gz")}
	if err := WriteFile(paths.Trials, func(w io.Writer) error { return export.Trials(w, run) }); err != nil {
		return Paths{}, fmt.Errorf("write the trials: %w", err)
	}
	if err := WriteFile(paths.JSON, func(w io.Writer) error { return export.JSON(w, run) }); err != nil {
		return Paths{}, fmt.Errorf("write the result: %w", err)
	}
	if err := WriteFile(paths.Page, func(w io.Writer) error { return HTML(w, run) }); err != nil {
		return Paths{JSON: paths.JSON}, fmt.Errorf("write the page: %w", err)
	}
	return paths, nil
}

// Writable says why Write could not make its files in a directory, or in one
// below it. It leaves nothing there.
func Writable(dir string) error {
	// Of a directory that is missing, the nearest above it tells.
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".linerate-*")
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // its name is nobody's business
		}
		return fmt.Errorf("no place for the report in %s: %w", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// WriteFile writes a file beside its place and moves it there once it is whole
// and on disk, so that a reader never sees half of it and a full disk leaves
// what was there before.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = write(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
