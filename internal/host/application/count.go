package application

import (
	"container/heap"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/HdrHistogram/hdrhistogram-go"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// counts may be read at any time.
type counts struct {
	done, failed, unanswered atomic.Int64 // client: transactions done; server: answers sent
	errors, late             atomic.Int64
	received, written        atomic.Int64 // bytes
	opened, closed           atomic.Int64 // connections
	first, last              atomic.Int64 // times of the first and the latest activity
	failures                 atomic.Int64 // consecutive failures
}

const (
	// mostOutcomes limits the kinds of answer counted separately, because the server chooses their names. The
	// others are counted together.
	mostOutcomes = 24
	otherOutcome = "other"
	// mostSlow limits how many of the slowest transactions are kept; slowShare is their share of all
	// transactions.
	mostSlow  = 1000
	slowShare = 0.001
)

// recorder keeps the times and outcomes of a client's transactions within the window. Its methods are safe for
// concurrent use.
type recorder struct {
	mu       sync.Mutex // held for arithmetic only
	latency  *stats.Counting
	phases   [record.Phases]*stats.Counting
	outcomes map[string]int64
	slow     slowest
}

// slow is one of the slowest transactions.
type slow struct {
	ns    int64
	cause record.SlowCause
}

func newRecorder() *recorder {
	return &recorder{latency: stats.NewCounting(), outcomes: map[string]int64{}}
}

// answer counts an answer with this outcome.
func (r *recorder) answer(outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.outcomes[outcome]; !known && len(r.outcomes) >= mostOutcomes {
		outcome = otherOutcome
	}
	r.outcomes[outcome]++
}

// done records the times of a transaction.
func (r *recorder) done(x *Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	took := x.ended - x.due
	r.latency.Record(took)
	for p, ns := range x.phases {
		if ns == 0 {
			continue
		}
		if r.phases[p] == nil {
			r.phases[p] = stats.NewCounting()
		}
		r.phases[p].Record(ns)
	}
	r.keep(slow{took, x.cause()})
}

// keep keeps a transaction if it is one of the slowest.
func (r *recorder) keep(s slow) {
	switch {
	case len(r.slow) < mostSlow:
		heap.Push(&r.slow, s)
	case s.ns > r.slow[0].ns:
		r.slow[0] = s
		heap.Fix(&r.slow, 0)
	}
}

// slowest is a heap (container/heap) with the fastest transaction first.
type slowest []slow

func (h slowest) Len() int           { return len(h) }
func (h slowest) Less(i, j int) bool { return h[i].ns < h[j].ns }
func (h slowest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *slowest) Push(x any)        { *h = append(*h, x.(slow)) }
func (h *slowest) Pop() any          { last := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return last }

// cause returns what took most of a transaction's time.
func (x *Exchange) cause() record.SlowCause {
	p, most := record.Phase(0), int64(0)
	for i, ns := range x.phases {
		if ns > most {
			p, most = record.Phase(i), ns
		}
	}
	switch {
	case most == 0:
		return record.SlowElsewhere
	case p == record.PhaseConnect && x.synSent > 0:
		return record.SlowSYN
	case p != record.PhaseWait && p != record.PhaseName && x.resent > 0:
		return record.SlowRetransmission
	}
	return record.SlowPhase(p)
}

// mayBeSlow reports whether a transaction that took so long may be one of the slowest, so that its cause is worth
// system calls.
func (r *recorder) mayBeSlow(ns int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.slow) < mostSlow || ns > r.slow[0].ns/2
}

// describe fills in the distributions and the slowest of what several recorders have.
func describe(recorders []*recorder, t *record.Transactions) {
	latency, all := stats.NewHistogram(), []slow(nil)
	var phases [record.Phases]*hdrhistogram.Histogram
	a := t.Application
	a.Outcomes = map[string]int64{}
	for _, r := range recorders {
		r.mu.Lock()
		latency.Merge(r.latency.Histogram())
		for p, counting := range r.phases {
			if counting == nil {
				continue
			}
			if phases[p] == nil {
				phases[p] = stats.NewHistogram()
			}
			phases[p].Merge(counting.Histogram())
		}
		all = append(all, r.slow...)
		for outcome, n := range r.outcomes {
			a.Outcomes[outcome] += n
		}
		r.mu.Unlock()
	}
	t.Latency, _ = stats.Distribution(latency) // encoding our own histogram cannot fail
	for p, h := range phases {
		if h != nil {
			d, _ := stats.Distribution(h)
			a.Phases = append(a.Phases, record.PhaseTimes{Phase: record.Phase(p).String(), Times: d})
		}
	}
	a.Slow = slowOf(all, latency.TotalCount())
}

// slowOf summarizes what delayed the slowest slowShare of all transactions.
func slowOf(kept []slow, all int64) *record.Slow {
	n := min(int(float64(all)*slowShare+0.5), len(kept))
	if n == 0 {
		return nil
	}
	slices.SortFunc(kept, func(a, b slow) int { return int(b.ns - a.ns) })
	s := &record.Slow{Count: int64(n), LeastUs: float64(kept[n-1].ns) / 1e3, Causes: map[record.SlowCause]int64{}}
	for _, one := range kept[:n] {
		s.Causes[one.cause]++
	}
	return s
}

// counted returns a flow's current counts.
func (c *counts) counted() (t record.Transactions) {
	t.Done, t.Failed, t.Unanswered = c.done.Load(), c.failed.Load(), c.unanswered.Load()
	t.Late, t.Application = c.late.Load(), &record.Application{Errors: c.errors.Load()}
	t.Opened = c.opened.Load()
	t.Connections = max(0, t.Opened-c.closed.Load())
	return t
}

// stamp records that data was moved at a time.
func (c *counts) stamp(at int64) {
	if c.first.Load() == 0 {
		c.first.CompareAndSwap(0, at)
	}
	c.last.Store(at)
}
