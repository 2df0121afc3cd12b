package record

import (
	"fmt"
	"net/netip"
)

// Touch is one thing that a finding depends on. Exactly one field is set. Touches are comparable.
type Touch struct {
	Device string `json:"device,omitempty"`  // an interface
	OnLink string `json:"on_link,omitempty"` // an interface and the neighbours on it
	// Advertised is an interface whose link modes, as advertised by either end, matter.
	Advertised string         `json:"advertised,omitempty"`
	Address    netip.Addr     `json:"address,omitzero"`
	Network    netip.Prefix   `json:"network,omitzero"`
	Socket     netip.AddrPort `json:"socket,omitzero"`
	Port       uint16         `json:"port,omitempty"` // on every address
	Via        netip.Addr     `json:"via,omitzero"`   // a gateway
	Route      netip.Prefix   `json:"route,omitzero"`
	// Back is where answers come from: the address of one end of a connection, or the destinations
	// of the route by which the other host answers.
	Back     netip.Prefix `json:"back,omitzero"`
	AnyRoute bool         `json:"any_route,omitempty"` // interface, gateway and route are unknown
	// Parameter is a kernel parameter. It is not a place: findings about one parameter need not
	// follow from each other.
	Parameter string `json:"parameter,omitempty"`
}

// Place returns the touch as it appears in Finding.Places: "dev eth0". Empty: it is not a place.
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
