package message

import (
	"net/netip"

	"linerate/internal/model/record"
)

// WatchedFlow is a flow as its packets identify it.
type WatchedFlow struct {
	ID string `json:"id"`
	// Protocol is that of the packets, tcp or udp.
	Protocol    string         `json:"protocol"`
	Source      netip.AddrPort `json:"source"`
	Destination netip.AddrPort `json:"destination"`
}

// Lookups are route questions to a host's kernel, and in the reply the answers, in the
// questions' order.
type Lookups struct {
	Lookups []record.RouteLookup `json:"lookups"`
}

// PortsRequest asks a host for unused ports, to open connections
// from.
type PortsRequest struct {
	Protocol string `json:"protocol"` // tcp or udp
	// Source is where the connections are opened from; invalid: what the kernel
	// chooses for Destination.
	Source      netip.Addr `json:"source,omitzero"`
	Destination netip.Addr `json:"destination"`
	Count       int        `json:"count"`
}

// PortsReply has them.
type PortsReply struct {
	Source netip.Addr `json:"source"`
	Ports  []uint16   `json:"ports"`
}
