package sock

import "golang.org/x/sys/unix"

// SetBuffers sets SO_SNDBUF and SO_RCVBUF, before connect or listen so that
// the window scale fits. It ends the kernel's autotuning of them; 0 leaves one as
// it is.
func SetBuffers(fd, send, receive int) error {
	if send != 0 {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, send); err != nil {
			return err
		}
	}
	if receive != 0 {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receive)
	}
	return nil
}

// SetReuseAddress sets SO_REUSEADDR: several sockets of which none listens may
// have the same address and port.
func SetReuseAddress(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
}

// Buffers reads SO_SNDBUF and SO_RCVBUF. Linux doubles what was asked, to
// have room for its own bookkeeping, after clamping it to net.core.wmem_max and
// rmem_max.
func Buffers(fd int) (send, receive int, err error) {
	if send, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF); err != nil {
		return 0, 0, err
	}
	receive, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	return send, receive, err
}
