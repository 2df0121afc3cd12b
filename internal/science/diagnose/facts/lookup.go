package facts

import (
	"linerate/internal/model/index"
	"linerate/internal/model/netstate"
)

// lookups has for lists of a host the positions of their elements by the name of the interface. Each is made when
// it is first used, which is when the lists are complete.
type lookups struct {
	interfaces, snapshots, nics, counted, totals map[string]int
	silent                                       map[string]string // see SilentPeer
}

// find returns the element of a list with a name; false: there is none.
func find[T any](at *map[string]int, list []T, nameOf func(T) string, name string) (element T, is bool) {
	if *at == nil {
		*at = index.First(list, nameOf)
	}
	i, is := (*at)[name]
	if is {
		element = list[i]
	}
	return element, is
}

// Interface returns the host's interface with a name; nil: there is none.
func (h *Host) Interface(name string) *Interface {
	p, _ := find(&h.lookups.interfaces, h.Interfaces, func(p *Interface) string { return p.Name }, name)
	return p
}

// Snapshot returns the state of an interface; false: it was not read.
func (h *Host) Snapshot(name string) (netstate.InterfaceSnapshot, bool) {
	return find(&h.lookups.snapshots, h.Reading.Snapshot.Interfaces,
		func(i netstate.InterfaceSnapshot) string { return i.Interface }, name)
}

// Growth returns by how much the counters of an interface grew between the readings; false: it is not known.
func (h *Host) Growth(name string) (netstate.InterfaceCounters, bool) {
	return find(&h.lookups.counted, h.Counted, counterName, name)
}

// Totals returns the counters of an interface at the last reading; false: they were not read.
func (h *Host) Totals(name string) (netstate.InterfaceCounters, bool) {
	return find(&h.lookups.totals, h.Reading.End.Interfaces, counterName, name)
}

func counterName(c netstate.InterfaceCounters) string { return c.Interface }
