package fact

import (
	"net/netip"

	"linerate/internal/model/lists"
)

// Facts about interfaces in one subnet, of one host or of two.
type (
	// End is an interface of a host. An empty Host means the host of the finding.
	End struct {
		Host      string `json:"host,omitempty"`
		Interface string `json:"interface"`
	}
	// Addressed lists interfaces with their addresses or networks.
	Addressed struct {
		Ends []AddressedEnd `json:"ends"`
	}
	// AddressedEnd is an interface with its addresses or networks.
	AddressedEnd struct {
		End
		Prefixes []netip.Prefix `json:"prefixes"`
	}
	// SameAddress is an interface with an address that another host has as well.
	SameAddress struct {
		Interface string       `json:"interface"`
		Prefix    netip.Prefix `json:"prefix"`
		MAC       string       `json:"mac"`
	}
	// SameMAC lists interfaces that have the same MAC address.
	SameMAC struct {
		Ends []End  `json:"ends"`
		MAC  string `json:"mac"`
	}
	// MTUs lists interfaces with their MTUs.
	MTUs struct {
		Ends []MTUEnd `json:"ends"`
	}
	// MTUEnd is an interface with its MTU.
	MTUEnd struct {
		End
		MTU int `json:"mtu"`
	}
)

var _ = are(Addressed{}, SameAddress{}, SameMAC{})
var _ = is[MTUs]("mtus")

// Names returns the interfaces of the finding's host.
func (a Addressed) Names() (names []string) {
	return lists.Flat(a.Ends, func(e AddressedEnd) []string { return own(e.End) })
}

// Names returns the interfaces of the finding's host.
func (s SameMAC) Names() (names []string) {
	return lists.Flat(s.Ends, own)
}

// own returns the interface of an end on the finding's host; none for other hosts.
func own(e End) []string {
	if e.Host != "" {
		return nil
	}
	return []string{e.Interface}
}
