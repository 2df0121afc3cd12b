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
	err = move(raw.Write, "send", t,
		func(fd int) (int, error) { return kernel.Transmit(fd, chunk) },
		func(_ int, at int64) bool { return at >= s.stop.Load() || s.quit.Load() })
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
	return move(raw.Read, "recv", t,
		func(fd int) (int, error) { return kernel.Discard(fd, discardBytes) },
		func(n int, _ int64) bool { return n == 0 || s.quit.Load() }) // 0: the end of the stream
}

// move makes one system call after another, waiting with the poller between them
// where it must, until one fails or enough is told, after one that was not
// interrupted, that it was the last: by its bytes and when it returned.
func move(wait func(func(fd uintptr) bool) error, name string, t *tally, transfer func(fd int) (int, error), enough func(n int, at int64) bool) error {
	var failed error
	err := wait(func(fd uintptr) bool {
		for at := now(); ; {
			n, errno := transfer(int(fd))
			began := at
			at = now()
			t.count(n, began, at)
			switch {
			case errno == syscall.EAGAIN:
				return false
			case errno == syscall.EINTR:
			case errno != nil:
				failed = os.NewSyscallError(name, errno)
				return true
			case enough(n, at):
				return true
			}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}
