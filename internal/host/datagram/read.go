package datagram

import (
	"fmt"
	"strings"

	"linerate/internal/host/socket"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// Read is every flow's state at this instant, in the order of the orders. The
// counts of all flows are taken first, each with its own instant.
func (e *Engine) Read() []message.FlowEnd {
	flows := e.books.All()
	out := make([]message.FlowEnd, len(flows))
	for i, f := range flows {
		sent, counts := f.tally.sent.Load(), f.tally.read()
		out[i].AtNs = socket.Now()
		out[i].ReceivedBytes = counts.bytes
		out[i].FirstNs, out[i].LastNs = f.tally.first.Load(), f.tally.last.Load()
		out[i].Datagrams = counts.record()
		out[i].Datagrams.Sent = sent
	}
	for i, f := range flows {
		e.describe(f, &out[i])
	}
	return out
}

// describe adds what the books know.
func (e *Engine) describe(f *flow, out *message.FlowEnd) {
	out.ID, out.Sends = f.order.ID, f.order.Sends
	end, how, failure := f.state()
	out.Error = failure
	out.Alive = end != nil && failure == ""
	out.Mode, out.CallBytes = how.mode, int64(how.call)
	if end == nil {
		return
	}
	out.Local = end.local
	out.SndbufBytes = int64(end.sndbuf)
	if _, receive := f.order.Buffers(); receive != 0 {
		out.RcvbufBytes = int64(end.buffer)
	}
	notes := append(append([]string{}, end.notes...), how.note...)
	d := out.Datagrams
	if f.order.Sends {
		d.Bytes, d.MTU = end.bytes, end.mtu
		out.WrittenBytes = d.Sent * int64(end.bytes)
		notes = append(notes, f.tally.paced(d.Sent)...)
	} else {
		d.BufferBytes = int64(end.buffer)
		if how.delays != nil && e.signals.stop.Load() != 0 && out.AtNs >= e.signals.stop.Load() {
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
	note := fmt.Sprintf("paced: %.3g datagrams at a time, at most %d", float64(sent)/float64(bursts), t.largest.Load())
	if left := t.left.Load(); left > 0 {
		note += fmt.Sprintf("; %d were left out, more than %v late", left, maxLate)
	}
	return []string{note}
}

// Light is a cheap reading for a series: what has been received so far and what is
// missing.
func (e *Engine) Light() []record.FlowSample {
	flows := e.books.All()
	out := make([]record.FlowSample, len(flows))
	for i, f := range flows {
		out[i].ID = f.order.ID
		counts := f.tally.read()
		out[i].ReceivedBytes, out[i].Datagrams, out[i].Lost = counts.bytes, counts.received, counts.lost
	}
	return out
}

// Moved is how many bytes all flows together have received and written, those
// that came twice or from elsewhere included.
func (e *Engine) Moved() (received, written int64) {
	for _, f := range e.books.All() {
		received += f.tally.read().arrivedBytes
		if end, _, _ := f.state(); end != nil && f.order.Sends {
			written += f.tally.sent.Load() * int64(end.bytes)
		}
	}
	return received, written
}

// Flows is how many flows there are.
func (e *Engine) Flows() int { return len(e.books.All()) }

// Busy is how long each flow's worker has not waited, in nanoseconds: no less than
// the CPU time it took.
func (e *Engine) Busy() []int64 {
	flows := e.books.All()
	out := make([]int64, len(flows))
	for i, f := range flows {
		out[i] = f.tally.busy.Load()
	}
	return out
}
