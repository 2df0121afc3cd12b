package facts

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
)

// A part of a snapshot can have details: after a slash the names of counters or kernel parameters, of
// which a rule needs at least one, separated by "|": "parameters/net.ipv4.tcp_sack". A snapshot that
// linerate reads itself has all details of a part that it has; a pasted text need not.

// Measurement is the part that only trials have: flows, events and what happened to them.
const Measurement = "measurement"

// Counters returns the part with counters of interfaces, by their names in linux/if_link.h.
func Counters(names ...string) string { return "interface counters/" + strings.Join(names, "|") }

// SNMP returns the part with counters of protocols.
func SNMP(names ...string) string { return "snmp/" + strings.Join(names, "|") }

// Parameters returns the part with kernel parameters.
func Parameters(keys ...string) string { return "parameters/" + strings.Join(keys, "|") }

// Base returns the name of a part without its details.
func Base(part string) string {
	base, _, _ := strings.Cut(part, "/")
	return base
}

// Whole returns the name of the part of a snapshot that linerate reads itself that has a part.
func Whole(part string) string { return cmp.Or(finerParts[Base(part)].of, Base(part)) }

// finer is a part of a pasted text that is less than a part of a snapshot that linerate reads itself.
type finer struct {
	of  string // the part of such a snapshot; empty: every snapshot has it
	has func(*Host) bool
	// of a part of NICs, whether it is known of one. Nil: has decides.
	nic func(Port) bool
}

func ofNICs(nic func(Port) bool) finer {
	return finer{"nics", func(h *Host) bool {
		return slices.ContainsFunc(h.Reading.Snapshot.Interfaces, func(i netstate.InterfaceSnapshot) bool {
			p := h.Port(i)
			return p.NIC.Interface != "" && nic(p)
		})
	}, nic}
}

