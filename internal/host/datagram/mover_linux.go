//go:build !portable

package datagram

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
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
	// batchBytes is what one system call hands over at least, while that are not more
	// messages than maxMessages: it stays in the processor's cache.
	batchBytes  = 64 << 10
	maxMessages = 64
	// maxSegments is what the kernel cuts one send into at most (UDP_MAX_SEGMENTS,
	// 64 before Linux 6.9).
	maxSegments = 128
	// Messages in one call of a receiver, and the room for each.
	mergedMessages = 16
	singleMessages = 32
	messageBytes   = 64 << 10
)

// direct makes the system calls itself: no lock and no allocation per call. A flow
// has a thread of its own, while there are some; further flows wait in the
// runtime's poller.
type direct struct{}

var platform backend = direct{}

func (direct) newMover(request message.FlowRequest, end *endpoint) mover {
	d := &socketDriver{end: end, thread: socket.ReserveThread()}
	if request.Sends {
		return newSender(request, end, d)
	}
	return newReceiver(request, end, d)
}

// newSender makes a sending mover.
func newSender(request message.FlowRequest, end *endpoint, d driver) *sender {
	r := &sender{driver: d, bytes: end.bytes, header: end.header}
	if request.RateCap > 0 {
		r.pace = newPace(end.bytes, float64(request.RateCap))
	}
	per := min(maxSegments, maxBytes/end.bytes)
	r.data = randomBytes(max(batchBytes, per*end.bytes, end.bytes))
	switch {
	case request.Mode == flow.ModeCopy:
		r.out = oneByOne{r.data[:end.bytes]}
	case request.Mode == flow.ModeSendmmsg:
		r.out = newBatch(r.data, end.bytes, 1)
	case per < 2 || end.packets > 1:
		r.out = newBatch(r.data, end.bytes, 1)
		r.notes = append(r.notes, fmt.Sprintf("gso: not for datagrams of %d bytes, which take a packet or more each", end.bytes))
	default:
		r.out = newBatch(r.data, end.bytes, per)
	}
	r.show()
	return r
}

// newReceiver makes a receiving mover.
func newReceiver(request message.FlowRequest, end *endpoint, d *socketDriver) *receiver {
	r := &receiver{driver: d, end: end, tracker: tracker{header: end.header}, delays: newDelays()}
	in := &messages{named: flow.ModeGRO, own: d.thread, most: mergedMessages}
	_ = end.onSocket(func(fd int) error {
		merge := request.Mode != flow.ModeCopy && request.Mode != flow.ModeSendmmsg
		dropped, timestamp, merged := sock.PrepareReceiver(fd, merge)
		if dropped != nil {
			r.notes = append(r.notes, fmt.Sprintf("datagrams lost in the receive buffer are not counted apart: SO_RXQ_OVFL: %v", dropped))
		}
		if timestamp != nil {
			r.notes = append(r.notes, fmt.Sprintf("arrival is when it was read: SO_TIMESTAMPNS: %v", timestamp))
		}
		if merged != nil {
			r.notes = append(r.notes, fmt.Sprintf("gro: UDP_GRO: %v", merged))
		}
		switch {
		case request.Mode == flow.ModeCopy:
			in.named, in.most = flow.ModeRecv, 1
		case !merge || merged != nil:
			in.named, in.most = flow.ModeRecvmmsg, singleMessages
		}
		return nil
	})
	in.from = sock.NewDatagramReceiver(in.most, messageBytes)
	r.in = in
	r.show()
	return r
}

// onSocket calls f with the descriptor, which stays open meanwhile.
func (end *endpoint) onSocket(f func(fd int) error) error {
	raw, err := end.conn.SyscallConn()
	if err != nil {
		return err
	}
	return socket.WithFD(raw, f)
}

// batch hands over several messages at a time, each of which is one datagram, or
// so many that the kernel cuts it into.
type batch struct {
	to    *sock.DatagramSender
	data  []byte
	bytes int // of a datagram
	per   int // datagrams in a message
	most  int // messages
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
		// Not before: the frames by which a flow opens are larger than some datagrams.
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

// replace is a batch of fewer datagrams in a message, as older kernels cut it into
// 64 only; then one of single datagrams; then no batch.
func (b *batch) replace(fd int, err error) (packetWriter, string) {
	switch {
	case b.per > 64 && err == syscall.EINVAL:
		return newBatch(b.data, b.bytes, 64), ""
	case b.per > 1 && isUnsupported(err):
		_ = sock.SetUDPSegment(fd, 0) // where it was refused, there is nothing to end
		return newBatch(b.data, b.bytes, 1), fmt.Sprintf("gso: the kernel does not cut what is sent here (UDP_SEGMENT): %v", err)
	case b.per == 1 && (err == syscall.ENOSYS || err == syscall.EPERM || err == syscall.EOPNOTSUPP):
		return oneByOne{b.data[:b.bytes]}, fmt.Sprintf("sendmmsg: %v", err)
	}
	return nil, ""
}

// isUnsupported tells whether an error means that segmentation is not available.
func isUnsupported(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EINVAL, syscall.EIO, syscall.EMSGSIZE, syscall.EOPNOTSUPP, syscall.ENOPROTOOPT} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// oneByOne is what an ordinary program does.
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
	own   bool // a thread of its own, which sees what is there when it waits
	brief bool // only beginnings were taken
}

func (m *messages) receive(fd int, brief bool) (int, error) {
	if m.brief = brief && m.named != flow.ModeRecv; m.brief {
		return m.from.Receive(fd, briefBytes)
	}
	return m.from.Receive(fd, messageBytes)
}

func (m *messages) mode() string   { return m.named }
func (m *messages) room() int      { return m.most * messageBytes }
func (m *messages) all(n int) bool { return m.own && n < m.most }

func (m *messages) message(i int, now, ofDay int64) received {
	k := m.from.Message(i)
	out := received{data: k.Data, bytes: k.Bytes, segment: k.Segment, dropped: k.Dropped, cut: k.Truncated && !m.brief, arrived: now}
	// What the two clocks of this host are apart is taken anew each time, so that
	// setting the time of day does not matter.
	if since := ofDay - k.TimestampNs; k.TimestampNs != 0 && since >= 0 && since < int64(time.Minute) {
		out.arrived -= since
	}
	return out
}

// socketDriver drives steps on a socket and waits in between: with a thread of its own in
// the kernel, otherwise in the runtime's poller.
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
		return w.share(raw, writes, t, s, do)
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
				w.wait.SleepUntil(min(until, socket.Now()+int64(checkInterval)))
			case stepBlocked:
				limit := checkInterval
				if writes {
					limit = min(limit, time.Duration(s.Stop.Load()-socket.Now()))
				}
				_, _ = w.wait.Wait(int(fd), writes, limit)
			}
		}
	})
	return errors.Join(failed, err)
}

// share waits in the runtime's poller.
func (w *socketDriver) share(raw syscall.RawConn, writes bool, t *tally, s *flowset.Signals, do step) error {
	if stop := s.Stop.Load(); writes && stop != 0 && stop < math.MaxInt64 {
		if err := w.end.conn.SetWriteDeadline(socket.Deadline(stop)); err != nil {
			return err
		}
	}
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
		time.Sleep(min(checkInterval, time.Duration(until-socket.Now())))
	}
}
