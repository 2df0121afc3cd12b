package foreign

import (
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
)

// life records when a client's connection sent its first and last byte and ended, from the kernel's readings
// and its event for the end. What happened between two readings is taken to have happened in the middle.
type life struct {
	message.Life
	seenNs int64 // time of the latest reading that found it
	closed bool  // nothing more can be written
}

// lived records a reading of the flow's socket, or its end.
func (f *toolFlow) lived(s netlink.Socket, ended bool) {
	l := &f.life
	if f.process.serves || !f.request.Sends || l.EndNs != 0 || ended && l.seenNs == 0 {
		return
	}
	between := s.AtNs // first reading
	if l.seenNs != 0 {
		between = l.seenNs + (s.AtNs-l.seenNs)/2
	}
	if ended {
		l.EndNs = s.AtNs
	}
	if l.FirstNs == 0 && s.Info.BusyUs > 0 {
		// The kernel counts the time with data in flight, from the first byte on.
		l.FirstNs = s.AtNs - int64(s.Info.BusyUs)*1e3
	}
	written := f.end.WrittenBytes
	switch {
	case s.Established:
		l.LastNs = s.AtNs
	case !l.closed:
		l.closed, l.LastNs = true, between
		fallthrough
	default:
		written-- // the FIN takes a sequence number
	}
	l.WrittenBytes = max(l.WrittenBytes, written)
	l.seenNs = s.AtNs
}

// How often connections are read after the trial's stop: often enough to know when each ended, but without
// taking CPU time from the programs.
const (
	lookEvery = 20 * time.Millisecond
	lookShare = 10 // wait in multiples of the time a reading takes
)

// hear receives the kernel's events of ended connections until the trial is closed.
func (e *Engine) hear() {
	for {
		list, err := e.sockets.Destroyed()
		if err != nil {
			return
		}
		e.mu.Lock()
		for _, s := range list {
			for _, p := range e.processes {
				if p.countsAll() && p.owns(s) {
					p.end(s)
				}
			}
			for _, f := range e.flows {
				if !f.process.serves && !f.process.countsAll() && f.remote == s.Local && f.end.Remote == s.Remote &&
					s.Info != nil {
					f.fill(s)
					f.lived(s, true)
				}
			}
		}
		e.mu.Unlock()
	}
}

// watch follows the clients' connections from the trial's stop until they end.
func (e *Engine) watch(stop int64) {
	pause := time.Duration(stop - sched.Now())
	for {
		select {
		case <-time.After(pause):
		case <-e.ctx.Done():
			return
		}
		began := sched.Now()
		e.mu.Lock()
		if e.ctx.Err() != nil {
			e.mu.Unlock()
			return
		}
		e.look(false)
		left := lists.Count(e.flows, func(f *toolFlow) bool { return f.life.seenNs != 0 && f.life.EndNs == 0 })
		e.mu.Unlock()
		if left == 0 {
			return
		}
		pause = max(lookEvery, lookShare*time.Duration(sched.Now()-began))
	}
}

// lives returns the lives of those of a program's connections that were seen. If the program ended first, the
// kernel still had to send what it had written.
func (e *Engine) lives(p *process) []message.Life {
	var list []message.Life
	for _, f := range e.flows {
		l := f.life
		if f.process != p || l.FirstNs == 0 {
			continue
		}
		if ended := p.EndNs(); ended != 0 && (l.EndNs == 0 || ended < l.EndNs) {
			l.EndNs = ended
		}
		l.ID = f.request.ID
		list = append(list, l.Life)
	}
	return list
}
