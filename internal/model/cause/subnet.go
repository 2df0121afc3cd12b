package cause

// Causes of addresses of one subnet.
var (
	SameSubnetInterfaces = one[Two]("same-subnet-interfaces")
	AddressTwice         = each[Two]("address-twice")
	MACTwiceInSubnet     = each[Two]("mac-twice-in-subnet")
	NetmaskDiffers       = each[Two]("netmask-differs")
	MTUDiffers           = by("mtu-differs", func(m MTUs) any { return []any{m.Two, m.Least} })
	MACTwice             = each[Two]("mac-twice")
	SubnetsOverlap       = one[Two]("subnets-overlap") // First has the wider one
)

// Two are two hosts, or two interfaces of one.
type Two struct {
	First  string `json:"first"`
	Second string `json:"second"`
}

// MTUs are two hosts with different MTUs.
type MTUs struct {
	Two
	Least int `json:"least"`
	Most  int `json:"most"`
}
