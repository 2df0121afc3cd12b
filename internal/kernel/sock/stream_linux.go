package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reading from and writing to stream sockets: send(2), recv(2). Reading 0 bytes without
// an error is the end of the stream. No call raises SIGPIPE. Those with Try in their
// name, and Poll, never block and are not reported to the runtime's scheduler, so they
// are for small pieces only.

func address(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// Receive reads without waiting; EAGAIN: no data has arrived.
func Receive(fd int, buffer []byte) (int, error) {
	return result(unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(address(buffer)), uintptr(len(buffer)),
		unix.MSG_DONTWAIT, 0, 0))
}

// Discard reads and discards up to limit bytes inside the kernel without waiting
// (MSG_TRUNC, tcp(7)), which saves the copy.
func Discard(fd, limit int) (int, error) {
	return result(unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), 0, uintptr(limit),
		unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0))
}

// Read reads, and waits for data if the socket is blocking. With raw, the call is not
// reported to the runtime's scheduler (see sched.Poller.Raw); the socket must then have a
// receive timeout, so that a signal ends the call (signal(7)).
func Read(fd int, buffer []byte, raw bool) (int, error) {
	if raw {
		return result(unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(address(buffer)),
			uintptr(len(buffer)), 0, 0, 0))
	}
	return result(unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(address(buffer)),
		uintptr(len(buffer)), 0, 0, 0))
}

// TryRead reads without waiting, also from a blocking socket.
func TryRead(fd int, buffer []byte) (int, error) {
	return result(unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(address(buffer)), uintptr(len(buffer)),
		unix.MSG_DONTWAIT, 0, 0))
}

// TryPeek is TryRead without consuming the data (MSG_PEEK).
func TryPeek(fd int, buffer []byte) (int, error) {
	return result(unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(address(buffer)), uintptr(len(buffer)),
		unix.MSG_DONTWAIT|unix.MSG_PEEK, 0, 0))
}

// Send writes, and waits for room if the socket is blocking.
func Send(fd int, data []byte) (int, error) {
	return result(unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(address(data)), uintptr(len(data)),
		unix.MSG_NOSIGNAL, 0, 0))
}

// Transmit writes without waiting. EAGAIN: the send buffer is full. With zeroCopy, the
// kernel sends the memory itself (MSG_ZEROCOPY, see SetZeroCopy); ENOBUFS then means that
// the sends waiting for completion exceed net.core.optmem_max, or their pages
// RLIMIT_MEMLOCK.
func Transmit(fd int, data []byte, zeroCopy bool) (int, error) {
	flags := uintptr(unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL)
	if zeroCopy {
		flags |= unix.MSG_ZEROCOPY
	}
	return result(unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(address(data)), uintptr(len(data)), flags, 0, 0))
}

// TrySend writes without waiting. more says that further data follows at once (MSG_MORE).
func TrySend(fd int, data []byte, more bool) (int, error) {
	flags := uintptr(unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL)
	if more {
		flags |= unix.MSG_MORE
	}
	return result(unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(address(data)), uintptr(len(data)),
		flags, 0, 0))
}
