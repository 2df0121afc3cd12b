package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Receive reads from a stream socket without waiting. 0 without an error is the
// end of the stream.
func Receive(fd int, buffer []byte) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(len(buffer)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
