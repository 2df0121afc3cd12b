package run

import (
	"context"
	"maps"
	"slices"
	"sync"

	"linerate/internal/control/trial"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// marks say what each host is to be reverted to.
type marks map[string]int

// apply makes settings, each host its own in order, and marks where the hosts were,
// also those at which something is going to happen.
func (c *conductor) apply(ctx context.Context, settings []setting.Setting, events []study.Event, at marks) ([]record.Applied, error) {
	byHost := map[string][]setting.Setting{}
	var hosts []string
	add := func(host string, s ...setting.Setting) {
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		byHost[host] = append(byHost[host], s...)
	}
	for _, s := range settings {
		add(s.Host, s)
	}
	for _, e := range events {
		add(e.Host)
	}
	var mu sync.Mutex
	var applied []record.Applied
	err := trial.EachNode(hosts, func(host string) error {
		var reply message.ApplyReply
		request := message.ApplyRequest{Settings: byHost[host], AllowMachine: c.options.AllowMachine}
		if err := c.bus.Call(ctx, host, "apply", request, &reply); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		at.set(host, reply.Mark)
		applied = append(applied, reply.Applied...)
		return nil
	})
	slices.SortStableFunc(applied, func(a, b record.Applied) int {
		return slices.Index(hosts, a.Host) - slices.Index(hosts, b.Host)
	})
	return applied, err
}

// set keeps the first mark of a host.
func (m marks) set(host string, mark int) {
	if _, there := m[host]; !there {
		m[host] = mark
	}
}

// hold has the hosts at the other end of cables whose interfaces settings take down note
// what their kernels drop with the carrier, so that it comes back.
func (c *conductor) hold(ctx context.Context, over *topology.Topology, settings []setting.Setting, at marks) error {
	ports := losingCarrier(over, settings)
	var mu sync.Mutex
	return trial.EachNode(slices.Sorted(maps.Keys(ports)), func(host string) error {
		var reply message.HoldReply
		if err := c.bus.Call(ctx, host, "hold", message.HoldRequest{Interfaces: ports[host]}, &reply); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		at.set(host, reply.Mark)
		return nil
	})
}

// losingCarrier are the hosts' interfaces that lose their carrier by settings.
func losingCarrier(over *topology.Topology, settings []setting.Setting) map[string][]string {
	ports := map[string][]string{}
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
		if _, isHost := over.Host(far.Node); isHost && !slices.Contains(ports[far.Node], far.Interface) {
			ports[far.Node] = append(ports[far.Node], far.Interface)
		}
	}
	return ports
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
