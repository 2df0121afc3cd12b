package cause

// Causes of hashing over the next hops of a route or the members of a bond.
var (
	ECMPL3Hash         = one[Links]("ecmp-l3-hash")
	ECMPFewFlows       = one[Links]("ecmp-few-flows")
	ECMPPolarization   = one[Before]("ecmp-polarization")
	ECMPWeightMismatch = one[None]("ecmp-weight-mismatch")
	ECMPDeadNexthop    = by("ecmp-dead-nexthop", func(a DeadNexthop) any { return a.Remedy })
	ECMPSourceMismatch = one[None]("ecmp-source-mismatch")
	BondHash           = one[Bond]("bond-hash")
	LACPApart          = each[None]("lacp-apart")
	BondMemberDown     = each[None]("bond-member-down")
)

// Links counts the links among which the hash chooses.
type Links struct {
	Links int `json:"links"` // next hops of the route
}

// Before names the upstream host that hashes by the same rule.
type Before struct {
	Host string `json:"host"` // earlier on the path of the flows
}

// DeadNexthop describes a next hop that does not answer although flows are hashed to it.
type DeadNexthop struct {
	Interface string `json:"interface"`
	// Object is the ID of the nexthop object that the route uses (ip-nexthop(8)); 0: it uses none.
	// Unknown: the object was not read, so it is not known whether it is a resilient group.
	Object  int    `json:"object,omitempty"`
	Unknown bool   `json:"unknown,omitempty"`
	Remedy  string `json:"remedy,omitempty"` // NeighbourState, OtherHops, OtherMembers; empty: no setting helps
}

// Values of DeadNexthop.Remedy.
const (
	NeighbourState = "neighbour-state" // set fib_multipath_use_neigh, so that the hash skips failed neighbours
	OtherHops      = "other-hops"      // replace the route by one with only the next hops that answer
	OtherMembers   = "other-members"   // remove the members that do not answer from the nexthop group
)

// Bond describes a bond whose transmit hash does not use TCP and UDP ports.
type Bond struct {
	Interface string `json:"interface"`
	Policy    string `json:"policy"`              // xmit_hash_policy
	Addresses bool   `json:"addresses,omitempty"` // true: IP addresses are hashed; false: only MAC addresses
	Members   int    `json:"members"`
}
