package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/measure"
	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

// keepFlags say how a measurement is kept besides the printed answer.
type keepFlags struct {
	name, out string
	noSave    bool
	held      *heldRun // in the notebook, while it is being made; nil: it is not
	refused   bool     // the notebook did not take it
}

// heldRun is a measurement that the notebook shows as running.
type heldRun struct {
	store        notebook.Store
	run          *record.Run
	began, saved time.Time
}

// leastSaved is the shortest time between two saves of an unfinished measurement. It grows to a hundredth of
// what was measured, as the document does.
const leastSaved = time.Second

// until saves the part of a measurement that is finished, so that the notebook has that much of one that is
// killed. It does nothing where the notebook cannot be written, which save says at the end.
func (k *keepFlags) until(ctx context.Context, run *record.Run) {
	if k.noSave || k.refused {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if k.held == nil {
		run.Name = k.name
		store, err := openNotebook(ctx)
		if err == nil {
			if err = store.Begin(ctx, run); err != nil {
				_ = store.Close()
			}
		}
		if k.refused = err != nil; k.refused {
			return
		}
		k.held = &heldRun{store: store, run: run, began: time.Now()}
	} else if now := time.Now(); now.Sub(k.held.saved) < max(leastSaved, now.Sub(k.held.began)/100) {
		return
	}
	k.held.saved = time.Now()
	run.ID, run.Name, run.Status = k.held.run.ID, k.name, notebook.Running
	if k.held.store.Describe(ctx, run) == nil {
		k.held.run = run
	}
}

// abandon ends a measurement that failed: what was measured until then is kept.
func (k *keepFlags) abandon(ctx context.Context, why error) {
	if k.held == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	defer k.held.store.Close()
	run := k.held.run
	run.Status, run.Error = notebook.Interrupted, why.Error()
	if k.held.store.Finish(ctx, run) == nil && run.Unfinished == nil {
		_ = k.held.store.Remove(ctx, nil, run.ID) // nothing was measured
	}
}

func (k *keepFlags) define(flags *pflag.FlagSet) {
	valueVar(flags, &k.name, runName, "name", "string", "",
		"a name to find the measurement by in the notebook, such as 'after the new cable'")
	flags.StringVar(&k.out, "out", "",
		"`directory` for the page and the result (default: none is written; linerate report --out writes them later)")
	flags.BoolVar(&k.noSave, "no-save", false, "do not keep the measurement in the notebook")
}

func (k *keepFlags) problems() (problems []error) {
	if k.noSave && (k.name != "" || k.out != "") {
		problems = append(problems,
			errors.New("--no-save with --name or --out: a measurement that is not kept has no name and no page"))
	}
	return problems
}

// requested reports whether the user requested to keep the measurement. A failure is then an error.
func (k *keepFlags) requested() bool { return k.name != "" || k.out != "" }

// check finds out, before anything is measured, whether the measurement can be kept as requested.
func (k *keepFlags) check(ctx context.Context) error {
	if !k.requested() {
		return nil
	}
	if k.out != "" {
		if err := export.Writable(k.out); err != nil {
			return fmt.Errorf("%w: nothing was measured; --out names another directory", err)
		}
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if id, err := store.Resolve(ctx, k.name); k.name != "" && err == nil && id == k.name {
		return usageError(fmt.Errorf("--name %q: %w", k.name, notebook.ErrNameTaken))
	}
	return nil
}

// save keeps the measurement and writes its page, if requested. If nothing was requested, a failure
// is printed but is not an error.
func (k *keepFlags) save(ctx context.Context, said io.Writer, run *record.Run) (id, page string, err error) {
	if k.noSave {
		return "", "", nil
	}
	run.Name = k.name
	if err = k.keep(ctx, run); err != nil {
		if !k.requested() {
			say(said, "linerate: not kept in the notebook: %v (--no-save for none)\n", err)
			err = nil
		}
		return "", "", err
	}
	if k.out != "" {
		paths, err := writePage(ctx, k.out, run)
		return run.ID, paths.Page, err
	}
	return run.ID, "", nil
}

// keep saves a measurement that has ended.
func (k *keepFlags) keep(ctx context.Context, run *record.Run) error {
	if k.held == nil {
		return keepRun(ctx, run)
	}
	run.ID = k.held.run.ID
	return errors.Join(measure.Finish(ctx, k.held.store, run), k.held.store.Close())
}

func keepRun(ctx context.Context, run *record.Run) error {
	ctx = context.WithoutCancel(ctx)
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	return errors.Join(measure.Keep(ctx, store, run), store.Close())
}
