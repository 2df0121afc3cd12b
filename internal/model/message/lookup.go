package message

import (
	"net/netip"

	"linerate/internal/model/netstate"
)

// WatchedFlow identifies a flow by the fields of its packets.
type WatchedFlow struct {
	ID string `json:"id"`
	// Protocol is that of the packets, tcp or udp.
	Protocol    string         `json:"protocol"`
	Source      netip.AddrPort `json:"source"`
	Destination netip.AddrPort `json:"destination"`
}

// Lookups are route lookups for a host's kernel to answer. The reply has the answers in the same
// order.
type Lookups struct {
	Lookups []netstate.RouteLookup `json:"lookups"`
}

// PortsRequest asks a host for unused ports to open connections from.
type PortsRequest struct {
	Protocol string `json:"protocol"` // tcp or udp
	// Source is the address of the connections. Zero: the address that the kernel selects for
	// Destination.
	Source      netip.Addr `json:"source,omitzero"`
	Destination netip.Addr `json:"destination"`
	Count       int        `json:"count"`
}

// PortsReply has the source address and the unused ports.
type PortsReply struct {
	Source netip.Addr `json:"source"`
	Ports  []uint16   `json:"ports"`
}
