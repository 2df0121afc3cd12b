package sock

import (
	"os"
	"syscall"

	"linerate/internal/kernel"

	"golang.org/x/sys/unix"
)

// SocketPair returns a connected pair of stream sockets, close-on-exec.
func SocketPair() (near, far *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, &kernel.Error{Op: "make", Object: "a socket pair", Err: err.(syscall.Errno)}
	}
	return os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far"), nil
}
