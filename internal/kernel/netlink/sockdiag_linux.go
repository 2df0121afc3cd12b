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
	"linerate/internal/model/netstate"
)

// SocketDiag lists the sockets of all processes in the network namespace in which it was opened,
// like ss(8) (sock_diag(7)), and reports TCP connections that the kernel destroys there. It
// requires no privilege.
type SocketDiag struct {
	conn      *Conn
	destroyed *os.File // nil: Watch was not called
	in        []byte
}

const socketDiagnostics = "socket diagnostics"

// DialSocketDiag opens the socket (NETLINK_SOCK_DIAG).
func DialSocketDiag() (*SocketDiag, error) {
	conn, err := open(unix.NETLINK_SOCK_DIAG, socketDiagnostics)
	if err != nil {
		return nil, err
	}
	return &SocketDiag{conn: conn}, nil
}

// Watch subscribes to TCP connections that are destroyed from now on (Linux 4.2), for Destroyed.
func (s *SocketDiag) Watch() error {
	events, err := open(unix.NETLINK_SOCK_DIAG, socketDiagnostics)
	if err != nil {
		return err
	}
	fail := func(op string, err error) error {
		_ = events.Close()
		return &kernel.Error{Op: op, Object: socketDiagnostics, Err: err}
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
	s.destroyed, s.in = os.NewFile(uintptr(events.fd), socketDiagnostics), events.in
	return nil
}

// Close closes the sockets. A waiting Destroyed returns.
func (s *SocketDiag) Close() error {
	if s.destroyed == nil {
		return s.conn.Close()
	}
	return errors.Join(s.conn.Close(), s.destroyed.Close())
}

// linux/sock_diag.h, linux/inet_diag.h and net/tcp_states.h.
const (
	tcpDiagGetSock   = 18
	sockDiagByFamily = 20
	inetDiagInfo     = 2
	inetDiagCong     = 4
	inetDiagMemory   = 7 // INET_DIAG_SKMEMINFO

	diagRequestLen = 56 // struct inet_diag_req_v2
	diagMessageLen = 72 // struct inet_diag_msg

	tcpListen = 10
	anyState  = ^uint32(0)
)

// TCP lists connections, without those in TIME_WAIT, SYN_RECV or CLOSE; or the listening sockets if
// listening is true.
func (s *SocketDiag) TCP(listening bool) ([]Socket, error) {
	const timeWait, synRecv, closed = 6, 3, 7
	states := anyState &^ (1<<timeWait | 1<<synRecv | 1<<closed | 1<<tcpListen)
	if listening {
		states = 1 << tcpListen
	}
	return s.tcp(states)
}

// AllTCP lists connections in every state, and the listening sockets.
func (s *SocketDiag) AllTCP() ([]Socket, error) { return s.tcp(anyState) }

// tcp requests both families together (struct inet_diag_req), because the kernel walks its whole
// table of connections for each request, which takes about a millisecond if the table is large.
func (s *SocketDiag) tcp(states uint32) ([]Socket, error) {
	request := make([]byte, diagRequestLen+4) // states are behind the addresses, 52 bytes on
	request[3] = 1<<(inetDiagInfo-1) | 1<<(inetDiagCong-1)
	native.PutUint32(request[52:], states)
	return list(s.conn, "list sockets", tcpDiagGetSock, tcpDiagGetSock, diagMessageLen, [][]byte{request},
		func(body []byte, atNs int64) (Socket, bool) { return parseSocket(body, atNs), true })
}

// UDP lists the sockets that are bound to a port.
func (s *SocketDiag) UDP() ([]Socket, error) {
	requests := bothFamilies(diagRequestLen)
	for _, r := range requests {
		r[1], r[2] = unix.IPPROTO_UDP, 1<<(inetDiagInfo-1)|1<<(inetDiagCong-1)|1<<(inetDiagMemory-1)
		native.PutUint32(r[4:], anyState)
	}
	return list(s.conn, "list sockets", sockDiagByFamily, sockDiagByFamily, diagMessageLen, requests,
		func(body []byte, atNs int64) (Socket, bool) { return parseSocket(body, atNs), true })
}

// Destroyed waits until the kernel destroys connections, and returns them with their final
// counters, like ss -E. Events are lost if the receive buffer is full. It must be called by one
// goroutine only.
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

// parseSocket parses struct inet_diag_msg: family, state, timer, retransmissions, the two ports in
// network byte order, and 16 bytes for each address.
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
		Established:  body[1] == netstate.TCPEstablished,
		Listening:    body[1] == tcpListen,
		State:        body[1],
		ReceiveQueue: int64(native.Uint32(body[56:])), SendQueue: int64(native.Uint32(body[60:])),
		UID: native.Uint32(body[64:]), Inode: native.Uint32(body[68:]),
		Cookie: uint64(native.Uint32(body[44:])) | uint64(native.Uint32(body[48:]))<<32,
		AtNs:   atNs,
	}
	for a := range attributes(body[diagMessageLen:]) {
		switch a.kind {
		case inetDiagInfo:
			info := sock.ParseTCPInfo(a.data)
			s.Info = &info
		case inetDiagCong:
			s.CongestionControl = cString(a.data)
		case inetDiagMemory:
			if len(a.data) >= 8 { // SK_MEMINFO_RCVBUF is the second
				s.ReceiveBuffer = int64(native.Uint32(a.data[4:]))
			}
		}
	}
	return s
}
