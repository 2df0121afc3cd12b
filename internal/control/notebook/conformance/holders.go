package conformance

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"linerate/internal/control/notebook"
)

func onlyTheHolder(t testing.TB, open Opener) {
	holder, other := open(), open()
	run := begin(t, holder, "arp-flux", 7)
	want(t, "another store saves", other.SaveTrial(t.Context(), run.ID, Trial(1)), notebook.ErrNotHeld)
	done := *run
	done.Status = notebook.Complete
	want(t, "another store finishes", other.Finish(t.Context(), &done), notebook.ErrNotHeld)
	for _, s := range []notebook.Store{other, holder} {
		_, err := s.Resume(t.Context(), run.ID, false)
		want(t, "resume what is held", err, notebook.ErrHeld)
	}
	save(t, holder, run.ID, 1) // asking changed nothing
	must(t, holder.Finish(t.Context(), &done))
	want(t, "save after the finish", holder.SaveTrial(t.Context(), run.ID, Trial(2)), notebook.ErrNotHeld)
	want(t, "finish after the finish", holder.Finish(t.Context(), &done), notebook.ErrNotHeld)
}

func interruptAndResume(t testing.TB, open Opener) {
	first, reader := open(), open()
	run := begin(t, first, "arp-flux", 7)
	save(t, first, run.ID, 1)
	status(t, reader, run.ID, notebook.Running)
	must(t, first.Close())
	status(t, reader, run.ID, notebook.Interrupted)

	second := open()
	again, err := second.Resume(t.Context(), run.ID, false)
	must(t, err)
	if len(again.Trials) != 1 || again.StudyFile != run.StudyFile || again.Status != notebook.Running {
		t.Errorf("resumed: %d trials, status %q, study file %q", len(again.Trials), again.Status, again.StudyFile)
	}
	status(t, reader, run.ID, notebook.Running)
	want(t, "save trial 1 again", second.SaveTrial(t.Context(), run.ID, Trial(1)), notebook.ErrTrialExists)
	later := Trial(2)
	later.Started = later.Started.AddDate(0, 0, 1) // no process worked on it for a day
	later.ElapsedS = 7
	must(t, second.SaveTrial(t.Context(), run.ID, later))
	unfinished := read(t, reader, run.ID)
	same(t, "duration by its trials", unfinished.DurationS, 7.0)
	again.Status, again.DurationS = notebook.Interrupted, 8 // on purpose, this time
	must(t, second.Finish(t.Context(), again))
	status(t, reader, run.ID, notebook.Interrupted)

	third, err := second.Resume(t.Context(), run.ID, false)
	must(t, err)
	if len(third.Trials) != 2 || third.DurationS != 8 {
		t.Errorf("resumed a second time with %d trials after %g s, want 2 after 8 s", len(third.Trials),
			third.DurationS)
	}
	complete(t, second, third)
	status(t, reader, run.ID, notebook.Complete)
}

// status checks a run's status as Run and Runs return it.
func status(t testing.TB, s notebook.Store, id, wanted string) {
	t.Helper()
	run := read(t, s, id)
	runs, err := s.Runs(t.Context(), notebook.Filter{Limit: 1})
	must(t, err)
	if run.Status != wanted || runs[0].Status != wanted {
		t.Errorf("status %q, in the list %q, want %q", run.Status, runs[0].Status, wanted)
	}
}

func completeIsOver(t testing.TB, open Opener) {
	s := open()
	run := begin(t, s, "arp-flux", 7)
	complete(t, s, run)
	_, err := s.Resume(t.Context(), run.ID, false)
	want(t, "resume", err, notebook.ErrComplete)
	status(t, s, run.ID, notebook.Complete) // asking changed nothing
}

func completeIsExtended(t testing.TB, open Opener) {
	s := open()
	run := begin(t, s, "arp-flux", 7)
	_, err := open().Resume(t.Context(), run.ID, true)
	want(t, "extend what is held", err, notebook.ErrHeld)
	save(t, s, run.ID, 1)
	complete(t, s, run)
	more, err := s.Resume(t.Context(), run.ID, true)
	must(t, err)
	if len(more.Trials) != 1 || more.Status != notebook.Running {
		t.Errorf("extended: %d trials, status %q", len(more.Trials), more.Status)
	}
	status(t, s, run.ID, notebook.Running)
	save(t, s, run.ID, 2)
	complete(t, s, more)
	status(t, s, run.ID, notebook.Complete)
}

// together calls f(0) to f(n-1) concurrently.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	wg.Wait()
}

func concurrentBegins(t testing.TB, open Opener) {
	stores := []notebook.Store{open(), open(), open()}
	ids := make([]string, 12)
	together(len(ids), func(i int) {
		run := Run("arp-flux", 7)
		if err := stores[i%len(stores)].Begin(t.Context(), run); err != nil {
			t.Errorf("begin %d: %v", i, err)
		}
		ids[i] = run.ID
	})
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			t.Errorf("ID %s was given twice", id)
		}
		seen[id] = true
	}
}

func concurrentResumes(t testing.TB, open Opener) {
	first := open()
	run := begin(t, first, "arp-flux", 7)
	must(t, first.Close())
	stores := make([]notebook.Store, 6)
	for i := range stores {
		stores[i] = open()
	}
	var won atomic.Int32
	together(len(stores), func(i int) {
		_, err := stores[i].Resume(t.Context(), run.ID, false)
		switch {
		case err == nil:
			won.Add(1)
		case !errors.Is(err, notebook.ErrHeld):
			t.Errorf("resume %d: %v, want success or ErrHeld", i, err)
		}
	})
	if won.Load() != 1 {
		t.Errorf("%d stores resumed the run, want one", won.Load())
	}
}

func concurrentTrials(t testing.TB, open Opener) {
	const writers, trials = 4, 10
	stores := make([]notebook.Store, writers)
	runs := make([]string, writers)
	for i := range stores {
		stores[i] = open()
		run := begin(t, stores[i], "arp-flux", 7)
		runs[i] = run.ID
	}
	reader := open()
	together(writers*trials+1, func(i int) {
		if i == writers*trials { // a reader looks on
			for range trials {
				if _, err := reader.Run(t.Context(), runs[0]); err != nil {
					t.Errorf("read meanwhile: %v", err)
				}
			}
			return
		}
		w, order := i%writers, i/writers+1
		if err := stores[w].SaveTrial(t.Context(), runs[w], Trial(order)); err != nil {
			t.Errorf("writer %d, trial %d: %v", w, order, err)
		}
	})
	for _, id := range runs {
		run := read(t, reader, id)
		if len(run.Trials) != trials {
			t.Errorf("run %s has %d trials, want %d", id, len(run.Trials), trials)
		}
		for i, trial := range run.Trials {
			same(t, "trial", trial, Trial(i+1))
		}
	}
}
