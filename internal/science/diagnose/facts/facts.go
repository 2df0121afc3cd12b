// Package facts arranges records of hosts, interfaces, routes, neighbours, sockets and flows for
// the rules of package diagnose. It draws no conclusions and knows no rule.
package facts

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Trial is a trial, or a set of snapshots, arranged for rules.
type Trial struct {
	Trial    record.Trial
	Topology *topology.Topology
	// Declared is Topology as the study has it, without what settings of hosts change. Nil: as Topology.
	Declared *topology.Topology
	Hosts    []*Host
}

// Host is a host, not a switch, as its reading and the topology describe it.
type Host struct {
	Name       string
	Reading    netstate.HostReading
	Interfaces []*Interface
	Deltas     map[string]netstate.InterfaceDelta

	byAddress map[netip.Addr]*Interface
	byMAC     map[string]*Interface // nil: several interfaces have the address

	// The fields below are set only for snapshots of hosts (Observe).
	foreign map[string]bool // MAC addresses of the other hosts
	State   netstate.HostState
	OverS   float64 // seconds between the readings
	Boot    bool    // the first reading is that of the boot, with all counters 0
	Shared  bool    // most of softnet_stat is from other network namespaces (hostload.Foreign)
	CPUs    int
	// System is the operating system if it is not Linux (netstate.HostEnvironment.System), and Names are what it
	// calls counters (netstate.HostSnapshot.CounterNames).
	System  string
	Names   map[string]string
	Flows   []record.Flow                // of the trial; for a run only
	Pasted  []string                     // parts that a pasted text has; none: the snapshot was not pasted
	Counted []netstate.InterfaceCounters // growth between the readings
	Queued  []queue
	Traced  []netstate.KernelDrop // dropped between the readings
	// Intervals are those of a text to which what grew belongs.
	Intervals []netstate.Interval
	// Packets of Traced that each counter includes: Named all of them, Benign those dropped without
	// harm.
	Named, Benign map[Tally]uint64

	lookups   lookups
	gatewayed map[netip.Addr][]record.Touch // destinations of the routes by each gateway; nil until ByGateway is called
}

// Interface is a network interface of a host, as its reading or the topology describes it.
type Interface struct {
	Name     string
	MAC      string
	Prefixes []netip.Prefix // addresses with their prefix length
	MTU      int            // in bytes; 0: unknown
	Up       bool
	Member   bool   // of a bond or a bridge, which answers for it
	VRF      string // that it belongs to; empty: none
}

// Gather arranges a trial. Hosts without a reading have the interfaces of the topology.
func Gather(trial record.Trial, t *topology.Topology) Trial {
	f := Trial{Trial: trial, Topology: t, Declared: t}
	for _, th := range t.Hosts {
		reading, _ := trial.Reading(th.Name)
		h := &Host{Name: th.Name, Reading: reading,
			Deltas: map[string]netstate.InterfaceDelta{}}
		for _, d := range reading.Deltas() {
			h.Deltas[d.Interface] = d
		}
		for _, s := range reading.Snapshot.Interfaces {
			p := &Interface{Name: s.Interface, MAC: strings.ToLower(s.MAC), MTU: s.MTU, Up: s.Up,
				VRF: h.vrf(s)}
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

// vrf returns the name of the VRF that an interface belongs to, or ""; a VRF belongs to itself.
// Interfaces of a VRF look up routes and answer ARP for themselves, among the addresses of the VRF
// (Documentation/networking/vrf.rst).
func (h *Host) vrf(i netstate.InterfaceSnapshot) string {
	name := i.Master
	if i.Kind == "vrf" {
		name = i.Interface
	}
	if master, _ := h.Snapshot(name); master.Kind == "vrf" {
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

// V4 returns the interface's IPv4 addresses. Only they are resolved by ARP: in IPv6 neighbour
// discovery, only the interface that holds an address answers for it (ndisc_recv_ns).
func (p *Interface) V4() []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(p.Prefixes), func(x netip.Prefix) bool { return !x.Addr().Is4() })
}

// OnSubnet returns the host's interfaces in a VRF (empty: in none) that have addr in one of their
// subnets and answer for themselves: they are up and not members of a bond or bridge.
func (h *Host) OnSubnet(addr netip.Addr, vrf string) []*Interface {
	return slices.DeleteFunc(slices.Clone(h.Interfaces), func(p *Interface) bool {
		return !p.Up || p.Member || p.VRF != vrf || !slices.ContainsFunc(p.Prefixes, func(x netip.Prefix) bool {
			return x.Contains(addr)
		})
	})
}

// Holder returns the interface that has an address of the host; nil: none has it.
func (h *Host) Holder(addr netip.Addr) *Interface {
	h.index()
	return h.byAddress[addr]
}

// index fills the maps from addresses to interfaces, once.
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

// Owner returns the interface with a MAC address; nil if none or several have it, as members of a
// bond do.
func (h *Host) Owner(mac string) *Interface {
	h.index()
	return h.byMAC[strings.ToLower(mac)]
}

// End returns the name of an interface with its host: "nas.eth0".
func (h *Host) End(p *Interface) string { return h.Name + "." + p.Name }
