//go:build !portable

package datagram

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

const (
	maxMessages = 64
	// maxSegments is the maximum number of datagrams the kernel cuts one send into (UDP_MAX_SEGMENTS; 64 before
	// Linux 6.9).
	maxSegments = 128
)

var platform backend = direct

// direct returns a mover that makes system calls itself, without a lock or an allocation per call. A flow gets
// a thread of its own while there are some; further flows wait in the runtime's poller.
func direct(request message.FlowRequest, end *endpoint) mover {
	d := &socketDriver{end: end, thread: socket.ReserveThread()}
	if !request.Sends {
		in, notes := newMessages(request.Mode, end, d.thread)
		return newReceiver(end, d, in, notes)
	}
	if end.frames != nil {
		return newSender(request, end, d, nil, nil, nil)
	}
	per := min(maxSegments, maxBytes/end.bytes)
	data := make([]byte, max(batchBytes, per*end.bytes, end.bytes))
	if request.Mode == flow.ModeCopy {
		return newSender(request, end, d, oneByOne{data[:end.bytes]}, data, nil)
	}
	var notes []string
	if request.Mode != flow.ModeSendmmsg && (per < 2 || end.packets > 1) {
		notes = append(notes, fmt.Sprintf("gso: not for datagrams of %d bytes, which take a packet or more each",
			end.bytes))
	}
	if request.Mode == flow.ModeSendmmsg || len(notes) > 0 {
		per = 1
	}
	return newSender(request, end, d, newBatch(data, end.bytes, per), data, notes)
}

// newMessages returns a reader of several messages per call, and notes what the system refuses.
func newMessages(mode string, end *endpoint, thread bool) (in *messages, notes []string) {
	in = &messages{named: flow.ModeGRO, own: thread, most: messagesOf(end.flows, mergedMessages)}
	_ = socket.WithConn(end.conn, func(fd int) error {
		merge := mode != flow.ModeCopy && mode != flow.ModeSendmmsg
		dropped, timestamp, merged := sock.PrepareReceiver(fd, merge)
		if dropped != nil {
			notes = append(notes, fmt.Sprintf(
				"datagrams lost in the receive buffer are not counted apart: SO_RXQ_OVFL: %v", dropped))
		}
		if timestamp != nil {
			notes = append(notes, fmt.Sprintf("arrival is when it was read: SO_TIMESTAMPNS: %v", timestamp))
		}
		if merged != nil {
			notes = append(notes, fmt.Sprintf("gro: UDP_GRO: %v", merged))
		}
		switch {
		case mode == flow.ModeCopy:
			in.named, in.most = flow.ModeRecv, 1
		case !merge || merged != nil:
			in.named, in.most = flow.ModeRecvmmsg, messagesOf(end.flows, singleMessages)
		}
		return nil
	})
	in.from = sock.NewDatagramReceiver(in.most, messageBytes)
	return in, notes
}

// batch hands over several messages per call. Each is one datagram, or several that the kernel separates (GSO).
type batch struct {
	to    *sock.DatagramSender
	data  []byte
	bytes int // size of a datagram
	per   int // datagrams in a message
	most  int // the maximum number of messages
	cuts  bool
}

func newBatch(data []byte, bytes, per int) *batch {
	most := max(1, min(maxMessages, batchBytes/(per*bytes)))
	return &batch{to: sock.NewDatagramSender(most), data: data, bytes: bytes, per: per, most: most}
}

func (b *batch) room() int  { return b.per * b.most }
func (b *batch) batch() int { return b.per }

func (b *batch) mode() string {
	if b.per > 1 {
		return flow.ModeGSO
	}
	return flow.ModeSendmmsg
}

func (b *batch) send(fd, n int) (int, error) {
	if b.per > 1 && !b.cuts {
		// Set only now: the frames that open a flow are larger than some datagrams.
		if err := sock.SetUDPSegment(fd, b.bytes); err != nil {
			return 0, err
		}
		b.cuts = true
	}
	m := 0
	for at := 0; at < n; at += b.per {
		b.to.Load(m, b.data[at*b.bytes:min(at+b.per, n)*b.bytes])
		m++
	}
	taken, err := b.to.Send(fd, m)
	return min(taken*b.per, n), err
}

