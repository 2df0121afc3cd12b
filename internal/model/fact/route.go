package fact

import "net/netip"

// Facts about routes and routing rules.
type (
	// Route is a route as ip-route(8) prints it, without its table.
	Route struct {
		Is         string   `json:"is,omitempty"` // Discarding, ByGroup or WayBack; empty: a route by a gateway
		Table      int      `json:"table"`
		Route      string   `json:"route"`
		Interfaces []string `json:"interfaces,omitempty"`
	}
	// Addresses lists the addresses of an interface, with their prefix lengths.
	Addresses struct {
		Interface string         `json:"interface"`
		Addresses []netip.Prefix `json:"addresses,omitempty"`
	}
	// Waiting is a connection that has sent its SYN again.
	Waiting struct {
		Local  string `json:"local"`
		Remote string `json:"remote"`
		Again  int    `json:"again"`
	}
	// Routeless is an address to which a host has no route.
	Routeless struct {
		To netip.Addr `json:"to"`
	}
	// DeadMember is a member of a group of nexthop objects that lets nothing through, because of a flag
	// or because its gateway does not answer.
	DeadMember struct {
		ID        int    `json:"id"`
		Group     int    `json:"group"`
		Weight    int    `json:"weight"`
		Flag      string `json:"flag,omitempty"` // dead, linkdown or blackhole
		Gateway   string `json:"gateway,omitempty"`
		State     string `json:"state,omitempty"` // of the gateway's neighbour entry
		Interface string `json:"interface,omitempty"`
	}
	// DeadShare is the share of such members in the weights of a group.
	DeadShare struct {
		Share float64 `json:"share"`
		// Lost reports whether what is hashed to them is lost. Otherwise the group leaves them out
		// while they are known not to answer.
		Lost bool `json:"lost,omitempty"`
	}
	// Rule is a routing rule that leads to a table without routes.
	Rule struct {
		Priority int    `json:"priority"`
		From     string `json:"from,omitempty"`
		To       string `json:"to,omitempty"`
		Table    int    `json:"table"` // number of the table
	}
	// Rules is the number of routing rules.
	Rules struct {
		Count int `json:"count"`
	}
	// Leaving is the interface by which packets leave, according to the kernel's route lookup.
	Leaving struct {
		Sources      []At         `json:"sources"`
		Destinations []netip.Addr `json:"destinations"`
		Interface    string       `json:"interface"`
	}
	// Sent compares what the interfaces of a host sent with what should have left by each.
	Sent struct {
		By []SentBy `json:"by"`
	}
	// SentBy is an interface's share of what all sent, and the share that came from its address
	// (Meant).
	SentBy struct {
		Interface string  `json:"interface"`
		Sent      float64 `json:"sent"`
		Meant     float64 `json:"meant"`
	}
)

// Values of Route.Is.
const (
	Discarding = "discarding"
	ByGroup    = "by-group"
	WayBack    = "way-back"
)

var _ = are(Route{}, Addresses{}, Waiting{}, Routeless{}, DeadMember{}, DeadShare{}, Rule{}, Rules{}, Leaving{},
	Sent{})

// Names returns the interfaces.
func (r Route) Names() []string { return r.Interfaces }

// Names returns the interface.
func (a Addresses) Names() []string { return []string{a.Interface} }

// Names returns the interface.
func (m DeadMember) Names() []string { return []string{m.Interface} }
