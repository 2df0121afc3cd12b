package record

import (
	"fmt"
	"net/netip"
)

// PortsExhausted says that a flow could not be opened, or not all of it, because no
// port of the opener was left for it.
type PortsExhausted struct {
	// Source is invalid where the kernel was to choose and no connection was open.
	Source      netip.Addr     `json:"source,omitzero"`
	Destination netip.AddrPort `json:"destination"`
	// Bound: the port was to be taken by bind(2) for the source alone, wherever the
	// connection goes; otherwise by connect(2) for this source and destination.
	Bound bool `json:"bound,omitempty"`
	// FirstPort and LastPort are net.ipv4.ip_local_port_range; 0: not known.
	FirstPort uint16 `json:"first_port,omitempty"`
	LastPort  uint16 `json:"last_port,omitempty"`
	// Open is how many of the flow's Wanted connections were open by then.
	Open   int `json:"open"`
	Wanted int `json:"wanted"`
}

// Ports is how many ports the range has.
func (p PortsExhausted) Ports() int {
	if p.LastPort == 0 {
		return 0
	}
	return int(p.LastPort) - int(p.FirstPort) + 1
}

// Range spells the range of ports.
func (p PortsExhausted) Range() string {
	if p.Ports() == 0 {
		return "net.ipv4.ip_local_port_range"
	}
	return fmt.Sprintf("net.ipv4.ip_local_port_range, %d to %d (%d)", p.FirstPort, p.LastPort, p.Ports())
}

// Error makes it the reason why a flow could not be opened.
func (p *PortsExhausted) Error() string { return p.String() }

func (p PortsExhausted) String() string {
	source := "any address"
	if p.Source.IsValid() {
		source = p.Source.String()
	}
	text := fmt.Sprintf("connect %s → %s: ", source, p.Destination)
	if p.Bound {
		text += fmt.Sprintf(
			"no port of %s is left to bind (EADDRINUSE): bind took one of %s for each connection of this address, wherever it goes; "+
				"let connect choose (bind_no_port), or use further source addresses", source, p.Range())
	} else {
		text += fmt.Sprintf("no port is left between these two (EADDRNOTAVAIL): all of %s are in use; "+
			"use further source or destination addresses, or widen the range", p.Range())
	}
	return text + fmt.Sprintf(" (%d of %d connections were open by then)", p.Open, p.Wanted)
}

// DescriptorsExhausted says that a flow could not be opened, or not all of it, because its
// opener's process had no descriptor left.
type DescriptorsExhausted struct {
	// Limit is RLIMIT_NOFILE of the process (getrlimit(2)); 0: not known.
	Limit int `json:"limit,omitempty"`
	// Open is how many of the flow's Wanted connections were open by then.
	Open   int `json:"open"`
	Wanted int `json:"wanted"`
}

// Error makes it the reason why a flow could not be opened.
func (d *DescriptorsExhausted) Error() string {
	return fmt.Sprintf(
		"no descriptor is left for a further connection (EMFILE): this process may have %d; raise RLIMIT_NOFILE (ulimit -n), or open them from further hosts (%d of %d connections were open by then)",
		d.Limit, d.Open, d.Wanted)
}
