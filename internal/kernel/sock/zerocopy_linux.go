package sock

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sending with MSG_ZEROCOPY: the kernel refers to this process's pages instead of
// copying them, and reports on the socket's error queue when it has released them
// (Documentation/networking/msg_zerocopy.rst).

// SetZeroCopy allows MSG_ZEROCOPY on a socket (SO_ZEROCOPY, Linux 4.14).
func SetZeroCopy(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1)
}

// ErrorQueue reads the error queues of sockets into its own memory.
type ErrorQueue struct {
	header  unix.Msghdr
	control [128]byte
}

// Completions empties a socket's error queue. It returns how many zero-copy sends have completed, and for how
// many of these the kernel copied the data after all, as it does when the receiver is on the same machine.
func (q *ErrorQueue) Completions(fd int) (over, copied int, err error) {
	for {
		q.header.Control = &q.control[0]
		q.header.SetControllen(len(q.control))
		_, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&q.header)),
			unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		switch {
		case errno == unix.EAGAIN:
			return over, copied, nil
		case errno == unix.EINTR:
			continue
		case errno != 0:
			return over, copied, errno
		}
		e := q.extended()
		if e == nil || e.Origin != unix.SO_EE_ORIGIN_ZEROCOPY || e.Errno != 0 {
			return over, copied, errForeign
		}
		// The sends from Info to Data, inclusive, numbered from the socket's first.
		n := int(e.Data-e.Info) + 1
		over += n
		if e.Code&unix.SO_EE_CODE_ZEROCOPY_COPIED != 0 {
			copied += n
		}
	}
}

var errForeign = errors.New("the socket's error queue has an entry other than a completion of zero-copy sends")

// extended returns the message's struct sock_extended_err; nil if it has none.
func (q *ErrorQueue) extended() *unix.SockExtendedErr {
	const need = unix.SizeofCmsghdr + int(unsafe.Sizeof(unix.SockExtendedErr{}))
	if int(q.header.Controllen) < need {
		return nil
	}
	head := (*unix.Cmsghdr)(unsafe.Pointer(&q.control[0]))
	four := head.Level == unix.IPPROTO_IP && head.Type == unix.IP_RECVERR
	six := head.Level == unix.IPPROTO_IPV6 && head.Type == unix.IPV6_RECVERR
	if !four && !six {
		return nil
	}
	return (*unix.SockExtendedErr)(unsafe.Pointer(&q.control[unix.SizeofCmsghdr]))
}
