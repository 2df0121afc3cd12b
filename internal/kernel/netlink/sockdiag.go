package netlink

import (
	"net/netip"

	"linerate/internal/model/record"
)

// Socket is a TCP or UDP socket of any process (struct inet_diag_msg, sock_diag(7)).
type Socket struct {
	// Local and Remote are its addresses; IPv4 also on an IPv6 socket that is connected
	// to an IPv4 address. Remote is unspecified if it is not connected.
	Local, Remote netip.AddrPort
	// Established: a TCP connection on which both ends may still send.
	Established bool
	Listening   bool
	// State is the number of its state (net/tcp_states.h).
	State uint8
	// ReceiveQueue are the bytes that arrived and were not read, SendQueue those that
	// were written and are not acknowledged.
	ReceiveQueue, SendQueue int64
	// ReceiveBuffer is SO_RCVBUF of a UDP socket as the kernel counts it (socket(7)); 0: not known.
	ReceiveBuffer     int64
	CongestionControl string
	Info              *record.TCPInfo // nil: none, as for UDP
	// UID is the user who made it, and Inode what /proc/PID/fd has of it.
	UID, Inode uint32
	// Cookie is the kernel's number of the socket, which no other has had.
	Cookie uint64
	// AtNs is when the kernel filled the answer, or reported the end, by sched.Now.
	AtNs int64
}
