package netstate

import (
	"cmp"
	"net/netip"
	"slices"
)

// Notable reports whether a TCP connection waits for something: for an answer to a SYN, for the
// program to close or read, or for an acknowledgement after retransmissions. State is its name in
// ss(8), the queues are in bytes, and i is its TCP_INFO; nil: unknown.
func Notable(state string, receiveQueue, sendQueue int64, i *TCPInfo) bool {
	switch state {
	case TCPStates[TCPEstablished]:
		return receiveQueue > 0 || sendQueue > 0 || i != nil && (i.Backoff > 0 || i.Retransmits > 0 ||
			i.TotalRetrans > 0 && i.SegsOut > 0 && i.TotalRetrans*100 >= i.SegsOut)
	case TimeWait:
		return false
	}
	return true
}

// CountTimeWait adds a connection in TIME-WAIT to the counts in between and sets TimeWaitBetween to
// the largest count. The keys of between are a local address and a remote address and port.
func (s *HostState) CountTimeWait(between map[[2]netip.AddrPort]int, local, remote netip.AddrPort) {
	ends := [2]netip.AddrPort{netip.AddrPortFrom(local.Addr().Unmap(), 0), netip.AddrPortFrom(remote.Addr().Unmap(),
		remote.Port())}
	between[ends]++
	s.TimeWaitBetween = max(s.TimeWaitBetween, between[ends])
}

// mostNotable and mostListeners bound the lists of sockets.
const mostNotable, mostListeners = 256, 4096

// BoundSockets sorts the lists of sockets, longest queues and most drops first, and cuts them to
// their bounds.
func (s *HostState) BoundSockets() {
	slices.SortStableFunc(s.Notable, func(a, b Connection) int {
		return cmp.Or(cmp.Compare(b.SendQueue+b.ReceiveQueue, a.SendQueue+a.ReceiveQueue),
			cmp.Compare(a.Remote, b.Remote))
	})
	s.Notable = s.Notable[:min(len(s.Notable), mostNotable)]
	slices.SortStableFunc(s.Listeners, func(a, b Listener) int {
		return cmp.Or(cmp.Compare(b.Drops, a.Drops), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Local, b.Local))
	})
	s.Listeners = s.Listeners[:min(len(s.Listeners), mostListeners)]
}

// TCPEstablished is the state of a connection on which both ends may still send
// (linux/tcp_states.h).
const TCPEstablished = 1

// TimeWait is the state in which a connection stays for a minute after this end closed it first.
const TimeWait = "TIME-WAIT"

// TCPStates has the names in ss(8) of the states in net/tcp_states.h, by number.
var TCPStates = [...]string{1: "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", TimeWait, "UNCONN",
	"CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING", "NEW-SYN-RECV"}
