// Package slo searches the highest rate of requests that meets an objective, such as "latency_p99
// <= 20ms, errors <= 0.1%". Given the trials that were made, it returns what to try next and, in
// the end, the result.
//
// The first trial is a closed loop, in which each request follows the answer to the one before. It
// shows about how much is answered at most. The other trials are open loops, whose schedule does
// not wait for answers. The search begins a little below the first result, goes up or down in steps
// that double, and then halves the interval that is left (in logarithms). Latency is noisy. So the
// lowest rate that failed is tried again before it bounds the result, and the result has to pass
// several longer trials; if it fails one, the search goes on below.
//
// The package measures nothing and waits for nothing: everything follows from the list of trials.
package slo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/expect"
	"linerate/internal/science/trust"
)

// Search describes what is searched for.
type Search struct {
	// Objective is what a trial has to meet.
	Objective expect.Expectation
	// Resolution is a relative difference of rates. The search ends when the result and a rate that
	// fails differ by no more.
	Resolution float64
	// Repeats is the number of longer trials that the result has to pass.
	Repeats int
	// Longest is the longest window. Most is the highest rate that can be requested; 0: any.
	Longest time.Duration
	Most    float64
	// Irregular reports whether requests fall due independently of each other, so that their number
	// in a window varies.
	Irregular bool
}

// MostTrials is the largest number of trials of a search.
const MostTrials = 32

const (
	// start is the first rate of an open loop, least the lowest and most the highest, as shares of
	// the closed loop's rate. An open loop has as many connections as the closed one. Its rate can
	// be higher if the closed loop makes the server slower.
	start, least, most = 0.9, 1e-4, 16
	// behind is the share of the requests due in a window that may stay unanswered in it.
	behind = 0.02
	// spare is the share of requests in addition to those that a percentile needs.
	spare = 0.1
	// mostHindered is how often a rate is tried whose trials fail because of the generator:
	// something else may have used its CPUs for a moment.
	mostHindered = 3
	// exhausted is a share of the closed loop's rate. If the generator limited the closed loop, it
	// counts as a possible limit of open loops from this share on. trust.Generator takes a CPU as
	// exhausted at the same share.
	exhausted = 0.95
)

// Window returns how long a trial at a rate has to be: planned or, if that gives too few requests
// for the objective, longer, but at most Longest.
func (s Search) Window(rate float64, planned time.Duration) time.Duration {
	if rate <= 0 {
		return planned
	}
	needed := time.Duration(math.Ceil(float64(s.Objective.Needs()) * (1 + spare) / rate * 1e9))
	return max(planned, min(needed, s.Longest))
}

// Outcome returns the result of a trial, from the trial, its trust checks and the trials made
// before. asked is the rate of its schedule; 0: a closed loop.
func (s Search) Outcome(made []record.FindMaxTrial, m record.Trial, checks []record.Check, asked float64,
	confirms bool) record.FindMaxTrial {
	t := record.FindMaxTrial{AskedPerS: asked, AnsweredPerS: m.TransactionsPerS, WindowS: m.WindowS, Confirms: confirms}
	errors := int64(0)
	for _, f := range m.Flows {
		if x := f.Transactions; x != nil && x.Application != nil {
			errors += x.Application.Errors
		}
	}
	t.ErrorsPerS = float64(errors) / m.WindowS
	checked := s.Objective.Check(m)
	t.Conditions = checked.Conditions
	failed := func(check string) bool {
		i := slices.IndexFunc(checks, func(c record.Check) bool { return c.Check == check && !c.Pass })
		if i >= 0 && t.Busy == nil {
			t.Busy = &record.GeneratorCheck{Check: checks[i]}
		}
		return i >= 0
	}
	busy := failed(trust.Generator)
	if asked == 0 {
		return t
	}
	requests := asked * m.WindowS
	allowed := behind + 2/requests // one more may be in flight at each edge
	if s.Irregular {
		allowed = behind + 3/math.Sqrt(requests) // three standard deviations
	}
	answered := m.TransactionsPerS >= asked*(1-allowed)
	// A generator without CPU time makes answers late and few, but never more or earlier. So an
	// objective that is met nevertheless counts as met.
	if t.Pass = checked.Met && answered; t.Pass {
		return t
	}
	late := !answered || slices.ContainsFunc(t.Unmet(), func(c record.Condition) bool {
		return strings.HasPrefix(c.Metric, "latency_")
	})
	hindered := late && (failed(trust.Steal) || failed(trust.Clock) || busy)
	if closed := made[0]; late && !hindered && closed.Busy != nil && asked >= closed.AnsweredPerS*exhausted {
		hindered, t.Busy = true, &record.GeneratorCheck{Check: closed.Busy.Check, InClosedLoop: true}
	}
	switch {
	case hindered:
		t.FailedBy = record.BoundedByGenerator
	case !answered:
		t.FailedBy = record.BoundedByAnswers
	default:
		t.FailedBy = record.BoundedByObjective
	}
	return t
}

// tally counts the trials of one rate.
type tally struct {
	passed, failed, hindered int // hindered: failed because of the generator
	confirmed                int
	confirming               bool // a trial that was to confirm the rate failed
	last                     record.FindMaxTrial
}

// decided reports whether the rate failed for good.
func (t *tally) decided() bool {
	return t.confirming || t.failed > 1 || t.failed+t.hindered >= mostHindered
}

// bounds reports whether the rate failed, as far as is known.
func (t *tally) bounds() bool {
	return t.decided() || t.failed+t.hindered > 0 && t.passed == 0
}