// finerParts are judged by the values that a text has: each tool, and each option of ethtool(8), prints
// a few of them.
var finerParts = map[string]finer{
	"duplex": ofNICs(func(p Port) bool { return p.NIC.Duplex != "" || !p.NIC.Carrier }),
	"link modes": ofNICs(func(p Port) bool {
		return p.NIC.SpeedMbps > 0 && p.NIC.BestMbps > 0 || !p.NIC.Carrier
	}),
	"autonegotiation": ofNICs(func(p Port) bool { return p.NIC.Autoneg != nil }),
	"driver":          ofNICs(func(p Port) bool { return p.NIC.Driver != "" }),
	// Whether an interface is a device decides which settings matter.
	"hardware":   ofNICs(Port.Hardware),
	"rings":      ofNICs(func(p Port) bool { return p.NIC.Rings != nil }),
	"channels":   ofNICs(func(p Port) bool { return p.NIC.Channels != nil }),
	"coalescing": ofNICs(func(p Port) bool { return p.NIC.Coalesce != nil }),
	"pcie":       {of: "nics", has: anyNIC(func(n netstate.NIC) bool { return n.PCIe != nil })},
	"usb":        {of: "nics", has: anyNIC(func(n netstate.NIC) bool { return n.USBMbps > 0 })},
	"wireless":   {of: "nics", has: anyNIC(func(n netstate.NIC) bool { return n.Wireless })},
	WiFi:         {of: "nics", has: anyNIC(func(n netstate.NIC) bool { return n.WiFi != nil })},
	"queue lengths": {of: "nics", has: anyNIC(func(n netstate.NIC) bool {
		return n.TxQueueLen > 0 && n.SpeedMbps > 0
	})},
	"receive queues": {of: "nics", has: anyNIC(func(n netstate.NIC) bool { return len(n.Queues) > 0 })},
	"interrupts": {of: "nics", has: anyNIC(func(n netstate.NIC) bool {
		return slices.ContainsFunc(n.IRQs, func(i netstate.IRQ) bool { return i.Affinity != "" || i.ByCPU != nil })
	})},
	RingStates:  {of: "nics", has: anyNIC(func(n netstate.NIC) bool { return n.RingStates })},
	BufferPools: {of: "", has: func(h *Host) bool { return len(h.State.BufferPools) > 0 }},
	InterruptCounts: {of: "nics", has: anyNIC(func(n netstate.NIC) bool {
		return slices.ContainsFunc(n.IRQs, func(i netstate.IRQ) bool { return i.Count > 0 })
	})},
	"carrier changes": {of: "nics", has: func(h *Host) bool {
		return h.State.UptimeS > 0 && anyNIC(func(n netstate.NIC) bool { return n.CarrierChanges > 0 })(h)
	}},
	"carrier": {of: "nics", has: func(h *Host) bool {
		return slices.Contains(h.Pasted, "interface flags") ||
			anyNIC(func(n netstate.NIC) bool { return n.OperState != "" })(h)
	}},
	"interface flags": {of: "nics", has: func(h *Host) bool { return slices.Contains(h.Pasted, "interface flags") }},
	"features": ofNICs(func(p Port) bool {
		return !slices.ContainsFunc(Offloads, func(name string) bool { return !p.hasFeature(name) })
	}),
	"statistics": ofNICs(func(p Port) bool { return p.NIC.Counters != nil || p.NIC.Meanings != nil }),
	"rx-lro":     ofNICs(func(p Port) bool { return p.hasFeature("rx-lro") }),
	"addresses": {of: "interfaces", has: anyInterface(func(i netstate.InterfaceSnapshot) bool {
		return len(i.Addresses) > 0
	})},
	"mtus": {of: "interfaces", has: anyInterface(func(i netstate.InterfaceSnapshot) bool { return i.MTU > 0 })},
	"macs": {of: "interfaces", has: anyInterface(func(i netstate.InterfaceSnapshot) bool { return i.MAC != "" })},
	"bridges": {of: "interfaces", has: anyInterface(func(i netstate.InterfaceSnapshot) bool {
		return i.Master != "" && i.MTU > 0
	})},
	"bonds": {of: "", has: func(h *Host) bool { return len(h.State.Bonds) > 0 }},
	"tcp listeners": {of: "sockets", has: anyListener(func(l netstate.Listener) bool {
		return l.Protocol == "tcp" && !l.BacklogUnknown
	})},
	"udp sockets": {of: "sockets", has: anyListener(func(l netstate.Listener) bool { return l.Protocol == "udp" })},
	"socket drops": {of: "sockets", has: anyListener(func(l netstate.Listener) bool {
		return l.Drops > 0 || l.ReceiveBuffer > 0
	})},
	"rules":       {of: "routes", has: func(h *Host) bool { return slices.Contains(h.Pasted, "rules") }},
	"every table": {of: "routes", has: func(h *Host) bool { return slices.Contains(h.Pasted, "every table") }},
	"connections": {of: "sockets", has: func(h *Host) bool {
		for state := range h.State.TCP {
			if state != "LISTEN" {
				return true
			}
		}
		return false
	}},
	"tcp timers": {of: "sockets", has: func(h *Host) bool { return slices.Contains(h.Pasted, "tcp timers") }},
	"tcp info":   {of: "sockets", has: func(h *Host) bool { return slices.Contains(h.Pasted, "tcp info") }},
	Paths: {of: "sockets", has: func(h *Host) bool {
		return slices.Contains(h.Pasted, "tcp info") || len(h.State.Transfers) > 0
	}},
	Transfers: {of: "", has: func(h *Host) bool { return len(h.State.Transfers) > 0 }},
	"qdiscs": {of: "qdiscs", has: func(h *Host) bool {
		return slices.ContainsFunc(h.Reading.End.Qdiscs, func(q netstate.QdiscCounters) bool { return q.Packets > 0 })
	}},
	"conntrack": {of: "conntrack", has: func(h *Host) bool {
		return h.State.Conntrack != nil && h.State.Conntrack.Most > 0 && h.State.Conntrack.Count > 0
	}},
	"echo": {of: "probe", has: anyProbe(func(p netstate.Probe) bool { return p.Echo != nil })},
	"path mtu": {of: "probe", has: anyProbe(func(p netstate.Probe) bool { // compared with that of the interface
		return p.PathMTU != nil && (p.InterfaceMTU > 0 || p.PathMTU.Below > 0)
	})},
	"lookups":  {of: "probe", has: anyProbe(func(p netstate.Probe) bool { return len(p.Resolvers) > 0 })},
	"connects": {of: "probe", has: anyProbe(func(p netstate.Probe) bool { return len(p.Connects) > 0 })},
	"clock sources": {of: "clock", has: func(h *Host) bool {
		return h.State.Clock != nil && h.State.Clock.Source != "" && len(h.State.Clock.Available) > 0
	}},
	"synchronisation": {of: "clock", has: func(h *Host) bool { return slices.Contains(h.Pasted, "synchronisation") }},
	// A text does not show whether a namespace, such as a container's, has its own name servers.
	"first namespace": {of: "resolver", has: func(h *Host) bool { return h.State.FirstNamespace }},
	"cpus":            {of: "", has: func(h *Host) bool { return h.CPUs > 0 }},
	Measurement:       {of: "", has: func(h *Host) bool { return false }},
}

