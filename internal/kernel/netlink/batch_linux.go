//go:build !portable

package netlink

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// batchSize is the number of messages that one system call carries. Each may be answered with an
// error, and the socket's receive buffer must have room for all of them.
const batchSize = 128

// batch sends one message for each body, many of them in one system call, of which only the last is
// acknowledged: waiting for each answer would take most of the time when many addresses are added.
// The kernel executes every message of a call, even those after one that fails. The first error for
// which ignore is false ends the batch.
func (c *Conn) batch(op string, kind uint16, flags int, bodies [][]byte, object func(i int) string,
	ignore func(error) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return &kernel.Error{Op: op, Err: errors.New("the netlink socket is closed")}
	}
	for begin := 0; begin < len(bodies); begin += batchSize {
		end := min(begin+batchSize, len(bodies))
		c.out = c.out[:0]
		first := c.seq + 1
		for i := begin; i < end; i++ {
			if i == end-1 {
				flags |= unix.NLM_F_ACK
			} else {
				flags &^= unix.NLM_F_ACK
			}
			c.put(kind, flags, bodies[i])
		}
		if err := c.send(); err != nil {
			return &kernel.Error{Op: op, Object: object(begin), Err: err}
		}
		at, errno, detail, err := c.outcome(first, ignore)
		switch {
		case err != nil:
			return &kernel.Error{Op: op, Object: object(begin), Err: err}
		case errno != 0:
			return &kernel.Error{Op: op, Object: object(begin + int(at-first)), Err: errno, Detail: detail}
		}
	}
	return nil
}

// outcome reads answers up to that of the last message sent. It returns the first error that is not
// ignored with the sequence number of its message.
func (c *Conn) outcome(first uint32, ignore func(error) bool) (at uint32, failed syscall.Errno, detail string,
	err error) {
	for {
		rest, err := c.receive()
		if err != nil {
			return 0, 0, "", err
		}
		for len(rest) >= headerLen {
			var m message
			if m, rest, err = cutMessage(rest); err != nil {
				return 0, 0, "", err
			}
			if m.seq-first > c.seq-first || m.kind != unix.NLMSG_ERROR {
				continue
			}
			errno, text := acknowledgement(m.kind, m.flags, m.payload)
			if errno != 0 && failed == 0 && !ignore(errno) {
				at, failed, detail = m.seq, errno, text
			}
			if m.seq == c.seq {
				return at, failed, detail, nil
			}
		}
	}
}
