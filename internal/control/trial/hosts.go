package trial

import (
	"fmt"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// hosts returns the nodes' readings on the conductor's clock. If a topology was planned, forwarding
// tables of switches contain only what belongs to them, with the far end of each interface.
func (r Readings) hosts(nodes []string, planned *topology.Topology) []netstate.HostReading {
	var list []netstate.HostReading
	for _, node := range nodes {
		h := onOurClock(r.Replies[node].Reading, r.Clocks[node].OffsetNs)
		if planned != nil {
			h = withPeers(ofBridge(h, planned), planned)
		}
		list = append(list, h)
	}
	return list
}

// clocks returns the offsets of the nodes' clocks.
func (r Readings) clocks(nodes []string) (list []record.Clock) {
	return lists.Map(nodes, func(node string) record.Clock { return r.Clocks[node] })
}

// ofBridge reduces the forwarding table of a real switch to the bridge that the topology names. The
// machine may have others, for example of containers.
func ofBridge(h netstate.HostReading, t *topology.Topology) netstate.HostReading {
	s, ok := t.Switch(h.Host)
	if !ok || s.Bridge == "" {
		return h
	}
	ours := map[string]bool{s.Bridge: true}
	there := false
	for _, p := range h.Snapshot.Interfaces {
		there = there || p.Interface == s.Bridge
		if p.Master == s.Bridge {
			ours[p.Interface] = true
		}
	}
	keep := func(table []netstate.FDBEntry) []netstate.FDBEntry {
		return slices.DeleteFunc(slices.Clone(table), func(e netstate.FDBEntry) bool { return !ours[e.Interface] })
	}
	h.Snapshot.FDB, h.Before.FDB = keep(h.Snapshot.FDB), keep(h.Before.FDB)
	if !there {
		h.Snapshot.Missing = append(slices.Clone(h.Snapshot.Missing),
			fmt.Sprintf("forwarding table: %s has no bridge %s", s.Name, s.Bridge))
	}
	return h
}

// withPeers adds the far end of each of a switch's interfaces to its forwarding table.
func withPeers(h netstate.HostReading, t *topology.Topology) netstate.HostReading {
	named := func(table []netstate.FDBEntry) []netstate.FDBEntry {
		table = slices.Clone(table)
		for i, e := range table {
			at := topology.End{Node: h.Host, Interface: e.Interface}
			if l, ok := t.LinkAt(at); ok {
				table[i].Peer = l.Other(at).String()
			}
		}
		return table
	}
	h.Snapshot.FDB, h.Before.FDB = named(h.Snapshot.FDB), named(h.Before.FDB)
	return h
}

// onOurClock returns a host's reading with times on the conductor's clock.
func onOurClock(h netstate.HostReading, offset int64) netstate.HostReading {
	move := func(r *netstate.Reading) {
		r.ScheduledNs -= offset
		r.BeganNs -= offset
		r.EndedNs -= offset
		r.Interfaces = moveInterfaces(r.Interfaces, offset)
	}
	move(&h.Begin)
	move(&h.End)
	for _, tables := range []*netstate.Tables{&h.Before, &h.Snapshot.Tables} {
		tables.BeganNs -= offset
		tables.EndedNs -= offset
	}
	h.Arrivals, h.Gaps = slices.Clone(h.Arrivals), slices.Clone(h.Gaps)
	for i := range h.Arrivals {
		if a := &h.Arrivals[i]; a.LastNs != 0 {
			a.LastNs -= offset
		}
	}
	for i := range h.Gaps {
		h.Gaps[i].FromNs -= offset
		h.Gaps[i].ToNs -= offset
	}
	if h.Log != nil {
		log := *h.Log
		log.Lines = slices.Clone(log.Lines)
		for i := range log.Lines {
			log.Lines[i].AtNs -= offset
		}
		h.Log = &log
	}
	h.Series = slices.Clone(h.Series)
	for i := range h.Series {
		h.Series[i].AtNs -= offset
		h.Series[i].BeganNs -= offset
		h.Series[i].EndedNs -= offset
		h.Series[i].Interfaces = moveInterfaces(h.Series[i].Interfaces, offset)
	}
	return h
}

func moveInterfaces(list []netstate.InterfaceCounters, offset int64) []netstate.InterfaceCounters {
	list = slices.Clone(list)
	for i := range list {
		list[i].AtNs -= offset
	}
	return list
}