// state is what the trials so far show.
type state struct {
	// lower is a rate that passed and upper one that failed, with the trials of both in low and up.
	// lower 0: none passed; upper infinite: none failed.
	lower, upper float64
	low, up      *tally
	passes       int // number of rates below upper that passed
	refused      int // number of rates that failed
}

func look(made []record.FindMaxTrial) (at state) {
	at.upper = math.Inf(1)
	rates := map[float64]*tally{}
	for _, t := range made[min(1, len(made)):] {
		r := rates[t.AskedPerS]
		if r == nil {
			r = &tally{}
			rates[t.AskedPerS] = r
		}
		switch {
		case t.Pass:
			r.passed++
			if t.Confirms {
				r.confirmed++
			}
		case t.FailedBy == record.BoundedByGenerator:
			if r.hindered++; r.failed == 0 {
				r.last = t
			}
		default:
			r.failed++
			r.last, r.confirming = t, r.confirming || t.Confirms
		}
	}
	for rate, r := range rates {
		if r.bounds() {
			at.refused++
			if rate < at.upper {
				at.upper, at.up = rate, r
			}
		}
	}
	for rate, r := range rates {
		if rate < at.upper && r.passed > 0 {
			at.passes++
			if rate > at.lower {
				at.lower, at.low = rate, r
			}
		}
	}
	return at
}

// floor returns the lowest rate that is tried, and ceiling the highest.
func (s Search) floor(closed float64) float64 {
	return max(min(closed, s.ceiling(closed))*least, float64(s.Objective.Needs())*(1+spare)/s.Longest.Seconds())
}

func (s Search) ceiling(closed float64) float64 {
	return min(closed*most, cmp.Or(s.Most, math.Inf(1)))
}

// near reports whether two rates differ by no more than the resolution.
func (s Search) near(lower, upper float64) bool { return upper <= lower*(1+s.Resolution)*(1+1e-9) }

// Next returns the rate to try next, in requests per second (0: a closed loop), and whether the
// trial is one of those that confirm the result. more is false if the search is over.
func (s Search) Next(made []record.FindMaxTrial) (rate float64, confirms, more bool) {
	if len(made) == 0 {
		return 0, false, true
	}
	closed := made[0].AnsweredPerS
	floor, ceiling := s.floor(closed), s.ceiling(closed)
	if len(made) >= MostTrials || closed <= 0 || floor > ceiling {
		return 0, false, false
	}
	at := look(made)
	switch {
	case at.lower == 0 && at.up == nil:
		first := closed
		if good := closed - made[0].ErrorsPerS; good > floor &&
			slices.Contains(s.Objective.Metrics(), metric.Errors.Name) {
			first = good
		}
		return min(max(round(first*start), floor), ceiling), false, true
	case at.up != nil && !at.up.decided() && (at.upper <= floor || s.near(at.lower, at.upper)):
		return at.upper, false, true
	case at.lower == 0 && at.upper <= floor:
		return 0, false, false
	case at.lower == 0:
		return max(round(at.upper*max(0.5, 1-s.Resolution*math.Pow(2, float64(at.refused)))), floor), false, true
	case at.lower >= ceiling, s.near(at.lower, at.upper):
		return at.lower, true, at.low.confirmed < s.Repeats
	}
	up := at.lower * min(2, 1+s.Resolution*math.Pow(2, float64(at.passes-1)))
	return min(round(min(up, math.Sqrt(at.lower*at.upper))), ceiling), false, true
}

// round keeps four digits of a rate, which is finer than any resolution.
func round(rate float64) float64 {
	rate, _ = strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 4, 64), 64)
	return rate
}

// Conclude returns the result of the trials. ended says why no further trial could be made; empty:
// Next had no more.
func (s Search) Conclude(made []record.FindMaxTrial, ended string) *record.FindMax {
	f := &record.FindMax{Objective: s.Objective.String(), Resolution: s.Resolution, Repeats: s.Repeats,
		NeededRequests: s.Objective.Needs(), Trials: made}
	if len(made) == 0 {
		f.Why, f.Trials = cmp.Or(ended, "no trial was made"), []record.FindMaxTrial{}
		return f
	}
	at, closed := look(made), made[0].AnsweredPerS
	f.ClosedLoopPerS, f.RatePerS = closed, at.lower
	if at.up != nil {
		last := at.up.last
		f.FailedAtPerS, f.FailedAnsweredPerS, f.Failed = at.upper, last.AnsweredPerS, last.Unmet()
		if f.BoundedBy = last.FailedBy; f.BoundedBy == record.BoundedByGenerator {
			f.Busy = last.Busy
		}
	}
	if at.low != nil {
		f.Confirmed = at.low.confirmed
	}
	finished := at.low != nil && at.low.confirmed >= s.Repeats && (at.lower >= s.ceiling(closed) ||
		s.near(at.lower, at.upper))
	switch {
	case finished && at.up == nil:
		f.BoundedBy = record.BoundedBySearch
	case finished:
	case closed <= 0:
		f.Why = "no request was answered in the closed loop"
	case s.floor(closed) > s.ceiling(closed):
		f.Why = fmt.Sprintf("a window of %v has too few requests for the objective, which needs %s",
			unit.Duration(s.Longest), unit.FormatCount(f.NeededRequests))
	case ended != "":
		f.Why = ended
	case len(made) >= MostTrials:
		f.Why, f.BoundedBy = fmt.Sprintf("a search makes at most %d trials", MostTrials), record.BoundedBySearch
	default:
		f.Why = "even the lowest rate that was tried failed"
	}
	return f
}
