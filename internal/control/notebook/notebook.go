// Package notebook defines how runs, their trials and notes are stored: the Store interface and
// its errors, where the notebook is, which store opens it, and how runs are named.
//
// The only store is package sqlite: a file that needs no set-up. Every store must pass the suite
// in package conformance.
package notebook

import (
	"context"
	"time"

	"linerate/internal/model/record"
)

// Statuses of a run besides those of package record.
const (
	// Running: a store holds the run and saves trials to it.
	Running = record.StatusRunning
	// Interrupted: the holder stopped or died before the run was finished. The trials saved until
	// then are kept, and Resume continues the run.
	Interrupted = "interrupted"
	// Complete: every trial of the plan was made, and with `until` the intervals are as narrow as
	// asked.
	Complete = "complete"
)

// Store keeps runs. Several goroutines may use it, and several stores in several processes may
// have the same notebook open.
//
// The store that began or resumed a run holds it, until it finishes the run or is closed, or its
// process ends in any way. Only the holder may save trials, describe and finish the run; other
// stores get ErrNotHeld. AddNote, SetProven and AddFiles need no hold. A run that no store holds
// and that was not finished is read as interrupted. The conformance suite ends holds by Finish and
// Close. It does not cut a store off from its notebook, and does not say what such a store must
// do: in sqlite a hold is a lock on a local file, which the kernel releases when the process
// ends, and which does not depend on a connection.
//
// A method that is called after its context has ended returns an error that wraps that of the
// context, and changes nothing. SaveTrial, Finish and AddFiles are the exceptions: they ignore
// the end of their context, because they save what would otherwise be lost when a run is
// interrupted.
//
// A method that is given the ID of a run returns ErrNotFound if there is none, unless it says
// otherwise, and Begin, Resume, AddNote, SetProven, AddFiles and Remove return ErrReadOnly if the
// notebook cannot be written or was opened for reading.
type Store interface {
	// Begin adds a run with status Running and holds it. run.ID is a proposal (see ProposeID). If
	// it is already the ID or name of another run, run.ID becomes a free one (see FreeID). Begin
	// also sets run.Status. It fails if run.ID or run.Name is not valid (CheckID, CheckName), and
	// with ErrNameTaken if run.Name is the ID of another run.
	Begin(ctx context.Context, run *record.Run) error

	// Resume holds a run that was begun before, and returns it as Run does. A complete run is
	// resumed only if extend is true, because its design asks for more trials now; otherwise the
	// error is ErrComplete. ErrHeld means that a store, perhaps this one, holds the run.
	Resume(ctx context.Context, id string, extend bool) (*record.Run, error)

	// Describe saves what has become known of a held run since Begin, such as the environment of
	// its hosts, so that a run that is killed keeps it. Trials and notes in run are ignored, and
	// the status stays Running. ErrNotHeld: this store does not hold the run.
	Describe(ctx context.Context, run *record.Run) error

	// SaveTrial saves one trial of a held run durably before it returns, even if ctx has ended:
	// what was measured is not lost. trial.Order, which counts from 1, identifies the trial. A
	// trial that is already saved is not replaced: ErrTrialExists. ErrNotHeld: this store does
	// not hold the run, or there is none.
	SaveTrial(ctx context.Context, id string, trial record.Trial) error

	// Finish saves the conclusion and run.Status, which says how the run ended and is neither
	// empty nor Running, and releases the hold. Trials in run are ignored, since SaveTrial has
	// saved them. Finish writes even if ctx has ended, because an interrupted run is finished at
	// that moment. ErrNotHeld: this store does not hold the run.
	Finish(ctx context.Context, run *record.Run) error

	// Run returns a run with its trials, sorted by Order, and its notes, oldest first. A run that
	// was never finished has the status Running or Interrupted and no conclusion. Its duration is
	// that of its trials, without the time in which no store held it.
	//
	// A store may have runs of earlier versions. It returns ErrOldRun, and no run, if the schema
	// in the stored document is not record.RunSchema. Before it returns any other run, it passes
	// the run with its trials to Join, which converts trials of earlier versions.
	Run(ctx context.Context, id string) (*record.Run, error)

	// Runs lists runs, the latest first; the list is empty but not nil if there are none. An
	// interrupted run that Run cannot read (ErrDamaged, ErrOldRun) is listed with the reason in
	// Summary.Error, so that it does not hide the others.
	Runs(ctx context.Context, filter Filter) ([]Summary, error)

	// Resolve returns the ID of the run that a user means by reference: an ID, a name that only
	// one run has, "latest" or "last" (the latest run with a trial), or the beginning of only one
	// ID or name (see Find). The error is a *ReferenceError if no run or several runs match.
	Resolve(ctx context.Context, reference string) (string, error)

	// AddNote attaches a note to a run, whether it is held or not.
	AddNote(ctx context.Context, id string, note record.Note) error

	// SetProven records in a run, whether it is held or not, which settings of its list were
	// kept.
	SetProven(ctx context.Context, id string, proven record.Proven) error

	// Notes lists the notes of a run, oldest first; none if there is no such run.
	Notes(ctx context.Context, id string) ([]record.Note, error)

	// AddFiles records absolute paths of files that are about to be written for a run. A path
	// that ends with a separator is a directory. A path that was recorded for another run now
	// belongs to this one. AddFiles writes even if ctx has ended.
	AddFiles(ctx context.Context, id string, paths ...string) error

	// Files lists the paths of a run in the order in which they were added; none if there is no
	// such run.
	Files(ctx context.Context, id string) ([]string, error)

	// Remove removes all the runs or none, with their trials and notes. Before the notebook changes it
	// calls erase with the files of each (see Files); a process that is killed meanwhile leaves the
	// runs. Nil: files stay. ErrHeld: a store, perhaps this one, holds one of them. If erase returns
	// errors, the runs are gone all the same, and the error has them.
	Remove(ctx context.Context, erase func(id string, paths []string) error, ids ...string) error

	// Close releases every hold and closes the notebook. Runs that were not finished are
	// interrupted.
	Close() error
}

// Filter selects runs. The zero value selects all of them.
type Filter struct {
	Study  string // only runs of this study; empty: of every study
	Active bool   // only runs that a process holds
	Limit  int    // 0: no limit; with Active, runs whose holder died count too, though they are left out
}

// Summary describes a run in a list.
type Summary struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Study   string    `json:"study"`
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`
	Trials  int       `json:"trials"`
	Status  string    `json:"status"`
	// Answer is the conclusion in words. The notebook does not store it: package present composes
	// it.
	Answer     string             `json:"answer"`
	Conclusion *record.Conclusion `json:"-"`
	// Error says why linerate itself interrupted the run, or why it cannot be read; empty:
	// neither.
	Error string `json:"error,omitempty"`
	Notes int    `json:"notes"`
	// NoteList has the notes, oldest first.
	NoteList []record.Note `json:"note_list,omitempty"`
}
