package html

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"linerate/internal/model/record"
	"linerate/internal/show/answer"
	"linerate/internal/show/export"
)

// Paths are the files that Write has made.
type Paths struct {
	Page   string // report.html
	JSON   string // run.json
	Trials string // trials.jsonl.gz
}

// In are the paths of the files that Write makes in a directory.
func In(dir string) Paths {
	return Paths{Page: filepath.Join(dir, "report.html"), JSON: filepath.Join(dir, "run.json"),
		Trials: filepath.Join(dir, "trials.jsonl.gz")}
}

// Write puts the page, the result document and the recorded trials into a directory,
// which it makes when it is not there. Document and trials are of this user alone, since a
// study may name hosts, users and more; the page follows the umask: it is opened in a
// browser, whose user need not be root. Each file appears whole or not at all.
func Write(dir string, run *record.Run) (Paths, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return Paths{}, fmt.Errorf("make directory %s for the report: %w", dir, err)
	}
	paths := In(dir)
	if err := export.WritePrivate(paths.Trials, func(w io.Writer) error { return export.Trials(w, run) }); err != nil {
		return Paths{}, fmt.Errorf("write the trials: %w", err)
	}
	return Renew(dir, run)
}

// Renew writes the page and the result document again: what changes with a note.
func Renew(dir string, run *record.Run) (Paths, error) {
	paths := In(dir)
	if err := export.WritePrivate(paths.JSON, func(w io.Writer) error {
		return export.JSON(w, answer.Worded(run))
	}); err != nil {
		return Paths{}, fmt.Errorf("write the result: %w", err)
	}
	if err := export.WriteFile(paths.Page, func(w io.Writer) error { return Run(w, run) }); err != nil {
		return Paths{JSON: paths.JSON}, fmt.Errorf("write the page: %w", err)
	}
	return paths, nil
}
