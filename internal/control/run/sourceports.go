package run

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"slices"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

const (
	// candidates is how many ports are tried in a round for each path of a flow, and
	// rounds how often, until one is on a path that no other is better than: that is
	// missed once in e¹⁶ times. Most flows need one round, because until the last
	// ones there is more than one such path.
	candidates = 2
	rounds     = 8
	// mostAtOnce bounds a request for free ports: each is a socket while it lasts.
	mostAtOnce = 1024
)

// choosePorts gives the flows that want it ports to be opened from: any
// that are free, or such that the kernels on the path say the flows spread evenly.
func (c *conductor) choosePorts(ctx context.Context, t *study.Treatment, flows []*trial.Flow) error {
	over := c.over(t)
	paths := multipath(over, flows)
	var drawn, even []*trial.Flow
	for _, f := range flows {
		switch {
		case f.SourcePorts == flow.PortsEven && len(paths[f]) > 1:
			even = append(even, f)
		case f.SourcePorts == flow.PortsDrawn || f.SourcePorts == flow.PortsEven:
			drawn = append(drawn, f)
		}
	}
	found, err := c.freePorts(ctx, drawn, func(*trial.Flow) int { return 1 })
	if err != nil {
		return err
	}
	for _, f := range drawn {
		f.SourcePort = found[f][0]
	}
	e := evenly{over: over, load: map[topology.End]float64{}, paths: map[[2]string][][]topology.End{},
		asked: map[[2]string]int{}}
	for round := 1; len(even) > 0; round++ {
		found, err := c.freePorts(ctx, even, func(f *trial.Flow) int { return candidates * len(paths[f]) })
		if err != nil {
			return err
		}
		var all []*trace
		by := map[*trial.Flow][]*trace{}
		for _, f := range even {
			for _, port := range found[f] {
				as := *f
				as.Opened = netip.AddrPortFrom(f.Source, port)
				w, _ := watched(&as)
				by[f] = append(by[f], &trace{flow: w, sender: f.Sender(), receiver: f.Receiver()})
			}
			all = append(all, by[f]...)
		}
		if err := c.trace(ctx, over, all); err != nil {
			return err
		}
		e.learn(all)
		even = slices.DeleteFunc(even, func(f *trial.Flow) bool {
			best, settled := e.choose(by[f], len(paths[f]))
			if !settled && round < rounds {
				return false
			}
			f.SourcePort = found[f][best]
			e.take(by[f][best].path)
			return true
		})
	}
	return nil
}

// freePorts finds so many ports for each flow, and where the kernel is to
// choose the address that it is opened from, that too. Flows between the same
// addresses are asked for together.
func (c *conductor) freePorts(ctx context.Context, flows []*trial.Flow, count func(*trial.Flow) int) (
	map[*trial.Flow][]uint16, error) {
	type between struct {
		opener  string
		request message.PortsRequest
	}
	groups, found := map[between][]*trial.Flow{}, map[*trial.Flow][]uint16{}
	var order []between
	for _, f := range flows {
		at := between{f.Opener, message.PortsRequest{Protocol: flow.Of(f.Protocol).Transport, Source: f.Source,
			Destination: f.Accepted.Addr().Unmap()}}
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], f)
	}
	for _, at := range order {
		need := lists.Sum(groups[at], func(f *trial.Flow) int { return count(f) })
		var ports []uint16
		var source netip.Addr
		for request := at.request; len(ports) < need; source = request.Source {
			request.Count = min(need-len(ports), mostAtOnce)
			reply, err := bus.Call(ctx, c.bus, at.opener, message.Ports, request)
			if err != nil {
				return nil, err
			}
			if len(reply.Ports) == 0 {
				return nil, fmt.Errorf("%s has no free port for flow %s", at.opener, groups[at][0].ID)
			}
			ports, request.Source = append(ports, reply.Ports...), reply.Source
		}
		// One that several flows get serves them all: each goes to a port of
		// its own.
		for _, f := range groups[at] {
			n := count(f)
			f.Source, found[f], ports = source, ports[:n:n], ports[n:]
		}
	}
	return found, nil
}

// evenly spreads flows over equal paths, in proportion to their links' rates.
type evenly struct {
	over *topology.Topology
	load map[topology.End]float64 // flows so far on each link, by the end they leave from
	// paths are those that some trace took, and asked is how many traces there were, by
	// sender and receiver.
	paths map[[2]string][][]topology.End
	asked map[[2]string]int
}

// learn notes the paths that there are.
func (e *evenly) learn(all []*trace) {
	for _, t := range all {
		pair := [2]string{t.sender, t.receiver}
		e.asked[pair]++
		if !slices.ContainsFunc(e.paths[pair], func(path []topology.End) bool { return slices.Equal(path, t.path) }) {
			e.paths[pair] = append(e.paths[pair], t.path)
		}
	}
}

// choose finds the path with the fewest flows for the links' rates. settled: no other
// path between the two has fewer, and so many traces have shown all that there are, or
// that the kernels do not use the others.
func (e *evenly) choose(among []*trace, paths int) (best int, settled bool) {
	least := math.Inf(1)
	for i, t := range among {
		if most := e.busiest(t.path); most < least {
			best, least = i, most
		}
	}
	pair := [2]string{among[best].sender, among[best].receiver}
	for _, path := range e.paths[pair] {
		if e.busiest(path) < least {
			return best, false
		}
	}
	return best, len(e.paths[pair]) >= paths || e.asked[pair] >= rounds*candidates*paths
}

// busiest is how much of a path's most used link flows would take with one more.
func (e *evenly) busiest(path []topology.End) (most float64) {
	for _, end := range path {
		rate := 1.0
		if link, ok := e.over.LinkAt(end); ok && link.Towards(end).Rate > 0 {
			rate = float64(link.Towards(end).Rate)
		}
		most = max(most, (e.load[end]+1)/rate)
	}
	return most
}

func (e *evenly) take(path []topology.End) {
	for _, end := range path {
		e.load[end]++
	}
}
