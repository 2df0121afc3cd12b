package stream

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// chunkBytes is the size of one write: large enough that the system call does
// not show, small enough to stay in the processor's cache. It is also how far the
// count of written bytes may lag behind the kernel's.
const chunkBytes = 128 << 10

// chunk is what every sender writes, over and over. It is random, so that no
// link on the path can compress it, and read-only, so that all may share it. The first
// engine fills it.
var chunk [chunkBytes]byte

var fillChunk = sync.OnceFunc(func() { fillRandom(chunk[:]) })

func fillRandom(data []byte) {
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
}

// tally is what a mover counts of one flow. Only the flow's mover writes it;
// anyone may read it at any time. It fills its cache lines, so that flows do not
// slow each other down.
type tally struct {
	bytes atomic.Int64 // written or read by the application
	first atomic.Int64 // instant at which the first write or read returned
	last  atomic.Int64 // instant at which the latest one returned
	busy  atomic.Int64 // nanoseconds inside writes or reads: no less than the CPU time they took
	_     [128 - 4*8]byte
}

// count adds one write or read: its bytes and when it began and returned.
func (t *tally) count(bytes int, began, at int64) {
	t.busy.Add(at - began)
	if bytes <= 0 {
		return
	}
	if t.first.Load() == 0 {
		t.first.Store(at)
	}
	t.bytes.Add(int64(bytes))
	t.last.Store(at)
}

// A backend makes a mover for each flow.
type backend interface {
	// newMover gets ready to move a flow's bytes as its request says. What the system
	// refuses is replaced by plain writes, and noted. piece is the size of a plain
	// write; 0: chunkBytes.
	newMover(request message.FlowRequest, piece int) mover
}

// A mover moves the bytes of one connection, one way, and adds them to its tally.
type mover interface {
	// send writes until the instant s.Stop. The connection's write deadline is
	// that instant too, so a write that waits in the runtime ends by itself.
	send(c *net.TCPConn, t *tally, s *flowset.Signals) error
	// receive reads until the end of the stream.
	receive(c *net.TCPConn, t *tally, s *flowset.Signals) error
	// method is how it moves bytes now. Anyone may ask at any time.
	method() method
	// close gives back what the mover has taken, once the bytes are moved.
	close()
}

// method is how bytes are moved, as a flow's end reports it.
type method struct {
	mode string
	call int    // the most bytes in one system call
	note string // what was tried and found, and what was refused
}

// pieceBytes is the size of a plain write.
func pieceBytes(piece int) int {
	if piece > 0 {
		return piece
	}
	return chunkBytes
}

// portable moves bytes with package net alone. It works everywhere; it copies
// what it receives, and its busy time includes waiting for the network.
type portable struct{}

func (portable) newMover(request message.FlowRequest, piece int) mover {
	r := plain{method{mode: flow.ModeCopy, call: pieceBytes(piece)}}
	switch request.Mode {
	case flow.ModeSplice, flow.ModeZeroCopy, flow.ModeSendfile:
		if request.Sends {
			r.how.note = request.Mode + ": not available here, plain writes instead"
		}
	}
	return r
}

// plain is portable's mover.
type plain struct{ how method }

func (r plain) method() method { return r.how }
func (plain) close()           {}

func (r plain) send(c *net.TCPConn, t *tally, s *flowset.Signals) error {
	for at := socket.Now(); !s.Quit.Load(); {
		n, err := c.Write(chunk[:r.how.call])
		began := at
		at = socket.Now()
		t.count(n, began, at)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return err
		case at >= s.Stop.Load():
			return nil
		}
	}
	return nil
}

func (plain) receive(c *net.TCPConn, t *tally, s *flowset.Signals) error {
	buffer := make([]byte, chunkBytes)
	for at := socket.Now(); !s.Quit.Load(); {
		n, err := c.Read(buffer)
		began := at
		at = socket.Now()
		t.count(n, began, at)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}
