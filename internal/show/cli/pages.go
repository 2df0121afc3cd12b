package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
	"linerate/internal/show/html"
)

// writePage writes a run's page and its documents into a directory, and records their place in the
// notebook, so that a later note reaches them and runs rm removes them. It also works after ctx has
// ended, so that an interrupted run has its page.
func writePage(ctx context.Context, dir string, run *record.Run) (html.Paths, error) {
	ctx = context.WithoutCancel(ctx)
	store, err := openNotebook(ctx)
	if err == nil {
		defer store.Close()
		err = keepFiles(ctx, store, dir, run.ID)
	}
	if err != nil {
		paths, failed := html.Write(dir, run)
		if errors.Is(err, notebook.ErrReadOnly) { // and the notebook takes no notes either
			err = nil
		}
		return paths, errors.Join(failed, err)
	}
	var paths html.Paths
	err = withNotes(ctx, store, run, func() (err error) {
		paths, err = html.Write(dir, run)
		return err
	})
	return paths, err
}

// keepFiles records the paths of what is about to be written. A directory that has the run's ID
// belongs to the run.
func keepFiles(ctx context.Context, store notebook.Store, dir, id string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	files := html.In(dir)
	paths := []string{files.Page, files.JSON, files.Trials}
	if filepath.Base(dir) == id {
		paths = append(paths, dir+string(filepath.Separator))
	}
	return store.AddFiles(ctx, id, paths...)
}

// withNotes calls write with the run's current notes. It calls it again if another process added a
// note meanwhile, which may have found no page to add it to.
func withNotes(ctx context.Context, store notebook.Store, run *record.Run, write func() error) error {
	notes, err := store.Notes(ctx, run.ID)
	for {
		if err != nil {
			return err
		}
		run.Notes = notes
		if err := write(); err != nil {
			return err
		}
		if notes, err = store.Notes(ctx, run.ID); err == nil && len(notes) == len(run.Notes) {
			return nil
		}
	}
}

// renewPages rewrites a run's pages, with its current notes, where they still exist. gone lists
// those that no longer exist.
func renewPages(ctx context.Context, store notebook.Store, id string) (renewed, gone []string, err error) {
	files, err := store.Files(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	var run *record.Run
	for _, path := range files {
		if filepath.Base(path) != html.In("").Page {
			continue
		}
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			gone = append(gone, path)
			continue
		case err != nil:
			return renewed, gone, err
		}
		if run == nil {
			runs, err := storedRuns(ctx, id)
			if err != nil {
				return renewed, gone, err
			}
			run = runs[0]
		}
		if !html.Of(filepath.Dir(path), run.ID, run.Started) { // of another notebook, or replaced
			gone = append(gone, path)
			continue
		}
		err := withNotes(ctx, store, run, func() error {
			_, err := html.Renew(filepath.Dir(path), run)
			return err
		})
		if err != nil {
			return renewed, gone, fmt.Errorf("%s: %w", path, err)
		}
		renewed = append(renewed, path)
	}
	return renewed, gone, nil
}

// shortPath returns a path relative to the working directory, if it is below that.
func shortPath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if below, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(below) {
		return below
	}
	return path
}
