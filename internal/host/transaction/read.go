package transaction

import (
	"fmt"
	"sync/atomic"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
)

// counts are one worker's. They may be read at any time.
type counts struct {
	done, failed      atomic.Int64
	received, written atomic.Int64 // bytes
	opened, closed    atomic.Int64 // connections of crr
	first, last       atomic.Int64 // instants
	useful            atomic.Int64 // ns that a polling thread spent on polls with a result
	unanswered, late  atomic.Int64 // of udp-rr
	_                 [32]byte
}

// Count takes the counts.
func (f *rrFlow) Count(out *message.FlowEnd) {
	t := &record.Transactions{Connections: f.active.Load(), Opened: f.arrived.Load(), Polling: f.polls}
	out.Transactions = t
	if f.isCRR() {
		t.Connections, t.Opened = 0, 0
	}
	for _, w := range f.threads() {
		t.Done += w.done.Load()
		if f.isCRR() {
			opened := w.opened.Load()
			t.Opened += opened
			t.Connections += max(0, opened-w.closed.Load())
		}
		t.Failed += w.failed.Load()
		t.Unanswered += w.unanswered.Load()
		t.Late += w.late.Load()
		out.ReceivedBytes += w.received.Load()
		out.WrittenBytes += w.written.Load()
		if first := w.first.Load(); out.FirstNs == 0 || first != 0 && first < out.FirstNs {
			out.FirstNs = first
		}
		out.LastNs = max(out.LastNs, w.last.Load())
	}
	out.AtNs = sched.Now()
}

// threads are the threads' counts, as far as there are threads.
func (f *rrFlow) threads() []*worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workers
}

// Describe adds what waits, where threads run, and what the kernel knows.
func (f *rrFlow) Describe(out *message.FlowEnd) {
	window := f.engine.Window()
	out.Alive = f.alive()
	t := out.Transactions
	if f.isClient {
		f.describeWaiting(out)
	}
	out.ModeNote = f.note()
	if f.isClient && window.EndNs != 0 && out.AtNs >= latencyReadyAt(window) {
		sum := stats.NewHistogram()
		for _, w := range f.threads() {
			sum.Merge(w.latency.Histogram())
		}
		t.Latency, _ = stats.Distribution(sum) // a histogram of our own can be encoded
	}
	f.mu.Lock()
	defer f.mu.Unlock() // the descriptor stays open meanwhile
	if len(f.fds) == 0 || f.closed {
		return
	}
	first := int(f.fds[0])
	if !f.udp {
		out.CongestionControl, _ = sock.CongestionControl(first)
	}
	if f.Request.Window != 0 {
		send, receive, _ := sock.Buffers(first)
		out.SndbufBytes, out.RcvbufBytes = int64(send), int64(receive)
	}
	if f.connections() == 1 && !f.udp {
		if info, err := sock.TCPInfo(first); err == nil {
			out.Info = &info
		}
	}
}

// alive says that there are connections and that the flow has not failed.
func (f *rrFlow) alive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Failure() == nil && !f.closed && f.active.Load() > 0
}

const (
	// suspectAfter is how long a transaction may take before the kernel is queried about
	// its connection, for maxQueries connections at a time.
	suspectAfter = time.Second
	maxQueries   = 64
)

// dueSince is how many transactions of a connection have become due since one did, which was
// so long ago.
func (f *rrFlow) dueSince(ns int64) int64 {
	return int64(float64(ns) / 1e9 * f.Request.Pace / float64(max(1, f.Request.Connections)))
}

// describeWaiting reports how many transactions are in flight, how long the one that
// waits longest has, and the connections whose peer does not answer.
func (f *rrFlow) describeWaiting(out *message.FlowEnd) {
	queried, silent, mostMissed := 0, 0, uint32(0)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.workers {
		for i := range w.conns {
			c := &w.conns[i]
			fd := atomic.LoadInt32(&c.fd)
			missed, most := atomic.LoadUint32(&c.unanswered), uint32(maxUnanswered)
			if began := atomic.LoadInt64(&c.began); began != 0 && began <= out.AtNs {
				wait := out.AtNs - began
				out.Transactions.Waiting += 1 + f.dueSince(wait)
				out.Transactions.LongestWaitUs = max(out.Transactions.LongestWaitUs, float64(wait)/1e3)
				if !f.udp && wait >= int64(suspectAfter) && queried < maxQueries && !f.closed {
					queried++
					info, _ := sock.TCPInfo(int(fd)) // zero where the kernel does not say
					missed, most = uint32(info.Backoff), flowset.SilentTimeouts
				}
			}
			if missed >= most && fd >= 0 {
				silent, mostMissed = silent+1, max(mostMissed, missed)
			}
		}
	}
	if silent == 0 {
		return
	}
	more, what := "", "retransmissions"
	if f.udp {
		what = "requests"
	} else if silent == maxQueries {
		more = " or more"
	}
	out.Alive = out.Alive && more == "" && int64(silent) < f.active.Load()
	if out.Error == nil {
		out.Error = &message.Error{Code: message.Deadline,
			Text: fmt.Sprintf("%d%s of %s: no response to %d %s in a row",
				silent, more, unit.Plural(f.connections(), "connection"), mostMissed, what)}
	}
}

// Sample is the bytes received and, at the client, the transactions done so far.
func (f *rrFlow) Sample() (out record.FlowSample) {
	for _, w := range f.threads() {
		out.ReceivedBytes += w.received.Load()
		if f.isClient {
			out.Done += w.done.Load()
		}
	}
	return out
}

// Moved is how many bytes all connections have received and written.
func (f *rrFlow) Moved() (received, written int64) {
	for _, w := range f.threads() {
		received += w.received.Load()
		written += w.written.Load()
	}
	return received, written
}

// latencyReadyAt is from when on readings have the distribution of latencies: not at
// the window's end, since putting a histogram together takes longer than the
// reading, but at the stop where that follows.
func latencyReadyAt(w message.WindowRequest) int64 {
	if w.StopNs-w.EndNs <= int64(time.Second) {
		return max(w.EndNs, w.StopNs)
	}
	return w.EndNs
}
