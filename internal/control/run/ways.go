package run

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// Where a route has several next hops, which one a flow takes is its kernel's
// decision, from a hash of the packet. Each kernel on the way is asked for it, with
// the flow's own addresses and ports, before the window; what it says is
// held against the interfaces by which the packets come in.

// maxTiers bounds the hosts on a way, should routes go in circles.
const maxTiers = 32

// traveller is a flow on its way, as far as it could be followed.
type traveller struct {
	flow     message.WatchedFlow
	sender   string
	receiver string
	// blind says that the flow's own host chooses the way by chance.
	blind string

	at, in string // the host that it is at, and the interface it came in by
	way    []topology.End
	note   string // why it ends here
}

// byChance is the way of a connection whose port connect(2) chooses.
const byChance = "connect(2) chose the port, and the way before or by chance: with source_ports drawn or even it can be asked for"

// several are the flows that have more than one way, or might have.
func several(over *topology.Topology, flows []*trial.Flow) map[*trial.Flow]int {
	ways := map[*trial.Flow]int{}
	known := map[[3]string]int{}
	for _, f := range flows {
		from, to := f.Ends(over)
		key := [3]string{f.Sender(), from.String(), to.String()}
		n, asked := known[key]
		if !asked {
			if paths, err := over.Paths(f.Sender(), from, to); err == nil {
				n = len(paths)
			}
			known[key] = n
		}
		if n > 1 && flow.Bulk(f.Protocol) && f.Process == "" {
			ways[f] = n
		}
	}
	return ways
}

// watched is a flow as its data's packets have it; false: it was not opened.
func watched(f *trial.Flow) (message.WatchedFlow, bool) {
	w := message.WatchedFlow{ID: f.ID, Protocol: flow.Transport(f.Protocol), Source: f.Opened, Destination: f.Accepted}
	if !f.OpenerSends {
		w.Source, w.Destination = w.Destination, w.Source
	}
	return w, f.Failure == "" && f.Opened.IsValid() && f.Accepted.IsValid()
}

// travellers are the flows that are open.
func travellers(flows map[*trial.Flow]int) map[*trial.Flow]*traveller {
	list := map[*trial.Flow]*traveller{}
	for f := range flows {
		w, open := watched(f)
		if !open {
			continue
		}
		list[f] = &traveller{flow: w, sender: f.Sender(), receiver: f.Receiver()}
		bound := f.SourcePort != 0 || f.BindNoPort != nil && !*f.BindNoPort && f.Source.IsValid()
		if f.OpenerSends && !bound && f.Protocol != flow.UDP {
			list[f].blind = byChance
		}
	}
	return list
}

