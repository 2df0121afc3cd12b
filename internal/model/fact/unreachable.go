package fact

import "net/netip"

// Facts about flows that did not connect, and about the path of their packets. Fact.Host is the
// host that was read.
type (
	// Unreached is a flow whose opener cannot reach another host.
	Unreached struct {
		Flow    string     `json:"flow"`
		Other   string     `json:"other"`
		Address netip.Addr `json:"address,omitzero"` // an address of Other; zero: not known
		Error   string     `json:"error,omitempty"`
	}
	// SendsBy is the interface by which a host sends to an address, according to its kernel.
	SendsBy struct {
		Interface string `json:"interface"`
		Router    string `json:"router,omitempty"` // empty: directly to the address
	}
	// NoRoute is the error of a failed route lookup.
	NoRoute struct {
		Error string `json:"error"`
	}
	// NotForwarding says that net.ipv4.ip_forward is 0.
	NotForwarding struct{}
	// NoReply is a neighbour that answered neither ARP nor neighbour discovery.
	NoReply struct{ Neighbour }
	// NoHolder is an address that no host which was read has.
	NoHolder struct {
		Address netip.Addr `json:"address"`
	}
	// HolderDown is the interface with an address, which is down.
	HolderDown struct {
		Interface string `json:"interface"`
	}
	// MisledBy is a neighbour entry with a MAC address that does not belong to the interface with the
	// address.
	MisledBy struct {
		Neighbour
		Whose string `json:"whose,omitempty"` // HOST.INTERFACE that has the MAC address; empty: not known
		Right string `json:"right"`           // MAC address of the interface with the address
	}
)

var _ = are(Unreached{}, SendsBy{}, NoRoute{}, NotForwarding{}, NoReply{}, NoHolder{}, HolderDown{}, MisledBy{})

// Names returns the interface.
func (s SendsBy) Names() []string { return []string{s.Interface} }

// Names returns net.ipv4.ip_forward.
func (NotForwarding) Names() []string { return []string{"net.ipv4.ip_forward"} }
