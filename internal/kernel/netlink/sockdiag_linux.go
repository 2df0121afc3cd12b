//go:build !portable

package netlink

import (
	"errors"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/record"
)

// SocketDiag lists the sockets of all processes in the network namespace in which it was
// opened, as ss(8) does (sock_diag(7)), and reports the TCP connections that the kernel
// destroys there. It needs no privilege.
type SocketDiag struct {
	conn      *Conn
	destroyed *os.File
	in        []byte
}

// DialSocketDiag opens the sockets (NETLINK_SOCK_DIAG) and subscribes to destroyed
// connections (Linux 4.2).
func DialSocketDiag() (*SocketDiag, error) {
	const what = "socket diagnostics"
	events, err := open(unix.NETLINK_SOCK_DIAG, what)
	if err != nil {
		return nil, err
	}
	fail := func(op string, err error) (*SocketDiag, error) {
		_ = events.Close()
		return nil, &kernel.Error{Op: op, Object: what, Err: err}
	}
	const destroyedTCP, destroyedTCP6 = 1, 3 // enum sknetlink_groups
	for _, group := range []int{destroyedTCP, destroyedTCP6} {
		if err := unix.SetsockoptInt(events.fd, unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, group); err != nil {
			return fail("subscribe to destroyed sockets", err)
		}
	}
	// Hundreds of connections may end between two reads.
	_ = unix.SetsockoptInt(events.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
	if err := unix.SetNonblock(events.fd, true); err != nil {
		return fail("set O_NONBLOCK of", err)
	}
	conn, err := open(unix.NETLINK_SOCK_DIAG, what)
	if err != nil {
		_ = events.Close()
		return nil, err
	}
	return &SocketDiag{conn, os.NewFile(uintptr(events.fd), what), events.in}, nil
}

// Close closes the sockets, and ends a Destroyed that waits.
func (s *SocketDiag) Close() error { return errors.Join(s.conn.Close(), s.destroyed.Close()) }

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

// AllTCP lists connections in every state, and the listening sockets.
func (s *SocketDiag) AllTCP() ([]Socket, error) { return s.list(unix.IPPROTO_TCP, anyState) }

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

// Destroyed waits for connections that the kernel destroys, and returns them with their
// final counters, as ss -E prints them. Events for which the receive buffer had no room
// are lost. It is for one goroutine.
func (s *SocketDiag) Destroyed() ([]Socket, error) {
	for {
		n, err := s.destroyed.Read(s.in)
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
		State:        body[1],
		ReceiveQueue: int64(native.Uint32(body[56:])), SendQueue: int64(native.Uint32(body[60:])),
		UID: native.Uint32(body[64:]), Inode: native.Uint32(body[68:]),
		AtNs: atNs,
	}
	for a := range attributes(body[diagMessageLen:]) {
		switch a.kind {
		case inetDiagInfo:
			info := sock.ParseTCPInfo(a.data)
			s.Info = &info
		case inetDiagCong:
			s.CongestionControl = cString(a.data)
		}
	}
	return s
}
