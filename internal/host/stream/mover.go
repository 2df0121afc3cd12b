package stream

import (
	"net"
	"sync/atomic"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// chunkBytes is the size of one write: large enough to hide the cost of the system call, small enough to stay
// in the processor's cache. The count of written bytes may lag behind the kernel's by this much.
const chunkBytes = 128 << 10

// chunk is what every sender writes, repeatedly.
var chunk = socket.Payload[:chunkBytes]

// tally holds the counts of a flow's mover. Only the mover writes it; anyone may read it at any time. It fills
// whole cache lines to avoid false sharing.
type tally struct {
	bytes atomic.Int64 // written or read by the application
	first atomic.Int64 // when the first write or read returned
	last  atomic.Int64 // when the latest one returned
	busy  atomic.Int64 // ns inside writes or reads: at least their CPU time
	_     [128 - 4*8]byte
}

// count adds one write or read: its bytes, and when it began and returned.
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

// backend returns the mover for a request. It replaces what the system refuses by plain writes, and notes that.
// A sender writes piece bytes at a time; 0: whatever is cheapest.
type backend func(request message.FlowRequest, piece int) mover

// mover moves the bytes of one connection in one direction and counts them in its tally.
type mover interface {
	// send writes until s.Stop. That is also the connection's write deadline, so a write that waits in the
	// runtime ends by itself.
	send(c *net.TCPConn, t *tally, s *flowset.Signals) error
	// receive reads until the end of the stream.
	receive(c *net.TCPConn, t *tally, s *flowset.Signals) error
	// method returns how bytes are moved at present. It is safe for concurrent use.
	method() method
	// close releases the mover's resources; call it after send or receive has returned.
	close()
}

// method describes how bytes are moved, as a flow's end reports it.
type method struct {
	mode string
	call int    // the most bytes in one system call
	note string // what was tried and found, and what the system refused
}

// pieceBytes returns the size of a plain write.
func pieceBytes(piece int) int {
	if piece > 0 {
		return min(piece, chunkBytes)
	}
	return chunkBytes
}
