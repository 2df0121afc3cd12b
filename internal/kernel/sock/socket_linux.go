package sock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Socket options that package net does not offer, and data transfer without a
// copy on the receiving side. See tcp(7), socket(7), ip(7).

// SetMaxSeg sets TCP_MAXSEG, before connect or listen: the largest segment
// this end offers and sends, TCP options included (88…32767).
func SetMaxSeg(fd, bytes int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, bytes)
}

// SetCongestionControl sets TCP_CONGESTION. Connections accepted from a
// listener inherit it.
func SetCongestionControl(fd int, name string) error {
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
}

// CongestionControl reads TCP_CONGESTION.
func CongestionControl(fd int) (string, error) {
	return unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
}

// SetWindowClamp sets TCP_WINDOW_CLAMP: the largest window this end advertises.
// A connection whose SO_RCVBUF was enlarged after it had opened needs it.
func SetWindowClamp(fd, bytes int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP, bytes)
}

// SetPacingRate sets SO_MAX_PACING_RATE. The kernel takes 64 bits since 4.20
// and paces TCP by itself, without the fq qdisc, since 4.13.
func SetPacingRate(fd int, bytesPerSecond uint64) error {
	return unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, bytesPerSecond)
}

// SetBindAddressNoPort sets IP_BIND_ADDRESS_NO_PORT: bind to an address leaves
// the choice of the port to connect, which then may give the same port
// to connections with different destinations.
func SetBindAddressNoPort(fd int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
}

// Transmit writes to a stream socket without waiting and without SIGPIPE.
func Transmit(fd int, data []byte) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// Discard reads up to limit bytes from a stream socket without waiting and
// throws them away inside the kernel (MSG_TRUNC), saving the copy. 0 without an
// error is the end of the stream.
func Discard(fd, limit int) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), 0, uintptr(limit),
		unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// SendQueue is how many bytes a TCP socket holds that the peer has not
// acknowledged, sent or not (SIOCOUTQ, tcp(7)). A FIN counts as one.
func SendQueue(fd int) (int64, error) {
	n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	return int64(n), err
}

// ReceiveQueue is how many bytes have arrived at a TCP socket, are acknowledged
// and have not been read (SIOCINQ, tcp(7)).
func ReceiveQueue(fd int) (int64, error) {
	n, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
	return int64(n), err
}

// ProcessCPU is the processor time this process has used, user and system.
func ProcessCPU() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
