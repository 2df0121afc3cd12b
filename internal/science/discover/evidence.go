package discover

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/fabric"
	"linerate/internal/model/topology"
)

// addDevice adds a switch that was read by SNMP.
func (b *builder) addDevice(given *fabric.Device) {
	address, _, _ := (&topology.SNMP{Address: given.Given}).Endpoint()
	d := b.switchOf(given.Chassis, given.System, []string{address})
	if d == nil {
		return
	}
	d.read, d.Read, d.Address = given, true, given.Given
	for _, p := range given.Ports {
		if p.SpeedBps > 0 {
			d.speeds[d.port(p.Name)] = p.SpeedBps
		}
	}
	for _, why := range given.Missing {
		b.say("what its user or community may read", "%s: %s", d.Name, why)
	}
}

// switchOf returns the switch with a chassis, a system name or an address for management. It is new if
// none has. Nil: there are too many.
func (b *builder) switchOf(chassis, system string, addresses []string) *unmanaged {
	for _, d := range b.devices {
		if chassis != "" && d.Chassis == chassis {
			return d
		}
	}
	for _, d := range b.devices {
		named := system != "" && cmp.Or(d.System, d.Name) == system
		reached := slices.ContainsFunc(addresses, func(a string) bool {
			return a != "" && slices.Contains(d.addresses,
				a)
		})
		if (chassis == "" || d.Chassis == "") && (named || reached) {
			d.Chassis, d.System = cmp.Or(d.Chassis, chassis), cmp.Or(d.System, system)
			return d
		}
	}
	if len(b.devices) >= mostSwitches {
		b.say("fewer hosts at a time", "which switches there are besides %d", mostSwitches)
		return nil
	}
	d := &unmanaged{ports: map[string]string{}, speeds: map[string]float64{}, addresses: addresses}
	d.Name = b.name(cmp.Or(system, "switch-"+strings.ReplaceAll(chassis, ":", "")))
	d.Chassis = chassis
	if d.System = system; d.System == d.Name {
		d.System = ""
	}
	for _, a := range addresses {
		if _, err := netip.ParseAddr(a); err == nil && d.Address == "" {
			d.Address = a
		}
	}
	b.devices, b.deviceOf[d.Name] = append(b.devices, d), d
	return d
}

// neighbour is what one end of a cable says of the other.
type neighbour struct{ chassis, system, port, description string }

// hostEnd returns the end of a named host that a neighbour is.
func (b *builder) hostEnd(n neighbour) (topology.End, bool) {
	unique := func(list []topology.End) (topology.End, bool) {
		ends := map[topology.End]bool{}
		for _, e := range list {
			if at, is := b.end(b.node(e.Node), e.Interface); is {
				ends[at] = true
			}
		}
		if len(ends) != 1 {
			return topology.End{}, false
		}
		for e := range ends {
			return e, true
		}
		return topology.End{}, false
	}
	if e, is := unique(b.macs[strings.ToLower(n.port)]); is {
		return e, true
	}
	var of []*node
	for _, e := range b.macs[strings.ToLower(n.chassis)] {
		of = append(of, b.node(e.Node))
	}
	short, _, _ := strings.Cut(n.system, ".")
	for _, one := range b.nodes {
		if short != "" && (strings.EqualFold(one.Name, short) || one.Snapshot.Host.Host == n.system) {
			of = append(of, one)
		}
	}
	var list []topology.End
	for _, one := range of {
		for _, name := range []string{n.port, n.description} {
			if _, is := one.of[name]; is {
				list = append(list, topology.End{Node: one.Name, Interface: name})
				break
			}
		}
	}
	return unique(list)
}

