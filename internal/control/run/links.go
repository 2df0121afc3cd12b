package run

import (
	"context"
	"slices"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/topology"
)

const (
	// linkTimeout bounds the wait for links before a trial: ports with copper negotiate for
	// seconds after they were set up or had their rings changed.
	linkTimeout  = 10 * time.Second
	linkInterval = 10 * time.Millisecond
)

// awaitLinks waits until the interfaces that are up are running, with the settings of a
// treatment; empty: before them. What an interface sends before that the kernel discards without
// an error, and a connection's first SYN is repeated only after a second. Interfaces at whose
// link's other end the interface is down are not waited for, and those that were not running
// after linkTimeout not again: they have no cable.
func (c *conductor) awaitLinks(ctx context.Context, treatment string) error {
	planned, nodes := &c.study.Topology, c.lab.Nodes()
	asked := map[string]message.LinksRequest{}
	for _, e := range planned.Interfaces() {
		if slices.Contains(nodes, e.Node) {
			asked[e.Node] = message.LinksRequest{Interfaces: append(asked[e.Node].Interfaces, e.Interface)}
		}
	}
	for until := time.Now().Add(linkTimeout); ; {
		replies, err := bus.Ask(ctx, c.bus, message.Links, asked)
		if err != nil {
			return err
		}
		states := map[topology.End]message.LinkState{}
		for node, list := range replies {
			for _, s := range list {
				states[topology.End{Node: node, Interface: s.Interface}] = s
			}
		}
		waiting := slices.DeleteFunc(notRunning(planned, states), func(e topology.End) bool {
			return slices.Contains(c.unlinked[""], e) || slices.Contains(c.unlinked[treatment], e)
		})
		if len(waiting) == 0 {
			return nil
		}
		if time.Now().After(until) {
			c.unlinked[treatment] = append(c.unlinked[treatment], waiting...)
			return nil
		}
		select {
		case <-time.After(linkInterval):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// notRunning are the interfaces that are up and not running, except those at whose link's other
// end the interface is down. A real switch's interfaces have no state here.
func notRunning(planned *topology.Topology, states map[topology.End]message.LinkState) (list []topology.End) {
	for end, s := range states {
		if !s.Up || s.Running {
			continue
		}
		if link, ok := planned.LinkAt(end); ok {
			if far, known := states[link.Other(end)]; known && !far.Up {
				continue
			}
		}
		list = append(list, end)
	}
	return list
}
