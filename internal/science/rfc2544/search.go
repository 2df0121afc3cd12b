// Package rfc2544 searches the highest rate without loss: it returns what to try next
// after the trials that were made, and the result in the end. It is the
// throughput of RFC 2544, section 26.1, whose trials are to last 60 s (section 24);
// here the caller decides how long, and shorter ones find less: what is too much
// first fills queues, and is lost only when these are full.
//
// The search goes to where rates begin to lose by what came through the last time,
// walks up or down from there in steps that double, and halves what is left
// between (in logarithms). Loss is noisy. So a search trial that lost little is
// made again before it counts, and the rate that comes out has to pass several
// longer trials, of which none may lose; if one does, the search goes on below. If it lost
// clearly, queues took the excess of the shorter trials: the search goes on from what arrived,
// with longer trials alone.
//
// The result is the highest rate that one of these longer trials sent. Senders that send as
// fast as they can send less while something else has their CPU; what they send when nothing
// has is lost as little, and is the figure that comes out again.
//
// Nothing is measured here and nothing waits: everything follows from the list of
// trials.
package rfc2544

import (
	"math"
	"slices"

	"linerate/internal/model/record"
)

// Search is what is looked for.
type Search struct {
	// Most is the highest rate that is tried, in bit/s; 0: as fast as the senders
	// can.
	Most float64
	// Loss is the share of datagrams that may be lost.
	Loss float64
	// Resolution is how far apart, relatively, a rate that loses and the result may
	// be.
	Resolution float64
	// Repeats is how many trials the result has to pass.
	Repeats int
	// Earlier is how many of the trials were made by a search for another share.
	Earlier int
}

// mostTrials bounds a search.
const mostTrials = 32

// fewest datagrams make a trial of which anything follows.
const fewest = 100

// much is the loss beyond what is allowed that no chance makes: a trial with more
// is not made again.
const much = 0.01

// maxInterrupted is how often a trial is repeated in which the senders fell behind a rate
// that they have reached before: something else took their processors for a moment.
const maxInterrupted = 5

// state is what the trials that were made say.
type state struct {
	// lower passed, in the search at least, and upper lost or cannot be reached;
	// both as asked. No lower: 0.
	lower, upper float64
	topped       bool    // nothing above lower can be offered: all its trials were short, or it is the most
	again        bool    // the last trial lost so little that it is made again
	confirmed    int     // trials that lower has passed
	best         int     // the one of them that most was sent in, if there is one
	passes       int     // rates below upper that passed
	refused      int     // trials that lost
	came         float64 // what arrived when upper was tried
	// sustained is the least that arrived in a trial of the full length that lost clearly. Of more
	// than that shorter trials tell nothing, since queues take it for a while. Unbounded: there
	// was none.
	sustained float64
}

// queues reports whether queues hid in shorter trials what a longer one lost.
func (at state) queues() bool { return at.sustained != unbounded }

// Next is the rate to try next, in bit/s (0: as fast as the senders can), and
// whether the trial is as long as those that confirm. More is false when the search is
// over.
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

// least is the lowest rate that makes sense in a trial of that length.
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
	if t.AskedBps == 0 {
		return unbounded
	}
	return t.AskedBps
}

// offered is the rate that a trial stands for: what was sent, where that is less
// than what was to be.
func offered(t record.LossTrial) float64 { return min(level(t), t.OfferedBps) }

// carried is what a trial shows of what the path carries: no more than arrived, which may be
// less while a queue fills.
func carried(t record.LossTrial) float64 { return min(offered(t), t.ReceivedBps) }

// short: the senders fell behind the rate that was asked for.
func (s Search) short(t record.LossTrial) bool {
	return t.OfferedBps < level(t)*(1-s.slack())
}

// slack is the share of a rate by which senders may fall behind.
func (s Search) slack() float64 { return max(s.Resolution, 0.01) }

func (s Search) look(made []record.LossTrial) (at state) {
	at.upper, at.sustained = unbounded, unbounded
	able := 0.0 // the most that the senders made
	for _, t := range made {
		able = max(able, t.OfferedBps)
	}
	doubts := map[float64]int{}      // trials of a level that lost
	interrupted := map[float64]int{} // trials of a level that were not what they were to be
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

// Conclude makes the result of the trials that were made. Limit is the most that
// the links can carry, 0: it is not known.
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
			case at.upper != unbounded: // which the senders have made
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
