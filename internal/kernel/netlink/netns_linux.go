//go:build !portable

package netlink

import (
	"fmt"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// CurrentNetNS identifies the network namespace of the calling thread, which is that of the process
// unless the thread was moved.
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

// initialNetNS is the inode of the machine's first network namespace since Linux 6.17
// (include/uapi/linux/nsfs.h, NET_NS_INIT_INO). Other namespaces, and the first one in older
// kernels, have numbers from 0xF0000000 on.
const initialNetNS = 0xEFFFFFF9

// First reports whether the calling thread's network namespace is that of process 1, to which the
// machine's configuration applies. An error means that this is unknown: a process may lack the
// permission to see the namespace of process 1.
func First() (bool, error) {
	const own, first = "/proc/thread-self/ns/net", "/proc/1/ns/net"
	var self, other unix.Stat_t
	if err := unix.Stat(own, &self); err != nil {
		return false, fmt.Errorf("%s: %w", own, err)
	}
	if err := unix.Stat(first, &other); err != nil {
		if self.Ino == initialNetNS {
			return true, nil
		}
		return false, fmt.Errorf("%s: %w", first, err)
	}
	return self.Ino == other.Ino, nil
}
