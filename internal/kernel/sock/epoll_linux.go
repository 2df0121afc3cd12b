package sock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// Epoll tells one thread which of many sockets can be read or written, without
// the runtime's poller; see epoll(7). It holds the memory that takes.
type Epoll struct {
	Raw bool // see Waiter

	fd           int
	milliseconds bool // the kernel knows only milliseconds (before 5.11)
	limit        unix.Timespec
	events       [256]unix.EpollEvent
}

// NewEpoll makes one that watches nothing.
func NewEpoll() (*Epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, &kernel.Error{Op: "epoll_create1", Err: err}
	}
	return &Epoll{fd: fd}, nil
}

// Add adds a socket. It is told of by its tag each time that something new
// happens to it: data, room after there was none, an end, an error.
func (p *Epoll) Add(fd int, tag int32) error {
	return p.control(fd, tag, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET)
}

// AddRead is Watch for who does not want to hear of room.
func (p *Epoll) AddRead(fd int, tag int32) error {
	return p.control(fd, tag, unix.EPOLLIN|unix.EPOLLET)
}

// AddExclusive adds a descriptor that is told of for as long as it can be read.
// Of several that watch one, not all are woken.
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

// Remove stops watching a socket.
func (p *Epoll) Remove(fd int) { _ = unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// keptAtMost bounds a wait that keeps its processor of the runtime's: should the
// runtime not interrupt it (GODEBUG=asyncpreemptoff=1), the process still goes on.
const keptAtMost = 50 * time.Millisecond

// Wait waits until something has happened, but no longer than limit (below 0: for
// as long as it takes), and says how much: see Event. It may return earlier. 0 does
// not wait at all and asks the kernel without telling the runtime's scheduler.
func (p *Epoll) Wait(limit time.Duration) int {
	if p.Raw && (limit < 0 || limit > keptAtMost) {
		limit = keptAtMost
	}
	p.limit = unix.NsecToTimespec(int64(max(limit, 0)))
	until := unsafe.Pointer(&p.limit)
	if limit < 0 {
		until = nil
	}
	size := uintptr(len(p.events))
	var n uintptr
	var errno unix.Errno
	switch keeps := p.Raw || limit == 0; {
	case p.milliseconds:
		ms := (limit + time.Millisecond - 1) / time.Millisecond
		if limit < 0 {
			ms = -1 // without end
		}
		n, _, errno = unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events)), size, uintptr(ms), 0, 0)
	case keeps:
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events)), size, uintptr(until), 0, 0)
	default:
		n, _, errno = unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events)), size, uintptr(until), 0, 0)
	}
	if !p.milliseconds && (errno == unix.ENOSYS || errno == unix.EPERM) {
		p.milliseconds = true
		return p.Wait(limit)
	}
	if errno != 0 {
		return 0 // EINTR: nothing has happened so far
	}
	return int(n)
}

// Event is one of those that Wait has counted: the socket's tag, and whether
// there is room to write, or data, an end or an error to read.
func (p *Epoll) Event(i int) (tag int32, read, write bool) {
	e := &p.events[i]
	const readable = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	return e.Fd, e.Events&readable != 0, e.Events&unix.EPOLLOUT != 0
}

// Close ends it; what it watched stays open.
func (p *Epoll) Close() { unix.Close(p.fd) }

// EventFD wakes all who watch it, and stays rung (eventfd(2)).
type EventFD struct{ fd int }

// NewEventFD makes a bell that nobody has rung.
func NewEventFD() (*EventFD, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, &kernel.Error{Op: "eventfd2", Err: err}
	}
	return &EventFD{fd}, nil
}

// AddTo has an Epoll tell of the bell by a tag.
func (b *EventFD) AddTo(p *Epoll, tag int32) error { return p.control(b.fd, tag, unix.EPOLLIN) }

// Signal rings it.
func (b *EventFD) Signal() { _, _ = unix.Write(b.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// Close gives the descriptor back.
func (b *EventFD) Close() { unix.Close(b.fd) }

// Yield lets another thread that waits for this processor go first.
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// OpenFiles is how many descriptors this process may have (RLIMIT_NOFILE); 0: it
// cannot be told.
func OpenFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}
