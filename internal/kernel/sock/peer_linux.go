package sock

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stream sockets without package net: for threads that make every call
// themselves and for connections by the ten thousand. Descriptors are plain
// numbers, and whoever has opened one closes it with CloseSocket.

// Peer is where to connect to or from, in the kernel's form. Several threads may
// use one.
type Peer struct {
	family int
	size   uintptr
	four   unix.RawSockaddrInet4
	six    unix.RawSockaddrInet6
}

// PeerAt makes one.
func PeerAt(at netip.AddrPort) (*Peer, error) {
	a := at.Addr()
	port := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, at.Port()))
	switch {
	case !a.IsValid():
		return nil, fmt.Errorf("no address")
	case a.Unmap().Is4():
		return &Peer{family: unix.AF_INET, size: unix.SizeofSockaddrInet4,
			four: unix.RawSockaddrInet4{Family: unix.AF_INET, Port: port, Addr: a.Unmap().As4()}}, nil
	}
	p := &Peer{family: unix.AF_INET6, size: unix.SizeofSockaddrInet6,
		six: unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: port, Addr: a.As16()}}
	if zone := a.Zone(); zone != "" {
		index, err := strconv.Atoi(zone)
		if err != nil {
			port, err := net.InterfaceByName(zone)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a, err)
			}
			index = port.Index
		}
		p.six.Scope_id = uint32(index)
	}
	return p, nil
}

// name is the address for a system call.
func (p *Peer) name() unsafe.Pointer {
	if p.family == unix.AF_INET {
		return unsafe.Pointer(&p.four)
	}
	return unsafe.Pointer(&p.six)
}

// Socket opens a TCP socket of the peer's family, whose calls wait or do not.
func (p *Peer) Socket(waits bool) (int, error) {
	kind := unix.SOCK_STREAM | unix.SOCK_CLOEXEC
	if !waits {
		kind |= unix.SOCK_NONBLOCK
	}
	fd, _, errno := unix.RawSyscall(unix.SYS_SOCKET, uintptr(p.family), uintptr(kind), unix.IPPROTO_TCP)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// Bind makes the peer the socket's own address.
func (p *Peer) Bind(fd int) error {
	_, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(p.name()), p.size)
	if errno != 0 {
		return errno
	}
	return nil
}

// Connect connects a socket to the peer. A socket that does not wait answers
// EINPROGRESS; see Connected.
func (p *Peer) Connect(fd int) error {
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(p.name()), p.size)
	if errno != 0 {
		return errno
	}
	return nil
}

// SocketError is what became of a connection that was in progress, once its socket
// can be written.
func SocketError(fd int) error {
	errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	return err
}

// SetBlocking says whether a descriptor's calls wait (the opposite of O_NONBLOCK).
func SetBlocking(fd int, waiting bool) error { return unix.SetNonblock(fd, !waiting) }

// Accept takes a connection from a listener, as connections are: its calls wait.
// It waits for one if the listener waits.
func Accept(listener int) (int, error) {
	fd, _, errno := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(listener), 0, 0, unix.SOCK_CLOEXEC, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// Addresses are the two addresses of a connection, IPv4 as such.
func Addresses(fd int) (local, remote netip.AddrPort) {
	name := func(a unix.Sockaddr, err error) netip.AddrPort {
		switch a := a.(type) {
		case *unix.SockaddrInet4:
			return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
		case *unix.SockaddrInet6:
			six := netip.AddrFrom16(a.Addr).Unmap()
			if a.ZoneId != 0 && six.Is6() {
				zone := strconv.Itoa(int(a.ZoneId))
				if port, err := net.InterfaceByIndex(int(a.ZoneId)); err == nil {
					zone = port.Name
				}
				six = six.WithZone(zone)
			}
			return netip.AddrPortFrom(six, uint16(a.Port))
		}
		return netip.AddrPort{}
	}
	return name(unix.Getsockname(fd)), name(unix.Getpeername(fd))
}

// SetNoDelay sets or clears TCP_NODELAY.
func SetNoDelay(fd int, on bool) error {
	value := 0
	if on {
		value = 1
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, value)
}

// SetDeferAccept sets TCP_DEFER_ACCEPT on a listener: a connection is accepted
// when its first data is there, or after some seconds.
func SetDeferAccept(fd, seconds int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, seconds)
}

