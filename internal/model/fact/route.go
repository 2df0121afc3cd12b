package fact

import "net/netip"

// Facts about routes.
type (
	// Route is a route as ip-route(8) prints it, without its table.
	Route struct {
		Is         string   `json:"is,omitempty"`
		Table      int      `json:"table"`
		Route      string   `json:"route"`
		Interfaces []string `json:"interfaces,omitempty"`
	}
	// Addresses are those of an interface, with their prefix lengths.
	Addresses struct {
		Interface string         `json:"interface"`
		Addresses []netip.Prefix `json:"addresses,omitempty"`
	}
)

var (
	_ = is[Route]("route")
	_ = is[Addresses]("addresses")
)

// Names returns the interfaces.
func (r Route) Names() []string { return r.Interfaces }

// Names returns the interface.
func (a Addresses) Names() []string { return []string{a.Interface} }
