package datagram

import (
	"linerate/internal/host/flowset"
	"linerate/internal/model/message"
)

// A backend makes the mover of a flow's request. What the system refuses is replaced by
// what it does not, and noted.
type backend func(request message.FlowRequest, end *endpoint) mover

// A mover moves the datagrams of one flow and adds them to its tally.
type mover interface {
	// send sends until the instant s.stop, receive receives until the engine closes.
	send(t *tally, s *flowset.Signals) error
	receive(t *tally, s *flowset.Signals) error
	// method is how it moves datagrams now. Anyone may ask at any time.
	method() method
	// close gives back what the mover has taken, once the datagrams are moved.
	close()
}

// method is how datagrams are moved, as a flow's end reports it.
type method struct {
	mode   string
	call   int      // the most bytes in one system call
	note   []string // what was refused
	delays *delays  // of a receiver's datagrams in flight; of a sender's behind their schedule, nil: it has none
}

// A packetWriter hands datagrams to the kernel. They lie one after another in memory,
// all of the same size.
type packetWriter interface {
	// send hands over the first n of them, which is at most its room, without
	// waiting if the system can. It says how many were taken.
	send(fd, n int) (int, error)
	room() int
	// batch is how many of them the kernel gets as one message, at most.
	batch() int
	// replace is the packetWriter to use instead if err says that the system refuses this
	// one; nil: there is none, or err means something else.
	replace(fd int, err error) (packetWriter, string)
	mode() string
}

// A packetReader takes messages from the kernel.
type packetReader interface {
	// receive takes what is there, without waiting if the system can; of each message
	// only the beginning, if brief and the system can. ahead is how far the time of day is
	// ahead of the other clock.
	receive(fd int, brief bool, ahead int64) (n int, err error)
	// message is one of those. now and ofDay are the same instant on two clocks.
	message(i int, now, ofDay int64) received
	// all says that n messages were all that was there.
	all(n int) bool
	mode() string
	bytes() int // that one call takes, at most
}
