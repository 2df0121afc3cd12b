// Package notebook defines how runs, their trials and notes are stored: the Store
// interface, its errors, where the notebook is, and how runs are named. The store is
// beside it: sqlite, a file that needs no set-up. Every store must pass the suite in
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
	Running = "running"
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
	// proposal (see ProposeID): when it is taken, run.ID becomes the first free
	// of proposal-2, proposal-3…
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

	// Run returns a run with its trials by Order and its notes, oldest first.
	// One without a Finish comes with status running or interrupted and with
	// nothing concluded; its duration is that of its trials, without the time in
	// which no store held it.
	Run(ctx context.Context, id string) (*record.Run, error)

	// Runs lists runs, the latest first.
	Runs(ctx context.Context, filter Filter) ([]Summary, error)

	// Resolve finds the ID that a reader means: an ID, "latest" or "last", or
	// the beginning of exactly one ID. The error is a *ReferenceError.
	Resolve(ctx context.Context, reference string) (string, error)

	// AddNote attaches a note to a run, held or not.
	AddNote(ctx context.Context, id string, note record.Note) error

	// Close gives up every hold. Runs that were not finished are interrupted.
	Close() error
}

// Filter selects runs. Its zero value selects all of them.
type Filter struct {
	Study string // empty: of every study
	Limit int    // 0: no limit
}

// Summary is a run in a list.
type Summary struct {
	ID      string    `json:"id"`
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
}
