package run

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// Where a route has several next hops, which one a flow takes is its kernel's
// decision, from a hash of the packet (ip-sysctl.rst, fib_multipath_hash_policy). Each
// kernel on the path is asked for it before the window, with the flow's own addresses
// and ports; its answer is compared with the interfaces by which the packets come in.

// maxTiers bounds the hosts on a path: routes may form a loop.
const maxTiers = 32

// trace is a flow's path as far as the kernels on it could say.
type trace struct {
	flow     message.WatchedFlow
	sender   string
	receiver string
	// unsure is why the flow's own host cannot say which next hop it takes; empty: it can.
	unsure string

	at, in string // the host that it is at, and the interface it came in by
	path   []topology.End
	note   string // why it ends here
}

// mac and kernel implement reports.
func (c *conductor) mac(end topology.End) (string, error) { return c.lab.MAC(end) }
func (c *conductor) kernel(node string) string            { return c.lab.Hello(node).Environment.Kernel }

// unpredictable is why nothing is known of a connection whose port connect(2) chooses.
const unpredictable = "connect(2) chose the port, and the path before or by chance: with source_ports drawn or " +
	"even it can be asked for"

// multipath is the paths of each flow that has more than one.
func multipath(over *topology.Topology, flows []*trial.Flow) map[*trial.Flow][][]topology.End {
	list := map[*trial.Flow][][]topology.End{}
	known := map[[3]string][][]topology.End{}
	for _, f := range flows {
		from, to := f.Ends(over)
		key := [3]string{f.Sender(), from.String(), to.String()}
		paths, asked := known[key]
		if !asked {
			paths, _ = over.Paths(f.Sender(), from, to) // an error: none
			known[key] = paths
		}
		if len(paths) > 1 && flow.Of(f.Protocol).Bulk() && f.Process == "" {
			list[f] = paths
		}
	}
	return list
}

// watched is a flow as its data's packets have it; false: it was not opened.
func watched(f *trial.Flow) (message.WatchedFlow, bool) {
	w := message.WatchedFlow{ID: f.ID, Protocol: flow.Of(f.Protocol).Transport, Source: f.Opened,
		Destination: f.Accepted}
	if !f.OpenerSends {
		w.Source, w.Destination = w.Destination, w.Source
	}
	return w, f.Failure == nil && f.Opened.IsValid() && f.Accepted.IsValid()
}

// traces begins a trace of each flow that is open.
func traces(flows map[*trial.Flow][][]topology.End) map[*trial.Flow]*trace {
	list := map[*trial.Flow]*trace{}
	for f := range flows {
		w, open := watched(f)
		if !open {
			continue
		}
		list[f] = &trace{flow: w, sender: f.Sender(), receiver: f.Receiver()}
		bound := f.SourcePort != 0 || f.BindNoPort != nil && !*f.BindNoPort && f.Source.IsValid()
		if f.OpenerSends && !bound && f.Protocol != flow.UDP {
			list[f].unsure = unpredictable
		}
	}
	return list
}

// trace asks every host on the paths for the next hop, one tier after another.
func (c *conductor) trace(ctx context.Context, over *topology.Topology, all []*trace) error {
	pending := map[string][]*trace{}
	for _, t := range all {
		t.at, t.in, t.path, t.note = t.sender, "", nil, ""
		pending[t.at] = append(pending[t.at], t)
	}
	for range maxTiers {
		if len(pending) == 0 {
			return nil
		}
		requests := map[string]message.Lookups{}
		for host, all := range pending {
			questions := lists.Map(all, (*trace).question)
			requests[host] = message.Lookups{Lookups: questions}
		}
		replies, err := bus.Ask(ctx, c.bus, message.Lookup, requests)
		if err != nil {
			return err
		}
		next := map[string][]*trace{}
		for host, all := range pending {
			for i, t := range all {
				if answers := replies[host].Lookups; i < len(answers) && t.step(over, answers[i], c) {
					next[t.at] = append(next[t.at], t)
				}
			}
		}
		pending = next
	}
	for host, left := range pending {
		for _, t := range left {
			t.note = fmt.Sprintf("%s: not reached after %d hosts: the routes may form a loop", host, maxTiers)
		}
	}
	return nil
}

func (t *trace) question() netstate.RouteLookup {
	return netstate.RouteLookup{
		Source: plainText(t.flow.Source.Addr()), Destination: plainText(t.flow.Destination.Addr()),
		Protocol:   t.flow.Protocol,
		SourcePort: t.flow.Source.Port(), DestinationPort: t.flow.Destination.Port(), In: t.in,
	}
}