// byLLDP adds the links that hosts and switches name.
func (b *builder) byLLDP() {
	type said struct {
		at topology.End
		neighbour
		addresses []string
		switches  bool
	}
	var all []said
	for _, n := range b.nodes {
		for _, l := range n.Snapshot.State.LLDP {
			if at, is := b.end(n, l.Interface); is {
				all = append(all, said{at, neighbour{l.Chassis, l.System, l.Port, l.PortDescription}, l.Addresses,
					l.Switches() || len(l.Capabilities) == 0})
			}
		}
	}
	for _, d := range slices.Clone(b.devices) {
		for _, l := range d.read.Neighbours {
			all = append(all, said{topology.End{Node: d.Name, Interface: d.port(l.Local)}, neighbour{l.Chassis,
				l.System,
				l.Port, l.Description}, nil, l.Switches})
		}
	}
	// A cable has one end, and a neighbour that is a host, or switches, is more likely it than another.
	for _, s := range all {
		if far, is := b.hostEnd(s.neighbour); is {
			b.link(s.at, far, fabric.SourceLLDP)
		}
	}
	for _, s := range all {
		if _, is := b.hostEnd(s.neighbour); is {
			continue
		}
		if !s.switches {
			b.unnamed[s.at.Node] = append(b.unnamed[s.at.Node], cmp.Or(s.system, s.chassis))
			continue
		}
		if d := b.switchOf(s.chassis, s.system, s.addresses); d != nil {
			far := topology.End{Node: d.Name, Interface: d.port(d.identified(s.neighbour))}
			if !b.link(s.at, far, fabric.SourceLLDP) {
				b.say("one neighbour for each cable", "where %s leads: %s and %s are named for it", s.at,
					cmp.Or(b.far[s.at], b.far[far]), far)
			}
		}
	}
}

// identified returns the switch's own name of the port that a neighbour is.
func (d *unmanaged) identified(n neighbour) string {
	if d.read != nil {
		for _, p := range d.read.Ports {
			if p.Name == n.port || p.MAC != "" && p.MAC == strings.ToLower(n.port) {
				return p.Name
			}
		}
		for _, p := range d.read.Ports {
			if p.Name == n.description {
				return p.Name
			}
		}
	}
	isMAC := len(n.port) == 17 && strings.Count(n.port, ":") == 5
	if isMAC && n.description != "" && !strings.Contains(n.description, " ") {
		return n.description
	}
	return n.port
}

// byForwarding adds the links of hosts of which a switch has learned the MAC address: at the port that has
// the fewest hosts behind it.
func (b *builder) byForwarding() {
	behind := map[topology.End]map[string]bool{} // the hosts
	at := map[string][]topology.End{}            // ports, by MAC address
	learned := func(port topology.End, mac string) {
		mac = strings.ToLower(mac)
		for _, e := range b.macs[mac] {
			if e.Node != port.Node {
				if behind[port] == nil {
					behind[port] = map[string]bool{}
				}
				behind[port][e.Node] = true
				if !slices.Contains(at[mac], port) {
					at[mac] = append(at[mac], port)
				}
			}
		}
	}
	for _, n := range b.nodes {
		if n.bridge == "" {
			continue
		}
		for _, e := range n.Snapshot.Reading.Snapshot.FDB {
			if i, is := n.of[e.Interface]; is && !e.Local && n.cabled(i) != "" {
				learned(topology.End{Node: n.Name, Interface: e.Interface}, e.MAC)
			}
		}
	}
	for _, d := range b.devices {
		if d.read != nil {
			for _, e := range d.read.Forwarding {
				learned(topology.End{Node: d.Name, Interface: d.port(e.Port)}, e.MAC)
			}
		}
	}
	for _, n := range b.nodes {
		for _, i := range n.Snapshot.Reading.Snapshot.Interfaces {
			end, is := b.end(n, i.Interface)
			if _, linked := b.far[end]; !is || linked {
				continue
			}
			var best []topology.End
			for _, port := range at[strings.ToLower(i.MAC)] {
				_, linked := b.far[port]
				switch few := len(behind[port]); {
				case linked || len(best) > 0 && few > len(behind[best[0]]):
				case len(best) > 0 && few == len(behind[best[0]]):
					best = append(best, port)
				default:
					best = []topology.End{port}
				}
			}
			switch {
			case len(best) == 1 && len(behind[best[0]]) == 1:
				b.link(end, best[0], fabric.SourceFDB)
			case len(best) > 0:
				b.say("LLDP on "+n.Name+" or its switch",
					"the port of %s: its MAC address is behind %s with those of others",
					end, best[0])
			}
		}
	}
}
