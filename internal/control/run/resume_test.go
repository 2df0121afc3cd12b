package run

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// shelf is a notebook of one run that says how it was taken up.
type shelf struct {
	notebook.Store // anything else is not to be asked for

	run      record.Run
	takenUp  string
	finished *record.Run
	removed  []string
}

func (s *shelf) Notes(context.Context, string) ([]record.Note, error) { return s.run.Notes, nil }

func (s *shelf) Remove(_ context.Context, _ func(string, []string) error, ids ...string) error {
	s.removed = append(s.removed, ids...)
	return nil
}

func (s *shelf) Run(context.Context, string) (*record.Run, error) {
	run := s.run
	return &run, nil
}

func (s *shelf) Resume(ctx context.Context, id string, extend bool) (*record.Run, error) {
	if s.run.Status == notebook.Complete && !extend {
		return nil, notebook.ErrComplete
	}
	if s.takenUp = "resumed"; extend {
		s.takenUp = "extended"
	}
	return s.Run(ctx, id)
}

func (s *shelf) Finish(_ context.Context, run *record.Run) error {
	s.finished = run
	return nil
}

// stored is a run of twoLevels that has some trials, made in a second each.
func stored(t *testing.T, trials int, status string) *shelf {
	t.Helper()
	return &shelf{run: record.Run{
		ID: "two-7", Study: "two", Seed: 7, Started: time.Now().AddDate(0, 0, -3), Status: status,
		DurationS: float64(trials),
		StudyFile: twoLevels, Again: "linerate run two.yaml --seed 7",
		Design: record.Design{Replicates: 3, BudgetS: 100, Set: []string{"workload.duration=1s"}},
		Trials: trialsOf(planOf(t, twoLevels), trials, 0.9)[:trials],
		Notes:  []record.Note{{Text: "noted"}},
	}}
}

func blocksAsked(n int) study.Redesign { return study.Redesign{Replicates: &n} }
func budgetAsked(d time.Duration) study.Redesign {
	budget := unit.Duration(d)
	return study.Redesign{Budget: &budget}
}
func untilAsked(until unit.Ratio) study.Redesign { return study.Redesign{Until: &until} }

// TestRemoved: a run that fails before its first trial ends is removed; one with a trial or a
// note stays, and one that was interrupted, which can be resumed.
func TestRemoved(t *testing.T) {
	for _, c := range []struct {
		trials  int
		noted   bool
		failed  error
		removed int
	}{
		{0, false, errors.New("refused"), 1}, {0, true, errors.New("refused"), 0},
		{1, false, errors.New("refused"), 0}, {0, false, nil, 0},
	} {
		s := stored(t, c.trials, notebook.Running)
		if !c.noted {
			s.run.Notes = nil
		}
		made := conductor{store: s, run: &s.run, began: time.Now()}
		if err := made.finish(t.Context(), notebook.Interrupted, c.failed); err != nil || s.finished == nil ||
			len(s.removed) != c.removed {
			t.Errorf("%+v: %v, finished %t, removed %q", c, err, s.finished != nil, s.removed)
		}
	}
}

