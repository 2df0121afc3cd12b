package cause

// Causes among interfaces with addresses in one subnet.
var (
	SameSubnetInterfaces = one[Two]("same-subnet-interfaces")
	AddressTwice         = each[Two]("address-twice")
	MACTwiceInSubnet     = each[Two]("mac-twice-in-subnet")
	NetmaskDiffers       = each[Two]("netmask-differs")
	MTUDiffers           = by("mtu-differs", func(m MTUs) any { return []any{m.Two, m.Least} })
	SameSubnetMTU        = one[MTUs]("same-subnet-mtu") // First has the smaller MTU
	MACTwice             = each[Two]("mac-twice")
	SubnetsOverlap       = one[Two]("subnets-overlap") // First has the larger subnet
)

// Two names two hosts, or two interfaces of one host.
type Two struct {
	First  string `json:"first"`
	Second string `json:"second"`
}

// MTUs names two hosts, or two interfaces of one host, with different MTUs on one subnet.
type MTUs struct {
	Two
	Least int `json:"least"` // smaller MTU, in bytes
	Most  int `json:"most"`  // larger MTU, in bytes
}
