package netlink

import (
	"net/netip"

	"linerate/internal/model/record"
)

// Socket is somebody's TCP or UDP socket as the kernel sees it from outside.
type Socket struct {
	// Local and Remote are its addresses; IPv4 ones as such, also on an IPv6 socket.
	// Remote is unspecified where there is none.
	Local, Remote netip.AddrPort
	// Established: a TCP connection on which both ends may still send.
	Established bool
	Listening   bool
	// ReceiveQueue has arrived and was not read yet; SendQueue was written and is
	// not acknowledged yet. Bytes.
	ReceiveQueue, SendQueue int64
	CongestionControl       string
	Info                    *record.TCPInfo // nil: none, as for UDP
	// AtNs is when the kernel looked, or told of the end.
	AtNs int64
}
