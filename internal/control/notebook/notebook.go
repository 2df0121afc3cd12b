// Package notebook defines how runs, their trials and notes are stored: the Store
// interface, its errors, where the notebook is, which store opens it, and how runs are named. The
// store is beside it: sqlite, a file that needs no set-up. Every store must pass the suite in
// conformance.
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
	// Interrupted: its holder stopped or died before the run was finished. Its
	// trials are all there, and Resume can take it up.
	Interrupted = "interrupted"
	// Complete: every trial of the plan was made, and until held.
	Complete = "complete"
)

// Store keeps runs. It may be used by several goroutines, and one notebook by
// several stores in several processes at once.
//
// A run is held by the store that began or resumed it, until Finish or Close;
// the hold ends with the process, however it ends. Only the holder may save
// trials and finish.
type Store interface {
	// Begin enters a run with status running and holds it. run.ID is a
	// proposal (see ProposeID): when it is taken, as another run's ID or name, run.ID
	// becomes a free one (see FreeID). ErrNameTaken: run.Name is the
	// ID of another run.
	Begin(ctx context.Context, run *record.Run) error

	// Resume takes up a run that was begun, holds it, and returns it with the trials
	// that it has. One that is complete is taken up only if extend, because its design
	// asks for more trials now. ErrHeld: another store holds it; ErrComplete: no trial
	// is missing.
	Resume(ctx context.Context, id string, extend bool) (*record.Run, error)

	// Describe saves what has become known of the run since Begin, such as its
	// hosts' environment, without ending it: a run that is killed keeps it.
	Describe(ctx context.Context, run *record.Run) error

	// SaveTrial saves one trial durably before it returns, even when ctx ends
	// meanwhile: what was measured is not thrown away. A trial is known by its
	// Order; one that is there already is not replaced: ErrTrialExists.
	SaveTrial(ctx context.Context, id string, trial record.Trial) error

	// Finish saves what was concluded and run.Status, and gives up the hold.
	// The trials have been saved one by one before; those in run are ignored.
	// It too writes even when ctx has ended, since an interrupted run is
	// finished just then.
	Finish(ctx context.Context, run *record.Run) error

	// Run returns a run with its trials by Order and its notes, oldest first (see Join). One
	// without a Finish comes with status running or interrupted and with
	// nothing concluded; its duration is that of its trials, without the time in
	// which no store held it.
	Run(ctx context.Context, id string) (*record.Run, error)

	// Runs lists runs, the latest first.
	Runs(ctx context.Context, filter Filter) ([]Summary, error)

	// Resolve finds the ID that a reader means (see Find): an ID, a name that one run
	// has, "latest" or "last", which is the latest run with a trial, or the beginning
	// of one ID or name. The error is a *ReferenceError.
	Resolve(ctx context.Context, reference string) (string, error)

	// AddNote attaches a note to a run, held or not.
	AddNote(ctx context.Context, id string, note record.Note) error

	// SetProven notes in a run, held or not, which settings of its list were kept.
	SetProven(ctx context.Context, id string, proven record.Proven) error

	// Notes lists a run's notes, oldest first.
	Notes(ctx context.Context, id string) ([]record.Note, error)

	// AddFiles keeps the absolute paths of files that are about to be written for a run;
	// one that ends with a separator is a directory. A path that another run has is that
	// run's no more. It too writes when ctx has ended.
	AddFiles(ctx context.Context, id string, paths ...string) error

	// Files lists them, in the order in which they were added.
	Files(ctx context.Context, id string) ([]string, error)

	// Remove removes all of the runs or none, with their trials and notes, and then their
	// files and those directories that are empty. ErrHeld: a process is making the trials
	// of one of them. If this process is killed in between, the next one that opens the
	// notebook for writing removes the files. An error other than of the notebook itself
	// names the files that could not be removed.
	Remove(ctx context.Context, ids ...string) error

	// Close gives up every hold. Runs that were not finished are interrupted.
	Close() error
}

// Filter selects runs. Its zero value selects all of them.
type Filter struct {
	Study  string // empty: of every study
	Active bool   // only those that a process holds
	Limit  int    // 0: no limit; with Active, of those that are not finished
}

// Summary is a run in a list.
type Summary struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Study   string    `json:"study"`
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`
	Trials  int       `json:"trials"`
	Status  string    `json:"status"`
	// Answer is the conclusion in words, which the notebook does not keep: package
	// present makes them.
	Answer     string             `json:"answer"`
	Conclusion *record.Conclusion `json:"-"`
	// Error is why linerate itself interrupted the run; empty: it did not.
	Error string `json:"error,omitempty"`
	Notes int    `json:"notes"`
	// NoteList are the notes, oldest first.
	NoteList []record.Note `json:"note_list,omitempty"`
}
