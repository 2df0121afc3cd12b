package measure

import (
	"net/netip"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// way is the two ports that a flow is known to use, as far as they are known:
// where this host's packets leave by the kernel's own answer, and where the
// server's address is.
type way struct{ client, server record.InterfaceSnapshot }

// known says whether both are.
func (w way) known() bool { return w.client.Interface != "" && w.server.Interface != "" }

// waysOf are the ways of a trial's flows, in their order.
func waysOf(t *record.Trial) []way {
	client, _ := t.Reading(record.NodeClient)
	server, _ := t.Reading(record.NodeServer)
	ways := make([]way, len(t.Flows))
	for i, f := range t.Flows {
		here, there := f.SourceAddr(), f.DestinationAddr()
		if f.From == record.NodeServer {
			here, there = there, here
		}
		for _, l := range client.Snapshot.Lookups {
			if l.Source == here.WithZone("").String() && l.Destination == there.WithZone("").String() {
				ways[i].client = portNamed(client.Snapshot, l.Interface)
			}
		}
		ways[i].server = portWith(server.Snapshot, there)
	}
	return ways
}

func portNamed(s record.Snapshot, name string) record.InterfaceSnapshot {
	if i := slices.IndexFunc(s.Interfaces, func(p record.InterfaceSnapshot) bool { return p.Interface == name }); i >= 0 {
		return s.Interfaces[i]
	}
	return record.InterfaceSnapshot{}
}

// portWith is the port that holds an address.
func portWith(s record.Snapshot, addr netip.Addr) record.InterfaceSnapshot {
	for _, p := range s.Interfaces {
		for _, text := range p.Addresses {
			if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Addr() == addr.WithZone("") {
				return p
			}
		}
	}
	return record.InterfaceSnapshot{}
}

// portsOf are the ports that the flows use on a host, each once.
func portsOf(ways []way, of func(way) record.InterfaceSnapshot) (ports []record.InterfaceSnapshot) {
	for _, w := range ways {
		p := of(w)
		if p.Interface != "" && !slices.ContainsFunc(ports, func(q record.InterfaceSnapshot) bool { return q.Interface == p.Interface }) {
			ports = append(ports, p)
		}
	}
	return ports
}

func ofClient(w way) record.InterfaceSnapshot { return w.client }
func ofServer(w way) record.InterfaceSnapshot { return w.server }

// middle stands for all that joins the two hosts' ports.
const middle = "network"

// between is all that is known of the way from one host to the other. From port
// to port it is a link that is as fast as the slower of them; where there are
// several ports, each has a link to the middle that is as fast as itself. nil: not
// even the ports are known, as on loopback.
func between(ways []way) *topology.Topology {
	if len(ways) == 0 || slices.ContainsFunc(ways, func(w way) bool { return !w.known() }) {
		return nil
	}
	clients, servers := portsOf(ways, ofClient), portsOf(ways, ofServer)
	t := &topology.Topology{Hosts: []topology.Host{{Name: record.NodeClient}, {Name: record.NodeServer}}}
	several := len(clients)+len(servers) > 2
	if several {
		t.Switches = []topology.Switch{{Name: middle, Unmanaged: true}}
	} else {
		t.Links = []topology.Link{{
			From: topology.End{Node: record.NodeClient, Interface: clients[0].Interface}, To: topology.End{Node: record.NodeServer, Interface: servers[0].Interface},
			Impairment: topology.Impairment{Rate: unit.BitRate(slower(clients[0].SpeedBps, servers[0].SpeedBps))},
		}}
	}
	for i, ports := range [][]record.InterfaceSnapshot{clients, servers} {
		h := &t.Hosts[i]
		for _, p := range ports {
			h.Interfaces = append(h.Interfaces, topology.Interface{Name: p.Interface})
			if several {
				t.Links = append(t.Links, topology.Link{
					From: topology.End{Node: h.Name, Interface: p.Interface}, To: atMiddle(h.Name, p.Interface),
					Impairment: topology.Impairment{Rate: unit.BitRate(p.SpeedBps)},
				})
			}
		}
	}
	return t
}

func atMiddle(node, port string) topology.End {
	return topology.End{Node: middle, Interface: node + "-" + port}
}

// path is the way of a flow over between's topology.
func path(over *topology.Topology, f record.Flow, w way) []topology.End {
	from, to := w.client.Interface, w.server.Interface
	if f.From == record.NodeServer {
		from, to = to, from
	}
	ends := []topology.End{{Node: f.From, Interface: from}, {Node: f.To, Interface: to}}
	if len(over.Switches) > 0 {
		ends = slices.Insert(ends, 1, atMiddle(f.From, from), atMiddle(f.To, to))
	}
	return ends
}

// limit is the most that a direction's flows carry over several ports together:
// each port's speed counts once.
func limit(over *topology.Topology, flows []record.Flow, ways []way, from string) limits.Limit {
	var all []limits.Flow
	for i, f := range flows {
		if f.From == from {
			all = append(all, limits.Flow{
				Paths: [][]topology.End{path(over, f, ways[i])}, Frame: frame(f), Cap: unit.BitRate(f.RateCapBps),
			})
		}
	}
	best := limits.Network{Topology: over}.Aggregate(all)
	if best.Bps == 0 && best.Why == "" {
		best.Why = "unknown: not every port tells its speed"
	}
	return best
}

// byAddress are the totals of each address at either end, where an end has
// several.
func byAddress(t *record.Trial, ways []way) (list []record.MeasureAddress) {
	for _, node := range []string{record.NodeClient, record.NodeServer} {
		place := map[netip.Addr]int{}
		var own []record.MeasureAddress
		for i, f := range t.Flows {
			at, port := f.SourceAddr(), ofClient(ways[i])
			if f.From != node {
				at = f.DestinationAddr()
			}
			if node == record.NodeServer {
				port = ofServer(ways[i])
			}
			at = at.WithZone("")
			j, known := place[at]
			if !known {
				j = len(own)
				place[at] = j
				own = append(own, record.MeasureAddress{Host: node, Address: at.String(), Interface: port.Interface, SpeedBps: port.SpeedBps})
			}
			a := &own[j]
			a.Flows++
			a.RatePerS += f.TransactionsPerS
			if f.From == record.NodeClient {
				a.WriteBps += f.GoodputBps
			} else {
				a.ReadBps += f.GoodputBps
			}
		}
		if len(own) > 1 {
			list = append(list, own...)
		}
	}
	return list
}
