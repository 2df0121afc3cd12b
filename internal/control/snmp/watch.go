package snmp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
	"linerate/internal/science/polled"
)

// Watch polls one switch during a trial. The trial never waits for the switch.
type Watch struct {
	s      *Switch
	names  []string // of ports; nil: all
	cancel context.CancelFunc
	done   chan struct{}
	series *series
	// answers: the latest poll was answered.
	answers atomic.Bool

	mu         sync.Mutex
	begin, end int64         // of the window; 0: unknown yet
	planned    chan struct{} // receives an element when begin and end change
}

// Watch starts to poll the named ports (nil: all) in the background, until Reading is called.
func (s *Switch) Watch(ctx context.Context, names []string) *Watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watch{s: s, names: names, cancel: cancel, done: make(chan struct{}), planned: make(chan struct{}, 1),
		series: newSeries(nil)}
	go func() {
		defer close(w.done)
		w.run(ctx)
	}()
	return w
}

// Schedule sets the begin and end of the window, in nanoseconds of sched.Now: a poll is sent at each.
func (w *Watch) Schedule(begin, end int64) {
	w.mu.Lock()
	w.begin, w.end = begin, end
	w.mu.Unlock()
	select {
	case w.planned <- struct{}{}:
	default:
	}
}

// run polls from now on until after the window.
func (w *Watch) run(ctx context.Context) {
	w.s.search(ctx)
	w.series = newSeries(w.s.readable(w.names))
	if len(w.series.ports) == 0 {
		return
	}
	for {
		w.answers.Store(w.s.poll(ctx, w.series) == nil)
		now := sched.Now()
		next, more := w.next(now)
		if !more {
			return
		}
		select {
		case <-time.After(time.Duration(next - now)):
		case <-w.planned:
			if !w.wait(ctx) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// wait waits until the next poll is due.
func (w *Watch) wait(ctx context.Context) bool {
	now := sched.Now()
	next, _ := w.next(now)
	select {
	case <-time.After(time.Duration(next - now)):
		return true
	case <-ctx.Done():
		return false
	}
}

// next returns when to poll next: at the steps of the window, including its edges. more is false after the poll
// at its end.
func (w *Watch) next(now int64) (at int64, more bool) {
	w.mu.Lock()
	begin, end := w.begin, w.end
	w.mu.Unlock()
	step := int64(spacing)
	switch {
	case end == 0:
		return now + step, true
	case now < begin:
		steps := (begin - now) / step
		if steps*step == begin-now {
			steps--
		}
		return begin - steps*step, true
	case now >= end:
		return now, w.sentBefore(end)
	}
	step = max(step, (end-begin)/mostPolls)
	for _, p := range w.series.ports {
		if p.Bits == 32 && p.rate() > 0 { // often enough to see each wrap
			step = min(step, max(int64(spacing), int64(polled.WrapS(p.rate())*1e9/2)))
		}
	}
	return min(end, begin+((now-begin)/step+1)*step), true
}

// sentBefore reports whether the latest poll was sent before at.
func (w *Watch) sentBefore(at int64) bool {
	for _, list := range w.series.replies {
		if n := len(list); n > 0 {
			return list[n-1].SentNs < at-int64(time.Millisecond) && w.series.last == nil
		}
	}
	return false
}

// rate returns a port's rate in bit/s, as reported or else the link's.
func (p *port) rate() float64 {
	if p.SpeedBps > 0 {
		return p.SpeedBps
	}
	return p.wanted.Bps
}

// stopping is how long the end of a trial waits for the answer to the poll at the window's end.
const stopping = 300 * time.Millisecond

// Reading stops polling and returns what the ports counted in the window from begin to end, in nanoseconds of
// sched.Now. It waits at most the time stopping, plus that of an unanswered poll that cannot be cancelled.
func (w *Watch) Reading(begin, end int64) record.SwitchReading {
	if w.answers.Load() {
		select {
		case <-w.done:
		case <-time.After(stopping):
		}
	}
	w.cancel()
	w.s.device.interrupt()
	<-w.done
	s, r := w.s, w.series
	out := s.record("")
	out.Polls, out.Failed = r.polls, r.failed
	if len(r.ports) > 0 && r.polls == r.failed {
		out.Missing = fmt.Sprintf("none of %d polls was answered: %v", r.polls, r.last)
	}
	refresh, known := polled.Refresh(r.busiest(begin-int64(spacing)/2, end+int64(spacing)/2))
	// When traffic pauses, counters change less often than they are refreshed, never more often. Polls of a
	// long window are too far apart to show a refresh at each request.
	seldom := end-begin > mostPolls*int64(spacing)
	if known && (!s.learned || refresh < s.refreshS && (refresh > 0 || !seldom)) {
		s.learned, s.refreshS = true, refresh
	}
	out.RefreshS = s.refreshS
	for _, p := range s.ports {
		if w.names != nil && !slices.Contains(w.names, p.Port) {
			continue
		}
		port := p.SwitchPort
		i := slices.Index(r.ports, p)
		switch {
		case port.Missing != "" || out.Missing != "":
		case i < 0:
			port.Missing = fmt.Sprintf("%d ports of the switch are read at most", mostPorts)
		case r.broken[i] != "":
			port.Missing = r.broken[i]
		default:
			if err := w.count(p, &port, r.replies[i], begin, end); err != nil {
				port.Missing = err.Error()
			}
		}
		out.Ports = append(out.Ports, port)
	}
	return out
}

// count sets a port's figures.
func (w *Watch) count(p *port, port *record.SwitchPort, polls []polled.Poll, begin, end int64) error {
	if why := polled.Wraps(polls, port.Bits, p.rate(), w.s.refreshS); why != "" {
		return errors.New(why)
	}
	if !w.s.learned {
		return errors.New(
			"its counters changed too rarely in the window to see how often it refreshes them: a longer window " +
				"shows it")
	}
	counted, err := polled.Count(polls, begin, end, w.s.refreshS)
	if err != nil {
		return err
	}
	port.FromNs, port.ToNs, port.DoubtS, port.Counters = counted.FromNs, counted.ToNs, counted.DoubtS, counted.Counters
	return nil
}
