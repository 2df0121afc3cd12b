package kernel

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
}

// LinkChange says which attributes of a device to change; nil leaves one alone.
type LinkChange struct {
	MTU, TxQueueLen *int
	MAC             *string
	Up              *bool
}
