package agent

import (
	"context"
	"fmt"
	"net/netip"

	"linerate/internal/host/counters"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// The paths of a trial's flows: route lookups before they open, ports to open them
// from, and the interfaces by which their packets arrive.

func (a *agent) lookup(_ context.Context, r message.Lookups) (message.Lookups, error) {
	return message.Lookups{Lookups: a.reader.Lookups(r.Lookups)}, nil
}

// ports finds ports that are free: all are bound at the same time, so that they differ.
func (a *agent) ports(_ context.Context, r message.PortsRequest) (message.PortsReply, error) {
	reply := message.PortsReply{Source: r.Source}
	if !reply.Source.IsValid() {
		chosen := a.reader.Lookups([]netstate.RouteLookup{{Destination: r.Destination.String()}})[0]
		source, err := netip.ParseAddr(chosen.ChosenSource)
		if err != nil {
			return reply, fmt.Errorf("the address to reach %s from is not known: %s", r.Destination, chosen.Error)
		}
		reply.Source = source
	}
	for range r.Count {
		held, port, err := socket.Hold(r.Protocol, netip.AddrPortFrom(reply.Source, 0))
		if err != nil {
			return reply, fmt.Errorf("finding %d free ports: %w", r.Count, err)
		}
		defer held.Close()
		reply.Ports = append(reply.Ports, port)
	}
	return reply, nil
}

// watch begins to record by which interfaces flows arrive. What it cannot see is reported,
// and is no reason not to measure.
func (a *agent) watch(r message.WindowRequest) (seen *counters.Arrivals, blind string) {
	if len(r.Watch) == 0 || a.client != nil {
		return nil, ""
	}
	seen, err := a.reader.WatchArrivals(r.Watch, r.BeginNs, r.Marks)
	if err != nil {
		return nil, "arrivals: " + err.Error()
	}
	return seen, ""
}

// lookInterval is how often arrivals are read where none may be missed: the ring holds
// some thousand packets.
const lookInterval = 10e6 // ns

// looking sleeps until an instant and takes arrivals in meanwhile, if they are timed.
func looking(ctx context.Context, instant int64, arrivals *counters.Arrivals) error {
	for next := sched.Now() + lookInterval; arrivals.Timed() && next < instant; next += lookInterval {
		if err := sleepUntil(ctx, next); err != nil {
			return err
		}
		arrivals.Look()
	}
	return sleepUntil(ctx, instant)
}
