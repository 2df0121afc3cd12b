// Package conformance is the test suite that every notebook store must pass. It does not depend on how a store
// stores data, and does not test what is specific to one: full disks, damaged files, killed processes.
//
// A store's test runs it like this:
//
//	for _, c := range conformance.Cases {
//		t.Run(c.Name, func(t *testing.T) { c.Check(t, opener(t)) })
//	}
package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
)

// Opener opens another store on the notebook of a case, which is empty when the case begins. The test that runs
// the case closes the stores afterwards, including those that the case has already closed.
type Opener func() notebook.Store

// Case is one property of a store.
type Case struct {
	Name  string
	Check func(t testing.TB, open Opener)
}

// Cases are all cases of the suite.
var Cases = []Case{
	{"an empty notebook lists nothing", emptyNotebook},
	{"what is saved is read back", roundTrip},
	{"what becomes known is kept before the end", described},
	{"a taken ID gets a number", takenIDs},
	{"an ID that is no file name is refused", badIDs},
	{"a saved trial is not replaced", noReplacement},
	{"only the holder writes", onlyTheHolder},
	{"closing interrupts, resuming carries on", interruptAndResume},
	{"a complete run is not resumed", completeIsOver},
	{"a complete run is extended", completeIsExtended},
	{"finishing needs an end", finishNeedsStatus},
	{"what is measured is saved though the caller is leaving", savedWhileLeaving},
	{"references resolve to runs", references},
	{"names resolve to runs", names},
	{"latest has results", latestHasResults},
	{"runs are listed, latest first", listing},
	{"notes stay in order", notesInOrder},
	{"what was kept is noted in a run that is over", provenLater},
	{"an unknown run is not found", unknownRun},
	{"files are kept with their run", filesAreKept},
	{"what is removed is gone, and nothing else", removed},
	{"active runs are listed", listingActive},
	{"one of many begins each ID", concurrentBegins},
	{"a name is no other run's ID", concurrentNames},
	{"one of many removes a run", concurrentRemovals},
	{"one of many resumes", concurrentResumes},
	{"no trial is lost among many writers", concurrentTrials},
}

// must stops the case on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// want checks that err wraps kind.
func want(t testing.TB, doing string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: error %v, want one that is %q", doing, err, kind)
	}
}

// same checks that got and wanted are deeply equal.
func same(t testing.TB, what string, got, wanted any) {
	t.Helper()
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, wanted)
	}
}

// begin begins a run named after its study and seed.
func begin(t testing.TB, s notebook.Store, study string, seed uint64) *record.Run {
	t.Helper()
	run := Run(study, seed)
	must(t, s.Begin(t.Context(), run))
	return run
}

// save saves trials of a run that s holds.
func save(t testing.TB, s notebook.Store, id string, orders ...int) {
	t.Helper()
	for _, order := range orders {
		must(t, s.SaveTrial(t.Context(), id, Trial(order)))
	}
}

// read reads a run.
func read(t testing.TB, s notebook.Store, id string) *record.Run {
	t.Helper()
	run, err := s.Run(t.Context(), id)
	must(t, err)
	return run
}

// complete finishes a run that has all its trials.
func complete(t testing.TB, s notebook.Store, run *record.Run) {
	t.Helper()
	run.Status = notebook.Complete
	must(t, s.Finish(t.Context(), run))
}

func emptyNotebook(t testing.TB, open Opener) {
	s := open()
	runs, err := s.Runs(t.Context(), notebook.Filter{})
	must(t, err)
	if runs == nil || len(runs) != 0 {
		t.Errorf("Runs = %#v, want an empty list", runs)
	}
	_, err = s.Resolve(t.Context(), "latest")
	want(t, "resolve latest", err, notebook.ErrNotFound)
}

