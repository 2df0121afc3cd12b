package fact

import "net/netip"

// Facts about flows that a hash spreads. Fact.Host is the host that hashes.
type (
	// Placed is how many flows each link had.
	Placed struct {
		To    netip.Prefix `json:"to,omitzero"`    // destination of the route
		Bond  string       `json:"bond,omitempty"` // or the bond
		Flows int          `json:"flows"`
		By    []PlacedBy   `json:"by"`
	}
	// PlacedBy is one of the links.
	PlacedBy struct {
		Interface string   `json:"interface"`
		Flows     int      `json:"flows"`
		Share     *float64 `json:"share,omitempty"` // of what all sent; absent: not known
	}
	// Pairs is how many different pairs of addresses or hosts flows have.
	Pairs struct {
		Pairs int  `json:"pairs"`
		Hosts bool `json:"hosts,omitempty"`
	}
	// HashPolicy is what the hash of a route goes by.
	HashPolicy struct {
		Family string `json:"family"` // ipv4, ipv6
		Policy int    `json:"policy"` // net.FAMILY.fib_multipath_hash_policy
		Fields *int   `json:"fields,omitempty"`
		Labels bool   `json:"labels,omitempty"` // flow labels that senders draw are in it
	}
	// Chance is that with which so many flows use no more than some of the links.
	Chance struct {
		Flows int     `json:"flows,omitempty"` // as many hashes; 0: it is likely
		Used  int     `json:"used"`
		Of    int     `json:"of"`
		P     float64 `json:"p"`
	}
	// Weighted is what a next hop gets of the flows, has of the rate, and is full.
	Weighted struct {
		Interface string  `json:"interface"`
		Flows     float64 `json:"flows"`
		Rate      float64 `json:"rate"`
		Load      float64 `json:"load"`
	}
	// DeadHop is a next hop that does not answer, or whose interface is down.
	DeadHop struct {
		To        netip.Prefix `json:"to"`
		Via       string       `json:"via,omitempty"`
		Interface string       `json:"interface"`
		Down      bool         `json:"down,omitempty"`
	}
	// Through is how many flows got through, and how many did not.
	Through struct {
		Fine    int `json:"fine"`
		Stopped int `json:"stopped"`
	}
	// StoppedFlow is a flow that did not connect, or received nothing.
	StoppedFlow struct {
		Flow  string     `json:"flow"`
		To    netip.Addr `json:"to"`
		Error string     `json:"error,omitempty"`
	}
	// Mismatched are flows that left by another interface than the one that has their address.
	Mismatched struct {
		To    netip.Prefix     `json:"to"`
		Wrong int              `json:"wrong"`
		Flows int              `json:"flows"` // of all
		By    []MismatchedPair `json:"by"`
	}
	// MismatchedPair are those with one address and one interface.
	MismatchedPair struct {
		Flows  int        `json:"flows"`
		Source netip.Addr `json:"source"`
		Own    string     `json:"own"`  // interface with the address
		Left   string     `json:"left"` // by which they left
	}
	// ByObject is a route that goes by a group of nexthop objects.
	ByObject struct {
		To netip.Prefix `json:"to"`
	}
)

var (
	_ = is[Placed]("placed")
	_ = is[Pairs]("pairs")
	_ = is[HashPolicy]("hash_policy")
	_ = is[Chance]("chance")
	_ = is[Weighted]("weighted")
	_ = is[DeadHop]("dead_hop")
	_ = is[Through]("through")
	_ = is[StoppedFlow]("stopped_flow")
	_ = is[Mismatched]("mismatched")
	_ = is[ByObject]("by_object")
)

// Names returns the parameter.
func (p HashPolicy) Names() []string {
	return []string{"net." + p.Family + ".fib_multipath_hash_policy"}
}
