// Package topology describes hosts, switches and the links between them, and computes without a
// kernel which interface has an address, which interfaces are on the path of a flow, and which MAC
// address an interface has in a lab.
//
// A Topology is the result of expanding a file's brace ranges (package source) and checking its
// references (Validate).
package topology

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// Topology is a set of hosts and switches, and of the links between them.
type Topology struct {
	Hosts    []Host   `yaml:"hosts,required" json:"hosts" doc:"endpoints and routers, by name"`
	Switches []Switch `yaml:"switches" json:"switches,omitempty" doc:"bridges with a forwarding table, by name"`
	Links    []Link   `yaml:"links,required" json:"links" doc:"each joins two interfaces or switch ports"`
	// ImpairedBy replaces the choice of SplitLink for every link. Empty: SplitLink selects the
	// mechanism.
	ImpairedBy Mechanism `yaml:"impaired_by" json:"impaired_by,omitempty" doc:"what applies delay, jitter, loss and reordering in a lab: netem (the kernel's) or emulator (linerate's); absent: netem for delay alone, otherwise the emulator" enum:"netem,emulator"`
}

// Host is an endpoint or a router.
type Host struct {
	Name string `yaml:",key" json:"name"`
	// Via is the command prefix that reaches the host. Empty: linerate creates the host as a
	// network namespace.
	Via   []string `yaml:"via" json:"via,omitempty" doc:"command prefix that reaches a real host, such as [ssh, root@nas] or [ip, netns, exec, blue]; absent: linerate makes the host"`
	Agent string   `yaml:"agent" json:"agent,omitempty" doc:"with via: path of the linerate program on that host"`
	// Forward makes the host a router.
	Forward    bool                    `yaml:"forward" json:"forward,omitempty" doc:"true makes the host a router (ip_forward)"`
	Interfaces []Interface             `yaml:"interfaces,required" json:"interfaces" doc:"the host's interfaces, by name"`
	Routes     []setting.Route         `yaml:"routes" json:"routes,omitempty" doc:"routes beyond those of the interfaces' own prefixes"`
	Nexthops   []setting.NexthopObject `yaml:"nexthops" json:"nexthops,omitempty" doc:"nexthop objects and groups that routes can name"`
	BGP        *BGP                    `yaml:"bgp" json:"bgp,omitempty" doc:"the host speaks BGP: it announces its addresses to the hosts at the other end of its links, and learns routes from them"`
	Services   []Service               `yaml:"services" json:"services,omitempty" doc:"server programs that run on the host, by name; flows have them at their other end by service"`
	Rules      []setting.Rule          `yaml:"rules" json:"rules,omitempty" doc:"routing policy rules"`
	Sysctls    []setting.Sysctl        `yaml:"sysctls" json:"sysctls,omitempty" doc:"kernel parameters set in every treatment"`
}

// Interface is a host's attachment to a link.
type Interface struct {
	Name      string    `yaml:",key" json:"name"`
	Addresses []Address `yaml:"addresses" json:"addresses,omitempty" doc:"addresses with prefix length; a range such as 192.168.2.1-254/16 makes one alias each"`
	MAC       string    `yaml:"mac" json:"mac,omitempty" doc:"MAC address; absent: in a lab, one made from the numbers of host and interface"`
	// Device configures what the kernel creates on top of other interfaces. The zero value means
	// that the interface is the end of a link.
	device.Device `yaml:",inline"`
	// Shaper is the shaper of a device, in front of the links beneath it.
	Shaper *Shaper `yaml:"-" json:"shaper,omitempty"`
}

// Shaper is a root qdisc with a rate on a device. It counts frames like the kernel's token buckets,
// plus Overhead bytes for each, as in Impairment.
type Shaper struct {
	Kind     string       `json:"kind"`
	Rate     unit.BitRate `json:"rate"`
	Burst    unit.Bytes   `json:"burst,omitempty"`
	Overhead int          `json:"overhead_bytes,omitempty"`
	// At is the device. Tunnel is the number of bytes that tunnels add to the frames of a path
	// there.
	At     End `json:"-"`
	Tunnel int `json:"-"`
}

// Port configures a port of a switch, or a bond of several ports.
type Port struct {
	Name     string        `yaml:",key" json:"name"`
	Bond     *device.Bond  `yaml:"bond" json:"bond,omitempty" doc:"the port is a bond; its members are ports with a link"`
	Untagged device.VLAN   `yaml:"untagged" json:"untagged,omitempty" doc:"VLAN of the frames without a tag; absent: 1, and none with tagged"`
	Tagged   []device.VLAN `yaml:"tagged" json:"tagged,omitempty" doc:"VLANs whose frames have a tag here"`
}