func roundTrip(t testing.TB, open Opener) {
	s := open()
	run := Run("arp-flux", 1<<64-1)
	must(t, s.Begin(t.Context(), run))
	if run.Status != notebook.Running {
		t.Errorf("after Begin the status is %q", run.Status)
	}
	save(t, s, run.ID, 2, 1, 3)

	unfinished := *run
	unfinished.Trials = []record.Trial{Trial(1), Trial(2), Trial(3)}
	unfinished.DurationS = Trial(3).Started.Sub(run.Started).Seconds() + Trial(3).WindowS
	got := read(t, open(), run.ID)
	same(t, "the unfinished run", got, &unfinished)

	run.Status, run.DurationS, run.Conclusion = notebook.Complete, 12.5,
		&record.Conclusion{Conditions: []record.ConditionResult{{Name: "writes: 1,000 % — é"}}}
	run.Findings = []record.Finding{{ID: "arp-flux", Host: "server", Confidence: record.Certain,
		Evidence: []string{"a", "b"}}}
	must(t, s.Finish(t.Context(), run))
	finished := *run
	finished.Trials = unfinished.Trials
	got = read(t, open(), run.ID)
	same(t, "the finished run", got, &finished)
}

func described(t testing.TB, open Opener) {
	s, reader := open(), open()
	run := begin(t, s, "arp-flux", 7)
	save(t, s, run.ID, 1)
	run.Environment.Mode = "real hosts"
	must(t, s.Describe(t.Context(), run))
	want(t, "describe a run that another process holds", reader.Describe(t.Context(), run), notebook.ErrNotHeld)
	got := read(t, reader, run.ID)
	if got.Environment.Mode != "real hosts" || got.Status != notebook.Running || len(got.Trials) != 1 {
		t.Errorf("mode %q, status %q, %d trials", got.Environment.Mode, got.Status, len(got.Trials))
	}
}

func takenIDs(t testing.TB, open Opener) {
	s := open()
	for _, wanted := range []string{"long-fat-7", "long-fat-7_2", "long-fat-7_3"} {
		run := begin(t, s, "long-fat", 7)
		same(t, "ID", run.ID, wanted)
		got := read(t, s, wanted)
		same(t, "ID in the record", got.ID, wanted)
	}
}

func badIDs(t testing.TB, open Opener) {
	s := open()
	for _, id := range []string{"", "../x", "a/b", ".", "-x", "a b", "a\x00"} {
		run := Run("x", 1)
		run.ID = id
		if err := s.Begin(t.Context(), run); err == nil {
			t.Errorf("Begin with ID %q: no error", id)
		}
	}
}

func noReplacement(t testing.TB, open Opener) {
	s := open()
	run := begin(t, s, "ecmp-hash", 3)
	save(t, s, run.ID, 1)
	other := Trial(1)
	other.GoodputBps = 1
	want(t, "save trial 1 again", s.SaveTrial(t.Context(), run.ID, other), notebook.ErrTrialExists)
	got := read(t, s, run.ID)
	same(t, "trials", got.Trials, []record.Trial{Trial(1)})
	if err := s.SaveTrial(t.Context(), run.ID, Trial(0)); err == nil {
		t.Errorf("saving a trial with order 0: no error")
	}
}

func finishNeedsStatus(t testing.TB, open Opener) {
	s := open()
	run := begin(t, s, "arp-flux", 7)
	for _, status := range []string{"", notebook.Running} {
		run.Status = status
		if err := s.Finish(t.Context(), run); err == nil {
			t.Errorf("Finish with status %q: no error", status)
		}
	}
	run.Status = "budget"
	must(t, s.Finish(t.Context(), run))
}

func savedWhileLeaving(t testing.TB, open Opener) {
	s := open()
	run := begin(t, s, "arp-flux", 7)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	must(t, s.SaveTrial(ctx, run.ID, Trial(1)))
	run.Status = notebook.Interrupted
	must(t, s.Finish(ctx, run))
	got := read(t, s, run.ID)
	same(t, "status", got.Status, notebook.Interrupted)
	same(t, "trials", len(got.Trials), 1)
	if err := s.Begin(ctx, Run("arp-flux", 8)); !errors.Is(err, context.Canceled) {
		t.Errorf("Begin after the end of ctx: %v, want %v", err, context.Canceled)
	}
}