// Parts of a text. Transfers are what tools that measure rates printed; Paths are what connections, those of such tools
// too, say of their paths. WiFi is what a driver says of a wireless link.
const (
	WiFi      = "wifi"
	Paths     = "connection paths"
	Transfers = "transfers"
)

// Offloads are the features without which each packet costs more CPU time.
var Offloads = []string{"rx-gro", "tx-generic-segmentation", "tx-tcp-segmentation", "rx-checksum"}

// reads reports whether a pasted text has a part of the host, with one of its details if there are any.
func (h *Host) reads(part string) bool {
	base, details, _ := strings.Cut(part, "/")
	names := strings.Split(details, "|")
	any := func(has func(string) bool) bool { return details == "" || slices.ContainsFunc(names, has) }
	if p, is := finerParts[base]; is {
		return p.has(h)
	}
	switch base {
	case DriverCounters:
		return h.countersKnown(names)
	case "cpu":
		return len(h.State.CPULoad) > 0
	case EveryRoute:
		return slices.Contains(h.Pasted, "routes")
	case "parameters":
		return slices.Contains(h.Pasted, base) && any(func(key string) bool { return h.State.Parameters[key] != "" })
	case "snmp":
		return slices.Contains(h.Pasted, base) && any(func(name string) bool {
			_, has := h.Reading.End.SNMP[name]
			return has
		})
	case "interface counters":
		return any(func(name string) bool { return slices.Contains(h.Pasted, base+"/"+name) })
	}
	return slices.Contains(h.Pasted, base)
}

// described reports whether a text has a NIC's own settings or counters, and not only its state.
func described(n netstate.NIC) bool {
	return n.Driver != "" || n.BestMbps > 0 || n.SpeedMbps > 0 || n.Duplex != "" || n.Rings != nil ||
		n.Channels != nil || n.Coalesce != nil || n.Pause != nil || n.Features != nil || n.Fixed != nil ||
		n.Counters != nil
}

// Lacking returns the interfaces of which a pasted text has something, but not a part that it has of
// others.
func (h *Host) Lacking(part string) (names []string) {
	p := finerParts[Base(part)]
	if p.nic == nil || len(h.Pasted) == 0 {
		return nil
	}
	for _, i := range h.Reading.Snapshot.Interfaces {
		if port := h.Port(i); i.Kind == "" && described(port.NIC) && !p.nic(port) {
			names = append(names, i.Interface)
		}
	}
	return names
}

// hasFeature reports whether the state of a feature is known.
func (p Port) hasFeature(name string) bool {
	_, has := p.NIC.Features[name]
	return has || slices.Contains(p.NIC.Fixed, name)
}

func anyNIC(has func(netstate.NIC) bool) func(*Host) bool {
	return func(h *Host) bool { return slices.ContainsFunc(h.State.NICs, has) }
}

func anyInterface(has func(netstate.InterfaceSnapshot) bool) func(*Host) bool {
	return func(h *Host) bool { return slices.ContainsFunc(h.Reading.Snapshot.Interfaces, has) }
}

func anyListener(has func(netstate.Listener) bool) func(*Host) bool {
	return func(h *Host) bool { return slices.ContainsFunc(h.State.Listeners, has) }
}

func anyProbe(has func(netstate.Probe) bool) func(*Host) bool {
	return func(h *Host) bool { return slices.ContainsFunc(h.State.Probes, has) }
}
