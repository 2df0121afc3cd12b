package server

import (
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// writer writes to a TCP stream as much as there is room for, and waits while
// there is none.
func (s *stream) writer() func([]byte) (int, error) {
	var data []byte
	var n int
	var failed error
	step := func(fd uintptr) bool {
		for n, failed = sock.Transmit(int(fd), data); failed == syscall.EINTR; n, failed = sock.Transmit(int(fd), data) {
		}
		return failed != syscall.EAGAIN
	}
	return func(next []byte) (int, error) {
		data, n, failed = next, 0, nil
		return came(s.raw.Write(step), n, failed)
	}
}

// reader throws away what a TCP stream has received, inside of the kernel, and
// waits while there is nothing.
func (s *stream) reader() func(int) (int, error) {
	var most, n int
	var failed error
	step := func(fd uintptr) bool {
		for n, failed = sock.Discard(int(fd), most); failed == syscall.EINTR; n, failed = sock.Discard(int(fd), most) {
		}
		return failed != syscall.EAGAIN
	}
	return func(limit int) (int, error) {
		most, n, failed = limit, 0, nil
		n, err := came(s.raw.Read(step), n, failed)
		if n == 0 && err == nil {
			err = io.EOF
		}
		return n, err
	}
}

// came is what a call on a socket came to: how many bytes, and what failed, the
// waiting or the call.
func came(waiting error, n int, failed error) (int, error) {
	switch {
	case waiting != nil:
		return 0, waiting
	case failed != nil:
		return 0, os.NewSyscallError("transfer", failed)
	}
	return n, nil
}

// lastReader reads what is there already.
func (s *stream) lastReader() func(int) (int, error) {
	return func(most int) (n int, err error) {
		err = socket.WithFD(s.raw, func(fd int) error {
			n, _ = sock.Discard(fd, most)
			return nil
		})
		return n, err
	}
}

// The size of what is handed to the kernel, or taken from it, at a time.
const (
	datagramsAtOnce = 64
	bytesAtOnce     = 256 << 10
	// segmentsAtOnce and segmentBytes bound what the kernel cuts (UDP_SEGMENT).
	segmentsAtOnce = 64
	segmentBytes   = 65000
	messagesAtOnce = 16
	messageBytes   = 64 << 10 // the largest that the kernel puts together (UDP_GRO)
)

// sendDatagrams sleeps until the next datagrams are due: at a low rate each goes by
// itself, at a high one as many as became due meanwhile. While there are threads
// for it, a stream has one of its own, which wakes up sharply.
func (s *stream) sendDatagrams(p pace) error {
	if socket.ReserveThread() {
		defer socket.ReleaseThread()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		sched.SetTimerSlack(true)
		defer sched.SetTimerSlack(false)
	}
	b := newBatch(s, p.block)
	c := p.begin()
	for !s.quit.Load() {
		now := socket.Now()
		due := c.next(now)
		if due > now {
			s.nap(time.Duration(min(due-now, int64(glance))))
			continue
		}
		n := b.most
		if c.rate > 0 {
			n = max(p.burst, 1+int(float64(now-due)/1e9*c.rate)/p.block)
		}
		sent, err := b.send(min(n, b.most), s.packets.Load())
		s.packets.Add(int64(sent))
		s.bytes.Add(int64(sent * p.block))
		c.moved += int64(sent * p.block)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// nap sleeps without the runtime's timers, which round up.
func (s *stream) nap(d time.Duration) {
	var w sched.Poller
	w.Sleep(d)
}

// batch is datagrams that go to the kernel together.
type batch struct {
	stream *stream
	sender *sock.DatagramSender
	size   int // of a datagram
	most   int // datagrams
	each   int // datagrams of a message, which the kernel cuts
	area   []byte
}

func newBatch(s *stream, size int) *batch {
	b := &batch{stream: s, size: size, most: max(1, min(datagramsAtOnce, bytesAtOnce/size)), each: 1}
	b.area = append([]byte(nil), chunk()[:b.most*size]...)
	_ = socket.WithFD(s.raw, func(fd int) error {
		// Only what fits into a packet can be cut.
		headers := 28
		six := addrPort(s.conn.LocalAddr()).Addr().Is6()
		if six {
			headers = 48
		}
		if mtu, err := sock.PathMTU(fd, six); err == nil && size+headers <= mtu && sock.SetUDPSegment(fd, size) == nil {
			b.each = max(1, min(segmentsAtOnce, segmentBytes/size))
		}
		return nil
	})
	b.sender = sock.NewDatagramSender(b.most)
	return b
}

// send sends n datagrams, the first with the sequence number after last, and says
// how many the kernel took.
func (b *batch) send(n int, last int64) (int, error) {
	at := socket.Now() / 1000
	for i := range n {
		iperf3.Header{Sent: at, Sequence: last + int64(i) + 1}.Put(b.area[i*b.size:], b.stream.wide)
	}
	messages := 0
	for i := 0; i < n; i += b.each {
		b.sender.Load(messages, b.area[i*b.size:min(i+b.each, n)*b.size])
		messages++
	}
	var taken int
	var failed error
	err := b.stream.raw.Write(func(fd uintptr) bool {
		taken, failed = b.sender.Send(int(fd), messages)
		return failed != syscall.EAGAIN
	})
	switch {
	case err != nil:
		return 0, err
	case failed == nil:
		return min(taken*b.each, n), nil
	case failed == syscall.EINTR:
		return 0, nil
	case failed == syscall.ENOBUFS:
		b.stream.nap(time.Millisecond) // the device's queue is full
		return 0, nil
	case b.each > 1 && (failed == syscall.EINVAL || failed == syscall.EMSGSIZE || failed == syscall.EIO):
		// The way there cannot do it after all.
		b.each = 1
		return 0, socket.WithFD(b.stream.raw, func(fd int) error { return sock.SetUDPSegment(fd, 0) })
	}
	return 0, os.NewSyscallError("send", failed)
}

// receiveDatagrams counts what comes until the test is over. When a datagram came
// the kernel says, so that jitter is the network's and not this program's.
func (s *stream) receiveDatagrams() error {
	_ = socket.WithFD(s.raw, func(fd int) error {
		return errors.Join(sock.SetUDPGRO(fd), sock.SetTimestampNS(fd)) // or one by one, by our clock
	})
	r := sock.NewDatagramReceiver(messagesAtOnce, messageBytes)
	take := func(fd int) error {
		n, err := r.Receive(fd, messageBytes)
		at := socket.Now() / 1000
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range n {
			m := r.Message(i)
			if m.TimestampNs != 0 {
				at = m.TimestampNs / 1000
			}
			s.arrive(m.Data, max(m.Segment, 1), at)
		}
		return err
	}
	var failed error
	err := s.raw.Read(func(fd uintptr) bool {
		for failed = nil; (failed == nil || failed == syscall.EINTR) && !s.quit.Load(); {
			failed = take(int(fd))
		}
		return failed != syscall.EAGAIN
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if failed != nil && failed != syscall.EAGAIN {
		return os.NewSyscallError("receive", failed)
	}
	// What came before the end of the test counts.
	last := socket.Now() + int64(remains)
	return socket.WithFD(s.raw, func(fd int) error {
		for socket.Now() < last {
			if take(fd) != nil {
				return nil
			}
		}
		return nil
	})
}
