// Package device describes the interfaces that the kernel creates on top of others: bonds, VLANs,
// VXLAN tunnels and so on (ip-link(8)).
//
// Each kind has a file with its keys in study files, their checks, and its Shape, which is all that
// other packages use. A new kind is such a file, a field of Device and an entry in Device.given.
package device

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/lists"
)

// Device configures the device that creates an interface. At most one kind is set. None: the
// interface is the end of a link.
type Device struct {
	Bond    *Bond    `yaml:"bond" json:"bond,omitempty" doc:"a bond: the links of several interfaces as one"`
	VLAN    *VLAN    `yaml:"vlan" json:"vlan,omitempty" doc:"a VLAN of the interface link: the number of its 802.1Q tag, 1 to 4094"`
	MACVLAN *MACVLAN `yaml:"macvlan" json:"macvlan,omitempty" doc:"a further MAC address on the interface link; the value is the mode" enum:"bridge,vepa,private"`
	VXLAN   *VXLAN   `yaml:"vxlan" json:"vxlan,omitempty" doc:"a VXLAN tunnel to another host"`
	VRF     *VRF     `yaml:"vrf" json:"vrf,omitempty" doc:"a VRF: a router's interfaces with a routing table of their own"`
	Dummy   *Dummy   `yaml:"dummy" json:"dummy,omitempty" doc:"true: an interface without a link, for addresses"`
	Link    string   `yaml:"link" json:"link,omitempty" doc:"vlan, macvlan: the interface beneath; absent: what precedes the last dot of the name, eth0 for eth0.5"`
	MTU     int      `yaml:"mtu" json:"mtu,omitempty" doc:"of a device, in bytes; absent: what the interfaces beneath leave. An interface with a link has the link's MTU"`
}

// Kind is implemented by each kind of device.
type Kind interface {
	// Shape returns the properties of a device of this kind on interface name.
	Shape(on Device, name string) Shape
	// Check reports errors in the kind's own keys. Key is relative to that of the kind.
	Check(report func(key, format string, args ...any))
}

// Shape has the properties of a device that other packages use, regardless of its kind.
type Shape struct {
	Kind   string // of ip-link(8), IFLA_INFO_KIND
	Key    string // in a study file
	Config string // the kernel's build option, CONFIG_…
	Module string // of the kernel
	// Beneath are the interfaces whose links carry the frames of the device. Slaves are interfaces
	// whose master is the device. If Members is set, the slaves have no addresses and traffic of
	// their own.
	Beneath, Slaves []string
	Members         bool
	OnLink          bool // created on the only interface beneath, which IFLA_LINK names
	SharesMAC       bool // has the MAC address of the interface beneath
	Tag             int  // number of the 802.1Q tag; 0: none
	Tunnel          *Tunnel
	Overhead        int    // what a tunnel adds to a frame, in bytes
	Table           int    // the slaves' routing table; 0: the host's own
	Loose           bool   // neither an interface beneath nor a tunnel: it has no link
	Spread          Spread // chooses among several interfaces beneath; nil: there is no choice
	Policy          string // hash policy of Spread, in the spelling of ip-link(8)
	LACP            bool   // members carry data when both ends have agreed
	Attributes      []Attribute
}

// Tunnel says between which addresses a device sends its frames inside other packets.
type Tunnel struct {
	Local, Remote netip.Addr
	ID            int
}

// Attribute is an attribute of IFLA_INFO_DATA (linux/if_link.h). Value is a uint8, uint16, uint32
// or []byte. BigEndian selects network byte order.
type Attribute struct {
	Type      uint16
	Value     any
	BigEndian bool
}

// Spread selects which of several interfaces beneath a device sends a packet.
type Spread interface {
	// Choose returns which of n interfaces sends p. If why is not empty, the choice is unknown for
	// that reason.
	Choose(p Packet, n int) (i int, why string)
	// Hashes returns the fields of a packet that the choice depends on.
	Hashes() Hashed
}

// Hashed says which fields of a packet a hash depends on.
type Hashed struct{ MACs, Addresses, Ports bool }

// String names the fields: "MAC addresses", "MAC and IP addresses", "IP addresses and ports".
func (h Hashed) String() string {
	switch {
	case h.Ports:
		return "IP addresses and ports"
	case h.Addresses:
		return "MAC and IP addresses"
	}
	return "MAC addresses"
}

