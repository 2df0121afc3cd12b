package stream

import (
	"fmt"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// silentTimeouts is how many retransmission timeouts in a row make a peer that
// neither answers nor resets count as gone: about three seconds on a short path.
// The kernel itself keeps trying for a quarter of an hour (tcp_retries2).
const silentTimeouts = 4

// Read is every flow's state at this instant, in the order of the orders. The
// byte counts of all flows are taken first, each with its own instant, within
// microseconds of each other; what needs system calls follows.
func (e *Engine) Read() []message.FlowEnd {
	flows := e.books.All()
	out := make([]message.FlowEnd, len(flows))
	infos := make([]record.TCPInfo, len(flows))
	for i, f := range flows {
		bytes := f.tally.bytes.Load()
		out[i].AtNs = socket.Now()
		if f.order.Sends {
			out[i].WrittenBytes = bytes
		} else {
			out[i].ReceivedBytes = bytes
		}
		out[i].FirstNs, out[i].LastNs = f.tally.first.Load(), f.tally.last.Load()
	}
	for i, f := range flows {
		f.describe(&out[i], &infos[i])
	}
	return out
}

// describe adds what the books and the kernel know.
func (f *flow) describe(out *message.FlowEnd, info *record.TCPInfo) {
	out.ID, out.Sends = f.order.ID, f.order.Sends
	end, local, failure := f.state()
	out.Local, out.Error = local, failure
	out.Alive = end != nil && failure == ""
	how := f.method()
	out.Mode, out.CallBytes, out.ModeNote = how.mode, int64(how.call), how.note
	if end == nil {
		return
	}
	out.CongestionControl = end.congestion
	known := socket.WithFD(end.raw, func(fd int) (err error) {
		if f.order.Sends {
			out.UnsentBytes, _ = sock.SendQueue(fd)
		} else {
			out.UnreadBytes, _ = sock.ReceiveQueue(fd)
		}
		if send, receive, err := sock.Buffers(fd); err == nil {
			out.SndbufBytes, out.RcvbufBytes = int64(send), int64(receive)
		}
		*info, err = sock.TCPInfo(fd)
		return err
	}) == nil
	if !known {
		return
	}
	out.Info = info
	if out.Alive && f.order.Sends && info.Backoff >= silentTimeouts {
		out.Alive = false
		out.Error = fmt.Sprintf("send %s: no answer to %d retransmissions in a row", f.name(), info.Backoff)
	}
}

// Light is a cheap reading for a series: bytes received and bytes not read yet
// where this end receives; bytes acknowledged, under way and not sent, round-trip
// time and congestion window where it sends.
func (e *Engine) Light() []record.FlowSample {
	flows := e.books.All()
	out := make([]record.FlowSample, len(flows))
	for i, f := range flows {
		out[i].ID = f.order.ID
		if !f.order.Sends {
			out[i].ReceivedBytes = f.tally.bytes.Load()
		}
	}
	for i, f := range flows {
		end, _, _ := f.state()
		if end == nil {
			continue
		}
		_ = socket.WithFD(end.raw, func(fd int) error {
			if !f.order.Sends {
				out[i].UnreadBytes, _ = sock.ReceiveQueue(fd)
				return nil
			}
			info, err := sock.TCPInfo(fd)
			out[i].RTTUs, out[i].SndCwnd, out[i].AckedBytes = info.RTTUs, info.SndCwnd, int64(info.BytesAcked)
			out[i].Unacked, out[i].NotsentBytes = info.Unacked, info.NotsentBytes
			return err
		})
	}
	return out
}

// Moved is how many bytes all flows together have received and written.
func (e *Engine) Moved() (received, written int64) {
	for _, f := range e.books.All() {
		if f.order.Sends {
			written += f.tally.bytes.Load()
		} else {
			received += f.tally.bytes.Load()
		}
	}
	return received, written
}

// Flows is how many flows there are.
func (e *Engine) Flows() int { return len(e.books.All()) }

// Busy is how long each flow's worker has been inside its writes or reads, in
// nanoseconds: no less than the CPU time they took. Workers move between threads,
// so no thread's time is a worker's.
func (e *Engine) Busy() []int64 {
	flows := e.books.All()
	out := make([]int64, len(flows))
	for i, f := range flows {
		out[i] = f.tally.busy.Load()
	}
	return out
}
