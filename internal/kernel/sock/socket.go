package sock

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// SetBuffers sets SO_SNDBUF and SO_RCVBUF in bytes (socket(7)), which ends the kernel's
// autotuning; 0 leaves one as it is. Call it before connect or listen, so that the
// window scale fits.
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

// SetMaxSeg sets TCP_MAXSEG, before connect or listen: the largest segment
// this end offers and sends, TCP options included (Linux takes 88 to 32767).
func SetMaxSeg(fd, bytes int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, bytes)
}

// SetReuseAddress sets SO_REUSEADDR (socket(7)): several sockets, none of them listening,
// may have the same address and port.
func SetReuseAddress(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
}

// Buffers reads SO_SNDBUF and SO_RCVBUF in bytes. Linux reports twice the size that was
// set, after limiting it to net.core.wmem_max and rmem_max: half is for its bookkeeping.
func Buffers(fd int) (send, receive int, err error) {
	if send, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF); err != nil {
		return 0, 0, err
	}
	receive, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	return send, receive, err
}

// SetReusePort sets SO_REUSEPORT (socket(7)): several sockets of this user may have the
// same address and port; a connected one receives what its peer sends.
func SetReusePort(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
}

// SetTrafficClass sets the DSCP and ECN byte of what a socket sends: IP_TOS (ip(7)), and IPV6_TCLASS (ipv6(7))
// on an IPv6 socket, which may send IPv4 as well. On TCP sockets Linux keeps the two ECN bits.
func SetTrafficClass(fd, class int) error {
	at, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	if _, six := at.(*unix.SockaddrInet6); six {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, class); err != nil {
			return err
		}
	}
	err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, class)
	if _, six := at.(*unix.SockaddrInet6); six && runtime.GOOS != "linux" {
		return nil // has no IP_TOS, and no IPv4
	}
	return err
}
