package netlink

import "linerate/internal/model/device"

// Link is one interface of the network namespace (struct ifinfomsg, rtnetlink(7)).
type Link struct {
	Index      int
	Name       string
	MAC        string // empty: the interface has none, such as a tunnel
	MTU        int    // bytes
	TxQueueLen int    // packets
	Up         bool   // administratively
	// Master is the name of the bridge or bond that the interface belongs to.
	Master string
	// Kind is the kernel's link kind (veth, bridge, …); empty for hardware.
	Kind     string
	Loopback bool
	// OperState is its operational state as in ip(8): "up", "down", "lowerlayerdown", …
	// (Documentation/networking/operstates.rst).
	OperState string
	Carrier   bool
	// CarrierChanges are those since it was made (IFLA_CARRIER_CHANGES).
	CarrierChanges int
	Promiscuous    bool
	// Peer is the index of the other end of a veth pair, or of the interface that this one is
	// made on; 0: none.
	Peer int
	// XmitHashPolicy is the policy of a bond; empty: the interface is none.
	XmitHashPolicy string
	VLAN           int // of a VLAN interface; 0: it is none
	Packets        PacketSizes
	XDP            int // id of the XDP program of the interface; 0: it has none
}

// Activating reports whether the interface has a carrier and is not activated yet: until a
// kernel thread does that, up to a second later (linkwatch_event), the noop queueing discipline
// drops packets without an error. The thread sets the operational state as well.
func (l Link) Activating() bool {
	return l.Up && l.Carrier && (l.OperState == "down" || l.OperState == "lowerlayerdown")
}

// PacketSizes are the largest packets, in bytes, that segmentation offload gives to the
// interface (IFLA_GSO_MAX_SIZE) and that receive offload merges (IFLA_GRO_MAX_SIZE;
// Documentation/networking/segmentation-offloads.rst). IPv4 has limits of its own since
// Linux 6.3. 0: the kernel does not report it.
type PacketSizes struct{ GSO, GRO, GSOIPv4, GROIPv4 int }

// LinkChange are the attributes of an interface to change; nil leaves one alone.
type LinkChange struct {
	MTU, TxQueueLen *int
	MAC             *string
	Up              *bool
	XmitHashPolicy  *string     // of a bond
	Packets         PacketSizes // a size of 0 is left alone
	// XDP is the file of an XDP program, for an interface that has none; -1 takes it away.
	XDP *int
}

// LinkEnd is one end of a link to make: an interface and its network namespace.
type LinkEnd struct {
	Namespace *Namespace
	Interface string
	MAC       string // empty: the kernel chooses one
	MTU       int    // bytes
}

// Device is an interface to make on top of others.
type Device struct {
	Interface string
	MAC       string // empty: the kernel's choice
	MTU       int    // bytes; 0: the kernel's default
	Shape     device.Shape
}
