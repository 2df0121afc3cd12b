//go:build !portable

package netlink

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sched"
)

// LinkWatch records when interfaces of a network namespace gain and lose their carrier. The kernel
// sends RTM_NEWLINK to the group RTNLGRP_LINK (rtnetlink(7)).
type LinkWatch struct {
	file  *os.File
	ended chan struct{}

	mu      sync.Mutex
	now     map[int]LinkState // by the interface's index
	changes []LinkState
	missed  error
}

// mostLinkStates limits the recorded changes. More of them mean that a link is flapping.
const mostLinkStates = 1024

// WatchLinks starts watching the interfaces of the calling thread's network namespace. It requires
// no privilege.
func WatchLinks() (*LinkWatch, error) {
	const object = "route netlink socket"
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, &kernel.Error{Op: "open", Object: object, Err: err}
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK,
		Groups: 1 << (unix.RTNLGRP_LINK - 1)}); err != nil {
		unix.Close(fd)
		return nil, &kernel.Error{Op: "join RTNLGRP_LINK of", Object: object, Err: err}
	}
	w := &LinkWatch{file: os.NewFile(uintptr(fd), object), ended: make(chan struct{}), now: map[int]LinkState{}}
	// The socket joined the group before the dump. A notification may repeat a dumped state, and is
	// then no change.
	if err := w.begin(); err != nil {
		w.file.Close()
		return nil, err
	}
	go w.follow()
	return w, nil
}

func (w *LinkWatch) begin() error {
	c, err := Dial()
	if err != nil {
		return err
	}
	defer c.Close()
	states, err := list(c, "list links", unix.RTM_GETLINK, unix.RTM_NEWLINK, ifinfomsgLen,
		[][]byte{ifinfomsg(unix.AF_UNSPEC, 0, 0, 0)},
		each(func(body []byte) indexedState { return indexedState{indexOf(body), linkState(body)} }))
	for _, s := range states {
		w.now[s.index] = s.LinkState
	}
	return err
}

type indexedState struct {
	index int
	LinkState
}

func linkState(body []byte) LinkState {
	flags := native.Uint32(body[8:])
	s := LinkState{Up: flags&unix.IFF_UP != 0, Carrier: flags&unix.IFF_LOWER_UP != 0}
	for a := range attributes(body[ifinfomsgLen:]) {
		if a.kind == unix.IFLA_IFNAME {
			s.Interface = cString(a.data)
		}
	}
	return s
}

// follow reads notifications until the socket is closed.
func (w *LinkWatch) follow() {
	defer close(w.ended)
	in := make([]byte, 64<<10)
	for {
		n, err := w.file.Read(in)
		at := sched.Now()
		if errors.Is(err, syscall.ENOBUFS) { // the kernel has dropped notifications
			w.mu.Lock()
			w.missed = err
			w.mu.Unlock()
			continue
		}
		if err != nil {
			return
		}
		for rest := in[:n]; len(rest) >= headerLen; {
			var m message
			if m, rest, err = cutMessage(rest); err != nil {
				break
			}
			if m.kind == unix.RTM_NEWLINK && len(m.payload) >= ifinfomsgLen {
				s := linkState(m.payload)
				s.AtNs = at
				w.note(indexOf(m.payload), s)
			}
		}
	}
}

func (w *LinkWatch) note(index int, s LinkState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, known := w.now[index]; known && before.Carrier == s.Carrier || s.Interface == "" {
		return
	}
	w.now[index] = s
	if len(w.changes) < mostLinkStates {
		w.changes = append(w.changes, s)
	}
}

// Close stops watching and returns the changes in order. The error says that notifications were
// lost.
func (w *LinkWatch) Close() (changes []LinkState, err error) {
	w.file.Close()
	<-w.ended
	return w.changes, w.missed
}
