package limits

import (
	"net/netip"
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// Ends has the interfaces that a flow uses on its two hosts, by host, as far as they are known: the
// one that the host's own lookup of the route to the other end names, or else the one that has the
// flow's address.
type Ends map[string]netstate.InterfaceSnapshot

// Known reports whether both interfaces of a flow are known.
func (e Ends) Known(f record.Flow) bool { return e[f.From].Interface != "" && e[f.To].Interface != "" }

// EndsOf returns the ends of flows, in their order.
func EndsOf(flows []record.Flow, hosts []netstate.HostReading) []Ends {
	read := record.Trial{Hosts: hosts}
	list := make([]Ends, len(flows))
	for i, f := range flows {
		source, destination := f.SourceAddr().WithZone(""), f.DestinationAddr().WithZone("")
		from, _ := read.Reading(f.From)
		to, _ := read.Reading(f.To)
		list[i] = Ends{f.From: interfaceTo(from.Snapshot, source, destination),
			f.To: interfaceTo(to.Snapshot, destination, source)}
	}
	return list
}

// UsedOn returns the interfaces that flows use on a host, without duplicates.
func UsedOn(all []Ends, host string) (interfaces []netstate.InterfaceSnapshot) {
	for _, e := range all {
		p := e[host]
		if p.Interface != "" && !slices.ContainsFunc(interfaces, func(q netstate.InterfaceSnapshot) bool {
			return q.Interface == p.Interface
		}) {
			interfaces = append(interfaces, p)
		}
	}
	return interfaces
}

// interfaceTo returns the interface by which packets from one of a host's addresses leave to
// another host's; the zero value: unknown.
func interfaceTo(s netstate.Snapshot, own, far netip.Addr) netstate.InterfaceSnapshot {
	for _, l := range s.Lookups {
		if l.Source == own.String() && l.Destination == far.String() {
			i := slices.IndexFunc(s.Interfaces, func(p netstate.InterfaceSnapshot) bool {
				return p.Interface == l.Interface
			})
			if i < 0 {
				return netstate.InterfaceSnapshot{}
			}
			return s.Interfaces[i]
		}
	}
	for _, p := range s.Interfaces {
		for _, text := range p.Addresses {
			if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Addr() == own {
				return p
			}
		}
	}
	return netstate.InterfaceSnapshot{}
}