func references(t testing.TB, open Opener) {
	s := open()
	for seed := range uint64(9) {
		must(t, s.Begin(t.Context(), Run("arp-flux", seed)))
	}
	must(t, s.Begin(t.Context(), Run("long-fat", 70)))
	save(t, s, begin(t, s, "long-fat", 7).ID, 1)
	for reference, wanted := range map[string]string{
		"arp-flux-3": "arp-flux-3", "latest": "long-fat-7", "last": "long-fat-7",
		"long-fat-7": "long-fat-7", "long-fat-70": "long-fat-70",
	} {
		got, err := s.Resolve(t.Context(), reference)
		must(t, err)
		same(t, reference, got, wanted)
	}
	_, err := s.Resolve(t.Context(), "long")
	want(t, "resolve long", err, notebook.ErrAmbiguous)
	_, err = s.Resolve(t.Context(), "arp-fux-4")
	want(t, "resolve arp-fux-4", err, notebook.ErrNotFound)
	if problem, is := errors.AsType[*notebook.ReferenceError](err); !is || len(problem.Candidates) == 0 ||
		problem.Candidates[0] != "arp-flux-4" {
		t.Errorf("resolve arp-fux-4: %v, want arp-flux-4 as the nearest", err)
	}
	_, err = s.Resolve(t.Context(), "")
	want(t, "resolve nothing", err, notebook.ErrNotFound)
}

func names(t testing.TB, open Opener) {
	s := open()
	named := func(seed uint64, name string) *record.Run {
		run := Run("nas", seed)
		run.Name = name
		must(t, s.Begin(t.Context(), run))
		return run
	}
	before := named(1, "before the cable — é")
	same(t, "name", read(t, open(), before.ID).Name, before.Name)
	named(2, "after")
	named(3, "after")
	named(4, "nas-4") // its own ID to be, which no other run gets
	same(t, "ID", begin(t, s, "nas", 4).ID, "nas-4_2")
	for reference, wanted := range map[string]string{"before the cable — é": "nas-1", "before": "nas-1",
		"nas-2": "nas-2", "nas-4": "nas-4"} {
		got, err := open().Resolve(t.Context(), reference)
		must(t, err)
		same(t, reference, got, wanted)
	}
	_, err := s.Resolve(t.Context(), "after")
	want(t, "resolve after", err, notebook.ErrAmbiguous)
	if problem, is := errors.AsType[*notebook.ReferenceError](err); !is ||
		!reflect.DeepEqual(problem.Candidates, []string{"nas-3 (after)", "nas-2 (after)"}) {
		t.Errorf("resolve after: %v, want nas-3 and nas-2", err)
	}
	for _, name := range []string{"latest", "last", "-x", " x", "a\nb", "\x1b[31m", strings.Repeat("a", 81)} {
		run := Run("nas", 9)
		run.Name = name
		if err := s.Begin(t.Context(), run); err == nil {
			t.Errorf("Begin with name %q: no error", name)
		}
	}
	run := Run("nas", 9)
	run.Name = "nas-2"
	want(t, "a name that is an ID", s.Begin(t.Context(), run), notebook.ErrNameTaken)
	list, err := s.Runs(t.Context(), notebook.Filter{})
	must(t, err)
	same(t, "runs", len(list), 5)
	same(t, "name in the list", list[4].Name, before.Name)
}

func latestHasResults(t testing.TB, open Opener) {
	s := open()
	first := begin(t, s, "arp-flux", 1)
	_, err := s.Resolve(t.Context(), "latest")
	want(t, "resolve latest without any trial", err, notebook.ErrNoResults)
	save(t, s, first.ID, 1)
	failed := begin(t, s, "arp-flux", 2)
	failed.Status, failed.Error = notebook.Interrupted, "no such interface"
	must(t, s.Finish(t.Context(), failed))
	begin(t, s, "arp-flux", 3) // runs, and has no trial yet
	got, err := open().Resolve(t.Context(), "latest")
	must(t, err)
	same(t, "latest", got, first.ID)
	save(t, s, "arp-flux-3", 1)
	got, err = s.Resolve(t.Context(), "last")
	must(t, err)
	same(t, "last", got, "arp-flux-3")
}

