package server

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"

	"linerate/internal/kernel/sched"
)

// chunk is what every stream sends, over and over: random, so that no link on the
// way can compress it, and shared, as nobody writes to it.
var chunk = sync.OnceValue(func() []byte {
	data := make([]byte, iperf3.MaxTCPLength)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	return data
})

const (
	// glance is the longest that a paced stream sleeps before it looks whether the
	// test is over.
	glance = 10 * time.Millisecond
	// arrears is how much of what a paced stream could not send it makes up for.
	arrears = 100 * time.Millisecond
	// remains is how long what waits in a receive buffer is still read when the
	// test is over: it had come before.
	remains = 5 * time.Millisecond
)

// pace is how fast a stream may be moved.
type pace struct {
	rate  float64 // bytes per second; 0: any
	block int     // bytes that the client wants handed over at once
	burst int     // blocks
}

// piece is the size of one write or read of a TCP stream. A client that did not
// ask for blocks of a size gets large ones, and at a low rate small ones, of a
// millisecond each, so that they are spread evenly.
func (p pace) piece() int {
	const smallest = 4 << 10
	most := p.block * p.burst
	if p.block == iperf3.DefaultLength && p.burst == 1 {
		most = iperf3.MaxTCPLength
		if p.rate > 0 {
			most = min(p.block, max(smallest, int(p.rate/1000)))
		}
	}
	return min(most, iperf3.MaxTCPLength)
}

// A clockwork says when the next bytes of a paced stream may go.
type clockwork struct {
	pace
	began int64
	moved int64
}

func (p pace) begin() clockwork { return clockwork{pace: p, began: socket.Now()} }

// next is the instant at which more may go, given the time. Who is late makes up
// for some of it.
func (c *clockwork) next(now int64) int64 {
	if c.rate == 0 {
		return now
	}
	due := c.began + int64(float64(c.moved)/c.rate*1e9)
	if late := now - due - int64(arrears); late > 0 {
		c.began += late
		due += late
	}
	return due
}

// rest sleeps until an instant, or until the test is over.
func (s *stream) rest(until int64) {
	for now := socket.Now(); now < until && !s.quit.Load(); now = socket.Now() {
		wait := min(time.Duration(until-now), glance)
		if wait > 3*time.Millisecond {
			time.Sleep(wait - 2*time.Millisecond) // it rounds up
			continue
		}
		sched.SleepUntil(sched.Now() + int64(wait))
	}
}

// send writes to a TCP stream until the test is over.
func (s *stream) send(p pace) error {
	write, data, c := s.writer(), chunk()[:p.piece()], p.begin()
	for !s.quit.Load() {
		if due := c.next(socket.Now()); c.rate > 0 {
			s.rest(due)
		}
		n, err := write(data)
		s.bytes.Add(int64(n))
		c.moved += int64(n)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return nil
}

// discardBytes bounds one read: nothing is copied, so it may be large.
const discardBytes = 4 << 20

// receive reads from a TCP stream until the test is over, or the client has closed
// it.
func (s *stream) receive(p pace) error {
	read, most, c := s.reader(), discardBytes, p.begin()
	if c.rate > 0 {
		most = p.piece()
	}
	last := int64(0) // when to stop, once the test is over
	for {
		if due := c.next(socket.Now()); c.rate > 0 {
			s.rest(due)
		}
		n, err := read(most)
		s.bytes.Add(int64(n))
		c.moved += int64(n)
		quits := s.quit.Load()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case !quits:
		case c.rate > 0:
			return nil // what waits has come faster than is allowed
		case last == 0:
			last = socket.Now() + int64(remains)
			read = s.lastReader()
		case n == 0, socket.Now() > last:
			return nil
		}
	}
}

// arrive counts datagrams that came at the same time; µs of the host's clock.
func (s *stream) arrive(data []byte, size int, at int64) {
	for len(data) > 0 {
		datagram := data[:min(size, len(data))]
		data = data[len(datagram):]
		if h, ok := iperf3.ParseHeader(datagram, s.wide); ok {
			s.bytes.Add(int64(len(datagram)))
			s.arrivals.Count(h, at)
		}
	}
}
