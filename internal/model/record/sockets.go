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
