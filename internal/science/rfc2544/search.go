// Package rfc2544 searches the highest rate without loss: given the trials that were made, it
// returns what to try next and, in the end, the result. This is the throughput of RFC 2544, section
// 26.1. There, trials last 60 s (section 24); here the caller decides. Shorter trials find less
// loss, because an excess first fills queues and is lost only when these are full.
//
// The search jumps to the rate at which loss is expected to begin, which is what arrived the last
// time. From there it goes up or down in steps that double, and then halves the interval that is
// left (in logarithms). Loss is noisy. So a search trial that lost little is repeated before it
// counts, and the resulting rate has to pass several longer trials, none of which may lose. If one
// does, the search goes on below. If it lost clearly, queues took the excess in the shorter trials:
// the search goes on from what arrived, only with longer trials.
//
// The result is the highest rate that one of these longer trials sent. Senders that send as fast as
// they can send less while something else uses their CPU. What they send without such interference is
// lost as little, and is the reproducible figure.
//
// The package measures nothing and waits for nothing: everything follows from the list of trials.
package rfc2544

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/record"
)

// Search describes what is searched for.
type Search struct {
	// Most is the highest rate to try, in bit/s; 0: as fast as the senders can.
	Most float64
	// Loss is the share of datagrams that may be lost.
	Loss float64
	// Resolution is a relative difference of rates. The search ends when the result and a rate that
	// loses differ by no more.
	Resolution float64
	// Repeats is the number of longer trials that the result has to pass.
	Repeats int
	// Earlier is the number of trials that a search with another Loss has made. They count as
	// results, but not towards the largest number of trials.
	Earlier int
}

// mostTrials is the largest number of trials of a search.
const mostTrials = 32

// fewest is the least number of datagrams from which a trial allows conclusions.
const fewest = 100

// much is the share of datagrams that a trial must lose beyond the allowed share for the loss not
// to be chance. Such a trial is not repeated.
const much = 0.01

// maxInterrupted is how often a trial is repeated in which the senders fell behind a rate that they
// have reached before, because something else used their CPUs for a moment.
const maxInterrupted = 5

// state is what the trials so far show.
type state struct {
	// lower is a rate that passed, at least in a search trial; 0: none did. upper is a rate that
	// lost or cannot be reached. Both are requested rates.
	lower, upper float64
	topped       bool    // nothing above lower can be offered: all its trials were short, or it is the most to try
	again        bool    // the last trial lost so little that it is repeated
	confirmed    int     // number of longer trials that lower has passed
	best         int     // index of the confirming trial of lower that carried most; valid if confirmed > 0
	passes       int     // number of rates below upper that passed
	refused      int     // number of trials that lost
	came         float64 // the rate that arrived when upper was tried
	// sustained is the lowest rate that arrived in a longer trial that clearly lost datagrams;
	// unbounded: there was no such trial. Shorter trials of higher rates show nothing, because queues absorb the excess
	// for a while.
	sustained float64
}

// queues reports whether a longer trial has lost what queues absorbed in shorter ones.
func (at state) queues() bool { return at.sustained != unbounded }

// Next returns the rate to try next, in bit/s (0: as fast as the senders can), and whether the
// trial has to be as long as those that confirm a result. more is false if the search is over.
func (s Search) Next(made []record.LossTrial) (rate float64, confirms, more bool) {
	if len(made) == 0 {
		return s.Most, false, true
	}
	if len(made)-s.Earlier >= mostTrials {
		return 0, false, false
	}
	at := s.look(made)
	switch {
	case at.again:
		last := made[len(made)-1]
		return last.AskedBps, last.Confirms, true
	case at.lower > 0 && (at.topped || at.upper <= at.lower*(1+s.Resolution)*(1+1e-9)):
		return asked(at.lower), true, at.confirmed < s.Repeats
	case at.lower > 0:
		up := at.lower * (1 + s.Resolution*math.Pow(2, float64(at.passes-1)))
		return min(up, math.Sqrt(at.lower*at.upper)), at.queues(), true
	}
	rate = at.upper * max(0.5, 1-s.Resolution*math.Pow(2, float64(at.refused-1)))
	if at.refused == 1 || at.came < rate {
		rate = at.came * (1 - s.Resolution/2)
	}
	if at.came == 0 {
		rate = at.upper / 16
	}
	rate = min(rate, at.upper*(1-s.Resolution))
	return rate, at.queues(), rate > 0 && rate >= least(made[0])
}

// least returns the lowest rate that makes sense in a trial as long as t.
func least(t record.LossTrial) float64 {
	if t.Sent == 0 || t.OfferedBps == 0 {
		return 0
	}
	return t.OfferedBps * fewest / float64(t.Sent)
}

// unbounded stands for as fast as the senders can.
var unbounded = math.Inf(1)

