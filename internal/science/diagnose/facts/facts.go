// Package facts arranges what records say of hosts, interfaces, routes, neighbours, sockets and flows in
// the way that rules look at it. It draws no conclusions and knows no rule.
package facts

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Trial is a trial arranged for rules.
type Trial struct {
	Trial    record.Trial
	Topology *topology.Topology
	Hosts    []*Host
}

// Host is one host (not switch) as its reading and the topology describe it.
type Host struct {
	Name       string
	Alone      bool // there is no other host
	Reading    record.HostReading
	Interfaces []*Interface
	Deltas     map[string]record.InterfaceDelta

	byAddress map[netip.Addr]*Interface
	byMAC     map[string]*Interface // nil: several interfaces have it

	// Of a snapshot of the host:
	foreign map[string]bool // the MAC addresses of the other hosts
	State   record.HostState
	OverS   float64 // between the readings
	Boot    bool    // the first reading is that of the boot
	Shared  bool    // softnet_stat is mostly of packets of other network namespaces (hostload.Foreign)
	CPUs    int
	Flows   []record.Flow              // of the trial, around a run
	nics    map[string]int             // of state, by interface
	Pasted  []string                   // the parts that it has, of a pasted text
	Counted []record.InterfaceCounters // between the readings
	Queued  []queue
	Traced  []record.KernelDrop // between the readings
	// Packets of traced that each counter counts: all, and those that are dropped harmlessly.
	Named, Benign map[Tally]uint64

	gatewayed map[netip.Addr][]record.Touch // where what leaves by each gateway leads, once it is asked for
}

// Interface is a network interface of a host, as a trial's reading or the topology has it.
type Interface struct {
	Name     string
	MAC      string
	Prefixes []netip.Prefix // addresses with their prefix length
	Up       bool
	Member   bool   // of a bond or a bridge: its master answers for it
	VRF      string // that its routes and addresses are of; empty: the host's own
}

// Gather arranges a trial. Hosts are as they were read, or, without a reading, as the
// topology has them.
func Gather(trial record.Trial, t *topology.Topology) Trial {
	f := Trial{Trial: trial, Topology: t}
	for _, th := range t.Hosts {
		reading, _ := trial.Reading(th.Name)
		h := &Host{Name: th.Name, Alone: len(t.Hosts) == 1, Reading: reading,
			Deltas: map[string]record.InterfaceDelta{}}
		for _, d := range reading.Deltas() {
			h.Deltas[d.Interface] = d
		}
		for _, s := range reading.Snapshot.Interfaces {
			p := &Interface{Name: s.Interface, MAC: strings.ToLower(s.MAC), Up: s.Up, VRF: vrf(reading.Snapshot, s)}
			p.Member = s.Master != "" && s.Master != p.VRF
			for _, text := range s.Addresses {
				if prefix, err := netip.ParsePrefix(text); err == nil {
					p.Prefixes = append(p.Prefixes, prefix)
				}
			}
			h.Interfaces = append(h.Interfaces, p)
		}
		if len(h.Interfaces) == 0 {
			h.Interfaces = declared(t, th)
		}
		f.Hosts = append(f.Hosts, h)
	}
	return f
}

// vrf is the VRF of an interface, whose slaves look routes up and answer ARP by themselves, among
// the addresses of their VRF (Documentation/networking/vrf.rst); empty: it is in none.
func vrf(s record.Snapshot, i record.InterfaceSnapshot) string {
	name := i.Master
	if i.Kind == "vrf" {
		name = i.Interface
	}
	if slices.ContainsFunc(s.Interfaces, func(m record.InterfaceSnapshot) bool {
		return m.Interface == name && m.Kind == "vrf"
	}) {
		return name
	}
	return ""
}

func declared(t *topology.Topology, th topology.Host) (netifs []*Interface) {
	for _, tp := range th.Interfaces {
		p := &Interface{Name: tp.Name, MAC: strings.ToLower(t.MAC(topology.End{Node: th.Name, Interface: tp.Name})),
			Up: true}
		for _, a := range tp.Addresses {
			p.Prefixes = append(p.Prefixes, a.Prefixes()...)
		}
		netifs = append(netifs, p)
	}
	return netifs
}

// V4 are the interface's IPv4 addresses. ARP is theirs alone: neighbour discovery
// answers by the interface that holds the address, and no other (ndisc_recv_ns).
func (p *Interface) V4() []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(p.Prefixes), func(x netip.Prefix) bool { return !x.Addr().Is4() })
}

// OnSubnet lists the host's interfaces in a VRF, or in none (empty), whose prefixes hold addr and
// which answer for themselves: up, no member of a bond or bridge.
func (h *Host) OnSubnet(addr netip.Addr, vrf string) []*Interface {
	return slices.DeleteFunc(slices.Clone(h.Interfaces), func(p *Interface) bool {
		return !p.Up || p.Member || p.VRF != vrf || !slices.ContainsFunc(p.Prefixes, func(x netip.Prefix) bool {
			return x.Contains(addr)
		})
	})
}

// Holder is the interface that holds one of the host's addresses.
func (h *Host) Holder(addr netip.Addr) *Interface {
	h.index()
	return h.byAddress[addr]
}

// index finds interfaces by their addresses.
func (h *Host) index() {
	if h.byAddress != nil {
		return
	}
	h.byAddress, h.byMAC = map[netip.Addr]*Interface{}, map[string]*Interface{}
	for _, p := range h.Interfaces {
		for _, prefix := range p.Prefixes {
			if h.byAddress[prefix.Addr()] == nil {
				h.byAddress[prefix.Addr()] = p
			}
		}
		if _, shared := h.byMAC[p.MAC]; shared {
			h.byMAC[p.MAC] = nil
		} else if p.MAC != "" {
			h.byMAC[p.MAC] = p
		}
	}
}

// Owner is the interface with a MAC address, nil when several share it, as members
// of a bond do.
func (h *Host) Owner(mac string) *Interface {
	h.index()
	return h.byMAC[strings.ToLower(mac)]
}

// End names an interface with its host: "nas.eth0".
func (h *Host) End(p *Interface) string { return h.Name + "." + p.Name }
