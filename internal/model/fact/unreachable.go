package fact

import "net/netip"

// Facts about flows that did not connect, and the way of their packets. Fact.Host is where that was
// read.
type (
	// Unreached is a flow whose opener does not reach another host.
	Unreached struct {
		Flow    string     `json:"flow"`
		Other   string     `json:"other"`
		Address netip.Addr `json:"address,omitzero"` // of Other; zero: not known
		Error   string     `json:"error,omitempty"`
	}
	// SendsBy is by which interface a host sends to an address, as its kernel said.
	SendsBy struct {
		Interface string `json:"interface"`
		Router    string `json:"router,omitempty"` // empty: to the address itself
	}
	// NoRoute is the error of a route lookup.
	NoRoute struct {
		Error string `json:"error"`
	}
	// NotForwarding: net.ipv4.ip_forward is 0.
	NotForwarding struct{}
	// NoReply is an entry of a neighbour that answered neither ARP nor neighbour discovery.
	NoReply struct{ Neighbour }
	// NoHolder is an address that no host has which was read.
	NoHolder struct {
		Address netip.Addr `json:"address"`
	}
	// HolderDown is the interface with the address, which is down.
	HolderDown struct {
		Interface string `json:"interface"`
	}
	// MisledBy is an entry with a MAC address that is not of the address's interface.
	MisledBy struct {
		Neighbour
		Whose string `json:"whose,omitempty"` // HOST.INTERFACE with that MAC address; empty: not known
		Right string `json:"right"`           // MAC address
	}
)

var (
	_ = is[Unreached]("unreached")
	_ = is[SendsBy]("sends_by")
	_ = is[NoRoute]("no_route")
	_ = is[NotForwarding]("not_forwarding")
	_ = is[NoReply]("no_reply")
	_ = is[NoHolder]("no_holder")
	_ = is[HolderDown]("holder_down")
	_ = is[MisledBy]("misled_by")
)

// Names returns the interface.
func (s SendsBy) Names() []string { return []string{s.Interface} }

// Names returns the parameter.
func (NotForwarding) Names() []string { return []string{"net.ipv4.ip_forward"} }
