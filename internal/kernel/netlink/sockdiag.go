package netlink

import (
	"net/netip"

	"linerate/internal/model/netstate"
)

// Socket is a TCP or UDP socket of any process (struct inet_diag_msg, sock_diag(7)).
type Socket struct {
	// Local and Remote are the addresses. They are IPv4 addresses also for an IPv6 socket that is
	// connected to an IPv4 address. Remote is the unspecified address if the socket is not
	// connected.
	Local, Remote netip.AddrPort
	// Established reports whether it is a TCP connection on which both ends may still send.
	Established bool
	Listening   bool
	// State is the number of the TCP state (net/tcp_states.h).
	State uint8
	// ReceiveQueue is the number of bytes that arrived and were not read. SendQueue is the number
	// of bytes that were written and are not acknowledged.
	ReceiveQueue, SendQueue int64
	// ReceiveBuffer is SO_RCVBUF of a UDP socket as the kernel counts it (socket(7)). 0: unknown.
	ReceiveBuffer     int64
	CongestionControl string
	Info              *netstate.TCPInfo // nil if there is none, as for UDP
	// UID is the user who created the socket. Inode is its number in /proc/PID/fd.
	UID, Inode uint32
	// Cookie is the kernel's number of the socket, which is never reused.
	Cookie uint64
	// AtNs is when the kernel filled the answer, or reported the end of the connection, by
	// sched.Now.
	AtNs int64
}
