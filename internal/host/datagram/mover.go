package datagram

import (
	"linerate/internal/host/flowset"
	"linerate/internal/model/message"
)

// backend returns the mover for a request. It replaces what the system refuses by what it supports, and notes
// that.
type backend func(request message.FlowRequest, end *endpoint) mover

// mover moves the datagrams of one flow and counts them in its tally.
type mover interface {
	// send sends until s.Stop; receive receives until the engine closes.
	send(t *tally, s *flowset.Signals) error
	receive(t *tally, s *flowset.Signals) error
	// method returns how datagrams are moved at present. It is safe for concurrent use.
	method() method
	// close releases the mover's resources; call it after send or receive has returned.
	close()
}

// method describes how datagrams are moved, as a flow's end reports it.
type method struct {
	mode   string
	call   int      // the most bytes in one system call
	note   []string // what the system refused
	delays *delays  // a receiver's: time in flight; a sender's: behind schedule; nil: no schedule
}

// packetWriter hands datagrams to the kernel. They lie one after another in memory and have the same size.
type packetWriter interface {
	// send hands over the first n datagrams, at most room, and returns how many the kernel took. It does not
	// block if the system supports that.
	send(fd, n int) (int, error)
	room() int
	// batch returns the maximum number of datagrams the kernel gets in one message.
	batch() int
	// replace returns the packetWriter to use instead and a note if err means that the system refuses this one;
	// nil if there is none or err means something else.
	replace(fd int, err error) (packetWriter, string)
	mode() string
}

// packetReader receives messages from the kernel.
type packetReader interface {
	// receive reads the messages that are waiting; it does not block if the system supports that. If brief is
	// true, it reads only the start of each where possible. ahead is how far the wall clock is ahead of the
	// monotonic clock, in ns.
	receive(fd int, brief bool, ahead int64) (n int, err error)
	// message returns message i of the last receive. now and ofDay are the same instant on the monotonic and
	// the wall clock.
	message(i int, now, ofDay int64) received
	// all reports whether n messages were all that was waiting.
	all(n int) bool
	mode() string
	bytes() int // the most that one call receives
}
