package stream

import (
	"net"
	"sync/atomic"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// chunkBytes is the size of one write: large enough that the system call does
// not show, small enough to stay in the processor's cache. It is also how far the
// count of written bytes may lag behind the kernel's.
const chunkBytes = 128 << 10

// chunk is what every sender writes, over and over.
var chunk = socket.Payload[:chunkBytes]

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

// A backend makes the mover of a flow's request. What the system refuses is replaced by
// plain writes, and noted. piece is how much a sender writes at a time; 0: what costs least.
type backend func(request message.FlowRequest, piece int) mover

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
		return min(piece, chunkBytes)
	}
	return chunkBytes
}
