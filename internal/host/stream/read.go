package stream

import (
	"fmt"
	"net"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// tcpFlow is one end of a TCP connection.
type tcpFlow struct {
	flowset.State
	piece int // bytes a sender writes at a time; 0: whatever is cheapest
	tally tally

	// Set before the flow is open:
	conn       *net.TCPConn
	congestion string // congestion control in use
	mover      mover
}

// Stop ends a write that waits for room.
func (f *tcpFlow) Stop() {
	if f.IsOpen() && f.Request.Sends {
		_ = f.conn.SetWriteDeadline(time.Now())
	}
}

func (f *tcpFlow) Count(out *message.FlowEnd) {
	out.ReceivedBytes, out.WrittenBytes = f.Moved()
	out.AtNs = sched.Now()
	out.FirstNs, out.LastNs = f.tally.first.Load(), f.tally.last.Load()
}

// Describe adds how the data is moved and what the kernel reports about the connection.
func (f *tcpFlow) Describe(out *message.FlowEnd) {
	if !f.IsOpen() {
		return
	}
	how := f.mover.method()
	out.Mode, out.CallBytes, out.ModeNote = how.mode, int64(how.call), how.note
	if f.IsClosed() {
		return
	}
	out.CongestionControl = f.congestion
	var info netstate.TCPInfo
	if socket.WithConn(f.conn, func(fd int) (err error) {
		if f.Request.Sends {
			out.UnsentBytes, _ = sock.Queued(fd, true)
		} else {
			out.UnreadBytes, _ = sock.Queued(fd, false)
			out.HeldBytes, _ = sock.Held(fd)
		}
		if send, receive, err := sock.Buffers(fd); err == nil {
			out.SndbufBytes, out.RcvbufBytes = int64(send), int64(receive)
		}
		info, err = sock.TCPInfo(fd)
		return err
	}) != nil {
		return
	}
	out.Info = &info
	if out.Alive && f.Request.Sends && info.Backoff >= flowset.SilentTimeouts {
		out.Alive = false
		out.Error = &message.Error{
			Code: message.Deadline, Text: fmt.Sprintf("send %s: no answer to %d retransmissions in a row", f.Name(),
				info.Backoff),
		}
	}
}

// Sample returns, at a receiver, the bytes received and those not read yet; at a sender, the bytes
// acknowledged, in flight and unsent, the round-trip time and the congestion window.
func (f *tcpFlow) Sample() (out netstate.FlowSample) {
	out.ReceivedBytes, _ = f.Moved()
	if !f.IsOpen() || f.IsClosed() {
		return out
	}
	_ = socket.WithConn(f.conn, func(fd int) error {
		if !f.Request.Sends {
			out.UnreadBytes, _ = sock.Queued(fd, false)
			return nil
		}
		info, err := sock.TCPInfo(fd)
		out.RTTUs, out.SndCwnd, out.AckedBytes = info.RTTUs, info.SndCwnd, int64(info.BytesAcked)
		out.Unacked, out.NotsentBytes, out.SndWnd = info.Unacked, info.NotsentBytes, info.SndWnd
		return err
	})
	return out
}

// Moved returns the bytes that the application has read or written.
func (f *tcpFlow) Moved() (received, written int64) {
	if f.Request.Sends {
		return 0, f.tally.bytes.Load()
	}
	return f.tally.bytes.Load(), 0
}

// Busy returns how long the worker has been inside writes or reads, in ns: an upper bound of its CPU time.
// Workers move between threads, so no thread's CPU time belongs to a worker.
func (f *tcpFlow) Busy() []int64 { return []int64{f.tally.busy.Load()} }
