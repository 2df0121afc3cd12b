package fact

import "net/netip"

// Facts about routes and rules.
type (
	// Route is a route as ip-route(8) prints it, without its table.
	Route struct {
		Is         string   `json:"is,omitempty"` // Discarding, ByGroup, WayBack; empty: one by a gateway
		Table      int      `json:"table"`
		Route      string   `json:"route"`
		Interfaces []string `json:"interfaces,omitempty"`
	}
	// Addresses are those of an interface, with their prefix lengths.
	Addresses struct {
		Interface string         `json:"interface"`
		Addresses []netip.Prefix `json:"addresses,omitempty"`
	}
	// Waiting is a connection whose SYN was sent again.
	Waiting struct {
		Local  string `json:"local"`
		Remote string `json:"remote"`
		Again  int    `json:"again"`
	}
	// Routeless is an address to which there is no route.
	Routeless struct {
		To netip.Addr `json:"to"`
	}
	// DeadMember is a member of a group of nexthop objects by which nothing gets through: for a
	// flag, or because its gateway does not answer.
	DeadMember struct {
		ID        int    `json:"id"`
		Group     int    `json:"group"`
		Weight    int    `json:"weight"`
		Flag      string `json:"flag,omitempty"`
		Gateway   string `json:"gateway,omitempty"`
		State     string `json:"state,omitempty"` // of the gateway's entry
		Interface string `json:"interface,omitempty"`
	}
	// DeadShare is the share of a group's weights that is of such members.
	DeadShare struct {
		Share float64 `json:"share"`
		Lost  bool    `json:"lost,omitempty"` // what is hashed to them; otherwise the group leaves them out at times
	}
	// Rule is a routing rule.
	Rule struct {
		Priority int    `json:"priority"`
		From     string `json:"from,omitempty"`
		To       string `json:"to,omitempty"`
		Table    int    `json:"table"` // which has no routes
	}
	// Rules is how many routing rules there are.
	Rules struct {
		Count int `json:"count"`
	}
	// Leaving is the interface by which packets leave, as the kernel says.
	Leaving struct {
		Sources      []At         `json:"sources"`
		Destinations []netip.Addr `json:"destinations"`
		Interface    string       `json:"interface"`
	}
	// Sent is what interfaces sent of a host's traffic, and the share that came from their addresses.
	Sent struct {
		By []SentBy `json:"by"`
	}
	// SentBy is one of them.
	SentBy struct {
		Interface string  `json:"interface"`
		Sent      float64 `json:"sent"`
		Meant     float64 `json:"meant"`
	}
)

// What a route is.
const (
	Discarding = "discarding"
	ByGroup    = "by-group"
	WayBack    = "way-back"
)

var (
	_ = is[Route]("route")
	_ = is[Addresses]("addresses")
	_ = is[Waiting]("waiting")
	_ = is[Routeless]("routeless")
	_ = is[DeadMember]("dead_member")
	_ = is[DeadShare]("dead_share")
	_ = is[Rule]("rule")
	_ = is[Rules]("rules")
	_ = is[Leaving]("leaving")
	_ = is[Sent]("sent")
)

// Names returns the interfaces.
func (r Route) Names() []string { return r.Interfaces }

// Names returns the interface.
func (a Addresses) Names() []string { return []string{a.Interface} }

// Names returns the interface.
func (m DeadMember) Names() []string { return []string{m.Interface} }
