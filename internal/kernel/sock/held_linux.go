//go:build !portable

package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Held returns the memory, in bytes, of what has arrived at a socket and has not been read, in order or behind
// a gap: SK_MEMINFO_RMEM_ALLOC of SO_MEMINFO (linux/sock_diag.h, since Linux 4.12). It exceeds the payload.
func Held(fd int) (int64, error) {
	var info [9]uint32 // SK_MEMINFO_VARS
	size := uint32(unsafe.Sizeof(info))
	if _, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0); errno != 0 {
		return 0, errno
	}
	return int64(info[0]), nil
}
