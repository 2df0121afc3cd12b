package html

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

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

// Of reports whether a directory has the page and the documents of a run, by run.json.
func Of(dir, id string, started time.Time) bool {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer in.Close()
	return isOf(in, id, started)
}

// mostHead is how much of run.json is read for what is at its beginning.
const mostHead = 64 << 10

// isOf reports whether run.json in a directory is of a run.
func isOf(in *os.Root, id string, started time.Time) bool {
	f, err := in.Open(filepath.Base(In("").JSON))
	if err != nil {
		return false
	}
	defer f.Close()
	of, err := record.ReadIdentity(io.LimitReader(f, mostHead))
	return err == nil && of.ID == id && of.Started.Equal(started)
}

// Remove removes what Write wrote for a run, of the paths that a notebook has of it, and a directory that has the
// run's ID if it is empty then. The notebook may be another's: a directory whose run.json is not of this run is left
// as it is, which the error says if the directory exists.
func Remove(id string, started time.Time, paths []string) error {
	var problems []error
	done := map[string]bool{}
	for _, path := range paths {
		dir := filepath.Dir(path)
		if done[dir] || !slices.Contains([]string{In(dir).Page, In(dir).JSON, In(dir).Trials}, path) {
			continue
		}
		done[dir] = true
		problems = append(problems, removeIn(dir, id, started, paths))
	}
	return errors.Join(problems...)
}

func removeIn(dir, id string, started time.Time, paths []string) error {
	in, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if !isOf(in, id, started) {
		return fmt.Errorf("%s: left as it is: it has no run.json of run %s", dir, id)
	}
	var problems []error
	files := In(dir)
	for _, path := range []string{files.Trials, files.Page, files.JSON} {
		if !slices.Contains(paths, path) {
			continue
		}
		if err := in.Remove(filepath.Base(path)); !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	if filepath.Base(dir) == id && slices.Contains(paths, dir+string(filepath.Separator)) {
		_ = os.Remove(dir) // fails if the user has other files in it
	}
	return errors.Join(problems...)
}
