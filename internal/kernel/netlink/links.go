package netlink

// Link is one network device of the namespace.
type Link struct {
	Index      int
	Name       string
	MAC        string // empty: the device has none, such as a tunnel
	MTU        int
	TxQueueLen int
	Up         bool // administratively
	// Master is the name of the bridge or bond that the device belongs to.
	Master string
	// Kind is the kernel's link kind (veth, bridge, …); empty for hardware.
	Kind     string
	Loopback bool
	Packets  PacketSizes
}

// PacketSizes are the largest packets, in bytes, that TCP gives to the device to
// be cut (GSO, IFLA_GSO_MAX_SIZE) and that are put together of what the device
// receives (GRO). Those for IPv4 are apart since Linux 6.3; 0: not known.
type PacketSizes struct{ GSO, GRO, GSOIPv4, GROIPv4 int }

// LinkChange says which attributes of a device to change; nil leaves one alone.
type LinkChange struct {
	MTU, TxQueueLen *int
	MAC             *string
	Up              *bool
	Packets         PacketSizes // those that are not 0
}
