package record

import (
	"fmt"
	"net/netip"
)

// PortsExhausted is the error that some connections of a flow could not be opened because the
// opening host had no port left.
type PortsExhausted struct {
	// Source is invalid if the kernel would choose it and no connection was open.
	Source      netip.Addr     `json:"source,omitzero"`
	Destination netip.AddrPort `json:"destination"`
	// Bound reports whether bind(2) was to take a port for the source address, for any destination.
	// False: connect(2) was to take one for this source and destination.
	Bound bool `json:"bound,omitempty"`
	// FirstPort and LastPort are net.ipv4.ip_local_port_range. 0: unknown.
	FirstPort uint16 `json:"first_port,omitempty"`
	LastPort  uint16 `json:"last_port,omitempty"`
	// Open is the number of the flow's Wanted connections that were open by then.
	Open   int `json:"open"`
	Wanted int `json:"wanted"`
}

// Ports returns the number of ports in the range. 0: unknown.
func (p PortsExhausted) Ports() int {
	if p.LastPort == 0 {
		return 0
	}
	return int(p.LastPort) - int(p.FirstPort) + 1
}

// Range formats the range of ports.
func (p PortsExhausted) Range() string {
	if p.Ports() == 0 {
		return "net.ipv4.ip_local_port_range"
	}
	return fmt.Sprintf("net.ipv4.ip_local_port_range, %d to %d (%d)", p.FirstPort, p.LastPort, p.Ports())
}

// Error implements error.
func (p *PortsExhausted) Error() string { return p.String() }

func (p PortsExhausted) String() string {
	source := "any address"
	if p.Source.IsValid() {
		source = p.Source.String()
	}
	text := fmt.Sprintf("connect %s → %s: ", source, p.Destination)
	if p.Bound {
		text += fmt.Sprintf(
			"no port of %s is left to bind (EADDRINUSE): bind took one of %s for each connection of this address, "+
				"wherever it goes; "+
				"let connect choose (bind_no_port), or use further source addresses", source, p.Range())
	} else {
		text += fmt.Sprintf("no port is left between these two (EADDRNOTAVAIL): all of %s are in use; "+
			"use further source or destination addresses, or widen the range", p.Range())
	}
	return text + fmt.Sprintf(" (%d of %d connections were open by then)", p.Open, p.Wanted)
}

// DescriptorsExhausted is the error that some connections of a flow could not be opened because the
// opening process had no file descriptor left.
type DescriptorsExhausted struct {
	// Limit is RLIMIT_NOFILE of the process (getrlimit(2)). 0: unknown.
	Limit int `json:"limit,omitempty"`
	// Open is the number of the flow's Wanted connections that were open by then.
	Open   int `json:"open"`
	Wanted int `json:"wanted"`
}

// Error implements error.
func (d *DescriptorsExhausted) Error() string {
	return fmt.Sprintf(
		"no descriptor is left for a further connection (EMFILE): this process may have %d; raise RLIMIT_NOFILE "+
			"(ulimit -n), or open them from further hosts (%d of %d connections were open by then)",
		d.Limit, d.Open, d.Wanted)
}