// Packet has the fields that Spread.Choose can depend on. Kernel is the release of the kernel that
// makes the choice, as uname(2) returns it. Empty: unknown.
type Packet struct {
	SourceMAC, DestinationMAC [6]byte
	VLAN                      int // number of the outer tag; 0: none
	Source, Destination       netip.AddrPort
	Kernel                    string
}

// given returns the kinds that are set.
func (d Device) given() []Kind {
	var list []Kind
	add := func(k Kind, given bool) {
		if given {
			list = append(list, k)
		}
	}
	add(d.Bond, d.Bond != nil)
	add(d.VLAN, d.VLAN != nil)
	add(d.MACVLAN, d.MACVLAN != nil)
	add(d.VXLAN, d.VXLAN != nil)
	add(d.VRF, d.VRF != nil)
	add(d.Dummy, d.Dummy != nil)
	return list
}

// Shape returns the shape of the device that creates interface name. It returns false if no kind is
// set: the interface is the end of a link.
func (d Device) Shape(name string) (Shape, bool) {
	if kinds := d.given(); len(kinds) > 0 {
		return kinds[0].Shape(d, name), true
	}
	return Shape{}, false
}

// Is reports whether a kind is set. False: the interface is the end of a link.
func (d Device) Is() bool { return len(d.given()) > 0 }

// Check reports errors in the device that do not depend on the rest of the study. Paths are
// relative to that of the interface.
func (d Device) Check(name string, report func(path, format string, args ...any)) {
	kinds := d.given()
	if len(kinds) > 1 {
		keys := lists.Map(kinds, func(k Kind) string { return k.Shape(d, name).Key })
		report("", "interface %s is %s: expected one of them", name, strings.Join(keys, " and "))
		return
	}
	shape, is := d.Shape(name)
	switch {
	case !is && d.Link != "":
		report(".link", "link is the interface beneath a vlan or macvlan")
	case !is && d.MTU != 0:
		report(".mtu", "the MTU of an interface with a link is the link's")
	case is && d.Link != "" && !shape.OnLink:
		report(".link", "link is the interface beneath a vlan or macvlan, and %s is a %s", name, shape.Key)
	case shape.OnLink && shape.Beneath[0] == "":
		report("", "%s: the interface beneath is missing: expected link, or a name such as eth0.5", name)
	}
	if is {
		kinds[0].Check(func(key, format string, args ...any) {
			report("."+shape.Key+key, format, args...)
		})
	}
}

// beneath returns the interface on top of which a VLAN or macvlan is created.
func (d Device) beneath(name string) string {
	return cmp.Or(d.Link, name[:max(0, strings.LastIndexByte(name, '.'))])
}

// repeated returns the first element that occurs twice in list.
func repeated(list []string) (string, bool) {
	for i, s := range list {
		if slices.Contains(list[:i], s) {
			return s, true
		}
	}
	return "", false
}

// Kinds has a value of each kind, in the order of the fields of Device.
var Kinds = []Kind{new(Bond), new(VLAN), new(MACVLAN), new(VXLAN), new(VRF), new(Dummy)}

// TunnelOverhead returns the bytes that a tunnel of a kind of ip-link(8) adds to a frame over IPv4.
// 0: the kind is no tunnel.
func TunnelOverhead(kind string) int {
	for _, k := range Kinds {
		if s := k.Shape(Device{}, ""); s.Kind == kind {
			return s.Overhead
		}
	}
	return 0
}

// TunnelKind reports whether interfaces of a kind (IFLA_INFO_KIND) encapsulate their packets or,
// like tun, pass them to a program. The MTU of such an interface does not limit the packets that it
// receives.
func TunnelKind(kind string) bool {
	return slices.Contains([]string{
		"amneziawg", "amt", "bareudp", "erspan", "geneve", "gre", "gretap", "gtp", "ip6erspan", "ip6gre", "ip6gretap",
		"ip6tnl", "ipip", "ovpn", "ovpn-dco",
		"ppp", "sit", "tun", "vti", "vti6", "vxlan", "wireguard", "xfrm",
	}, kind)
}
