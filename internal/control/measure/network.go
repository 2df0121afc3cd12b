package measure

import (
	"slices"
	"strings"

	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
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

// Paths finds the interfaces of the flows from their addresses: the kernel of this host says where packets
// leave, and the addresses of the server's interfaces say where they arrive.
func (n direct) Paths(_ []*trial.Flow, counted []record.Flow, hosts []netstate.HostReading) trial.Paths {
	used := limits.EndsOf(counted, hosts)
	paths := trial.Paths{Topology: between(counted, used), Flows: make([]trial.Path, len(counted))}
	for i, f := range counted {
		paths.Flows[i].Flow = flowOver(paths.Topology, f, used[i])
	}
	return paths
}

// Limits returns the sum of the limits of all directions.
func (n direct) Limits(counted []record.Flow, hosts []netstate.HostReading, paths trial.Paths) trial.Limits {
	var sum trial.Limits
	known := true
	for _, way := range ways(counted) {
		limit := n.direction(sent(counted, way), hosts, paths.Topology)
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

// direction is the limit of flows from one host to another, of which there are some.
// Transactions have none.
func (n direct) direction(flows []record.Flow, hosts []netstate.HostReading, over *topology.Topology) limits.Limit {
	l := n.bounded(flows, hosts, over)
	if capped, _ := l.Capped(); capped && n.serverCap {
		l.ServerCap, l.AskedBps = true, n.askedBps
	}
	return l
}

func (n direct) bounded(flows []record.Flow, hosts []netstate.HostReading, over *topology.Topology) limits.Limit {
	from, to := flows[0].From, flows[0].To
	switch used := limits.EndsOf(flows, hosts); {
	case flow.Of(flows[0].Protocol).Transactional():
		return limits.None(record.NoLimitTransactions)
	case over != nil && len(over.Switches) > 0:
		return limit(over, flows, used)
	case over == nil && max(len(limits.UsedOn(used, from)), len(limits.UsedOn(used, to))) > 1:
		best := limits.Direct(0, limits.FrameOf(flows[0]), len(flows), flows[0].CapBps())
		if best.Bps == 0 {
			best = limits.None(record.NoLimitInterfaces)
		}
		return best
	default:
		rate, frame := smaller(used[0][from].SpeedBps, used[0][to].SpeedBps), limits.FrameOf(flows[0])
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

// ways are the directions in which flows go, from one host to another each, without the probe of latency.
func ways(flows []record.Flow) (list [][2]string) {
	for _, f := range flows {
		if way := [2]string{f.From, f.To}; !f.Probe && !slices.Contains(list, way) {
			list = append(list, way)
		}
	}
	slices.SortFunc(list, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return list
}

// sent are the flows that go one way, without the probe of latency.
func sent(flows []record.Flow, way [2]string) (list []record.Flow) {
	return lists.Where(flows, func(f record.Flow) bool { return f.From == way[0] && f.To == way[1] && !f.Probe })
}

// shapes says whether an interface has a qdisc that bounds what it sends, slower than what
// is known of the link's rate; 0: nothing is.
func shapes(out netstate.InterfaceSnapshot, linkBps float64) bool {
	return out.Shaper.Bounds() && (linkBps == 0 || out.Shaper.RateBps < linkBps)
}

// shaped is what is different in the direction out of an interface that a qdisc shapes; nil:
// none does.
func shaped(out netstate.InterfaceSnapshot, linkBps float64) *topology.Direction {
	if !shapes(out, linkBps) {
		return nil
	}
	return &topology.Direction{Impairment: topology.Impairment{Rate: unit.BitRate(out.Shaper.RateBps), Bucket: true,
		Burst: unit.Bytes(out.Shaper.BurstBytes), Shaper: out.Shaper.Kind, Overhead: out.Shaper.OverheadBytes}}
}

// middle stands for all that is between the two hosts' interfaces.
const middle = "network"

// between is all that is known of the network between flows' hosts. Between two
// interfaces it is a link that is as fast as the slower of them and takes packets of the smaller
// MTU; where there are several, each has a link to the middle that is as fast as itself. nil: not even the
// interfaces are known, as on loopback. Via marks hosts that linerate has not made.
func between(flows []record.Flow, all []limits.Ends) *topology.Topology {
	t, several, ports := &topology.Topology{}, false, [][]netstate.InterfaceSnapshot{}
	for i, f := range flows {
		if !all[i].Known(f) {
			return nil
		}
		for _, host := range []string{f.From, f.To} {
			if h, _ := t.Host(host); h == nil {
				t.Hosts = append(t.Hosts, topology.Host{Name: host, Via: []string{"linerate"}})
			}
		}
	}
	if len(flows) == 0 {
		return nil
	}
	slices.SortFunc(t.Hosts, func(a, b topology.Host) int { return strings.Compare(a.Name, b.Name) })
	for _, h := range t.Hosts {
		ports = append(ports, limits.UsedOn(all, h.Name))
		several = several || len(ports[len(ports)-1]) > 1
	}
	if several = several || len(ports) > 2; several {
		t.Switches = []topology.Switch{{Name: middle, Unmanaged: true}}
	} else {
		near, far := ports[0][0], ports[1][0]
		rate := smaller(near.SpeedBps, far.SpeedBps)
		t.Links = []topology.Link{{
			From:       topology.End{Node: t.Hosts[0].Name, Interface: near.Interface},
			To:         topology.End{Node: t.Hosts[1].Name, Interface: far.Interface},
			Impairment: topology.Impairment{Rate: unit.BitRate(rate), MTU: smaller(near.MTU, far.MTU)},
			Forward:    shaped(near, rate), Reverse: shaped(far, rate),
		}}
	}
	for i, ports := range ports {
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
func flowOver(over *topology.Topology, f record.Flow, u limits.Ends) limits.Flow {
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
func limit(over *topology.Topology, flows []record.Flow, all []limits.Ends) limits.Limit {
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
