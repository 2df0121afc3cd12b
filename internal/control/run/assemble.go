package run

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"

	"linerate/internal/control/trial"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/failover"
	"linerate/internal/science/stats"
	"linerate/internal/science/toolreport"
)

// assemble makes one trial's record of what the nodes read.
func (c *conductor) assemble(made *record.Trial, t *study.Treatment, flows []*trial.Flow, readings trial.Readings, printed trial.Printed, ways map[*trial.Flow]*traveller) error {
	readings.Enter(made, c.lab.Nodes(), flows)
	enterWays(made, c.over(t), flows, ways)
	toolreport.Ports(made)
	readings.EnterTools(made, flows, printed, made.AccountSender)
	toolreport.Sum(made)
	for i := range made.Hosts {
		ofBridge(&made.Hosts[i], &c.study.Topology)
		made.Hosts[i] = c.withCables(made.Hosts[i])
	}
	g := c.grounds[t.Name]
	if g.over != &c.study.Topology {
		made.Topology = g.over
	}
	g.hold(made, flows)
	failover.Detect(made, g.over)
	bottleneck.Attribute(made, g.over)
	options := make([]study.Options, len(flows))
	for i, f := range flows {
		options[i] = f.Options
	}
	bottleneck.Predict(made, g.over, options)
	return stats.Totals(made)
}

// ofBridge keeps of a real switch's forwarding table what belongs to the bridge
// that the topology names: the machine may have others, of containers for one.
func ofBridge(h *record.HostReading, t *topology.Topology) {
	s, ok := t.Switch(h.Host)
	if !ok || s.Bridge == "" {
		return
	}
	ours := map[string]bool{s.Bridge: true}
	there := false
	for _, p := range h.Snapshot.Interfaces {
		there = there || p.Interface == s.Bridge
		if p.Master == s.Bridge {
			ours[p.Interface] = true
		}
	}
	keep := func(table []record.FDBEntry) []record.FDBEntry {
		return slices.DeleteFunc(slices.Clone(table), func(e record.FDBEntry) bool { return !ours[e.Interface] })
	}
	h.Snapshot.FDB, h.Before.FDB = keep(h.Snapshot.FDB), keep(h.Before.FDB)
	if !there {
		h.Snapshot.Missing = append(h.Snapshot.Missing, fmt.Sprintf("forwarding table: %s has no bridge %s", s.Name, s.Bridge))
	}
}

// withCables adds to a switch's forwarding table what is at the far end of each
// of its interfaces.
func (c *conductor) withCables(h record.HostReading) record.HostReading {
	name := func(table []record.FDBEntry) {
		for i, e := range table {
			if l, ok := c.study.Topology.LinkAt(topology.End{Node: h.Host, Interface: e.Interface}); ok {
				table[i].Peer = l.Other(topology.End{Node: h.Host, Interface: e.Interface}).String()
			}
		}
	}
	name(h.Snapshot.FDB)
	name(h.Before.FDB)
	return h
}
