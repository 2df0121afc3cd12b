//go:build !portable

package netlink

import (
	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// CurrentNetNS identifies the network namespace of the calling thread, which is the
// process's unless the thread was moved.
func CurrentNetNS() (NetNS, error) {
	var stat unix.Stat_t
	if err := unix.Stat("/proc/thread-self/ns/net", &stat); err != nil {
		return NetNS{}, &kernel.Error{Op: "read", Object: "/proc/thread-self/ns/net", Err: err}
	}
	ns := NetNS{Inode: stat.Ino}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return NetNS{}, &kernel.Error{Op: "open", Object: "unix socket", Err: err}
	}
	defer unix.Close(fd)
	if cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE); err == nil {
		ns.Cookie = cookie
	}
	return ns, nil
}

// First reports whether the calling thread's network namespace is that of process 1, to which
// the machine's configuration applies; false where that cannot be seen.
func First() bool {
	var own, first unix.Stat_t
	return unix.Stat("/proc/thread-self/ns/net", &own) == nil && unix.Stat("/proc/1/ns/net", &first) == nil && own.Ino == first.Ino
}
