package measure

import (
	"net/netip"
	"slices"

	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// direct is what is known of the network between two hosts: the interfaces that the
// flows use at either end, and nothing of what is between them.
type direct struct {
	peer bool // the server has no agent: its interfaces are unknown, too
	// serverCap: the server caps the flows, of which askedBps was requested (0: no rate).
	serverCap bool
	askedBps  float64
}

// Paths finds the interfaces from the flows' addresses: this host's kernel says where
// packets leave, and the server's interfaces have their addresses.
func (n direct) Paths(_ []*trial.Flow, counted []record.Flow, hosts []record.HostReading) trial.Paths {
	used := interfacesOf(counted, hosts)
	paths := trial.Paths{Topology: between(used), Flows: make([]trial.Path, len(counted))}
	for i, f := range counted {
		paths.Flows[i].Flow = flowOver(paths.Topology, f, used[i])
	}
	return paths
}

// Limits are those of the two directions together.
func (n direct) Limits(counted []record.Flow, hosts []record.HostReading, paths trial.Paths) trial.Limits {
	var sum trial.Limits
	known := true
	for _, d := range directions {
		flows := sentBy(counted, d.from)
		if len(flows) == 0 {
			continue
		}
		limit := n.direction(counted, hosts, paths.Topology, d.from)
		sum.Bps, known = sum.Bps+limit.Bps, known && limit.Bps > 0
		sum.Directions = append(sum.Directions, limit.Limit)
	}
	if !known {
		sum.Bps = 0
	}
	if n := len(sum.Directions); n > 0 && (n == 1 || !known) {
		sum.Limit.Limit = sum.Directions[n-1]
	}
	return sum
}

// direction is the limit of the flows that a node sends, of which there are some.
// Transactions have none.
func (n direct) direction(counted []record.Flow, hosts []record.HostReading, over *topology.Topology,
	from string) limits.Limit {
	l := n.bounded(counted, hosts, over, from)
	if capped, _ := l.Capped(); capped && n.serverCap {
		l.ServerCap, l.AskedBps = true, n.askedBps
	}
	return l
}

func (n direct) bounded(counted []record.Flow, hosts []record.HostReading, over *topology.Topology,
	from string) limits.Limit {
	flows := sentBy(counted, from)
	switch used := interfacesOf(flows, hosts); {
	case flow.Of(flows[0].Protocol).Transactional():
		return limits.None(record.NoLimitTransactions)
	case over != nil && len(over.Switches) > 0:
		return limit(over, flows, used)
	case over == nil && max(len(usedOn(used, record.NodeClient)), len(usedOn(used, record.NodeServer))) > 1:
		best := limits.Direct(0, limits.FrameOf(flows[0]), len(flows), flows[0].CapBps())
		if best.Bps == 0 {
			best = limits.None(record.NoLimitInterfaces)
		}
		return best
	default:
		rate, frame := smaller(used[0][record.NodeClient].SpeedBps, used[0][record.NodeServer].SpeedBps),
			limits.FrameOf(flows[0])
		if out := used[0][from]; shapes(out, rate) {
			rate, frame.Shaped, frame.Overhead = out.Shaper.RateBps, true, out.Shaper.OverheadBytes
			frame.Shaper = out.Shaper.Kind + " on " + from + "." + out.Interface
		}
		if s := used[0][from].Shaper; s.Sized() && (rate == 0 || s.RateBps < rate) {
			best := limits.Direct(0, frame, len(flows), flows[0].CapBps())
			if best.Bps == 0 {
				best = limits.None(record.NoLimitSizeTable)
				best.Of = s.Kind + " on " + from + "." + used[0][from].Interface
			}
			return best
		}
		best := limits.Direct(rate, frame, len(flows), flows[0].CapBps())
		if n.peer && best.Bps == 0 {
			best = limits.None(record.NoLimitOwnSpeed)
		}
		return best
	}
}

// directions are the two, and the node that sends in each.
var directions = []struct{ name, from string }{{flow.Write, record.NodeClient}, {flow.Read, record.NodeServer}}

// sentBy are the flows that a node sends, without the probe of latency.
func sentBy(flows []record.Flow, from string) (list []record.Flow) {
	for _, f := range flows {
		if f.From == from && f.ID != probeID {
			list = append(list, f)
		}
	}
	return list
}

// used is the two interfaces of a flow by node, as far as they are known: where this host's
// packets leave by the kernel's own answer, and where the server's address is.
type used map[string]record.InterfaceSnapshot

// known says whether both are.
func (u used) known() bool {
	return u[record.NodeClient].Interface != "" && u[record.NodeServer].Interface != ""
}

// interfacesOf are those of the flows, in their order.
func interfacesOf(flows []record.Flow, hosts []record.HostReading) []used {
	read := record.Trial{Hosts: hosts}
	client, _ := read.Reading(record.NodeClient)
	server, _ := read.Reading(record.NodeServer)
	list := make([]used, len(flows))
	for i, f := range flows {
		here, there := f.SourceAddr(), f.DestinationAddr()
		if f.From == record.NodeServer {
			here, there = there, here
		}
		list[i] = used{
			record.NodeClient: interfaceWith(client.Snapshot, here), // where no route is looked up
			record.NodeServer: interfaceWith(server.Snapshot, there),
		}
		for _, l := range client.Snapshot.Lookups {
			if l.Source == here.WithZone("").String() && l.Destination == there.WithZone("").String() {
				list[i][record.NodeClient] = interfaceNamed(client.Snapshot, l.Interface)
			}
		}
	}
	return list
}

func interfaceNamed(s record.Snapshot, name string) record.InterfaceSnapshot {
	if i := slices.IndexFunc(s.Interfaces, func(p record.InterfaceSnapshot) bool {
		return p.Interface == name
	}); i >= 0 {
		return s.Interfaces[i]
	}
	return record.InterfaceSnapshot{}
}

// interfaceWith is the interface that has an address.
func interfaceWith(s record.Snapshot, addr netip.Addr) record.InterfaceSnapshot {
	for _, p := range s.Interfaces {
		for _, text := range p.Addresses {
			if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Addr() == addr.WithZone("") {
				return p
			}
		}
	}
	return record.InterfaceSnapshot{}
}

// usedOn are the interfaces that flows use on a host, each once.
func usedOn(all []used, node string) (interfaces []record.InterfaceSnapshot) {
	for _, u := range all {
		p := u[node]
		if p.Interface != "" && !slices.ContainsFunc(interfaces, func(q record.InterfaceSnapshot) bool {
			return q.Interface == p.Interface
		}) {
			interfaces = append(interfaces, p)
		}
	}
	return interfaces
}

// shapes says whether an interface has a qdisc that bounds what it sends, slower than what
// is known of the link's rate; 0: nothing is.
func shapes(out record.InterfaceSnapshot, linkBps float64) bool {
	return out.Shaper.Bounds() && (linkBps == 0 || out.Shaper.RateBps < linkBps)
}

// shaped is what is different in the direction out of an interface that a qdisc shapes; nil:
// none does.
func shaped(out record.InterfaceSnapshot, linkBps float64) *topology.Impairment {
	if !shapes(out, linkBps) {
		return nil
	}
	return &topology.Impairment{Rate: unit.BitRate(out.Shaper.RateBps), Bucket: true,
		Burst: unit.Bytes(out.Shaper.BurstBytes), Shaper: out.Shaper.Kind, Overhead: out.Shaper.OverheadBytes}
}

// middle stands for all that is between the two hosts' interfaces.
const middle = "network"

// between is all that is known of the network from one host to the other. Between two
// interfaces it is a link that is as fast as the slower of them and takes packets of the smaller
// MTU; where there are several, each has a link to the middle that is as fast as itself. nil: not even the
// interfaces are known, as on loopback. Via marks hosts that linerate has not made.
func between(all []used) *topology.Topology {
	if len(all) == 0 || slices.ContainsFunc(all, func(u used) bool { return !u.known() }) {
		return nil
	}
	clients, servers := usedOn(all, record.NodeClient), usedOn(all, record.NodeServer)
	via := []string{"linerate"}
	t := &topology.Topology{Hosts: []topology.Host{{Name: record.NodeClient, Via: via},
		{Name: record.NodeServer, Via: via}}}
	several := len(clients)+len(servers) > 2
	if several {
		t.Switches = []topology.Switch{{Name: middle, Unmanaged: true}}
	} else {
		rate := smaller(clients[0].SpeedBps, servers[0].SpeedBps)
		t.Links = []topology.Link{{
			From:       topology.End{Node: record.NodeClient, Interface: clients[0].Interface},
			To:         topology.End{Node: record.NodeServer, Interface: servers[0].Interface},
			Impairment: topology.Impairment{Rate: unit.BitRate(rate), MTU: smaller(clients[0].MTU, servers[0].MTU)},
			Forward:    shaped(clients[0], rate), Reverse: shaped(servers[0], rate),
		}}
	}
	for i, ports := range [][]record.InterfaceSnapshot{clients, servers} {
		h := &t.Hosts[i]
		for _, p := range ports {
			h.Interfaces = append(h.Interfaces, topology.Interface{Name: p.Interface})
			if several {
				t.Links = append(t.Links, topology.Link{
					From: topology.End{Node: h.Name, Interface: p.Interface}, To: atMiddle(h.Name, p.Interface),
					Impairment: topology.Impairment{Rate: unit.BitRate(p.SpeedBps), MTU: p.MTU},
					Forward:    shaped(p, p.SpeedBps),
				})
			}
		}
	}
	return t
}

func atMiddle(node, name string) topology.End {
	return topology.End{Node: middle, Interface: node + "-" + name}
}

// flowOver is a flow with its path over between's topology; nil: it has none.
func flowOver(over *topology.Topology, f record.Flow, u used) limits.Flow {
	flow := limits.Flow{Frame: limits.FrameOf(f), Cap: unit.BitRate(f.RateCapBps)}
	if over == nil {
		return flow
	}
	from, to := u[f.From].Interface, u[f.To].Interface
	ends := []topology.End{{Node: f.From, Interface: from}, {Node: f.To, Interface: to}}
	if len(over.Switches) > 0 {
		ends = slices.Insert(ends, 1, atMiddle(f.From, from), atMiddle(f.To, to))
	}
	flow.Paths = [][]topology.End{ends}
	return flow
}

// limit is the most that a direction's flows carry over several interfaces together:
// each interface's speed counts once.
func limit(over *topology.Topology, flows []record.Flow, all []used) limits.Limit {
	var sending []limits.Flow
	for i, f := range flows {
		sending = append(sending, flowOver(over, f, all[i]))
	}
	best := limits.Network{Topology: over}.Aggregate(sending)
	if best.Bps == 0 && best.IsZero() {
		best = limits.None(record.NoLimitSomeSpeed)
	}
	return best
}

// byAddress are the totals of each address at either end, where an end has
// several.
func byAddress(flows []record.Flow, all []used) (list []record.MeasureAddress) {
	for _, node := range []string{record.NodeClient, record.NodeServer} {
		place := map[netip.Addr]int{}
		var own []record.MeasureAddress
		for i, f := range flows {
			at, nic := f.SourceAddr(), all[i][node]
			if f.From != node {
				at = f.DestinationAddr()
			}
			at = at.WithZone("")
			j, known := place[at]
			if !known {
				j = len(own)
				place[at] = j
				own = append(own, record.MeasureAddress{Host: node, Address: at.String(), Interface: nic.Interface,
					SpeedBps: nic.SpeedBps})
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
