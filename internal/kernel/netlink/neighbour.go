package netlink

import "net/netip"

// Neighbour is one entry of the ARP or neighbour discovery table (arp(7)).
type Neighbour struct {
	Interface string
	Address   netip.Addr
	MAC       string // empty: unresolved
	State     string // REACHABLE, STALE, DELAY, PROBE, FAILED, INCOMPLETE, PERMANENT, NOARP
	// Proxy entries answer for another host and have no MAC address.
	Proxy  bool
	Object Object
}
