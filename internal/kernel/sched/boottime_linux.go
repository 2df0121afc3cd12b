//go:build !portable

package sched

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ReadWithin reads from a pipe and waits at most d for data; then the error is os.ErrDeadlineExceeded. Time
// during suspend counts (CLOCK_BOOTTIME, timerfd_create(2)).
func ReadWithin(f *os.File, p []byte, d time.Duration) (int, error) {
	timer, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC)
	if err != nil {
		return 0, os.NewSyscallError("timerfd_create", err)
	}
	defer unix.Close(timer)
	if err := unix.TimerfdSettime(timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil); err != nil {
		return 0, os.NewSyscallError("timerfd_settime", err)
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}, {Fd: int32(timer), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, os.NewSyscallError("poll", err)
		case fds[0].Revents == 0:
			return 0, os.ErrDeadlineExceeded
		}
		return f.Read(p)
	}
}
