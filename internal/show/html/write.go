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

// Paths has the paths of the files that Write creates.
type Paths struct {
	Page   string // report.html
	JSON   string // run.json
	Trials string // trials.jsonl.gz
}

// In returns the paths of the files that Write creates in a directory.
func In(dir string) Paths {
	return Paths{Page: filepath.Join(dir, "report.html"), JSON: filepath.Join(dir, "run.json"),
		Trials: filepath.Join(dir, "trials.jsonl.gz")}
}

// Write writes the page, the result document and the recorded trials to a directory, which it
// creates if necessary. Only this user can read document and trials, since a study may contain
// names of hosts and users. The page follows the umask, because the browser may run as another user
// than root. Each file is written completely or not at all.
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

// Renew writes the page and the result document again after a note has changed.
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
