package record

import (
	"fmt"
	"net/netip"
)

// Touch is one thing that a finding depends on. Exactly one is given. It is comparable.
type Touch struct {
	Device string `json:"device,omitempty"`  // an interface
	OnLink string `json:"on_link,omitempty"` // an interface and the neighbours there
	// by a neighbour at an interface, which no cause of this host has
	Advertised string         `json:"advertised,omitempty"`
	Address    netip.Addr     `json:"address,omitzero"`
	Network    netip.Prefix   `json:"network,omitzero"`
	Socket     netip.AddrPort `json:"socket,omitzero"`
	Port       uint16         `json:"port,omitempty"` // of every address
	Via        netip.Addr     `json:"via,omitzero"`   // a gateway
	Route      netip.Prefix   `json:"route,omitzero"`
	// Back are the sources of what is answered: an own address of a connection, or the
	// destinations of a route of answers.
	Back     netip.Prefix `json:"back,omitzero"`
	AnyRoute bool         `json:"any_route,omitempty"` // interface, gateway and route are not known
	// Parameter is a kernel parameter. It is no place: findings of one parameter need not follow
	// from each other.
	Parameter string `json:"parameter,omitempty"`
}

// Place spells a touch as places of documents are; empty: it is none.
func (t Touch) Place() string {
	switch {
	case t.Device != "":
		return "dev " + t.Device
	case t.OnLink != "":
		return "on " + t.OnLink
	case t.Advertised != "":
		return "advertised by " + t.Advertised
	case t.Address.IsValid():
		return t.Address.String()
	case t.Network.IsValid():
		return t.Network.String()
	case t.Socket.IsValid():
		return t.Socket.String()
	case t.Port != 0:
		return fmt.Sprintf("*:%d", t.Port)
	case t.Via.IsValid():
		return "via " + t.Via.String()
	case t.Route.IsValid():
		return "route " + t.Route.String()
	case t.Back.IsValid() && t.Back.IsSingleIP():
		return "from " + t.Back.Addr().String()
	case t.Back.IsValid():
		return "from " + t.Back.String()
	case t.AnyRoute:
		return AnyRoute
	}
	return ""
}