func asked(rate float64) float64 {
	if rate == unbounded {
		return 0
	}
	return rate
}

func level(t record.LossTrial) float64 {
	return cmp.Or(t.AskedBps, unbounded)
}

// offered returns the rate that a trial stands for: the rate that was requested, or what was sent
// if that is less.
func offered(t record.LossTrial) float64 { return min(level(t), t.OfferedBps) }

// carried returns the rate that a trial shows the path to carry: no more than what arrived, which
// may be less while a queue fills.
func carried(t record.LossTrial) float64 { return min(offered(t), t.ReceivedBps) }

// short reports whether the senders fell behind the requested rate.
func (s Search) short(t record.LossTrial) bool {
	return t.OfferedBps < level(t)*(1-s.slack())
}

// slack is the share of a rate by which senders may fall behind.
func (s Search) slack() float64 { return max(s.Resolution, 0.01) }

func (s Search) look(made []record.LossTrial) (at state) {
	at.upper, at.sustained = unbounded, unbounded
	able := 0.0 // the highest rate that the senders reached
	for _, t := range made {
		able = max(able, t.OfferedBps)
	}
	doubts := map[float64]int{}      // by rate: trials that lost
	interrupted := map[float64]int{} // by rate: trials in which the senders fell behind
	var passing []int
	for i, t := range made {
		if at.again = false; t.Pass {
			if able >= level(t)*(1-s.slack()) && s.short(t) && interrupted[level(t)] < maxInterrupted {
				interrupted[level(t)]++
				at.again = true
				continue
			}
			passing = append(passing, i)
			continue
		}
		doubts[level(t)]++
		if t.LostShare <= s.Loss+much && !t.Confirms && doubts[level(t)] < 2 {
			at.again = true
			continue
		}
		at.refused++
		if rate := offered(t); rate <= at.upper {
			at.upper, at.came = rate, t.ReceivedBps
		}
		if t.Confirms && t.LostShare > s.Loss+much && t.ReceivedBps > 0 {
			at.sustained = min(at.sustained, t.ReceivedBps)
		}
	}
	passed := map[float64]bool{}
	for _, i := range passing {
		t := made[i]
		if level(t) >= at.upper && at.upper != unbounded || level(t) > at.sustained && !t.Confirms {
			continue
		}
		passed[level(t)] = true
		if level(t) > at.lower {
			at.lower, at.topped, at.confirmed = level(t), true, 0
		}
		if level(t) == at.lower {
			at.topped = s.Most > 0 && level(t) >= s.Most || at.topped && s.short(t)
			if t.Confirms {
				if at.confirmed++; at.confirmed == 1 || carried(t) > carried(made[at.best]) {
					at.best = i
				}
			}
		}
	}
	at.passes = len(passed)
	return at
}

// Conclude returns the result of the trials. limit is the most that the links can carry; 0:
// unknown.
func (s Search) Conclude(made []record.LossTrial, limit float64) *record.LossFree {
	l := &record.LossFree{Loss: s.Loss, Resolution: s.Resolution, Repeats: s.Repeats, Trials: made}
	if l.Trials == nil {
		l.Trials = []record.LossTrial{}
	}
	if len(made) == 0 {
		l.Why = "no trial was made"
		return l
	}
	at := s.look(made)
	if at.upper != unbounded {
		l.LostAtBps = at.upper
		for _, t := range made {
			if !t.Pass && offered(t) == at.upper {
				l.Places = t.Places
			}
		}
	}
	switch {
	case at.lower > 0 && at.confirmed >= s.Repeats:
		l.RateBps, l.ResultTrial = offered(made[at.best]), at.best+1
		short := s.short(made[at.best])
		if at.topped || short {
			switch {
			case limit > 0 && l.RateBps >= limit*(1-s.slack()):
				l.BoundedBy = record.BoundedByLimit
			case at.upper != unbounded: // the senders have reached that rate
				l.BoundedBy = record.BoundedByStalls
				return l
			case short:
				l.BoundedBy = record.BoundedBySender
			default:
				l.BoundedBy = record.BoundedByCap
			}
			l.LostAtBps, l.Places = 0, nil
		}
	case len(made)-s.Earlier >= mostTrials:
		l.Why = "no rate was confirmed within the greatest number of trials of a search"
	case at.lower > 0:
		l.Why = "the search was ended before a rate was confirmed"
	case !slices.ContainsFunc(made, func(t record.LossTrial) bool { return t.Sent > 0 }):
		l.Why = "no datagram was sent"
	case !slices.ContainsFunc(made, func(t record.LossTrial) bool { return t.ReceivedBps > 0 }):
		l.Why = "no datagram arrived at any rate"
	default:
		l.Why = "even the lowest rate that was tried lost datagrams"
	}
	return l
}