func listing(t testing.TB, open Opener) {
	s := open()
	for i, study := range []string{"arp-flux", "long-fat", "arp-flux"} {
		run := begin(t, s, study, uint64(i+1))
		for order := range i {
			save(t, s, run.ID, order+1)
		}
		run.Status, run.Conclusion = notebook.Complete, &record.Conclusion{Trials: i}
		if i == 1 {
			run.Status, run.Error = notebook.Interrupted, "it failed"
		}
		must(t, s.Finish(t.Context(), run))
	}
	must(t, s.AddNote(t.Context(), "arp-flux-3", record.Note{Time: Started, Text: "x"}))
	started := Run("", 0).Started
	wanted := []notebook.Summary{
		{ID: "arp-flux-3", Study: "arp-flux", Seed: 3, Started: started, Trials: 2, Status: "complete",
			Conclusion: &record.Conclusion{Trials: 2}, Notes: 1, NoteList: []record.Note{{Time: Started, Text: "x"}}},
		{ID: "long-fat-2", Study: "long-fat", Seed: 2, Started: started, Trials: 1, Status: "interrupted",
			Conclusion: &record.Conclusion{Trials: 1}, Error: "it failed"},
		{ID: "arp-flux-1", Study: "arp-flux", Seed: 1, Started: started, Status: "complete",
			Conclusion: &record.Conclusion{}},
	}
	for _, c := range []struct {
		filter notebook.Filter
		wanted []notebook.Summary
	}{
		{notebook.Filter{}, wanted},
		{notebook.Filter{Limit: 2}, wanted[:2]},
		{notebook.Filter{Study: "arp-flux"}, []notebook.Summary{wanted[0], wanted[2]}},
		{notebook.Filter{Study: "arp"}, []notebook.Summary{}},
	} {
		got, err := s.Runs(t.Context(), c.filter)
		must(t, err)
		same(t, fmt.Sprintf("%+v", c.filter), got, c.wanted)
	}
}

func notesInOrder(t testing.TB, open Opener) {
	s := open()
	run := begin(t, s, "arp-flux", 7)
	notes := []record.Note{
		{Time: Started.Add(time.Hour), Text: "cable changed"},
		{Time: Started, Text: "a clock that went back, and\na second line — \"quoted\""},
	}
	for _, note := range notes {
		must(t, open().AddNote(t.Context(), run.ID, note)) // by another process
	}
	got := read(t, s, run.ID)
	same(t, "notes", got.Notes, notes)
}

func provenLater(t testing.TB, open Opener) {
	s := open()
	run := begin(t, s, "tune", 1)
	save(t, s, run.ID, 1, 2)
	complete(t, s, run)
	before := read(t, s, run.ID)
	proven := record.Proven{Run: "tune-2", Settings: []string{"net.ipv4.tcp_rmem"}, Of: 3}
	must(t, open().SetProven(t.Context(), run.ID, proven)) // by another process
	before.Proven = &proven
	same(t, "the run", read(t, s, run.ID), before)
	want(t, "in no run", s.SetProven(t.Context(), "tune-9", proven), notebook.ErrNotFound)
}

func unknownRun(t testing.TB, open Opener) {
	s := open()
	must(t, s.Begin(t.Context(), Run("arp-flux", 7)))
	_, err := s.Run(t.Context(), "arp-flux")
	want(t, "read arp-flux", err, notebook.ErrNotFound)
	_, err = s.Resume(t.Context(), "arp-flux", false)
	want(t, "resume arp-flux", err, notebook.ErrNotFound)
	want(t, "note", s.AddNote(t.Context(), "arp-flux", record.Note{Text: "x"}), notebook.ErrNotFound)
	want(t, "save", s.SaveTrial(t.Context(), "arp-flux", Trial(1)), notebook.ErrNotHeld)
}
