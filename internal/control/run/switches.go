package run

import (
	"context"
	"fmt"
	"sync"

	"linerate/internal/bus"
	"linerate/internal/control/snmp"
	"linerate/internal/control/trial"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// Switches whose ports are read by SNMP: found before the first trial, and polled beside each.

// readCredentials reads those of real switches, before anything is made.
func (c *conductor) readCredentials() error {
	c.credentials = map[string]snmp.Credentials{}
	for _, s := range c.study.Topology.Switches {
		if s.SNMP == nil || s.SNMP.Address == "" {
			continue
		}
		credentials, err := snmp.ReadCredentials(s.SNMP.Credentials, s.SNMP.Version)
		if err != nil {
			return fmt.Errorf("SNMP of %s: %w", s.Name, err)
		}
		c.credentials[s.Name] = credentials
	}
	return nil
}

// findPorts opens the switches and finds the ports of the study's links on them. It begins to
// learn how often they refresh their counters, until settled is called.
func (c *conductor) findPorts(ctx context.Context) error {
	for i := range c.study.Topology.Switches {
		s := &c.study.Topology.Switches[i]
		if s.SNMP == nil {
			continue
		}
		one, err := c.openSwitch(ctx, s)
		if err != nil {
			return err
		}
		c.switches = append(c.switches, one)
		if err := one.Discover(ctx, c.wanted(s)); err != nil {
			return err
		}
	}
	for _, s := range c.switches {
		c.learning.Go(func() { s.Learn(ctx) })
	}
	return nil
}

func (c *conductor) openSwitch(ctx context.Context, s *topology.Switch) (*snmp.Switch, error) {
	if s.SNMP.Address != "" {
		return snmp.Open(ctx, s.Name, s.SNMP, c.credentials[s.Name], nil)
	}
	daemon, err := bus.Call(ctx, c.bus, s.Name, message.StartSNMP, struct{}{})
	if err != nil {
		return nil, err
	}
	exchange := func(ctx context.Context, datagram []byte) ([]byte, error) {
		reply, err := bus.Call(ctx, c.bus, s.Name, message.SNMP, message.SNMPDatagram{Datagram: datagram})
		return reply.Datagram, err
	}
	one, err := snmp.Open(ctx, s.Name, s.SNMP, snmp.Community(daemon.Community), snmp.Relay(exchange))
	if err != nil {
		return nil, err
	}
	return one, one.Uncached(ctx)
}

// wanted are the ports of a switch's links.
func (c *conductor) wanted(s *topology.Switch) (list []snmp.Wanted) {
	for _, l := range c.study.Topology.Links {
		for _, end := range []topology.End{l.From, l.To} {
			if end.Node != s.Name {
				continue
			}
			peer := l.Other(end)
			w := snmp.Wanted{Port: end.Interface, Peer: peer, Interface: s.SNMP.Interface(end.Interface),
				Bps: float64(l.Towards(end).Rate)}
			if _, is := c.study.Topology.Host(peer.Node); is {
				w.MAC, _ = c.lab.MAC(peer) // an error: not known
			}
			w.LLDP = c.lldpPort(peer)
			list = append(list, w)
		}
	}
	return list
}

// lldpPort is the port at the other end of an interface, as the host's LLDP daemon has it.
func (c *conductor) lldpPort(end topology.End) string {
	if now := c.snapshots[end.Node].of; now != nil {
		for _, n := range now.State.LLDP {
			if n.Interface == end.Interface {
				return n.Port
			}
		}
	}
	return ""
}

// closeSwitches closes them.
func (c *conductor) closeSwitches() {
	c.learning.Wait()
	for _, s := range c.switches {
		s.Close()
	}
	c.switches = nil
}

// watches are the switches that are polled beside one window.
type watches struct {
	list  []*snmp.Watch
	ended sync.Once
}

// watch begins to poll the ports on the paths of a treatment's flows.
func (c *conductor) watch(ctx context.Context, t *study.Treatment, w *trial.Window) *watches {
	c.learning.Wait()
	all := &watches{}
	for _, s := range c.switches {
		all.list = append(all.list, s.Watch(ctx, c.onPath(s.Name, t)))
	}
	if len(all.list) > 0 {
		w.Scheduled = func(begin, end int64) {
			for _, one := range all.list {
				one.Schedule(begin, end)
			}
		}
	}
	return all
}

// readings ends the polling; the window was from begin to end.
func (w *watches) readings(begin, end int64) (list []record.SwitchReading) {
	w.ended.Do(func() {
		all := make([]record.SwitchReading, len(w.list))
		var ending sync.WaitGroup
		for i, one := range w.list {
			ending.Go(func() { all[i] = one.Reading(begin, end) })
		}
		ending.Wait()
		list = all
	})
	return list
}

// onPath are the ports of a switch that lead to hosts with flows, to routers and to other
// switches.
func (c *conductor) onPath(name string, t *study.Treatment) (ports []string) {
	busy := map[string]bool{}
	for _, f := range t.Flows {
		busy[f.Opener], busy[f.Acceptor] = true, true
	}
	for _, l := range c.study.Topology.Links {
		for _, end := range []topology.End{l.From, l.To} {
			peer := l.Other(end).Node
			h, isHost := c.study.Topology.Host(peer)
			if end.Node == name && (!isHost || h.Forward || busy[peer]) {
				ports = append(ports, end.Interface)
			}
		}
	}
	return ports
}
