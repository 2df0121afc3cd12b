package record

import (
	"cmp"
	"slices"
)

// Notable reports whether a TCP connection, described by its state of ss(8), its queues and
// its TCP_INFO (nil: not known), waits for something: for an answer to a SYN, for the program
// to close, to be read or to be acknowledged after retransmissions.
func Notable(state string, receiveQueue, sendQueue int64, i *TCPInfo) bool {
	switch state {
	case TCPStates[TCPEstablished]:
		return receiveQueue > 0 || sendQueue > 0 || i != nil && (i.Backoff > 0 || i.Retransmits > 0 || i.TotalRetrans > 0 && i.SegsOut > 0 && i.TotalRetrans*100 >= i.SegsOut)
	case "TIME-WAIT":
		return false
	}
	return true
}

// mostNotable and mostListeners bound the lists of sockets.
const mostNotable, mostListeners = 256, 4096

// BoundSockets sorts the lists of sockets, those with the longest queues and the most drops
// first, and bounds them.
func (s *HostState) BoundSockets() {
	slices.SortStableFunc(s.Notable, func(a, b Connection) int {
		return cmp.Or(cmp.Compare(b.SendQueue+b.ReceiveQueue, a.SendQueue+a.ReceiveQueue), cmp.Compare(a.Remote, b.Remote))
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

// TCPStates are the names of ss(8) of the states of net/tcp_states.h, by their numbers.
var TCPStates = [...]string{1: "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING", "NEW-SYN-RECV"}
