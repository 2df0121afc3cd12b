package transaction

import (
	"fmt"
	"sync/atomic"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
)

// counts has the counters of a worker. They may be read at any time.
type counts struct {
	done, failed      atomic.Int64
	received, written atomic.Int64 // bytes
	opened, closed    atomic.Int64 // connections of crr
	first, last       atomic.Int64 // instants of the first and latest transaction
	useful            atomic.Int64 // ns of a polling thread's polls that returned data
	unanswered, late  atomic.Int64 // of udp-rr
	_                 [32]byte
}

// Count fills in the counters.
func (f *rrFlow) Count(out *message.FlowEnd) {
	t := &record.Transactions{Connections: f.active.Load(), Opened: f.arrived.Load(), Polling: f.polls,
		Wait: f.waits()}
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
		spun, _ := w.spin.Counts()
		t.Spun += spun
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

// threads returns the workers.
func (f *rrFlow) threads() []*worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workers
}

// Describe adds waiting transactions, the CPUs of threads, and TCP_INFO.
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
		t.Latency, _ = stats.Distribution(sum) // a histogram that this process built can always be encoded
	}
	f.mu.Lock()
	defer f.mu.Unlock() // meanwhile the descriptor stays open
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

// alive reports whether there are connections and the flow has not failed.
func (f *rrFlow) alive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Failure() == nil && !f.closed && f.active.Load() > 0
}

const (
	// suspectAfter is the time after which the kernel is asked about the connection of a
	// transaction, for at most maxQueries connections.
	suspectAfter = time.Second
	maxQueries   = 64
)

// dueSince returns the number of transactions of a connection that have become due within ns after
// one did.
func (f *rrFlow) dueSince(ns int64) int64 {
	return int64(float64(ns) / 1e9 * f.Request.Pace / float64(max(1, f.Request.Connections)))
}

// describeWaiting reports the number of transactions in flight, the age of the oldest one, and the
// connections whose peer does not answer.
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
					info, _ := sock.TCPInfo(int(fd)) // zero if the kernel does not report it
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

// Sample returns the bytes received and, at the client, the transactions completed so far.
func (f *rrFlow) Sample() (out netstate.FlowSample) {
	for _, w := range f.threads() {
		out.ReceivedBytes += w.received.Load()
		if f.isClient {
			out.Done += w.done.Load()
		}
	}
	return out
}

// Moved returns the bytes that all connections have received and written.
func (f *rrFlow) Moved() (received, written int64) {
	for _, w := range f.threads() {
		received += w.received.Load()
		written += w.written.Load()
	}
	return received, written
}

// latencyReadyAt returns the time from which readings include the distribution of latencies. It is
// not the end of the window, because building a histogram takes longer than a reading, but the stop
// if that follows soon.
func latencyReadyAt(w message.WindowRequest) int64 {
	if w.StopNs-w.EndNs <= int64(time.Second) {
		return max(w.EndNs, w.StopNs)
	}
	return w.EndNs
}