// TestTakeUp: which runs are carried on, with what design, and which are not.
func TestTakeUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		trials int
		ended  string
		design func(*record.Design) // as stored
		asked  study.Redesign

		takenUp string
		err     error
		want    record.Design
	}{
		{name: "interrupted", trials: 3, ended: notebook.Interrupted,
			takenUp: "resumed", want: record.Design{Replicates: 3, BudgetS: 100}},
		{name: "interrupted, with another design", trials: 3, ended: notebook.Interrupted, asked: blocksAsked(5),
			takenUp: "resumed", want: record.Design{Replicates: 5, BudgetS: 100}},
		{name: "interrupted before it was concluded", trials: 6, ended: notebook.Interrupted,
			takenUp: "resumed", want: record.Design{Replicates: 3, BudgetS: 100}},
		{name: "budget spent", trials: 4, ended: record.StatusBudget, design: func(d *record.Design) { d.BudgetS = 5 },
			err: ErrSpent},
		{name: "budget too small again", trials: 4, ended: record.StatusBudget, design: func(d *record.Design) {
			d.BudgetS = 5
		}, asked: budgetAsked(5600 * time.Millisecond),
			err: ErrSpent},
		{name: "budget that the block which verdicts take exceeds by a little", trials: 4, ended: record.StatusBudget,
			design: func(d *record.Design) { d.BudgetS = 5 }, asked: budgetAsked(5800 * time.Millisecond),
			takenUp: "resumed", want: record.Design{Replicates: 3, BudgetS: 5.8}},
		{name: "larger budget", trials: 4, ended: record.StatusBudget, design: func(d *record.Design) {
			d.BudgetS = 5
		}, asked: budgetAsked(time.Minute),
			takenUp: "resumed", want: record.Design{Replicates: 3, BudgetS: 60}},
		{name: "blocks again", trials: 2 * maxBlocks, ended: record.StatusBlocks, design: func(d *record.Design) {
			d.Until, d.BudgetS = 0.01, 0
		},
			err: ErrSpent},
		{name: "blocks, then narrow enough", trials: 2 * maxBlocks, ended: record.StatusBlocks,
			design: func(d *record.Design) { d.Until, d.BudgetS = 0.01, 0 }, asked: untilAsked(0.9),
			takenUp: "resumed", want: record.Design{Replicates: study.LeastUntil, Until: 0.9}},
		{name: "complete", trials: 6, ended: notebook.Complete,
			err: notebook.ErrComplete},
		{name: "complete, and no more is asked for", trials: 6, ended: notebook.Complete, asked: blocksAsked(2),
			err: notebook.ErrComplete},
		{name: "complete, and more blocks", trials: 6, ended: notebook.Complete, asked: blocksAsked(4),
			takenUp: "extended", want: record.Design{Replicates: 4, BudgetS: 100}},
		{name: "complete, and narrower", trials: 6, ended: notebook.Complete, asked: untilAsked(0.01),
			takenUp: "extended", want: record.Design{Replicates: study.LeastUntil, Until: 0.01, BudgetS: 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stored(t, c.trials, c.ended)
			if c.design != nil {
				c.design(&s.run.Design)
			}
			got, err := hold(t.Context(), s, "two-7", Options{Redesign: c.asked})
			if !errors.Is(err, c.err) || s.takenUp != c.takenUp {
				t.Fatalf("%q, error %v; want %q, %v", s.takenUp, err, c.takenUp, c.err)
			}
			if err != nil {
				return
			}
			d := got.design
			if d.Replicates != c.want.Replicates || d.Until != c.want.Until || d.BudgetS != c.want.BudgetS ||
				len(d.Set) != 1 {
				t.Errorf("design %+v, want %+v", d, c.want)
			}
			if got.run.ID != "two-7" || got.run.Seed != 7 || len(got.run.Trials) != c.trials ||
				len(got.finished) != c.trials || got.run.Notes[0].Text != "noted" {
				t.Errorf("%s, seed %d, %d trials, %d finished, notes %v", got.run.ID, got.run.Seed, len(got.run.Trials),
					len(got.finished), got.run.Notes)
			}
			if got.elapsed() != float64(c.trials) {
				t.Errorf("%g s spent, want %d", got.elapsed(), c.trials)
			}
			if window := time.Duration(got.study.Workload.Duration); window != time.Second {
				t.Errorf("a window of %v: what was set is forgotten", window)
			}
		})
	}
}

// TestTakeUpKeepsTheRules: a design asked for later has to keep the file's rules.
func TestTakeUpKeepsTheRules(t *testing.T) {
	s := stored(t, 3, notebook.Interrupted)
	_, err := hold(t.Context(), s, "two-7", Options{Redesign: blocksAsked(-1)})
	if _, wrong := errors.AsType[source.Problems](err); !wrong || s.takenUp != "" {
		t.Errorf("%q, error %v", s.takenUp, err)
	}
}

func TestTakeUpSaysHowToRepeat(t *testing.T) {
	s := stored(t, 3, notebook.Interrupted)
	c, err := hold(t.Context(), s, "two-7", Options{Again: "--replicates 5", Redesign: blocksAsked(5)})
	if err != nil {
		t.Fatal(err)
	}
	if want := "linerate run two.yaml --seed 7 --replicates 5"; c.run.Again != want {
		t.Errorf("again %q, want %q", c.run.Again, want)
	}
	if c, err = hold(t.Context(), s, "two-7", Options{}); err != nil || c.run.Again != s.run.Again {
		t.Errorf("again %q, %v, want as it was", c.run.Again, err)
	}
}

