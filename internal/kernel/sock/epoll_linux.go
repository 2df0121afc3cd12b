package sock

import (
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sched"
)

// Epoll reports to one thread which of many sockets can be read or written, without the runtime's poller
// (epoll(7)). Waiting allocates nothing.
type Epoll struct {
	Raw bool // see sched.Poller

	fd           int
	milliseconds bool // the kernel limits waits in milliseconds only (before 5.11)
	wait         sched.Poller
	limit        unix.Timespec
	events       [256]unix.EpollEvent
}

// NewEpoll returns an empty instance.
func NewEpoll() (*Epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, &kernel.Error{Op: "epoll_create1", Err: err}
	}
	return &Epoll{fd: fd}, nil
}

// Add adds a socket, edge-triggered. Its tag is reported for each new arrival of data, for room in the send
// buffer after that was full, and for an end or an error.
func (p *Epoll) Add(fd int, tag int32) error {
	return p.control(fd, tag, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET)
}

// AddRead is like Add, but room in the send buffer is not reported.
func (p *Epoll) AddRead(fd int, tag int32) error {
	return p.control(fd, tag, unix.EPOLLIN|unix.EPOLLET)
}

// AddExclusive adds a descriptor, level-triggered. Of several instances that have it, not
// all are woken (EPOLLEXCLUSIVE).
func (p *Epoll) AddExclusive(fd int, tag int32) error {
	return p.control(fd, tag, unix.EPOLLIN|unix.EPOLLEXCLUSIVE)
}

func (p *Epoll) control(fd int, tag int32, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: tag}
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return &kernel.Error{Op: "epoll_ctl", Object: "EPOLL_CTL_ADD", Err: err}
	}
	return nil
}

// Remove removes a socket.
func (p *Epoll) Remove(fd int) { _ = unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// maxRawWait limits a wait that the runtime does not see: if it cannot interrupt the wait
// either (GODEBUG=asyncpreemptoff=1), the process still makes progress.
const maxRawWait = 50 * time.Millisecond

// Wait waits for events, at most for limit (negative: forever), and returns their number; see Event. It may
// return 0 early. With limit 0 it does not wait, and the call is not reported to the runtime's scheduler.
func (p *Epoll) Wait(limit time.Duration) int {
	if p.Raw && (limit < 0 || limit > maxRawWait) {
		limit = maxRawWait
	}
	p.limit = unix.NsecToTimespec(int64(max(limit, 0)))
	until := unsafe.Pointer(&p.limit)
	if limit < 0 {
		until = nil
	}
	var n int
	var err error
	events, size := unsafe.Pointer(&p.events), uintptr(len(p.events))
	whole := -1 // milliseconds of the limit
	if limit >= 0 {
		whole = int(min(limit/time.Millisecond, math.MaxInt32))
	}
	switch raw := p.Raw || limit == 0; {
	case p.milliseconds && whole == 0:
		if limit > 0 { // ppoll(2) ignores EPOLLEXCLUSIVE, so longer waits do not use it
			p.wait.Raw = p.Raw
			_, _ = p.wait.Wait(p.fd, false, limit)
		}
		n, err = result(unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(events), size, 0, 0, 0))
	case p.milliseconds && raw:
		n, err = result(unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(events), size,
			uintptr(whole), 0, 0))
	case p.milliseconds:
		n, err = result(unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(events), size, uintptr(whole), 0, 0))
	case raw:
		n, err = result(unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(events), size,
			uintptr(until), 0, 0))
	default:
		n, err = result(unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(events), size,
			uintptr(until), 0, 0))
	}
	if !p.milliseconds && (err == unix.ENOSYS || err == unix.EPERM) {
		p.milliseconds = true
		return p.Wait(limit)
	}
	return n // 0 after EINTR
}

// Event returns the i-th event of the latest Wait: the socket's tag, and whether there is
// data, an end or an error to read, or room to write.
func (p *Epoll) Event(i int) (tag int32, read, write bool) {
	e := &p.events[i]
	const readable = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	return e.Fd, e.Events&readable != 0, e.Events&unix.EPOLLOUT != 0
}

// Close closes the instance; its sockets stay open.
func (p *Epoll) Close() { unix.Close(p.fd) }

// EventFD wakes every Epoll it was added to, until it is cleared (eventfd(2)).
type EventFD struct{ fd int }

// NewEventFD returns an EventFD that is not signalled.
func NewEventFD() (*EventFD, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, &kernel.Error{Op: "eventfd2", Err: err}
	}
	return &EventFD{fd}, nil
}

// AddTo adds the EventFD to an Epoll, level-triggered.
func (e *EventFD) AddTo(p *Epoll, tag int32) error { return p.control(e.fd, tag, unix.EPOLLIN) }

// Signal makes the EventFD readable.
func (e *EventFD) Signal() { _, _ = unix.Write(e.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// Clear makes the EventFD unreadable again.
func (e *EventFD) Clear() {
	var count [8]byte
	_, _ = unix.Read(e.fd, count[:])
}

// Close closes the descriptor.
func (e *EventFD) Close() { unix.Close(e.fd) }
