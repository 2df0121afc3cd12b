package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/control/trial"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// disturbed is a trial of which a hypervisor took a share of the processors.
func disturbed(steal float64) record.Trial {
	end := []netstate.CPUTimes{{CPU: 0, Idle: 1 - steal, Steal: steal}}
	return record.Trial{WindowS: 1, GoodputBps: steal, Hosts: []netstate.HostReading{{
		Host: "a", Begin: netstate.Reading{CPU: []netstate.CPUTimes{{CPU: 0}}}, End: netstate.Reading{CPU: end},
	}}}
}

// TestKept: a trial that a hypervisor or a late schedule spoiled is made again, no
// other, and only so often.
func TestKept(t *testing.T) {
	type made struct {
		steal float64
		err   error
	}
	late, broken := trial.LateError{Node: "a"}, errors.New("no such interface")
	for name, c := range map[string]struct {
		before time.Duration // lost already, of two minutes
		made   []made
		kept   int // which of them is, from 0
		remade int
		waited time.Duration
	}{
		"sound":                   {0, []made{{0.001, nil}}, 0, 0, 0},
		"paused once":             {0, []made{{0.3, nil}, {0, nil}}, 1, 1, 5 * time.Second},
		"paused twice":            {0, []made{{0.3, nil}, {0.2, nil}, {0, nil}}, 2, 2, 20 * time.Second},
		"paused always":           {0, []made{{0.3, nil}, {0.2, nil}, {0.4, nil}, {0.5, nil}}, 3, 3, 65 * time.Second},
		"paused, once too often":  {116 * time.Second, []made{{0.3, nil}}, 0, 0, 0},
		"the last one that is":    {115 * time.Second, []made{{0.3, nil}, {0.2, nil}}, 1, 1, 5 * time.Second},
		"late":                    {0, []made{{0, late}, {0, nil}}, 1, 0, 0},
		"late always":             {0, []made{{0, late}, {0, late}, {0, late}, {0, late}}, 3, 0, 0},
		"late, then paused":       {0, []made{{0, late}, {0.2, nil}, {0, nil}}, 2, 1, 15 * time.Second},
		"an error that will stay": {0, []made{{0, broken}}, 0, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			conductor := patient(t, 2*time.Minute)
			conductor.retryTime = c.before
			began, attempts := time.Now(), 0
			got, err := conductor.withRetries(t.Context(), "fast", func(attempt int) (record.Trial, error) {
				if attempt != attempts || attempt >= len(c.made) {
					t.Fatalf("%s: attempt %d after %d", name, attempt, attempts)
				}
				attempts++
				return disturbed(c.made[attempt].steal), c.made[attempt].err
			})
			want := c.made[c.kept]
			if attempts != len(c.made) || got.GoodputBps != want.steal || !errors.Is(err, want.err) ||
				got.Repeated != c.remade {
				t.Errorf("%s: %d attempts, kept %v, %v, remade %d", name, attempts, got.GoodputBps, err, got.Repeated)
			}
			if waited := time.Since(began); waited != c.waited {
				t.Errorf("%s: waited %v, want %v", name, waited, c.waited)
			}
			if conductor.retryTime != c.before+c.waited {
				t.Errorf("%s: the pace leaves %v of that out", name, conductor.retryTime)
			}
		})
	}
}

// patient is a conductor of a run that may wait so long for a hypervisor.
func patient(t *testing.T, d time.Duration) *conductor {
	t.Helper()
	c := fresh(t, record.Design{})
	c.design.Replicates = int(4*d/c.plan.BlockTime()) + 1
	if got := c.maxRetryTime(); got < d || got > d+time.Second {
		t.Fatalf("a run of %d blocks may spend %v on retries, want %v", c.design.Replicates, got, d)
	}
	return c
}

// TestKeptStops: an interrupted run does not wait for a trial to be made again.
func TestKeptStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := fresh(t, record.Design{Replicates: 10}).withRetries(ctx, "fast", func(int) (record.Trial, error) {
			return disturbed(0.5), nil
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 100*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// TestMaxRetryTime: on a machine that is never left alone a run takes a quarter longer, or
// ten seconds, and no more, however many trials it has.
func TestMaxRetryTime(t *testing.T) {
	for replicates, want := range map[int]time.Duration{1: 10 * time.Second, 400: 0} {
		synctest.Test(t, func(t *testing.T) {
			c := fresh(t, record.Design{Replicates: replicates})
			each := c.plan.BlockTime() / time.Duration(len(c.plan.Treatments))
			planned := c.plan.Time(replicates)
			began, made := time.Now(), 0
			for range replicates * len(c.plan.Treatments) {
				_, err := c.withRetries(t.Context(), "fast", func(int) (record.Trial, error) {
					made++
					time.Sleep(each)
					return disturbed(0.5), nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if want == 0 {
				want = planned / 4
			}
			// The last attempt that is not kept may end beyond it.
			if more := time.Since(began) - planned; more < want/3 || more > want+2*each {
				t.Errorf("%d blocks of %v in all took %v longer, want about %v; %d trials were made", replicates,
					planned, more, want, made)
			}
		})
	}
}

// TestMaxRetryTimeVariable: the user may say how long a run spends on retries; what is no time is refused.
func TestMaxRetryTimeVariable(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 11200 * time.Millisecond, "0s": 0, "2m": 2 * time.Minute,
		"soon": -1, "-1s": -1} {
		t.Setenv(maxRetryTimeVariable, text)
		c, err := prepare(planOf(t, twoLevels), nil, Options{})
		if want < 0 {
			if err == nil || !strings.HasPrefix(err.Error(), "LINERATE_MAX_RETRY_TIME: ") {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err != nil || c.maxRetryTime() != want {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

// TestRetriesLeaveVerdicts: a trial is made again only if the budget has time for that beside the
// blocks that verdicts take.
func TestRetriesLeaveVerdicts(t *testing.T) {
	for spare, want := range map[time.Duration]int{time.Second: 1, 7 * time.Second: 2, time.Minute: 3} {
		synctest.Test(t, func(t *testing.T) {
			c, made := patient(t, 2*time.Minute), 0
			c.design.BudgetS = (4*c.plan.BlockTime() + spare).Seconds()
			_, err := c.withRetries(t.Context(), "fast", func(int) (record.Trial, error) {
				made++
				return disturbed([]float64{0.5, 0.5, 0}[made-1]), nil
			})
			if err != nil || made != want {
				t.Errorf("%v to spare: made %d times, %v; want %d", spare, made, err, want)
			}
		})
	}
}

// TestKeptSearch: a search is not made again as a whole, for its windows were, and what
// they were counts.
func TestKeptSearch(t *testing.T) {
	c, made := fresh(t, record.Design{Replicates: 10}), 0
	got, err := c.withRetries(t.Context(), "fast", func(int) (record.Trial, error) {
		made++
		search := disturbed(0.5)
		search.LossFree, search.Repeated = &record.LossFree{}, 2
		return search, nil
	})
	if err != nil || made != 1 || got.Repeated != 2 {
		t.Errorf("made %d times, %d of its windows again: %v", made, got.Repeated, err)
	}
}
