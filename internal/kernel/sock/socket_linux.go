//go:build !portable

package sock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Socket options that package net does not offer. See tcp(7), socket(7), ip(7).

// SetCongestionControl sets TCP_CONGESTION. Connections accepted from a
// listener inherit it.
func SetCongestionControl(fd int, name string) error {
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
}

// CongestionControl reads TCP_CONGESTION.
func CongestionControl(fd int) (string, error) {
	return unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
}

// SetWindowClamp sets TCP_WINDOW_CLAMP: the largest window this end advertises. It is needed where SO_RCVBUF is
// enlarged after a connection was opened.
func SetWindowClamp(fd, bytes int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP, bytes)
}

// CanPace says that the kernel can limit a socket to a rate (SetPacingRate).
const CanPace = true

// SetPacingRate sets SO_MAX_PACING_RATE. The kernel takes 64 bits since 4.20
// and paces TCP by itself, without the fq qdisc, since 4.13.
func SetPacingRate(fd int, bytesPerSecond uint64) error {
	return unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, bytesPerSecond)
}

// SetBindAddressNoPort sets IP_BIND_ADDRESS_NO_PORT (ip(7)): after bind to an address
// without a port, connect chooses the port, and may use one port for connections with
// different destinations.
func SetBindAddressNoPort(fd int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
}

// SetUserTimeout sets TCP_USER_TIMEOUT: how long sent data may be unacknowledged before the
// connection is closed.
func SetUserTimeout(fd int, timeout time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(timeout.Milliseconds()))
}

// Queued returns the bytes in a TCP socket's send buffer that the peer has not acknowledged, sent or not, a FIN
// counting as one (SIOCOUTQ, tcp(7)), or the unread bytes in its receive buffer (SIOCINQ).
func Queued(fd int, send bool) (int64, error) {
	request := uint(unix.SIOCINQ)
	if send {
		request = unix.SIOCOUTQ
	}
	n, err := unix.IoctlGetInt(fd, request)
	return int64(n), err
}

// HungUp reports whether the peer of a stream socket has closed its sending side or reset the connection
// (POLLRDHUP, POLLHUP and POLLERR in poll(2)), also while data that arrived before is not read.
func HungUp(fd int) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0
}
