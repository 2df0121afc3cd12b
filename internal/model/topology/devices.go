package topology

import (
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/unit"
)

// linked returns the names of the host's interfaces that are ends of links.
func (h *Host) linked() (names []string) {
	for _, p := range h.Interfaces {
		if !p.Is() {
			names = append(names, p.Name)
		}
	}
	return names
}

// shape returns the shape of the device that is the named interface. It returns false if the
// interface is no device.
func (h *Host) shape(name string) (device.Shape, bool) {
	p, ok := h.Interface(name)
	if !ok {
		return device.Shape{}, false
	}
	return p.Shape(name)
}

// Master returns the device that an interface of the host is a slave of, and the shape of that
// device. The name is empty if there is none.
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

// Device returns the device of which a link's end is a member, such as a bond, on a host or a
// switch. It returns false if the end is no member.
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

// lower is an interface with a link that is beneath another interface, or that interface itself.
// Tags are those of frames on the link, outermost first, and shapers those of the devices above it.
type lower struct {
	name    string
	tags    []device.VLAN
	shapers []Shaper
}

// lowers returns the interfaces with links beneath an interface. Empty: it has no link.
func (h *Host) lowers(name string) []lower { return h.lowersBut(name, nil) }

func (h *Host) lowersBut(name string, above []string) (list []lower) {
	shape, is := h.shape(name)
	if !is {
		return []lower{{name: name}}
	}
	for _, below := range shape.Beneath {
		if slices.Contains(above, below) {
			continue // a loop in the file, which validation reports
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

// at returns the shaper with At and Tunnel set for a path through it.
func (s Shaper) at(h *Host, p *Interface) Shaper {
	s.At = End{h.Name, p.Name}
	return s
}

// BurstSize returns the size of the shaper's token bucket, as for an Impairment.
func (s Shaper) BurstSize() unit.Bytes { return Impairment{Rate: s.Rate, Burst: s.Burst}.BurstSize() }

// receivers returns the interfaces that receive frames with these tags that arrive at an interface with
// a link.
func (h *Host) receivers(name string, tags []device.VLAN) (names []string) {
	if !h.hasDevices() { // most hosts have none, and some have many interfaces
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

// Wrap describes what the frames of a flow contain on a link in addition to the Ethernet header and
// the flow's IP packet: 802.1Q tags and the bytes of tunnels. Shapers are the shapers of the devices
// that they passed since the previous link.
type Wrap struct {
	From          End // the end from which they leave on the link
	VLANs, Tunnel int
	Shapers       []Shaper
}

// deviceMTU returns the MTU of a device: the one in the file, or the largest that the interfaces
// beneath allow. 0: unknown, or no device.
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

// room returns the largest MTU of a device that the interfaces beneath allow. 0: no limit.
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

// DeviceMTU returns the MTU of a host's device. 0: the kernel's default, or no device.
func (t *Topology) DeviceMTU(e End) int {
	if h, ok := t.Host(e.Node); ok {
		return t.deviceMTU(h, e.Interface)
	}
	return 0
}

// Device returns the port's bond as a device. The zero value means that the port has a link.
func (p *Port) Device() device.Device { return device.Device{Bond: p.Bond} }

// bond returns the bond that a port of the switch is a member of.
func (s *Switch) bond(member string) (*Port, bool) {
	return find(s.Ports, func(p *Port) bool { return p.Bond != nil && slices.Contains(p.Bond.Members, member) })
}

// Filters reports whether the switch uses VLANs.
func (s *Switch) Filters() bool {
	return slices.ContainsFunc(s.Ports, func(p Port) bool { return p.Untagged != 0 || len(p.Tagged) > 0 })
}

// VLANs returns the VLANs of a port, or of the bond that it is a member of: the VLAN of untagged
// frames, 0 if none, and the VLANs of tagged frames.
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

// forwards returns the tags of a frame that leaves a switch through port out after it entered
// through port in with the given tags. It returns false if the frame does not leave there.
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

// vrf returns the VRF of an interface of the host, and its routing table. The table is 0 if there
// is no VRF.
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

// Tunnelled reports whether an interface is the end of a tunnel.
func (t *Topology) Tunnelled(e End) bool {
	h, ok := t.Host(e.Node)
	if !ok {
		return false
	}
	shape, _ := h.shape(e.Interface)
	return shape.Tunnel != nil
}

// Tag returns the outer 802.1Q tag of an interface's frames. 0: none.
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
