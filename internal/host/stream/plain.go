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

// pace schedules a program that moves data at a limited rate. The schedule is absolute: it catches up with
// delays of at most maxLate. After a wait for the socket it begins anew, so that no burst accumulates.
type pace struct {
	bytesPerNs  float64
	piece       int64 // bytes moved at once when on schedule
	from, moved int64 // start of the schedule, and bytes moved since
}

// A piece is what the rate yields per tick, but at least a minimum: a call for every few bytes would be a load
// of its own.
const (
	tickNs     = 1e6
	leastPiece = 4 << 10
	// slowestTickNs is the maximum interval between pieces, however small they become.
	slowestTickNs = 20e6
	// slowest and fastest limit the rate, in bit/s, so that times and bytes fit 64 bits.
	slowest, fastest = 1, 1e15
	// maxLate is the longest delay that is caught up.
	maxLate = int64(100 * time.Millisecond)
)

// newPace returns a schedule that begins at time at; piece 0: what the rate yields per tick.
func newPace(rate unit.BitRate, piece int, at int64) *pace {
	p := &pace{bytesPerNs: min(max(float64(rate), slowest), fastest) / 8e9, piece: int64(piece), from: at}
	if piece == 0 {
		p.piece = max(int64(p.bytesPerNs*tickNs), min(leastPiece, int64(p.bytesPerNs*slowestTickNs)), 1)
	}
	return p
}

// due returns how many bytes to move now, if at least a piece, or else when that will be.
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

// did records the outcome of moving wanted bytes. The call waited if it took longer than the bytes last at the
// rate.
func (p *pace) did(bytes, wanted, began, at int64) {
	if p.moved += bytes; bytes < wanted || at-began > max(tickNs, int64(float64(wanted)/p.bytesPerNs)) {
		p.from, p.moved = at, 0
	}
}

// plain moves bytes using only package net, as fast as it can or on a schedule. It works on every system; it
// copies what it receives, and its busy time includes waiting for the socket.
type plain struct {
	how   method
	rate  unit.BitRate // 0: as fast as possible
	piece int          // bytes moved at once on a schedule; 0: what the rate yields per tick
}

// programRate returns the rate limit of a request's program; 0: no limit.
func programRate(request message.FlowRequest) unit.BitRate {
	if !request.Sends {
		return max(0, request.ReadCap)
	}
	rate := max(0, request.WriteCap)
	if pacing := request.RateCap; pacing > 0 && !sock.CanPace && (rate == 0 || pacing < rate) {
		rate = pacing // by limiting writes, where the kernel cannot space packets
	}
	return rate
}

// portable returns a plain mover.
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

// move calls step when data is due, until time stop (0: never). It moves what is due at once, in as many calls
// as needed.
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