func plainText(a netip.Addr) string { return a.Unmap().WithZone("").String() }

// step goes to the next host; false: the path ends here, or is not known further.
func (t *trace) step(over *topology.Topology, answer netstate.RouteLookup, hosts reports) bool {
	end := func(note string) bool {
		t.note = note
		return false
	}
	switch {
	case answer.Error != "":
		return end(t.at + ": " + answer.Error)
	case answer.Unsure != "":
		return end(t.at + ": " + answer.Unsure)
	case answer.Nexthops > 1 && t.in == "" && t.unsure != "":
		return end(t.at + ": " + t.unsure)
	}
	hop, err := netip.ParseAddr(answer.Gateway)
	if err != nil {
		hop = t.flow.Destination.Addr().Unmap()
	}
	from := topology.End{Node: t.at, Interface: answer.Interface}
	segments, to := over.PathsToNextHop(from, hop)
	if len(segments) == 0 {
		return end(t.at + ": where " + answer.Interface + " leads to " + hop.String() + " is not in the topology")
	}
	segment, why := t.spread(over, from, to, segments, hosts)
	if why != "" {
		return end(why)
	}
	t.path = append(t.path, segment...)
	t.at, t.in = to.Node, to.Interface
	return t.at != t.receiver
}

// predictPaths traces the open flows that have several paths, and has every host on
// those paths watch by which interfaces they come in.
func (c *conductor) predictPaths(ctx context.Context, t *study.Treatment, flows []*trial.Flow, w *trial.Window) (
	map[*trial.Flow]*trace, error) {
	over := c.over(t)
	paths := multipath(over, flows)
	found := traces(paths)
	if len(found) == 0 {
		return nil, nil
	}
	if err := c.trace(ctx, over, slices.Collect(maps.Values(found))); err != nil {
		return nil, err
	}
	w.Watch = map[string][]message.WatchedFlow{}
	for _, f := range flows {
		if found[f] == nil {
			continue
		}
		hosts := map[string]bool{}
		for _, path := range paths[f] {
			for i, end := range path[1:] {
				_, isHost := over.Host(end.Node)
				// A switch at the other end of a bond sees by which member it sent.
				_, _, member := over.Device(end)
				if isHost || member && i%2 == 0 && over.Managed(end.Node) {
					hosts[end.Node] = true
				}
			}
		}
		for host := range hosts {
			w.Watch[host] = append(w.Watch[host], found[f].flow)
		}
	}
	return found, nil
}

// arrivals are the interfaces with a link by which most packets of each flow came in before
// anything happened in the window, by flow and host or switch. A device on top of such an
// interface sees the same packets once more.
func arrivals(over *topology.Topology, hosts []netstate.HostReading) map[string]map[string]string {
	seen := map[string]map[string]string{}
	for _, h := range hosts {
		most := map[string]int64{}
		for _, a := range h.Arrivals {
			_, linked := over.LinkAt(topology.End{Node: h.Host, Interface: a.Interface})
			if linked && a.Events == 0 && a.Packets > most[a.Flow] {
				most[a.Flow] = a.Packets
				if seen[a.Flow] == nil {
					seen[a.Flow] = map[string]string{}
				}
				seen[a.Flow][h.Host] = a.Interface
			}
		}
	}
	return seen
}

// inOrder sorts the interfaces by which a flow came in along one of its paths that has all
// of them. Without such a path each is linked to the host before it, directly or through
// switches, and what is linked to none comes last.
func inOrder(over *topology.Topology, sender string, paths [][]topology.End, seen map[string]string) (path []string) {
	for _, known := range paths {
		path = nil
		for _, end := range known {
			if seen[end.Node] == end.Interface {
				path = append(path, end.String())
			}
		}
		if len(path) == len(seen) {
			return path
		}
	}
	path = nil
	left := maps.Clone(seen)
	for at := sender; len(left) > 0; {
		names := slices.Sorted(maps.Keys(left))
		i := slices.IndexFunc(names, func(name string) bool {
			return over.Adjacent(at, topology.End{Node: name, Interface: left[name]})
		})
		if i < 0 {
			break
		}
		name := names[i]
		path = append(path, name+"."+left[name])
		delete(left, name)
		at = name
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		path = append(path, name+"."+left[name])
	}
	return path
}
