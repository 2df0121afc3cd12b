package datagram

import (
	"fmt"
	"strings"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

func (f *udpFlow) Count(out *message.FlowEnd) {
	sent, counts := f.tally.sent.Load(), f.tally.read()
	out.AtNs = sched.Now()
	out.ReceivedBytes = counts.bytes
	out.FirstNs, out.LastNs = f.tally.first.Load(), f.tally.last.Load()
	out.Datagrams = counts.record()
	out.Datagrams.Sent, out.Datagrams.Skipped = sent, f.tally.skipped.Load()
	out.Datagrams.BlockedUs = f.tally.full.Load() / 1000
}

// Describe adds how datagrams are moved and, once the senders have stopped, how long datagrams were in flight.
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

// stopped reports whether the senders had stopped at time at, so that the counts are final.
func (f *udpFlow) stopped(at int64) bool {
	stop := f.signals.Stop.Load()
	return stop != 0 && at >= stop
}

// payload returns the bytes that the first datagrams carry.
func (end *endpoint) payload(datagrams int64) int64 {
	if end.frames != nil {
		return end.frames.maker.Payload(datagrams)
	}
	return datagrams * int64(end.bytes)
}

// paced describes the bursts of a paced sender, and how many datagrams it skipped because they were too late,
// warm-up included. Datagrams.Skipped has those of the window.
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

// Sample returns what has been received so far and what is missing.
func (f *udpFlow) Sample() netstate.FlowSample {
	counts := f.tally.read()
	return netstate.FlowSample{ReceivedBytes: counts.bytes, Datagrams: counts.received, Lost: counts.lost}
}

// Moved returns the payload received and written, in bytes, including duplicates and foreign datagrams.
func (f *udpFlow) Moved() (received, written int64) {
	if f.Request.Sends && f.IsOpen() {
		return 0, f.end.payload(f.tally.sent.Load())
	}
	return f.tally.read().arrivedBytes, 0
}

// Busy returns how long the worker has not been waiting, in ns: an upper bound of its CPU time.
func (f *udpFlow) Busy() []int64 { return []int64{f.tally.busy.Load()} }
