package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// pace is the schedule of a program that moves no more than a rate. It is absolute:
// what is late is made up for, up to maxLate. After a wait for the socket it begins
// anew, so that nothing is saved up for a burst.
type pace struct {
	bytesPerNs  float64
	piece       int64 // what is moved at once, when the schedule is kept
	from, moved int64 // since when, and how much since then
}

// A piece is what the rate makes of a tick, and at least so much: a call for each
// few bytes would be a load of its own.
const (
	tickNs     = 1e6
	leastPiece = 4 << 10
	// slowestTickNs bounds how seldom pieces come, however small they are then.
	slowestTickNs = 20e6
	// slowest and fastest bound a rate, in bit/s, so that instants and bytes are numbers of
	// 64 bits.
	slowest, fastest = 1, 1e15
	// maxLate is how much of a standstill is made up for.
	maxLate = int64(100 * time.Millisecond)
)

// newPace is a schedule that begins at an instant; piece 0: what the rate makes of a
// tick.
func newPace(rate unit.BitRate, piece int, at int64) *pace {
	p := &pace{bytesPerNs: min(max(float64(rate), slowest), fastest) / 8e9, piece: int64(piece), from: at}
	if piece == 0 {
		p.piece = max(int64(p.bytesPerNs*tickNs), min(leastPiece, int64(p.bytesPerNs*slowestTickNs)), 1)
	}
	return p
}

// due is how much may be moved at an instant, if that is a piece; otherwise, when
// it will be.
func (p *pace) due(at int64) (bytes, when int64) {
	next := p.from + int64(float64(p.moved+p.piece)/p.bytesPerNs) + 1
	if late := at - next - maxLate; late > 0 {
		p.from += late
	}
	if bytes = int64(float64(at-p.from)*p.bytesPerNs) - p.moved; bytes >= p.piece {
		return bytes, at
	}
	return 0, next
}

// did notes what became of the wish to move so many bytes. It has waited if it took longer
// than they last at the rate.
func (p *pace) did(bytes, wanted, began, at int64) {
	if p.moved += bytes; bytes < wanted || at-began > max(tickNs, int64(float64(wanted)/p.bytesPerNs)) {
		p.from, p.moved = at, 0
	}
}

// plain moves bytes with package net alone, as fast as it can or on a schedule. It works
// everywhere; it copies what it receives, and its busy time includes waiting for the
// socket.
type plain struct {
	how   method
	rate  unit.BitRate // 0: as fast as it can
	piece int          // that is moved at once on a schedule; 0: what the rate makes of a tick
}

// programRate is what a request's program moves at most; 0: no cap.
func programRate(request message.FlowRequest) unit.BitRate {
	if !request.Sends {
		return max(0, request.ReadCap)
	}
	rate := max(0, request.WriteCap)
	if pacing := request.RateCap; pacing > 0 && !sock.CanPace && (rate == 0 || pacing < rate) {
		rate = pacing // by writes, where the kernel does not space packets
	}
	return rate
}

// portable makes a plain mover.
func portable(request message.FlowRequest, piece int) mover {
	r := plain{method{mode: flow.ModeCopy, call: pieceBytes(piece)}, programRate(request), piece}
	if r.rate == 0 && !request.Sends {
		r.how.call = chunkBytes
	}
	switch request.Mode {
	case "", flow.ModeCopy:
	case flow.ModeSplice, flow.ModeZeroCopy, flow.ModeSendfile:
		if request.Sends {
			r.how.note = request.Mode + ": not available here, plain writes instead"
		}
		fallthrough
	default:
		if r.rate > 0 {
			r.how.note = request.Mode + ": plain reads and writes instead, on a schedule"
		}
	}
	return r
}

func (r plain) method() method { return r.how }
func (plain) close()           {}

func (r plain) send(c *net.TCPConn, t *tally, s *flowset.Signals) error {
	return r.move(s, s.Stop.Load(), t, func(most int64) (int, error) { return c.Write(chunk[:most]) })
}

func (r plain) receive(c *net.TCPConn, t *tally, s *flowset.Signals) error {
	buffer := make([]byte, chunkBytes)
	return r.move(s, 0, t, func(most int64) (int, error) { return c.Read(buffer[:most]) })
}

// move calls step when something is due, until the instant stop (0: never). What is due is
// moved at once, by as many calls as it takes.
func (r plain) move(s *flowset.Signals, stop int64, t *tally, step func(most int64) (int, error)) error {
	p := newPace(r.rate, r.piece, sched.Now())
	at := sched.Now()
	ends := func() bool { return s.Quit.Load() || stop != 0 && at >= stop }
	for !ends() {
		wanted := int64(r.how.call)
		if r.rate > 0 {
			bytes, when := p.due(at)
			if bytes == 0 {
				if stop != 0 {
					when = min(when, stop)
				}
				s.Sleep(when)
				at = sched.Now()
				continue
			}
			wanted = bytes
		}
		began, moved := at, int64(0)
		for short := false; moved < wanted && !short && !ends(); {
			most := min(wanted-moved, chunkBytes)
			called := at
			n, err := step(most)
			at = sched.Now()
			t.count(n, called, at)
			moved, short = moved+int64(n), int64(n) < most
			switch {
			case errors.Is(err, io.EOF), stop != 0 && errors.Is(err, os.ErrDeadlineExceeded):
				return nil
			case err != nil:
				return err
			}
		}
		p.did(moved, wanted, began, at)
	}
	return nil
}
