package traffic

import (
	"errors"
	"net"
	"os"
	"syscall"

	"linerate/internal/kernel"
)

// discardBytes bounds one read. Nothing is copied, so it may be large; it is
// bounded so that the count of a fast flow never lags by more than this.
const discardBytes = 4 << 20

// direct makes the system calls itself, waiting in the runtime's poller only
// when the socket has no room or no data: no copy on the receiving side, no
// lock and no allocation per call.
type direct struct{}

var platform mover = direct{}

func (direct) send(c *net.TCPConn, t *tally, s *signals) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		for at := now(); ; {
			n, errno := kernel.Transmit(int(fd), chunk)
			began := at
			at = now()
			t.count(n, began, at)
			switch {
			case errno == syscall.EAGAIN:
				return false
			case errno != nil && errno != syscall.EINTR:
				failed = os.NewSyscallError("send", errno)
				return true
			case at >= s.stop.Load() || s.quit.Load():
				return true
			}
		}
	})
	if failed != nil {
		return failed
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

func (direct) receive(c *net.TCPConn, t *tally, s *signals) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for at := now(); ; {
			n, errno := kernel.Discard(int(fd), discardBytes)
			began := at
			at = now()
			t.count(n, began, at)
			switch {
			case errno == syscall.EAGAIN:
				return false
			case errno != nil && errno != syscall.EINTR:
				failed = os.NewSyscallError("recv", errno)
				return true
			case errno == nil && n == 0: // end of the stream
				return true
			case s.quit.Load():
				return true
			}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}
