package netlink

import "net/netip"

// Neighbour is one entry of the ARP or neighbour-discovery table.
type Neighbour struct {
	Interface string
	Address   netip.Addr
	MAC       string // empty: unresolved
	State     string // REACHABLE, STALE, DELAY, PROBE, FAILED, INCOMPLETE, PERMANENT, NOARP
	// Proxy entries answer for somebody else and have no MAC address.
	Proxy  bool
	Object Object
}

// FDBEntry is one entry of a bridge's forwarding table.
type FDBEntry struct {
	Interface string
	MAC       string
	Local     bool // the bridge's own
}
