package sock

import "golang.org/x/sys/unix"

// SetReusePort lets several sockets of this user have one port
// (SO_REUSEPORT): what comes from the peer of a connected one goes there.
func SetReusePort(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
}
