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

// Stream sockets without package net: for threads that make every system call
// themselves, and for tens of thousands of connections. Descriptors are plain numbers,
// which the caller closes with CloseSocket.

// Peer is the address of a socket, as struct sockaddr: that to connect to, or the own one. It is safe for
// concurrent use.
type Peer struct {
	family int
	size   uintptr
	four   unix.RawSockaddrInet4
	six    unix.RawSockaddrInet6
}

// PeerAt returns a Peer; a zone is an interface's name or index.
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
			iface, err := net.InterfaceByName(zone)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a, err)
			}
			index = iface.Index
		}
		p.six.Scope_id = uint32(index)
	}
	return p, nil
}

// name returns the address for a system call.
func (p *Peer) name() unsafe.Pointer {
	if p.family == unix.AF_INET {
		return unsafe.Pointer(&p.four)
	}
	return unsafe.Pointer(&p.six)
}

// Socket opens a TCP socket of the peer's family, blocking or not.
func (p *Peer) Socket(blocking bool) (int, error) {
	kind := unix.SOCK_STREAM | unix.SOCK_CLOEXEC
	if !blocking {
		kind |= unix.SOCK_NONBLOCK
	}
	return result(unix.RawSyscall(unix.SYS_SOCKET, uintptr(p.family), uintptr(kind), unix.IPPROTO_TCP))
}

// Bind makes the peer the socket's own address (bind(2)).
func (p *Peer) Bind(fd int) error {
	_, err := result(unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(p.name()), p.size))
	return err
}

// Connect connects a socket to the peer (connect(2)). On a non-blocking socket the error
// is EINPROGRESS; when the socket can be written, see SocketError.
func (p *Peer) Connect(fd int) error {
	_, err := result(unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(p.name()), p.size))
	return err
}

// result converts what a system call returns.
func result(n, _ uintptr, errno unix.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// SocketError returns the socket's pending error and clears it (SO_ERROR, socket(7)): the
// outcome of a connection that was in progress.
func SocketError(fd int) error {
	errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	return err
}

// SetBlocking clears or sets O_NONBLOCK of a descriptor.
func SetBlocking(fd int, blocking bool) error { return unix.SetNonblock(fd, !blocking) }

// Accept accepts a connection, as a blocking socket (accept4(2)). It waits for one if
// the listener is blocking.
func Accept(listener int) (int, error) {
	return result(unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(listener), 0, 0, unix.SOCK_CLOEXEC, 0, 0))
}

// Addresses returns the two addresses of a connection, IPv4 also on an IPv6 socket; a
// zero AddrPort if there is none.
func Addresses(fd int) (local, remote netip.AddrPort) {
	name := func(a unix.Sockaddr, err error) netip.AddrPort {
		switch a := a.(type) {
		case *unix.SockaddrInet4:
			return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
		case *unix.SockaddrInet6:
			six := netip.AddrFrom16(a.Addr).Unmap()
			if a.ZoneId != 0 && six.Is6() {
				zone := strconv.Itoa(int(a.ZoneId))
				if iface, err := net.InterfaceByIndex(int(a.ZoneId)); err == nil {
					zone = iface.Name
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

// SetDeferAccept sets TCP_DEFER_ACCEPT on a listener: a connection is accepted when its first data has
// arrived, or after the given number of seconds (tcp(7)).
func SetDeferAccept(fd, seconds int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, seconds)
}

// DisableQuickAck clears TCP_QUICKACK (tcp(7)): a connecting socket then sends the last
// acknowledgement of the handshake with its first data, which must follow at once.
func DisableQuickAck(fd int) error {
	off := int32(0)
	return setOption(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, unsafe.Pointer(&off), unsafe.Sizeof(off))
}

// SetLingerZero sets SO_LINGER to 0 (socket(7)): close resets the connection, discards
// unsent data and leaves no TIME_WAIT.
func SetLingerZero(fd int) error {
	l := unix.Linger{Onoff: 1}
	return setOption(fd, unix.SOL_SOCKET, unix.SO_LINGER, unsafe.Pointer(&l), unsafe.Sizeof(l))
}

// setOption is setsockopt(2) without the runtime's scheduler: it never blocks, and is
// called for every transaction.
func setOption(fd, level, option int, value unsafe.Pointer, size uintptr) error {
	_, err := result(unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(option),
		uintptr(value), size, 0))
	return err
}

// SetTimeouts limits how long a call on a blocking socket waits for room and for data
// (SO_SNDTIMEO, SO_RCVTIMEO): it then returns EAGAIN.
func SetTimeouts(fd int, limit time.Duration) error {
	t := unix.NsecToTimeval(int64(limit))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &t); err != nil {
		return err
	}
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &t)
}

// ShutdownRead ends the reading of a connection: a call that waits for its data returns
// the end of the stream (shutdown(2), SHUT_RD). Nothing is sent.
func ShutdownRead(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RD) }

// Dup duplicates a descriptor, close-on-exec (F_DUPFD_CLOEXEC, fcntl(2)).
func Dup(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// CloseSocket closes a descriptor.
func CloseSocket(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// IncomingCPU returns the CPU that processed a socket's latest packet (SO_INCOMING_CPU, socket(7)); -1 if
// unknown or none has arrived.
func IncomingCPU(fd int) int {
	cpu, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_INCOMING_CPU)
	if err != nil {
		return -1
	}
	return cpu
}
