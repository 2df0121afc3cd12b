package run

import (
	"context"
	"slices"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// marks are the journal positions that each host is reverted to.
type marks map[string]int

// apply makes settings, each host its own in order, and marks where the hosts were,
// including those of events.
func (c *conductor) apply(ctx context.Context, settings []setting.Setting, events []study.Event, at marks) (
	[]record.Applied, error) {
	requests := map[string]message.ApplyRequest{}
	var hosts []string
	add := func(host string, s ...setting.Setting) {
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		requests[host] = message.ApplyRequest{Settings: append(requests[host].Settings, s...),
			AllowMachine: c.options.AllowMachine}
	}
	for _, s := range settings {
		add(s.Host, s)
	}
	for _, e := range events {
		add(e.Host)
	}
	replies, err := bus.Ask(ctx, c.bus, message.Apply, requests)
	var applied []record.Applied
	for _, host := range hosts {
		if reply, ok := replies[host]; ok {
			at.set(host, reply.Mark)
			applied = append(applied, reply.Applied...)
		}
	}
	return applied, err
}

// set keeps the first mark of a host.
func (m marks) set(host string, mark int) {
	if _, there := m[host]; !there {
		m[host] = mark
	}
}

// hold has the hosts at the other end of links whose interfaces settings take down record
// what their kernels drop with the carrier, so that it is restored.
func (c *conductor) hold(ctx context.Context, over *topology.Topology, settings []setting.Setting, at marks) error {
	replies, err := bus.Ask(ctx, c.bus, message.Hold, losingCarrier(over, settings))
	for host, reply := range replies {
		at.set(host, reply.Mark)
	}
	return err
}

// losingCarrier are the hosts' interfaces that lose their carrier by settings.
func losingCarrier(over *topology.Topology, settings []setting.Setting) map[string]message.HoldRequest {
	requests := map[string]message.HoldRequest{}
	for _, s := range settings {
		if s.Link == nil || s.Link.Up == nil || *s.Link.Up {
			continue
		}
		end := topology.End{Node: s.Host, Interface: s.Link.Interface}
		link, ok := over.LinkAt(end)
		if !ok {
			continue
		}
		far := link.Other(end)
		if _, isHost := over.Host(far.Node); isHost && !slices.Contains(requests[far.Node].Interfaces, far.Interface) {
			requests[far.Node] = message.HoldRequest{Interfaces: append(requests[far.Node].Interfaces, far.Interface)}
		}
	}
	return requests
}

// eventSettings are the settings that events consist of.
func eventSettings(events []study.Event) (settings []setting.Setting) {
	for _, e := range events {
		if e.Stop == "" {
			settings = append(settings, e.Setting)
		}
	}
	return settings
}
