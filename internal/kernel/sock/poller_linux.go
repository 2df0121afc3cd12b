package sock

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// epollDescriptors are this process's epoll instances at the time of the first question.
// The runtime's, which it makes with the first socket, is among them.
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

// DetachPoller takes a socket that package net has made off the runtime's poller, for
// good: whoever reads or writes it from now on waits in the kernel. Otherwise a
// thread of the runtime is woken by everything that happens to the socket, and
// finds nobody who waits. Where that cannot be done, it only costs that.
func DetachPoller(fd int) {
	for _, poller := range epollDescriptors() {
		if unix.EpollCtl(poller, unix.EPOLL_CTL_DEL, fd, nil) == nil {
			return
		}
	}
}
