package snmp

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Pair is the two ports of a device through which frames pass from one interface of this host to another, for
// package forward. Transmits and Receives are these interfaces, after which the ports are named.
type Pair struct {
	Switch              *Switch
	Transmits, Receives string
	// Ports are the ifName or ifIndex of the two ports; empty: Find determines them.
	Ports [2]string
}

// Find finds the ports. transmits and receives are the MAC addresses of the two interfaces, and linkBps is the
// rate of their links in bits per second. It fails if the device does not answer, rejects the credentials, or
// does not report which ports they are.
func (p Pair) Find(ctx context.Context, transmits, receives string, linkBps float64) error {
	wanted := func(name, port, mac string) Wanted {
		return Wanted{Port: name, Peer: topology.End{Node: "here", Interface: name}, Interface: port, MAC: mac,
			Bps: linkBps}
	}
	if err := p.Switch.Discover(ctx, []Wanted{wanted(p.Transmits, p.Ports[0], transmits),
		wanted(p.Receives, p.Ports[1], receives)}); err != nil {
		return err
	}
	for _, one := range p.Switch.ports {
		if one.Index == 0 {
			return fmt.Errorf("SNMP of %s: its port towards %s is not found: %s (--snmp-ports names both)",
				p.Switch.Name, one.Port, cmp.Or(one.why, one.Missing))
		}
	}
	return nil
}

// Watch starts to read the ports for the given length. The function that it returns ends the reading and
// returns what was counted.
func (p Pair) Watch(ctx context.Context, length time.Duration) func() record.SwitchReading {
	w := p.Switch.Watch(ctx, nil)
	begin := sched.Now()
	end := begin + int64(length)
	w.Schedule(begin, end)
	return func() record.SwitchReading {
		r := w.Reading(begin, end)
		r.FDB = nil
		return r
	}
}
