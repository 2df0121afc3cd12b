package topology

import (
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/unit"
)

// linked are the names of the host's interfaces that are ends of links.
func (h *Host) linked() (names []string) {
	for _, p := range h.Interfaces {
		if !p.Is() {
			names = append(names, p.Name)
		}
	}
	return names
}

// shape is the shape of the host's interface of that name; false: it is no device.
func (h *Host) shape(name string) (device.Shape, bool) {
	p, ok := h.Interface(name)
	if !ok {
		return device.Shape{}, false
	}
	return p.Shape(name)
}

// Master is the device that an interface of the host is a slave of, and its shape.
func (h *Host) Master(name string) (string, device.Shape) {
	if !h.hasDevices() {
		return "", device.Shape{}
	}
	for _, p := range h.Interfaces {
		if s, is := p.Shape(p.Name); is && slices.Contains(s.Slaves, name) {
			return p.Name, s
		}
	}
	return "", device.Shape{}
}

// Device is the device of which a link's end is a member, such as a bond, on a host or a
// switch; false: the end is no member.
func (t *Topology) Device(e End) (End, device.Shape, bool) {
	if h, ok := t.Host(e.Node); ok {
		name, shape := h.Master(e.Interface)
		return End{e.Node, name}, shape, shape.Members
	}
	if s, ok := t.Switch(e.Node); ok {
		if p, ok := s.bond(e.Interface); ok {
			shape, _ := p.Device().Shape(p.Name)
			return End{e.Node, p.Name}, shape, true
		}
	}
	return End{}, device.Shape{}, false
}

// lower is an interface with a link beneath another interface, or that interface itself, and
// the tags that its frames have there, the outermost first, and the shapers of the devices
// above it.
type lower struct {
	name    string
	tags    []device.VLAN
	shapers []Shaper
}

// lowers are the interfaces with links beneath an interface; none: it has no link.
func (h *Host) lowers(name string) []lower { return h.lowersBut(name, nil) }

func (h *Host) lowersBut(name string, above []string) (list []lower) {
	shape, is := h.shape(name)
	if !is {
		return []lower{{name: name}}
	}
	for _, below := range shape.Beneath {
		if slices.Contains(above, below) {
			continue // a file with a loop, which validation reports
		}
		for _, w := range h.lowersBut(below, append(above, name)) {
			if shape.Tag != 0 {
				// The tag of the upper device is the inner one.
				w.tags = append(slices.Clone(w.tags), device.VLAN(shape.Tag))
			}
			if p, _ := h.Interface(name); p.Shaper != nil {
				w.shapers = append(slices.Clone(w.shapers), p.Shaper.at(h, p))
			}
			list = append(list, w)
		}
	}
	return list
}

// at is the shaper as a path passes it.
func (s Shaper) at(h *Host, p *Interface) Shaper {
	s.At = End{h.Name, p.Name}
	return s
}

// BurstSize is the size of the shaper's token bucket, as of an Impairment.
func (s Shaper) BurstSize() unit.Bytes { return Impairment{Rate: s.Rate, Burst: s.Burst}.BurstSize() }

