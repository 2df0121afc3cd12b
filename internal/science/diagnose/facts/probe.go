package facts

import (
	"slices"

	"linerate/internal/model/netstate"
)

// EchoUnanswered reports whether a probe got no echo reply and no connection was accepted.
func EchoUnanswered(p netstate.Probe) bool {
	return p.Echo != nil && p.Echo.Sent > 0 && p.Echo.Received == 0 &&
		!slices.ContainsFunc(p.Connects, func(c netstate.ConnectProbe) bool {
			return c.Outcome == netstate.ConnectAccepted
		})
}

// OtherHost is the kernel's reason for dropping packets for other MAC addresses.
const OtherHost = "OTHERHOST"

// SilentPeer returns the address of a peer, probed by the interface without an answer, whose replies
// may be the packets for other MAC addresses that arrive there; empty: there is none.
func (h *Host) SilentPeer(name string) string {
	if h.lookups.silent == nil {
		h.lookups.silent = map[string]string{}
		for _, p := range h.State.Probes {
			if h.lookups.silent[p.Interface] == "" && EchoUnanswered(p) {
				h.lookups.silent[p.Interface] = p.Address
			}
		}
	}
	return h.lookups.silent[name]
}
