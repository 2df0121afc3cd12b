package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"linerate/internal/control/measure"
	"linerate/internal/control/notebook"
	_ "linerate/internal/control/notebook/sqlite" // registers its store, as the import of another one would
	"linerate/internal/model/record"
	"linerate/internal/science/chance"
	"linerate/internal/science/conclude"
	"linerate/internal/show/wording"
)

// openNotebook opens the notebook for writing, and creates it if there is none.
func openNotebook(ctx context.Context) (notebook.Store, error) {
	location, err := notebook.Location(os.Getenv)
	if err != nil {
		return nil, usageError(err)
	}
	return notebook.OpenerOf(location).Open(ctx, location)
}

// readNotebook opens the notebook for reading. notebook.ErrNoNotebook: nothing was kept yet.
func readNotebook(ctx context.Context) (notebook.Store, error) {
	location, err := notebook.Location(os.Getenv)
	if err != nil {
		return nil, usageError(err)
	}
	store, err := notebook.OpenerOf(location).OpenReadOnly(ctx, location)
	if errors.Is(err, notebook.ErrOlder) {
		return openNotebook(ctx) // it converts the notebook to the current version
	}
	return store, err
}

// findRun returns the ID of the run that the user named.
func findRun(ctx context.Context, store notebook.Store, reference string) (string, error) {
	id, err := store.Resolve(ctx, reference)
	if _, ok := errors.AsType[*notebook.ReferenceError](err); ok {
		if ending := filepath.Ext(reference); ending == ".yaml" || ending == ".yml" {
			return "", usageError(fmt.Errorf("%w; a study file is run with: linerate run %s", err, quote(reference)))
		}
		if filepath.Ext(reference) == ".json" {
			if data, failed := readFile(reference); failed == nil {
				err = cmp.Or(resultDocument("the name of a run", reference, data), err)
			}
		}
		return "", usageError(fmt.Errorf("%w; linerate runs lists them", err))
	}
	return id, err
}

// storedRuns reads runs from the notebook. The trials of a run that did not end by itself are
// concluded here, as far as there are any. Trials are stored as they were measured, without what
// chance leaves open in them.
func storedRuns(ctx context.Context, references ...string) ([]*record.Run, error) {
	store, err := readNotebook(ctx)
	if errors.Is(err, notebook.ErrNoNotebook) {
		return nil, usageError(fmt.Errorf("run %q: %w", references[0], err))
	}
	if err != nil {
		return nil, err
	}
	defer store.Close()
	defer computing()()
	var runs []*record.Run
	for _, reference := range references {
		id, err := findRun(ctx, store, reference)
		if err != nil {
			return nil, err
		}
		run, err := store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		measure.Recover(run)
		// A measurement was concluded with what it knew of the network, and it cannot be resumed.
		if (run.Status == notebook.Running || run.Status == notebook.Interrupted) && run.StudyFile != "" {
			conclude.Conclude(run)
		} else {
			chance.Fill(run)
			if slices.ContainsFunc(run.Findings, func(f record.Finding) bool { return f.Older() }) {
				run.Findings = wording.Renewed(run, conclude.Findings(run))
			}
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// runsWithTrials reads runs whose figures are needed. A run without trials is an error.
func runsWithTrials(ctx context.Context, references ...string) ([]*record.Run, error) {
	runs, err := storedRuns(ctx, references...)
	for _, run := range runs {
		if len(run.Trials) > 0 {
			continue
		}
		why := "it was interrupted"
		switch {
		case run.Error != "":
			why = "it failed: " + run.Error
		case run.Status == notebook.Running:
			why = "it is being made"
		}
		return nil, usageError(fmt.Errorf("run %s has no finished trial: %s", run.ID, why))
	}
	return runs, err
}

// doubt returns the exit status for a run in which a trust check of its own figures failed.
func doubt(runs ...*record.Run) error {
	for _, run := range runs {
		if len(record.Doubts(run.Trust)) > 0 || len(run.Design.LeftOut) > 0 {
			return statusError{ExitDoubt, nil}
		}
	}
	return nil
}
