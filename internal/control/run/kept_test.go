package run

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/control/conduct"
	"linerate/internal/model/record"
)

// told is a trial of which a hypervisor took a share of the processors.
func told(steal float64) record.Trial {
	end := []record.CPUTimes{{CPU: 0, Idle: 1 - steal, Steal: steal}}
	return record.Trial{WindowS: 1, GoodputBps: steal, Hosts: []record.HostReading{{
		Host: "a", Begin: record.Reading{CPU: []record.CPUTimes{{CPU: 0}}}, End: record.Reading{CPU: end},
	}}}
}

// TestKept: a trial that a hypervisor or a late schedule spoiled is made again, no
// other, and only so often.
func TestKept(t *testing.T) {
	type made struct {
		steal float64
		err   error
	}
	late, broken := conduct.LateError{Node: "a"}, errors.New("no such port")
	for name, c := range map[string]struct {
		before int // trials of this run that were made again
		made   []made
		kept   int // which of them is, from 0
		remade int
		waited time.Duration
	}{
		"sound":                   {0, []made{{0.001, nil}}, 0, 0, 0},
		"paused once":             {0, []made{{0.3, nil}, {0, nil}}, 1, 1, 5 * time.Second},
		"paused twice":            {0, []made{{0.3, nil}, {0.2, nil}, {0, nil}}, 2, 2, 20 * time.Second},
		"paused always":           {0, []made{{0.3, nil}, {0.2, nil}, {0.4, nil}, {0.5, nil}}, 3, 3, 65 * time.Second},
		"paused, once too often":  {5, []made{{0.3, nil}}, 0, 0, 0},
		"the last one that is":    {4, []made{{0.3, nil}, {0.2, nil}}, 1, 1, 5 * time.Second},
		"late":                    {0, []made{{0, late}, {0, nil}}, 1, 0, 0},
		"late always":             {0, []made{{0, late}, {0, late}, {0, late}, {0, late}}, 3, 0, 0},
		"late, then paused":       {0, []made{{0, late}, {0.2, nil}, {0, nil}}, 2, 1, 15 * time.Second},
		"an error that will stay": {0, []made{{0, broken}}, 0, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := record.Design{Replicates: 10} // 20 trials
			conductor := fresh(t, d)
			conductor.remade = c.before
			began, attempts := time.Now(), 0
			got, err := conductor.kept(t.Context(), "fast", func(attempt int) (record.Trial, error) {
				if attempt != attempts || attempt >= len(c.made) {
					t.Fatalf("%s: attempt %d after %d", name, attempt, attempts)
				}
				attempts++
				return told(c.made[attempt].steal), c.made[attempt].err
			})
			want := c.made[c.kept]
			if attempts != len(c.made) || got.GoodputBps != want.steal || !errors.Is(err, want.err) || got.Remade != c.remade {
				t.Errorf("%s: %d attempts, kept %v, %v, remade %d", name, attempts, got.GoodputBps, err, got.Remade)
			}
			if waited := time.Since(began); waited != c.waited {
				t.Errorf("%s: waited %v, want %v", name, waited, c.waited)
			}
			if conductor.lost != c.waited {
				t.Errorf("%s: the pace leaves %v of that out", name, conductor.lost)
			}
			if conductor.remade != c.before+c.remade {
				t.Errorf("%s: %d of the run were made again", name, conductor.remade)
			}
		})
	}
}

// TestKeptStops: whoever interrupts a run does not wait for a trial to be made again.
func TestKeptStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := fresh(t, record.Design{Replicates: 10}).kept(ctx, "fast", func(int) (record.Trial, error) { return told(0.5), nil })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 100*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// TestKeptGivesUp: where one trial could not be helped, the next is not tried again,
// whatever else goes wrong in between.
func TestKeptGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, made := fresh(t, record.Design{Replicates: 10}), 0
		spoiled := func(int) (record.Trial, error) { made++; return told(0.5), nil }
		for _, want := range []int{4, 5, 6} {
			if _, err := c.kept(t.Context(), "fast", spoiled); err != nil || made != want {
				t.Errorf("%d trials made, want %d: %v", made, want, err)
			}
			_, _ = c.kept(t.Context(), "fast", func(int) (record.Trial, error) { return told(0), conduct.LateError{Node: "a"} })
		}
	})
}

// TestKeptSearch: a search is not made again as a whole, for its windows were, and what
// they were counts.
func TestKeptSearch(t *testing.T) {
	c, made := fresh(t, record.Design{Replicates: 10}), 0
	got, err := c.kept(t.Context(), "fast", func(int) (record.Trial, error) {
		made++
		search := told(0.5)
		search.LossFree, search.Remade = &record.LossFree{}, 2
		return search, nil
	})
	if err != nil || made != 1 || got.Remade != 2 {
		t.Errorf("made %d times, %d of its windows again: %v", made, got.Remade, err)
	}
}