// replace tries fewer datagrams per message, as older kernels allow only 64; then one datagram per message;
// then no batch.
func (b *batch) replace(fd int, err error) (packetWriter, string) {
	switch {
	case b.per > 64 && err == syscall.EINVAL:
		return newBatch(b.data, b.bytes, 64), ""
	case b.per > 1 && isUnsupported(err):
		_ = sock.SetUDPSegment(fd, 0) // if it was refused, there is nothing to undo
		return newBatch(b.data, b.bytes, 1),
			fmt.Sprintf("gso: the kernel does not segment datagrams on this path (UDP_SEGMENT): %v", err)
	case b.per == 1 && (err == syscall.ENOSYS || err == syscall.EPERM || err == syscall.EOPNOTSUPP):
		return oneByOne{b.data[:b.bytes]}, fmt.Sprintf("sendmmsg: %v", err)
	}
	return nil, ""
}

// isUnsupported reports whether err means that segmentation is unavailable.
func isUnsupported(err error) bool {
	errnos := []syscall.Errno{syscall.EINVAL, syscall.EIO, syscall.EMSGSIZE, syscall.EOPNOTSUPP, syscall.ENOPROTOOPT}
	return slices.ContainsFunc(errnos, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
}

// oneByOne sends each datagram with a call of its own, as an ordinary program does.
type oneByOne struct{ datagram []byte }

func (oneByOne) room() int                                 { return 1 }
func (oneByOne) batch() int                                { return 1 }
func (oneByOne) mode() string                              { return flow.ModeSendto }
func (oneByOne) replace(int, error) (packetWriter, string) { return nil, "" }
func (o oneByOne) send(fd, _ int) (taken int, err error) {
	if _, err := sock.Transmit(fd, o.datagram, false); err != nil {
		return 0, err
	}
	return 1, nil
}

// messages receives several messages at a time.
type messages struct {
	from  *sock.DatagramReceiver
	named string
	most  int
	own   bool // has a thread of its own, whose wait notices datagrams that are already there
	brief bool // only the start of each message was read
}

func (m *messages) receive(fd int, brief bool, ahead int64) (int, error) {
	if m.brief = brief && m.named != flow.ModeRecv; m.brief {
		return m.from.Receive(fd, briefBytes, ahead)
	}
	return m.from.Receive(fd, messageBytes, ahead)
}

func (m *messages) mode() string   { return m.named }
func (m *messages) bytes() int     { return m.most * messageBytes }
func (m *messages) all(n int) bool { return m.own && n < m.most }

func (m *messages) message(i int, now, ofDay int64) received {
	k := m.from.Message(i)
	return received{
		data: k.Data, bytes: k.Bytes, segment: k.Segment, dropped: k.Dropped, cut: k.Truncated &&
			!m.brief, arrived: m.from.Arrived(k, now, ofDay),
	}
}

// socketDriver runs steps on a socket and waits between them: in the kernel if the flow has a thread of its
// own, otherwise in the runtime's poller.
type socketDriver struct {
	end    *endpoint
	thread bool
	wait   sched.Poller
}

func (w *socketDriver) close() {
	if w.thread {
		socket.ReleaseThread()
		w.thread = false
	}
}

func (w *socketDriver) drive(writes bool, t *tally, s *flowset.Signals, do step) error {
	raw, err := w.end.conn.SyscallConn()
	if err != nil {
		return err
	}
	if !w.thread {
		return share(raw, writes, t, s, do)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	var failed error
	err = raw.Control(func(fd uintptr) {
		sock.DetachPoller(int(fd))
		for !s.Quit.Load() {
			v, until, err := do(int(fd), t, s)
			switch v {
			case stepDone:
				failed = err
				return
			case stepNotDue:
				w.wait.SleepUntil(min(until, sched.Now()+int64(flowset.CheckInterval)))
			case stepBlocked:
				limit := flowset.CheckInterval
				if writes {
					limit = min(limit, time.Duration(s.Stop.Load()-sched.Now()))
				}
				_, _ = w.wait.Wait(int(fd), writes, limit)
			}
		}
	})
	return errors.Join(failed, err)
}

// share waits in the runtime's poller.
func share(raw syscall.RawConn, writes bool, t *tally, s *flowset.Signals, do step) error {
	var v verdict
	var until int64
	var failed error
	once := func(fd uintptr) bool {
		v, until, failed = do(int(fd), t, s)
		return v != stepBlocked
	}
	for {
		var err error
		if writes {
			err = raw.Write(once)
		} else {
			err = raw.Read(once)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case failed != nil || err != nil:
			return errors.Join(failed, err)
		case v == stepDone:
			return nil
		}
		s.Sleep(until)
	}
}
