package datagram

import (
	"fmt"
	"strings"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// Count takes the counts.
func (f *udpFlow) Count(out *message.FlowEnd) {
	sent, counts := f.tally.sent.Load(), f.tally.read()
	out.AtNs = sched.Now()
	out.ReceivedBytes = counts.bytes
	out.FirstNs, out.LastNs = f.tally.first.Load(), f.tally.last.Load()
	out.Datagrams = counts.record()
	out.Datagrams.Sent, out.Datagrams.Skipped = sent, f.tally.skipped.Load()
	out.Datagrams.BlockedUs = f.tally.full.Load() / 1000
}

// Describe adds how datagrams are moved, and, when the senders have stopped, how
// long they were in flight.
func (f *udpFlow) Describe(out *message.FlowEnd) {
	if !f.IsOpen() {
		return
	}
	end, how, d := f.end, f.mover.method(), out.Datagrams
	out.Mode, out.CallBytes = how.mode, int64(how.call)
	out.SndbufBytes = int64(end.sndbuf)
	if _, receive := f.Request.Buffers(); receive != 0 {
		out.RcvbufBytes = int64(end.buffer)
	}
	notes := append(append([]string{}, end.notes...), how.note...)
	if f.Request.Sends {
		d.Bytes, d.MTU = end.bytes, end.pathMTU()
		out.WrittenBytes = end.payload(d.Sent)
		notes = append(notes, f.tally.paced(d.Sent)...)
		if how.delays != nil && f.stopped(out.AtNs) {
			d.Lateness = how.delays.above(0)
		}
	} else {
		d.BufferBytes = int64(end.buffer)
		if f.stopped(out.AtNs) {
			d.Delay = how.delays.distribution()
		}
	}
	out.ModeNote = strings.Join(notes, "; ")
}

// stopped: the senders have stopped at that instant, and nothing changes any more.
func (f *udpFlow) stopped(at int64) bool {
	stop := f.signals.Stop.Load()
	return stop != 0 && at >= stop
}

// payload is what the first so many datagrams carry.
func (end *endpoint) payload(datagrams int64) int64 {
	if end.frames != nil {
		return end.frames.maker.Payload(datagrams)
	}
	return datagrams * int64(end.bytes)
}

// paced says in what bursts a paced sender sent, and how many datagrams it gave up, which were too
// late, all with the warm-up. Those of the window are Datagrams.Skipped's.
func (t *tally) paced(sent int64) []string {
	bursts := t.bursts.Load()
	if bursts == 0 {
		return nil
	}
	note := fmt.Sprintf("paced, with the warm-up: %.3g datagrams at a time, at most %d", float64(sent)/float64(bursts),
		t.largest.Load())
	if n := t.skipped.Load(); n > 0 {
		note += fmt.Sprintf(", and %d given up", n)
	}
	return []string{note}
}

// Sample is what has been received so far and what is missing.
func (f *udpFlow) Sample() record.FlowSample {
	counts := f.tally.read()
	return record.FlowSample{ReceivedBytes: counts.bytes, Datagrams: counts.received, Lost: counts.lost}
}

// Moved is the payload received and written, duplicates and foreign datagrams
// included.
func (f *udpFlow) Moved() (received, written int64) {
	if f.Request.Sends && f.IsOpen() {
		return 0, f.end.payload(f.tally.sent.Load())
	}
	return f.tally.read().arrivedBytes, 0
}

// Busy is how long the worker has not waited, in ns: no less than the CPU time it
// took.
func (f *udpFlow) Busy() []int64 { return []int64{f.tally.busy.Load()} }
