package notebook

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotFound means that there is no such run.
	ErrNotFound = errors.New("no such run")
	// ErrAmbiguous means that several runs have this name, or an ID or name that begins like this.
	ErrAmbiguous = errors.New("several runs match")
	// ErrNoResults means that "latest" was asked for and no run has a saved trial.
	ErrNoResults = errors.New("no run has a finished trial")
	// ErrNameTaken means that the name of a new run is the ID of another run.
	ErrNameTaken = errors.New("a run has this as its ID: expected another name")
	// ErrTrialExists means that a trial with this Order is already saved.
	ErrTrialExists = errors.New("this trial is saved already and is not replaced")
	// ErrHeld means that a store holds the run: mostly that of another process, but it may be the one that
	// was asked.
	ErrHeld = errors.New("another linerate is making this run's trials")
	// ErrNotHeld means that this store does not hold the run: it neither began nor resumed it, or has
	// finished it.
	ErrNotHeld = errors.New("the run must be begun or resumed first")
	// ErrComplete means that a run to be resumed has every trial of its plan.
	ErrComplete = errors.New("the run is complete: there is nothing to continue")

	// ErrNoNotebook means that there is no notebook yet, and that it is not created, because it is opened for
	// reading.
	ErrNoNotebook = errors.New("there is no notebook yet")
	// ErrNewer means that a newer linerate created the notebook.
	ErrNewer = errors.New("made by a newer linerate: use that one, or another notebook")
	// ErrOlder means that the format of the notebook must be converted first, which needs write access.
	ErrOlder = errors.New("made by an older linerate; it can be converted only when opened for writing")
	// ErrOldRun means that an earlier version recorded the run in a format that this version cannot read: the
	// schema in its document is not record.RunSchema. Only this run is affected; others in the notebook can
	// be read.
	ErrOldRun = errors.New(
		"recorded by an earlier linerate, in a format that this version does not read: use that version, or run " +
			"the study again")
	// ErrNotNotebook means that the file is not a notebook.
	ErrNotNotebook = errors.New("not a linerate notebook")
	// ErrDamaged means that the notebook, or the record of one run, is damaged.
	ErrDamaged = errors.New("damaged")
	// ErrReadOnly means that the notebook cannot be written, or was opened for reading only.
	ErrReadOnly = errors.New("cannot be written")
	// ErrFull means that the notebook's disk has no space left.
	ErrFull = errors.New("no space left on its disk: make room; saved trials are safe")
	// ErrBusy means that another process kept the notebook locked for too long.
	ErrBusy = errors.New("locked by another process for too long")
)

// ReferenceError means that a reference to a run could not be resolved. Cause is ErrNotFound, ErrAmbiguous or
// ErrNoResults. Candidates are the runs that match, have no results, or have the most similar ID or name; for
// ErrNotFound there may be none.
type ReferenceError struct {
	Reference  string
	Where      string
	Cause      error
	Candidates []string
	Empty      bool // the notebook has no runs
}

func (e *ReferenceError) Error() string {
	var b strings.Builder
	switch {
	case e.Cause == ErrAmbiguous:
		fmt.Fprintf(&b, "run %q: %v: %s", e.Reference, e.Cause, strings.Join(e.Candidates, ", "))
	case e.Empty:
		fmt.Fprintf(&b, "run %q: notebook %s has no runs yet", e.Reference, e.Where)
	case e.Cause == ErrNoResults:
		fmt.Fprintf(&b, "run %q: %v in notebook %s; without any: %s", e.Reference, e.Cause, e.Where,
			strings.Join(e.Candidates, ", "))
	default:
		fmt.Fprintf(&b, "run %q: %v in notebook %s", e.Reference, e.Cause, e.Where)
		if len(e.Candidates) > 0 {
			b.WriteString("; nearest: " + strings.Join(e.Candidates, ", "))
		}
	}
	return b.String()
}

func (e *ReferenceError) Unwrap() error { return e.Cause }