// Switch is a bridge. Its interfaces are the link ends that name it.
type Switch struct {
	Name string   `yaml:",key" json:"name"`
	Via  []string `yaml:"via" json:"via,omitempty" doc:"command prefix that reaches a real Linux bridge; absent: linerate makes the switch"`
	// Agent is as in Host.
	Agent  string `yaml:"agent" json:"agent,omitempty" doc:"with via: path of the linerate program there"`
	Bridge string `yaml:"bridge" json:"bridge,omitempty" doc:"with via: name of the bridge device"`
	// Unmanaged marks a switch without an agent, such as a rack switch.
	Unmanaged bool `yaml:"unmanaged" json:"unmanaged,omitempty" doc:"true: a real switch whose counters cannot be read, except by snmp"`
	// SNMP describes how the counters of the switch's ports are read, with or without an agent.
	// Nil: they are not read. A switch with SNMP.Address is a real one without an agent.
	SNMP *SNMP `yaml:"snmp" json:"snmp,omitempty" doc:"the counters of the switch's ports are read by SNMP: of a real switch with its address, or of one that linerate makes ({})"`
	// Ports are those with a configuration. If one of them has a VLAN, the switch filters by VLAN,
	// and a port that is not listed has untagged frames in VLAN 1.
	Ports []Port `yaml:"ports" json:"ports,omitempty" doc:"VLANs and bonds of ports, by their names: HOST-INTERFACE of the other end, or that of another switch; a link can name a port: to: switch.p1"`
}

// find returns the first element for which is returns true.
func find[T any](list []T, is func(*T) bool) (*T, bool) {
	for i := range list {
		if is(&list[i]) {
			return &list[i], true
		}
	}
	return nil, false
}

// Host finds a host by name.
func (t *Topology) Host(name string) (*Host, bool) {
	return find(t.Hosts, func(h *Host) bool { return h.Name == name })
}

// Switch finds a switch by name.
func (t *Topology) Switch(name string) (*Switch, bool) {
	return find(t.Switches, func(s *Switch) bool { return s.Name == name })
}

// Real reports whether a host or switch is reached by a command and not created by linerate.
func (t *Topology) Real(node string) bool {
	if h, is := t.Host(node); is {
		return len(h.Via) > 0
	}
	s, is := t.Switch(node)
	return is && len(s.Via) > 0
}

// Interface finds a host's interface by name.
func (h *Host) Interface(name string) (*Interface, bool) {
	return find(h.Interfaces, func(i *Interface) bool { return i.Name == name })
}

// Addresses returns an iterator over the addresses of all interfaces, each with the name of the
// interface.
func (h *Host) Addresses() iter.Seq2[string, Address] {
	return func(yield func(string, Address) bool) {
		for _, p := range h.Interfaces {
			for _, a := range p.Addresses {
				if !yield(p.Name, a) {
					return
				}
			}
		}
	}
}

// Nexthop finds a nexthop object of the host by its number.
func (h *Host) Nexthop(id int) (*setting.NexthopObject, bool) {
	return find(h.Nexthops, func(n *setting.NexthopObject) bool { return n.ID == id })
}

// LinkAt returns the link that ends at the given interface. It returns false if there is none.
func (t *Topology) LinkAt(e End) (*Link, bool) {
	return find(t.Links, func(l *Link) bool { return l.From == e || l.To == e })
}

// Holder returns the first interface that has the given address. It returns false if none has it.
func (t *Topology) Holder(addr netip.Addr) (End, bool) {
	if ends := t.holders(addr); len(ends) > 0 {
		return ends[0], true
	}
	return End{}, false
}

// complete returns e with the interface of a host that has only one, if e names none.
func (t *Topology) complete(e End) End {
	if host, ok := t.Host(e.Node); ok && e.Interface == "" {
		if names := host.linked(); len(names) == 1 {
			e.Interface = names[0]
		}
	}
	return e
}

// MAC returns the MAC address of an interface in a lab: the one in the file, or a locally
// administered one with the numbers of the host and of its interface in the file, so that neighbour
// tables are easy to read: 02:00:00:02:00:01 is the first interface of the second host. Switches
// are numbered after the hosts. Empty: there is no such interface.
func (t *Topology) MAC(e End) string {
	for i := range t.Hosts {
		h := &t.Hosts[i]
		if h.Name != e.Node {
			continue
		}
		for j := range h.Interfaces {
			p := &h.Interfaces[j]
			if p.Name != e.Interface {
				continue
			}
			if shape, is := p.Shape(p.Name); is && shape.SharesMAC && p.MAC == "" && shape.Beneath[0] != p.Name {
				return t.MAC(End{e.Node, shape.Beneath[0]})
			}
			if p.MAC != "" {
				return p.MAC
			}
			return mac(i+1, j+1)
		}
	}
	k := slices.IndexFunc(t.Switches, func(s Switch) bool { return s.Name == e.Node })
	ports := 0 // of the switch so far
	for _, l := range t.Links {
		for _, end := range []End{l.From, l.To} {
			if end.Node != e.Node || k < 0 {
				continue
			}
			if ports++; end == e {
				return mac(len(t.Hosts)+k+1, ports)
			}
		}
	}
	return ""
}

// Interfaces returns all interfaces of the hosts, and the ports of switches that have a link.
func (t *Topology) Interfaces() (list []End) {
	for _, h := range t.Hosts {
		for _, p := range h.Interfaces {
			list = append(list, End{h.Name, p.Name})
		}
	}
	for _, e := range t.ends() {
		if _, is := t.Switch(e.Node); is {
			list = append(list, e)
		}
	}
	return list
}

// ends returns the ends of all links in the order of the file.
func (t *Topology) ends() (list []End) {
	for _, l := range t.Links {
		list = append(list, l.From, l.To)
	}
	return list
}

func mac(node, iface int) string {
	return fmt.Sprintf("02:00:%02x:%02x:%02x:%02x", node>>8&0xff, node&0xff, iface>>8&0xff, iface&0xff)
}
