//go:build !portable

package packet

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/netlink"
)

// Sender transmits frames on one interface of the network namespace in which it was opened. It is not safe for
// concurrent use.
type Sender struct {
	frames
	transmitter
	mode, refused string
}

// transmitter hands frames to the kernel.
type transmitter interface {
	// transmit hands over the frames from begin until end, and returns how many the kernel took.
	transmit(f *frames, begin, end int) (int, error)
	close() error
}

// frames are the frames of a batch, in slots of equal size.
type frames struct {
	memory []byte
	place  int // slot size in bytes; the frame begins after head bytes
	head   int
	bytes  int // of the largest frame
	sizes  [Room]int
}

func (f *frames) frame(i int) []byte { return f.memory[i*f.place+f.head:][:f.sizes[i]] }

// Open returns a sender for the calling thread's network namespace.
func Open(o Options) (*Sender, error) {
	if o.Bytes < MinBytes || o.Bytes > MaxBytes {
		return nil, fmt.Errorf("frames of up to %d bytes: expected %d to %d", o.Bytes, MinBytes, MaxBytes)
	}
	link, queued, err := describe(o.Interface)
	for until := time.Now().Add(activation); err == nil && link.Activating() &&
		time.Now().Before(until); time.Sleep(time.Millisecond) {
		link, queued, err = describe(o.Interface)
	}
	if err != nil {
		return nil, err
	}
	if err := sends(link, o.Bytes); err != nil {
		return nil, err
	}
	index := link.Index
	s := &Sender{mode: Program}
	s.bytes = o.Bytes
	if o.Mode != Socket {
		if s.transmitter, err = openProgram(&s.frames, index); err == nil {
			return s, nil
		}
		if o.Mode == Program {
			return nil, err
		}
		s.refused = err.Error()
	}
	s.mode = Socket
	if s.transmitter, err = openSocket(&s.frames, index, !queued); err != nil {
		return nil, err
	}
	return s, nil
}

// describe returns an interface, and whether it has a queueing discipline.
func describe(name string) (link netlink.Link, queued bool, err error) {
	c, err := netlink.Dial()
	if err != nil {
		return link, false, err
	}
	defer c.Close()
	links, err := c.Links()
	if err != nil {
		return link, false, err
	}
	i := slices.IndexFunc(links, func(l netlink.Link) bool { return l.Name == name })
	if i < 0 {
		return link, false, &kernel.Error{Op: "find interface", Object: name, Err: unix.ENODEV}
	}
	names := map[int]string{links[i].Index: name}
	qdiscs, err := c.Qdiscs(names)
	if err != nil {
		return link, false, err
	}
	return links[i], slices.ContainsFunc(qdiscs, func(q netlink.Qdisc) bool {
		return q.Interface == name && q.Kind != "noqueue"
	}), nil
}

// activation is how long the kernel may take to activate an interface that has a carrier.
const activation = 2 * time.Second

// sends returns why an interface does not send frames of up to bytes: some drivers drop them without an error.
func sends(link netlink.Link, bytes int) error {
	const ethernet, tag = 14, 4
	switch {
	case !link.Up:
		return &kernel.Error{Op: "transmit by", Object: link.Name, Err: unix.ENETDOWN, Detail: "it is not up"}
	case !link.Carrier:
		return &kernel.Error{Op: "transmit by", Object: link.Name, Err: unix.ENETDOWN,
			Detail: "it has no carrier: its other end is down, or no cable is plugged in"}
	case link.Activating():
		return &kernel.Error{Op: "transmit by", Object: link.Name, Err: unix.ENETDOWN, Detail: "it is " +
			link.OperState + ", though it has a carrier"}
	case bytes > link.MTU+ethernet+tag:
		return fmt.Errorf("%w: %d bytes, and the MTU of %d of %s allows %d, with a VLAN tag %d", ErrSize, bytes,
			link.MTU, link.Name, link.MTU+ethernet, link.MTU+ethernet+tag)
	}
	return nil
}

// Check returns why an interface can neither send nor receive.
func Check(name string) error {
	link, _, err := describe(name)
	if err != nil {
		return err
	}
	return sends(link, MinBytes)
}

// Mode returns the sender's mode, and why Program could not be used; refused is empty if it is used or Socket
// was requested.
func (s *Sender) Mode() (mode, refused string) { return s.mode, s.refused }

// Frame returns the buffer of the i-th frame of the next batch, with length bytes. It still has what was last
// written there.
func (s *Sender) Frame(i, bytes int) ([]byte, error) {
	if bytes < MinBytes || bytes > s.bytes {
		return nil, fmt.Errorf("%w: %d bytes, expected %d to %d", ErrSize, bytes, MinBytes, s.bytes)
	}
	s.sizes[i] = bytes
	return s.frame(i), nil
}

// Send transmits the frames from begin until end without waiting, and returns how many the kernel took. The
// error is the errno of the next frame: ENOBUFS or EAGAIN if the queue of the interface or the socket is full.
// If fewer were taken without an error, call it again for the rest.
func (s *Sender) Send(begin, end int) (int, error) { return s.transmit(&s.frames, begin, end) }

// Close ends the sender.
func (s *Sender) Close() error { return s.close() }
