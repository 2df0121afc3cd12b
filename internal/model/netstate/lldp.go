package netstate

import (
	"cmp"
	"slices"
)

// LLDPNeighbour describes the other end of a cable by LLDP (IEEE 802.1AB) or a similar protocol, as
// lldpd reports it.
type LLDPNeighbour struct {
	Interface string `json:"interface" is:"interface"`
	Protocol  string `json:"protocol,omitempty" is:"words"` // LLDP, CDPv2, …
	// Chassis is the identifier of the system, often a MAC address. System is its name, and
	// Description its system description.
	Chassis     string   `json:"chassis,omitempty" is:"system"`
	System      string   `json:"system,omitempty" is:"system"`
	Description string   `json:"description,omitempty" is:"text"`
	Addresses   []string `json:"management_addresses,omitempty" is:"words"`
	// Capabilities are the enabled ones: Bridge, Router, Station, …
	Capabilities []string `json:"capabilities,omitempty" is:"words"`
	// Port is the port identifier, and PortDescription its description.
	Port            string `json:"port,omitempty" is:"words"`
	PortDescription string `json:"port_description,omitempty" is:"description"`
	// MFS is the maximum frame size of the port in bytes; some systems report their MTU instead. 0:
	// not reported.
	MFS int `json:"max_frame_bytes,omitempty"`
	// Media is the operational MAU type of the port (RFC 4836); the following fields are derived
	// from it. Zero values and nil: unknown.
	Media     string `json:"media,omitempty" is:"words"`
	SpeedMbps int64  `json:"speed_mbps,omitempty"`
	Duplex    string `json:"duplex,omitempty" is:"word"` // full, half
	Autoneg   *bool  `json:"autoneg,omitempty"`
	// PVID is the VLAN of untagged frames. VLANs are those that the port advertises.
	PVID  int   `json:"pvid,omitempty"`
	VLANs []int `json:"vlans,omitempty"`
}

// MostLLDPNeighbours limits the neighbours of a host.
const MostLLDPNeighbours = 256

// Place returns a name for the port: "port Gi1/0/7 of sw1".
func (n LLDPNeighbour) Place() string {
	port, system := n.Port, n.System
	if len(port) == 17 && n.PortDescription != "" || port == "" { // a MAC address
		port = n.PortDescription
	}
	system = cmp.Or(system, n.Chassis)
	return "port " + port + " of " + system
}

// Switches reports whether the neighbour forwards frames or packets: it is a bridge or a router.
func (n LLDPNeighbour) Switches() bool {
	return slices.ContainsFunc(n.Capabilities, func(c string) bool { return c == "Bridge" || c == "Router" })
}
