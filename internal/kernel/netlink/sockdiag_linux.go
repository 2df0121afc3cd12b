//go:build !portable

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

// SocketDiag lists the sockets of all processes in the network namespace in which it was
// opened, as ss(8) does (sock_diag(7)). It needs no privilege.
type SocketDiag struct{ conn *Conn }

// DialSocketDiag opens the socket (NETLINK_SOCK_DIAG).
func DialSocketDiag() (*SocketDiag, error) {
	conn, err := open(unix.NETLINK_SOCK_DIAG, "socket diagnostics")
	if err != nil {
		return nil, err
	}
	return &SocketDiag{conn}, nil
}

// Close closes the socket.
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

// TCP lists connections, without those in TIME_WAIT, SYN_RECV or CLOSE, or the
// listening sockets.
func (s *SocketDiag) TCP(listening bool) ([]Socket, error) {
	const timeWait, synRecv, closed = 6, 3, 7
	states := anyState &^ (1<<timeWait | 1<<synRecv | 1<<closed | 1<<tcpListen)
	if listening {
		states = 1 << tcpListen
	}
	return s.list(unix.IPPROTO_TCP, states)
}

// UDP lists the sockets that are bound to a port.
func (s *SocketDiag) UDP() ([]Socket, error) { return s.list(unix.IPPROTO_UDP, anyState) }

func (s *SocketDiag) list(protocol uint8, states uint32) ([]Socket, error) {
	requests := bothFamilies(diagRequestLen)
	for _, r := range requests {
		r[1], r[2] = protocol, 1<<(inetDiagInfo-1)|1<<(inetDiagCong-1)
		native.PutUint32(r[4:], states)
	}
	return list(s.conn, "list sockets", sockDiagByFamily, sockDiagByFamily, diagMessageLen, requests,
		func(body []byte, atNs int64) (Socket, bool) { return parseSocket(body, atNs), true })
}

// SocketDestroyEvents receives an event for each TCP connection of the network
// namespace that the kernel destroys, with its final counters, as ss -E prints (Linux
// 4.2). It needs no privilege.
type SocketDestroyEvents struct {
	file *os.File
	in   []byte
}

// DialSocketDestroyEvents subscribes to the events.
func DialSocketDestroyEvents() (*SocketDestroyEvents, error) {
	const what = "socket diagnostics"
	conn, err := open(unix.NETLINK_SOCK_DIAG, what)
	if err != nil {
		return nil, err
	}
	const destroyedTCP, destroyedTCP6 = 1, 3 // enum sknetlink_groups
	for _, group := range []int{destroyedTCP, destroyedTCP6} {
		if err := unix.SetsockoptInt(conn.fd, unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, group); err != nil {
			_ = conn.Close()
			return nil, &kernel.Error{Op: "subscribe to destroyed sockets", Object: what, Err: err}
		}
	}
	// Hundreds of connections may end between two reads.
	_ = unix.SetsockoptInt(conn.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
	if err := unix.SetNonblock(conn.fd, true); err != nil {
		_ = conn.Close()
		return nil, &kernel.Error{Op: "set O_NONBLOCK of", Object: what, Err: err}
	}
	return &SocketDestroyEvents{os.NewFile(uintptr(conn.fd), what), conn.in}, nil
}

// Close ends the subscription and a Next that waits.
func (s *SocketDestroyEvents) Close() error { return s.file.Close() }

// Next waits for destroyed connections. Events for which the receive buffer had no room
// are lost.
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
