package netlink

import "linerate/internal/model/device"

// Link is one interface of the network namespace (struct ifinfomsg, rtnetlink(7)).
type Link struct {
	Index      int
	Name       string
	MAC        string // empty: the interface has none, as for a tunnel
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
	// CarrierChanges counts changes since the interface was created (IFLA_CARRIER_CHANGES).
	CarrierChanges int
	Promiscuous    bool
	// Peer is the index of the other end of a veth pair, or of the lower device of this interface.
	// 0: none.
	Peer int
	// XmitHashPolicy is the policy of a bond. Empty: the interface is no bond.
	XmitHashPolicy string
	VLAN           int // of a VLAN interface; 0 for others
	Packets        PacketSizes
	XDP            int // ID of the XDP program of the interface; 0: none
}

// Activating reports whether the interface has a carrier but is not activated yet. A kernel thread
// activates it up to a second later (linkwatch_event); until then, the noop queueing discipline
// drops packets without an error. The thread also sets the operational state.
func (l Link) Activating() bool {
	return l.Up && l.Carrier && (l.OperState == "down" || l.OperState == "lowerlayerdown")
}

// PacketSizes are the largest packets, in bytes, that segmentation offload passes to the interface
// (IFLA_GSO_MAX_SIZE) and that receive offload merges (IFLA_GRO_MAX_SIZE;
// Documentation/networking/segmentation-offloads.rst). IPv4 has its own limits since Linux 6.3. 0:
// the kernel does not report it.
type PacketSizes struct{ GSO, GRO, GSOIPv4, GROIPv4 int }

// LinkChange lists attributes of an interface to change. Nil attributes are not changed.
type LinkChange struct {
	MTU, TxQueueLen *int
	MAC             *string
	Up              *bool
	XmitHashPolicy  *string     // of a bond
	Packets         PacketSizes // a size of 0 is not changed
	// XDP is the file descriptor of an XDP program for an interface that has none. -1 removes the
	// program.
	XDP *int
}

// LinkEnd describes one end of a link to create: an interface and its network namespace.
type LinkEnd struct {
	Namespace *Namespace
	Interface string
	MAC       string // empty: the kernel selects one
	MTU       int    // bytes
}

// Device describes an interface to create on top of others.
type Device struct {
	Interface string
	MAC       string // empty: the kernel selects one
	MTU       int    // bytes; 0: the kernel's default
	Shape     device.Shape
}