// follow asks every host on the ways where the flows go, one tier after another.
func (c *conductor) follow(ctx context.Context, over *topology.Topology, all []*traveller) error {
	underway := map[string][]*traveller{}
	for _, t := range all {
		t.at, t.in, t.way, t.note = t.sender, "", nil, ""
		underway[t.at] = append(underway[t.at], t)
	}
	for range maxTiers {
		if len(underway) == 0 {
			return nil
		}
		var mu sync.Mutex
		next := map[string][]*traveller{}
		err := trial.Each(slices.Sorted(maps.Keys(underway)), func(host string) error {
			var request message.LookupRequest
			for _, t := range underway[host] {
				request.Lookups = append(request.Lookups, t.question())
			}
			var reply message.LookupReply
			if err := c.bus.Call(ctx, host, "lookup", request, &reply); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for i, t := range underway[host] {
				if i < len(reply.Lookups) && t.step(over, reply.Lookups[i]) {
					next[t.at] = append(next[t.at], t)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		underway = next
	}
	for host, left := range underway {
		for _, t := range left {
			t.note = fmt.Sprintf("%s: still not there after %d hosts: the routes may go in circles", host, maxTiers)
		}
	}
	return nil
}

func (t *traveller) question() record.RouteLookup {
	return record.RouteLookup{
		Source: plainText(t.flow.Source.Addr()), Destination: plainText(t.flow.Destination.Addr()), Protocol: t.flow.Protocol,
		SourcePort: t.flow.Source.Port(), DestinationPort: t.flow.Destination.Port(), In: t.in,
	}
}

func plainText(a netip.Addr) string { return a.Unmap().WithZone("").String() }

// step goes to the next host; false: the way ends here, or is not known further.
func (t *traveller) step(over *topology.Topology, answer record.RouteLookup) bool {
	end := func(note string) bool {
		t.note = note
		return false
	}
	switch {
	case answer.Error != "":
		return end(t.at + ": " + answer.Error)
	case answer.Unsure != "":
		return end(t.at + ": " + answer.Unsure)
	case answer.Nexthops > 1 && t.in == "" && t.blind != "":
		return end(t.at + ": " + t.blind)
	}
	hop, err := netip.ParseAddr(answer.Gateway)
	if err != nil {
		hop = t.flow.Destination.Addr().Unmap()
	}
	segment := over.PathToNextHop(topology.End{Node: t.at, Interface: answer.Interface}, hop)
	if segment == nil {
		return end(t.at + ": where " + answer.Interface + " leads to " + hop.String() + " is not in the topology")
	}
	t.way = append(t.way, segment...)
	arrived := segment[len(segment)-1]
	t.at, t.in = arrived.Node, arrived.Interface
	return t.at != t.receiver
}

// texts spells a way.
func texts(way []topology.End) []string {
	var list []string
	for _, e := range way {
		list = append(list, e.String())
	}
	return list
}

// predict follows a trial's open flows that have several ways, and has every host
// on those ways watch by which interfaces they come in.
func (c *conductor) predict(ctx context.Context, t *study.Treatment, flows []*trial.Flow, w *trial.Window) (map[*trial.Flow]*traveller, error) {
	over := c.over(t)
	found := travellers(several(over, flows))
	if len(found) == 0 {
		return nil, nil
	}
	if err := c.follow(ctx, over, slices.Collect(maps.Values(found))); err != nil {
		return nil, err
	}
	w.Watch = map[string][]message.WatchedFlow{}
	for _, f := range flows {
		if found[f] == nil {
			continue
		}
		from, to := f.Ends(over)
		paths, _ := over.Paths(f.Sender(), from, to)
		hosts := map[string]bool{}
		for _, path := range paths {
			for _, end := range path[1:] {
				if _, isHost := over.Host(end.Node); isHost {
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

// enterWays writes into the flows which way was predicted and which was seen, before
// anything happened in the window.
func enterWays(t *record.Trial, over *topology.Topology, flows []*trial.Flow, found map[*trial.Flow]*traveller) {
	seen := map[string]map[string]string{} // the interface by which most packets came in, by flow and host
	for _, h := range t.Hosts {
		most := map[string]int64{}
		for _, a := range h.Arrivals {
			if a.Events == 0 && a.Packets > most[a.Flow] {
				most[a.Flow] = a.Packets
				if seen[a.Flow] == nil {
					seen[a.Flow] = map[string]string{}
				}
				seen[a.Flow][h.Host] = a.Interface
			}
		}
	}
	for i, f := range flows {
		way, flow := found[f], &t.Flows[i]
		if way == nil {
			continue
		}
		flow.Predicted, flow.PredictedNote = texts(way.way), way.note
		flow.Observed = inOrder(over, way.sender, seen[f.ID])
	}
}

// inOrder sorts interfaces that a flow came in by into a way: each is cabled to the host
// before it, directly or through switches. What does not join comes last.
func inOrder(over *topology.Topology, sender string, seen map[string]string) (way []string) {
	left := maps.Clone(seen)
	for at := sender; len(left) > 0; {
		host := slices.IndexFunc(slices.Sorted(maps.Keys(left)), func(name string) bool {
			return over.Adjacent(at, topology.End{Node: name, Interface: left[name]})
		})
		if host < 0 {
			break
		}
		name := slices.Sorted(maps.Keys(left))[host]
		way = append(way, name+"."+left[name])
		delete(left, name)
		at = name
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		way = append(way, name+"."+left[name])
	}
	return way
}
