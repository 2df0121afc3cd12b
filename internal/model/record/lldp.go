package record

// LLDPNeighbour is what the other end of a cable says of itself by LLDP (IEEE 802.1AB) or a
// protocol like it, as lldpd has it.
type LLDPNeighbour struct {
	Interface string `json:"interface"`
	Protocol  string `json:"protocol,omitempty"` // LLDP, CDPv2, …
	// Chassis is the system's identifier, often a MAC address; System its name and Description
	// its text.
	Chassis     string   `json:"chassis,omitempty"`
	System      string   `json:"system,omitempty"`
	Description string   `json:"description,omitempty"`
	Addresses   []string `json:"management_addresses,omitempty"`
	// Capabilities are those that are on: Bridge, Router, Station, …
	Capabilities []string `json:"capabilities,omitempty"`
	// Port is the port's identifier, and PortDescription its text.
	Port            string `json:"port,omitempty"`
	PortDescription string `json:"port_description,omitempty"`
	// MFS is the largest frame that the port takes, in bytes; some systems give their MTU.
	// 0: it does not say.
	MFS int `json:"max_frame_bytes,omitempty"`
	// Media is the port's operational MAU type (RFC 4836), with what that means; 0, empty and
	// absent: it is not known.
	Media     string `json:"media,omitempty"`
	SpeedMbps int64  `json:"speed_mbps,omitempty"`
	Duplex    string `json:"duplex,omitempty"` // full, half
	Autoneg   *bool  `json:"autoneg,omitempty"`
	// PVID is the VLAN of frames without a tag, and VLANs those that the port names.
	PVID  int   `json:"pvid,omitempty"`
	VLANs []int `json:"vlans,omitempty"`
}

// MostLLDPNeighbours bounds those of a host.
const MostLLDPNeighbours = 256

// Place names the port: "port Gi1/0/7 of sw1".
func (n LLDPNeighbour) Place() string {
	port, system := n.Port, n.System
	if len(port) == 17 && n.PortDescription != "" || port == "" { // a MAC address
		port = n.PortDescription
	}
	if system == "" {
		system = n.Chassis
	}
	return "port " + port + " of " + system
}

// Switches reports whether the neighbour forwards: it is a bridge or a router.
func (n LLDPNeighbour) Switches() bool {
	for _, c := range n.Capabilities {
		if c == "Bridge" || c == "Router" {
			return true
		}
	}
	return false
}
