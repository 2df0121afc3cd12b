package record

import (
	"cmp"
	"net/netip"
	"slices"
)

// Notable reports whether a TCP connection, described by its state of ss(8), its queues and
// its TCP_INFO (nil: not known), waits for something: for an answer to a SYN, for the program
// to close, to be read or to be acknowledged after retransmissions.
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

// CountTimeWait counts a connection in TIME-WAIT for TimeWaitBetween. Between has those that were
// counted before, by local address and remote address and port.
func (s *HostState) CountTimeWait(between map[[2]netip.AddrPort]int, local, remote netip.AddrPort) {
	ends := [2]netip.AddrPort{netip.AddrPortFrom(local.Addr().Unmap(), 0), netip.AddrPortFrom(remote.Addr().Unmap(),
		remote.Port())}
	between[ends]++
	s.TimeWaitBetween = max(s.TimeWaitBetween, between[ends])
}

// mostNotable and mostListeners bound the lists of sockets.
const mostNotable, mostListeners = 256, 4096

// BoundSockets sorts the lists of sockets, those with the longest queues and the most drops
// first, and bounds them.
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

// TCPEstablished is the State of a connection on which both ends may still send
// (linux/tcp_states.h).
const TCPEstablished = 1

// TimeWait is the state of a connection that this end closed first, for a minute after it.
const TimeWait = "TIME-WAIT"

// TCPStates are the names of ss(8) of the states of net/tcp_states.h, by their numbers.
var TCPStates = [...]string{1: "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", TimeWait, "UNCONN",
	"CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING", "NEW-SYN-RECV"}
