package datagram

import (
	"fmt"
	"strings"

	"linerate/internal/host/socket"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// Count takes the counts.
func (f *udpFlow) Count(out *message.FlowEnd) {
	sent, counts := f.tally.sent.Load(), f.tally.read()
	out.AtNs = socket.Now()
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
		d.Bytes, d.MTU = end.bytes, end.mtu
		out.WrittenBytes = d.Sent * int64(end.bytes)
		notes = append(notes, f.tally.paced(d.Sent)...)
	} else {
		d.BufferBytes = int64(end.buffer)
		if stop := f.signals.Stop.Load(); stop != 0 && out.AtNs >= stop {
			d.Delay = how.delays.distribution()
		}
	}
	out.ModeNote = strings.Join(notes, "; ")
}

// paced says in what bursts a paced sender sent.
func (t *tally) paced(sent int64) []string {
	bursts := t.bursts.Load()
	if bursts == 0 {
		return nil
	}
	return []string{fmt.Sprintf("paced: %.3g datagrams at a time, at most %d", float64(sent)/float64(bursts), t.largest.Load())}
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
		return 0, f.tally.sent.Load() * int64(f.end.bytes)
	}
	return f.tally.read().arrivedBytes, 0
}

// Busy is how long the worker has not waited, in ns: no less than the CPU time it
// took.
func (f *udpFlow) Busy() []int64 { return []int64{f.tally.busy.Load()} }