// TestResumeWithoutMissingTrials: a run that was killed after its last trial is
// concluded, and no lab is made for it.
func TestResumeWithoutMissingTrials(t *testing.T) {
	s := stored(t, 6, notebook.Interrupted)
	s.run.Environment = record.Environment{Version: "of then", Mode: "lab as root", ImpairedBy: "netem",
		Routing: &record.Routing{}, Services: []record.Service{{}}}
	s.run.Snapshots = []netstate.HostSnapshots{{Host: "a", Before: &netstate.HostSnapshot{}}}
	s.run.Proven = &record.Proven{}
	saved := s.run
	run, err := Resume(t.Context(), s, "two-7", Options{Progress: func(p Progress) {
		t.Errorf("%s for a run that has all its trials", p.Phase)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if s.finished != run || run.Status != notebook.Complete || len(run.Effects) != 1 || run.Conclusion == nil ||
		run.Conclusion.Conditions[0].Baseline == nil {
		t.Errorf("status %s, %d effects, conclusion %+v", run.Status, len(run.Effects), run.Conclusion)
	}
	if !reflect.DeepEqual(run.Environment, saved.Environment) || !reflect.DeepEqual(run.Snapshots, saved.Snapshots) ||
		run.Proven == nil {
		t.Errorf("environment %+v, snapshots %+v, proven %+v, want those of before", run.Environment, run.Snapshots,
			run.Proven)
	}
	if run.DurationS < 6 || run.DurationS > 60 {
		t.Errorf("took %g s, want the 6 s of its trials and little more", run.DurationS)
	}
}

// TestResumedSnapshots: which of a host's snapshots a run keeps that is resumed, and that the
// neighbours of its interfaces are those of now.
func TestResumedSnapshots(t *testing.T) {
	const none = "none within 10s"
	port := func(name string) *netstate.HostSnapshot {
		return &netstate.HostSnapshot{
			State: netstate.HostState{LLDP: []netstate.LLDPNeighbour{{Interface: "eth0", Port: name}}}}
	}
	then, later, now := port("then"), port("later"), port("now")
	saved := func(before, after *netstate.HostSnapshot, missing string) netstate.HostSnapshots {
		return netstate.HostSnapshots{Host: "a", Before: before, After: after, Missing: missing}
	}
	for name, c := range map[string]struct {
		trials int
		saved  netstate.HostSnapshots
		now    snapshot
		after  bool
		want   netstate.HostSnapshots
	}{
		"without trials": {0, saved(nil, nil, none), snapshot{of: now}, false, saved(now, nil, "")},
		"without trials, and none again": {0, saved(then, nil, ""), snapshot{err: errors.New(none)}, false,
			saved(nil, nil, none)},
		"one from before": {3, saved(then, nil, ""), snapshot{of: now}, false, saved(then, nil, "")},
		"one from before, and none now": {3, saved(then, nil, ""), snapshot{err: errors.New(none)}, false,
			saved(then, nil, "")},
		"none from before the first trial": {3, saved(nil, nil, none), snapshot{of: now}, false,
			saved(nil, nil, none)},
		"extended": {6, saved(then, later, ""), snapshot{of: now}, false,
			saved(then, nil, "")},
		"extended, without one from after": {6, saved(then, nil, none), snapshot{of: now}, false,
			saved(then, nil, "")},
		"extended, without one from before": {6, saved(nil, later, none), snapshot{of: now}, false,
			saved(nil, nil, none)},
		"ended": {6, saved(then, nil, ""), snapshot{of: now}, true, saved(then, now, "")},
		"ended, and none": {6, saved(then, nil, ""), snapshot{err: errors.New(none)}, true,
			saved(then, nil, none)},
		"ended, without one from before": {6, saved(nil, nil, none), snapshot{of: now}, true, saved(nil, now, none)},
	} {
		s := stored(t, c.trials, notebook.Interrupted)
		s.run.Snapshots = []netstate.HostSnapshots{c.saved}
		resumed, err := hold(t.Context(), s, "two-7", Options{Redesign: blocksAsked(5)})
		if err != nil {
			t.Fatal(err)
		}
		resumed.snapshots = map[string]snapshot{"a": c.now}
		resumed.keepSnapshot("a", c.after)
		if got := resumed.run.Snapshots; len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		want := ""
		if c.now.of != nil {
			want = "now"
		}
		if got := resumed.lldpPort(topology.End{Node: "a", Interface: "eth0"}); got != want {
			t.Errorf("%s: port %q, want %q", name, got, want)
		}
	}
}
