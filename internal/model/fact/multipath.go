package fact

import "net/netip"

// Facts about flows that a hash spreads over links. Fact.Host is the host that hashes.
type (
	// Placed is the number of flows that each link of a route or bond got.
	Placed struct {
		To    netip.Prefix `json:"to,omitzero"`    // destination of the route; zero: Bond is set
		Bond  string       `json:"bond,omitempty"` // name of the bond
		Flows int          `json:"flows"`
		By    []PlacedBy   `json:"by"`
	}
	// PlacedBy is the number of flows of one link.
	PlacedBy struct {
		Interface string   `json:"interface"`
		Flows     int      `json:"flows"`
		Share     *float64 `json:"share,omitempty"` // of the bytes that all links sent; absent: not known
	}
	// Pairs is the number of different pairs of addresses, or with Hosts of hosts, that flows have.
	Pairs struct {
		Pairs int  `json:"pairs"`
		Hosts bool `json:"hosts,omitempty"`
	}
	// HashPolicy is what the hash of a route depends on.
	HashPolicy struct {
		Family string `json:"family"`           // ipv4 or ipv6
		Policy int    `json:"policy"`           // net.FAMILY.fib_multipath_hash_policy
		Fields *int   `json:"fields,omitempty"` // of the packet, for policy 3
		Labels bool   `json:"labels,omitempty"` // it includes the flow labels that senders choose at random
	}
	// Chance is the probability P that flows use no more than Used of Of links.
	Chance struct {
		Flows int     `json:"flows,omitempty"` // different hashes, if P is low; 0: P is not low
		Used  int     `json:"used"`
		Of    int     `json:"of"`
		P     float64 `json:"p"`
	}
	// Weighted is a next hop's share of the flows (Flows) and of the rate of all links (Rate), and how
	// full its link is (Load).
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
	// Mismatched lists flows that left by another interface than the one with their source address.
	Mismatched struct {
		To    netip.Prefix     `json:"to"`
		Wrong int              `json:"wrong"` // number of such flows
		Flows int              `json:"flows"` // all flows to the destination
		By    []MismatchedPair `json:"by"`
	}
	// MismatchedPair is the number of flows from one address by one interface.
	MismatchedPair struct {
		Flows  int        `json:"flows"`
		Source netip.Addr `json:"source"`
		Own    string     `json:"own"`  // interface with the address
		Left   string     `json:"left"` // interface by which they left
	}
	// ApartMember is a member of a bond that LACP did not bring into the aggregator that carries the
	// traffic.
	ApartMember struct {
		Interface  string `json:"interface"`
		Aggregator int    `json:"aggregator,omitempty"` // 0: not known
		Active     int    `json:"active,omitempty"`     // the aggregator that carries the traffic; 0: not known
		Ports      int    `json:"ports,omitempty"`      // of the active aggregator; 0: not known
		Members    int    `json:"members"`              // of the bond
		// Silent says that no LACP frame of a partner arrived; Churned that this end or the other one did
		// not come into an aggregator in time.
		Silent  bool `json:"silent,omitempty"`
		Churned bool `json:"churned,omitempty"`
	}
	// MemberDown is a member of a bond that has no link.
	MemberDown struct {
		Interface string `json:"interface"`
		Members   int    `json:"members"`            // of the bond
		Failures  int    `json:"failures,omitempty"` // of its link since it joined
	}
	// ByObject is a route that uses a group of nexthop objects.
	ByObject struct {
		To netip.Prefix `json:"to"`
	}
)

var _ = are(Placed{}, Pairs{}, HashPolicy{}, Chance{}, Weighted{}, DeadHop{}, Through{}, StoppedFlow{},
	Mismatched{}, ApartMember{}, MemberDown{}, ByObject{})

// Names returns the parameter with the hash policy.
func (p HashPolicy) Names() []string {
	return []string{"net." + p.Family + ".fib_multipath_hash_policy"}
}
