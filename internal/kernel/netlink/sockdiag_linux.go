package netlink

import (
	"errors"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/record"
)

// SocketDiag asks the kernel about sockets of all processes in the network
// namespace in which it was opened: what ss(8) asks, over sock_diag(7). It needs
// no privilege for what is asked here.
type SocketDiag struct{ conn *Conn }

// DialSocketDiag opens it.
func DialSocketDiag() (*SocketDiag, error) {
	conn, err := open(unix.NETLINK_SOCK_DIAG, "socket diagnosis")
	if err != nil {
		return nil, err
	}
	return &SocketDiag{conn}, nil
}

func (s *SocketDiag) Close() error { return s.conn.Close() }

// linux/sock_diag.h, linux/inet_diag.h and net/tcp_states.h.
const (
	sockDiagByFamily = 20
	inetDiagInfo     = 2
	inetDiagCong     = 4

	diagRequestLen = 56 // struct inet_diag_req_v2
	diagMessageLen = 72 // struct inet_diag_msg

	tcpListen = 10
	anyState  = ^uint32(0)
)

// TCP lists connections, without those that only wait for stray segments, or the
// sockets that listen for some.
func (s *SocketDiag) TCP(listening bool) ([]Socket, error) {
	const timeWait, synRecv, closed = 6, 3, 7
	states := anyState &^ (1<<timeWait | 1<<synRecv | 1<<closed | 1<<tcpListen)
	if listening {
		states = 1 << tcpListen
	}
	return s.list(unix.IPPROTO_TCP, states)
}

// UDP lists sockets that have a port.
func (s *SocketDiag) UDP() ([]Socket, error) { return s.list(unix.IPPROTO_UDP, anyState) }

func (s *SocketDiag) list(protocol uint8, states uint32) ([]Socket, error) {
	var list []Socket
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		before := len(list)
		body := make([]byte, diagRequestLen)
		body[0], body[1], body[2] = family, protocol, 1<<(inetDiagInfo-1)|1<<(inetDiagCong-1)
		native.PutUint32(body[4:], states)
		err := s.conn.dump("list sockets", sockDiagByFamily, body,
			func() { list = list[:before] },
			func(kind uint16, body []byte, atNs int64) error {
				if kind == sockDiagByFamily && len(body) >= diagMessageLen {
					list = append(list, parseSocket(body, atNs))
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// SocketDestroyEvents tells of TCP connections of all processes in the network namespace in
// which it was opened, when the kernel lets them go, with all that it had counted of
// them by then: what ss -E shows (Linux 4.2). It needs no privilege.
type SocketDestroyEvents struct {
	file *os.File
	in   []byte
}

// DialSocketDestroyEvents listens from now on.
func DialSocketDestroyEvents() (*SocketDestroyEvents, error) {
	const what = "socket diagnosis"
	conn, err := open(unix.NETLINK_SOCK_DIAG, what)
	if err != nil {
		return nil, err
	}
	const destroyedTCP, destroyedTCP6 = 1, 3 // enum sknetlink_groups
	for _, group := range []int{destroyedTCP, destroyedTCP6} {
		if err := unix.SetsockoptInt(conn.fd, unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, group); err != nil {
			_ = conn.Close()
			return nil, &kernel.Error{Op: "hear of sockets' ends", Object: what, Err: err}
		}
	}
	// Hundreds may end at once, while nobody listens for a moment.
	_ = unix.SetsockoptInt(conn.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
	if err := unix.SetNonblock(conn.fd, true); err != nil {
		_ = conn.Close()
		return nil, &kernel.Error{Op: "hear of sockets' ends", Object: what, Err: err}
	}
	return &SocketDestroyEvents{os.NewFile(uintptr(conn.fd), what), conn.in}, nil
}

// Close ends a Next that waits, too.
func (s *SocketDestroyEvents) Close() error { return s.file.Close() }

// Next waits for connections to end. What there was no room for is not told of.
func (s *SocketDestroyEvents) Next() ([]Socket, error) {
	for {
		n, err := s.file.Read(s.in)
		atNs := sched.Now()
		if errors.Is(err, unix.ENOBUFS) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var list []Socket
		for rest := s.in[:n]; len(rest) >= headerLen; {
			var m message
			if m, rest, err = cutMessage(rest); err != nil {
				return nil, err
			}
			if m.kind == sockDiagByFamily && len(m.payload) >= diagMessageLen {
				list = append(list, parseSocket(m.payload, atNs))
			}
		}
		return list, nil
	}
}

// parseSocket reads struct inet_diag_msg: family, state, timer, retransmissions;
// then the two ports, in network order, and 16 bytes for each address.
func parseSocket(body []byte, atNs int64) Socket {
	end := func(port, address int) netip.AddrPort {
		size := 4
		if body[0] == unix.AF_INET6 {
			size = 16
		}
		addr, _ := netip.AddrFromSlice(body[address : address+size])
		return netip.AddrPortFrom(addr.Unmap(), uint16(body[port])<<8|uint16(body[port+1]))
	}
	s := Socket{
		Local: end(4, 8), Remote: end(6, 24),
		Established:  body[1] == record.TCPEstablished,
		Listening:    body[1] == tcpListen,
		ReceiveQueue: int64(native.Uint32(body[56:])), SendQueue: int64(native.Uint32(body[60:])),
		AtNs: atNs,
	}
	for a := range attributes(body[diagMessageLen:]) {
		switch a.kind {
		case inetDiagInfo:
			var raw unix.TCPInfo // as much of it as the kernel knows
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&raw)), unsafe.Sizeof(raw)), a.data)
			info := sock.ParseTCPInfo(&raw)
			s.Info = &info
		case inetDiagCong:
			s.CongestionControl = cString(a.data)
		}
	}
	return s
}
