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
)

// Links is how many links a hash has to choose from.
type Links struct {
	Links int `json:"links"`
}

// Before is a host that is before another one on the path.
type Before struct {
	Host string `json:"host"`
}

// DeadNexthop is an interface behind which a next hop does not answer.
type DeadNexthop struct {
	Interface string `json:"interface"`
	// Object is the number of the nexthop object that the route goes by; 0: by none. Unknown: it is
	// not known whether its group is resilient.
	Object  int    `json:"object,omitempty"`
	Unknown bool   `json:"unknown,omitempty"`
	Remedy  string `json:"remedy,omitempty"` // NeighbourState, OtherHops, OtherMembers; empty: no setting
}

// Remedies of dead next hops.
const (
	NeighbourState = "neighbour-state" // the hash looks at it
	OtherHops      = "other-hops"      // the route has only next hops that answer
	OtherMembers   = "other-members"   // the group has only members that answer
)

// Bond is a bond whose hash leaves out ports.
type Bond struct {
	Interface string `json:"interface"`
	Policy    string `json:"policy"`              // xmit_hash_policy
	Addresses bool   `json:"addresses,omitempty"` // IP addresses are hashed; otherwise MAC addresses alone
	Members   int    `json:"members"`
}