// takes are the interfaces with frames of their own to which frames go that arrive at an
// interface with a link, with these tags.
func (h *Host) takes(name string, tags []device.VLAN) (names []string) {
	if !h.hasDevices() { // most hosts, and some have many interfaces
		if len(tags) > 0 {
			return nil
		}
		return []string{name}
	}
	for _, p := range h.Interfaces {
		if _, master := h.Master(p.Name); master.Members {
			continue
		}
		if slices.ContainsFunc(h.lowers(p.Name), func(w lower) bool {
			return w.name == name && slices.Equal(w.tags, tags)
		}) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Wrap is what a flow's frames have on a link beside Ethernet's header and their own IP
// packet: 802.1Q tags, and the bytes of tunnels; and the shapers of devices that they have
// passed since the link before.
type Wrap struct {
	From          End // of the link
	VLANs, Tunnel int
	Shapers       []Shaper
}

// deviceMTU is the MTU of a device: the one in the file, or what the interfaces beneath
// leave; 0: not known, or no device.
func (t *Topology) deviceMTU(h *Host, name string) int {
	p, ok := h.Interface(name)
	if !ok || !p.Is() {
		return 0
	}
	if p.MTU != 0 {
		return p.MTU
	}
	return t.room(h, name)
}

// room is the largest MTU of a device that the interfaces beneath leave; 0: any.
func (t *Topology) room(h *Host, name string) (room int) {
	shape, _ := h.shape(name)
	below := shape.Beneath
	if shape.Tunnel != nil {
		for p, a := range h.Addresses() {
			if a.Contains(shape.Tunnel.Local) {
				below = append(below, p)
			}
		}
	}
	for _, other := range below {
		mtu := 0
		switch p, ok := h.Interface(other); {
		case !ok || other == name:
		case p.Is():
			mtu = t.deviceMTU(h, other)
		default:
			mtu = t.MTUAt(End{h.Name, other})
		}
		if mtu != 0 && (room == 0 || mtu-shape.Overhead < room) {
			room = mtu - shape.Overhead
		}
	}
	return room
}

// DeviceMTU is the MTU of a host's device; 0: the kernel's default, or no device.
func (t *Topology) DeviceMTU(e End) int {
	if h, ok := t.Host(e.Node); ok {
		return t.deviceMTU(h, e.Interface)
	}
	return 0
}

// Device is the port's bond as a device; the zero value: the port has a link.
func (p *Port) Device() device.Device { return device.Device{Bond: p.Bond} }

// bond finds the bond that a port of the switch is a member of.
func (s *Switch) bond(member string) (*Port, bool) {
	return find(s.Ports, func(p *Port) bool { return p.Bond != nil && slices.Contains(p.Bond.Members, member) })
}

// Filters reports whether the switch has VLANs.
func (s *Switch) Filters() bool {
	return slices.ContainsFunc(s.Ports, func(p Port) bool { return p.Untagged != 0 || len(p.Tagged) > 0 })
}

// VLANs are the VLANs of a port, or of the bond that it is a member of: that of frames
// without a tag, 0 for none, and those of frames with one.
func (s *Switch) VLANs(port string) (untagged device.VLAN, tagged []device.VLAN) {
	if b, ok := s.bond(port); ok {
		port = b.Name
	}
	p, ok := find(s.Ports, func(p *Port) bool { return p.Name == port })
	if !ok || p.Untagged == 0 && len(p.Tagged) == 0 {
		return 1, nil
	}
	return p.Untagged, p.Tagged
}

// forwards returns the tags that a frame has when it leaves a switch by one port and had
// others when it entered by another; false: it does not leave there.
func (s *Switch) forwards(in string, tags []device.VLAN, out string) ([]device.VLAN, bool) {
	if b, ok := s.bond(in); ok && slices.Contains(b.Bond.Members, out) {
		return nil, false
	}
	if !s.Filters() {
		return tags, true
	}
	vlan, tagged := s.VLANs(in)
	inner := tags
	if len(tags) > 0 {
		if tags[0] != vlan && !slices.Contains(tagged, tags[0]) {
			return nil, false
		}
		vlan, inner = tags[0], tags[1:]
	}
	untagged, tagged := s.VLANs(out)
	switch {
	case vlan == 0:
		return nil, false
	case vlan == untagged:
		return inner, true
	case slices.Contains(tagged, vlan):
		return append([]device.VLAN{vlan}, inner...), true
	}
	return nil, false
}

// hasDevices reports whether an interface of the host is a device.
func (h *Host) hasDevices() bool {
	return slices.ContainsFunc(h.Interfaces, func(p Interface) bool { return p.Is() })
}

// vrf is the VRF that an interface of the host is in, and its routing table; 0: none.
func (h *Host) vrf(name string) (string, int) {
	if name == "" || !h.hasDevices() {
		return "", 0
	}
	for _, p := range h.Interfaces {
		if s, is := p.Shape(p.Name); is && s.Table != 0 && (slices.Contains(s.Slaves, name) || p.Name == name) {
			return p.Name, s.Table
		}
	}
	return "", 0
}

// Tunnelled reports whether a host's interface is the end of a tunnel.
func (t *Topology) Tunnelled(e End) bool {
	h, ok := t.Host(e.Node)
	if !ok {
		return false
	}
	shape, _ := h.shape(e.Interface)
	return shape.Tunnel != nil
}

// Tag is the number of the outer 802.1Q tag of an interface's frames; 0: they have none.
func (t *Topology) Tag(e End) int {
	if h, ok := t.Host(e.Node); ok {
		for _, w := range h.lowers(e.Interface) {
			if len(w.tags) > 0 {
				return int(w.tags[0])
			}
		}
	}
	return 0
}

// Managed reports whether a node has an agent: a host, or a switch that is not Agentless.
func (t *Topology) Managed(node string) bool {
	if s, ok := t.Switch(node); ok {
		return !s.Agentless()
	}
	_, ok := t.Host(node)
	return ok
}