// DisableQuickAck has a socket that connects send the end of the handshake along with
// its first data (TCP_QUICKACK off, tcp(7)), which is to follow at once.
func DisableQuickAck(fd int) error {
	off := int32(0)
	return setOption(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, unsafe.Pointer(&off), unsafe.Sizeof(off))
}

// SetLingerZero has a socket reset its connection when it is closed (SO_LINGER 0,
// socket(7)): nothing is sent any more and nothing waits in TIME_WAIT.
func SetLingerZero(fd int) error {
	l := unix.Linger{Onoff: 1}
	return setOption(fd, unix.SOL_SOCKET, unix.SO_LINGER, unsafe.Pointer(&l), unsafe.Sizeof(l))
}

// setOption is for what is set for every transaction: it does not tell the
// runtime's scheduler, as it never waits.
func setOption(fd, level, option int, value unsafe.Pointer, size uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(option), uintptr(value), size, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// SetSendTimeout bounds how long a socket that waits does so for room
// (SO_SNDTIMEO): the call then answers EAGAIN.
func SetSendTimeout(fd int, limit time.Duration) error {
	t := unix.NsecToTimeval(int64(limit))
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &t)
}

// SetReceiveTimeout bounds how long a socket that waits does so for data
// (SO_RCVTIMEO): the call then answers EAGAIN.
func SetReceiveTimeout(fd int, limit time.Duration) error {
	t := unix.NsecToTimeval(int64(limit))
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &t)
}

// ShutdownRead ends the reading of a connection, and the waiting of whoever waits
// for its data. Nothing is sent.
func ShutdownRead(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RD) }

// Dup is another number for what a descriptor stands for.
func Dup(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// WouldBlock says that a call that does not wait has found nothing to do.
func WouldBlock(err error) bool { return err == unix.EAGAIN }

// CloseSocket closes a descriptor.
func CloseSocket(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// Send writes to a stream socket, which waits for room if it is one that waits.
func Send(fd int, data []byte) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)), unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// Read reads from a stream socket, which waits for data if it is one that waits.
// 0 without an error is the end of the stream. keeps: as Waiter.Keeps; the socket
// then must have a receive timeout, with which a signal ends the call (signal(7)).
func Read(fd int, buffer []byte, keeps bool) (int, error) {
	data, size := unsafe.Pointer(unsafe.SliceData(buffer)), uintptr(len(buffer))
	var n uintptr
	var errno unix.Errno
	if keeps {
		n, _, errno = unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(data), size, 0, 0, 0)
	} else {
		n, _, errno = unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(data), size, 0, 0, 0)
	}
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// TrySend and TryRead are Send and Take without waiting. They do not tell the
// runtime's scheduler, and so are for small pieces only.
func TrySend(fd int, data []byte, more bool) (int, error) {
	flags := uintptr(unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL)
	if more {
		flags |= unix.MSG_MORE
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)), flags, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// TryRead: see TrySend. What is there is also taken from a socket that waits.
func TryRead(fd int, buffer []byte) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(len(buffer)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// PollRead is TryRead again and again until something has come, so many times.
func PollRead(fd int, buffer []byte, times int) (int, error) {
	data, size := unsafe.Pointer(unsafe.SliceData(buffer)), uintptr(len(buffer))
	var n uintptr
	var errno unix.Errno
	for range times {
		n, _, errno = unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(data), size, unix.MSG_DONTWAIT, 0, 0)
		if errno != unix.EAGAIN {
			break
		}
	}
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// TryPeek is TryRead, but leaves what it has read where it is.
func TryPeek(fd int, buffer []byte) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(len(buffer)), unix.MSG_DONTWAIT|unix.MSG_PEEK, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
