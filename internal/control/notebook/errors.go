package notebook

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotFound: there is no such run.
	ErrNotFound = errors.New("no such run")
	// ErrAmbiguous: a name, or a beginning, that several runs share.
	ErrAmbiguous = errors.New("several runs match")
	// ErrNoResults: no run has a finished trial.
	ErrNoResults = errors.New("no run has a finished trial")
	// ErrNameTaken: a name that is the ID of a run.
	ErrNameTaken = errors.New("a run has this as its ID: expected another name")
	// ErrTrialExists: a trial with this Order is saved already.
	ErrTrialExists = errors.New("this trial is saved already and is not replaced")
	// ErrHeld: another linerate is carrying the run on.
	ErrHeld = errors.New("another linerate is making this run's trials")
	// ErrNotHeld: the run was neither begun nor resumed by this store.
	ErrNotHeld = errors.New("the run must be begun or resumed first")
	// ErrComplete: the run has every trial of its plan.
	ErrComplete = errors.New("the run is complete: there is nothing to continue")

	// ErrNoNotebook: there is no notebook yet, and it was not to be made.
	ErrNoNotebook = errors.New("there is no notebook yet")
	// ErrNewer: the notebook was made by a newer linerate.
	ErrNewer = errors.New("made by a newer linerate: use that one, or another notebook")
	// ErrOlder: its format must be renewed, for which it must be opened for writing.
	ErrOlder = errors.New("made by an older linerate; it can be converted only when opened for writing")
	// ErrOldRun: the run's document has the keys of an earlier version.
	ErrOldRun = errors.New(
		"recorded by an earlier linerate, in a format that this version does not read: use that version, or run the study again")
	// ErrNotNotebook: what is there is something else.
	ErrNotNotebook = errors.New("not a linerate notebook")
	// ErrDamaged: the notebook is broken.
	ErrDamaged = errors.New("damaged")
	// ErrReadOnly: the notebook cannot be written.
	ErrReadOnly = errors.New("cannot be written")
	// ErrFull: no space is left for it.
	ErrFull = errors.New("no space left on its disk: make room; saved trials are safe")
	// ErrBusy: another process kept it locked for too long.
	ErrBusy = errors.New("locked by another process for too long")
)

// ReferenceError says that a reference to a run could not be resolved: Cause is
// ErrNotFound, ErrAmbiguous or ErrNoResults, and Candidates are the runs that match, have no
// results or are nearest; of ErrNotFound none if no ID or name is like the reference.
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
