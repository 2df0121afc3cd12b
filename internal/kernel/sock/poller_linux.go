package sock

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// epollDescriptors returns this process's epoll instances at the first call, including the runtime's, which it
// creates with the first socket.
var epollDescriptors = sync.OnceValue(func() (fds []int) {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		target, err := os.Readlink(dir + "/" + e.Name())
		fd, bad := strconv.Atoi(e.Name())
		if err == nil && bad == nil && target == "anon_inode:[eventpoll]" {
			fds = append(fds, fd)
		}
	}
	return fds
})

// DetachPoller removes a socket of package net from the runtime's poller for good: later calls must wait in the
// kernel. Otherwise every event of the socket also wakes a thread of the runtime. If it fails, the socket still
// works.
func DetachPoller(fd int) {
	for _, poller := range epollDescriptors() {
		if unix.EpollCtl(poller, unix.EPOLL_CTL_DEL, fd, nil) == nil {
			return
		}
	}
}
