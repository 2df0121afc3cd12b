package run

import (
	"net/netip"
	"reflect"
	"slices"

	"linerate/internal/control/trial"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// treatmentNetwork is what a treatment's flows run over, and what they are held to.
type treatmentNetwork struct {
	// over is the topology with what the treatment changes in it.
	over    *topology.Topology
	network limits.Network
	// flows are as planned, or as the latest trial's connections were opened;
	// limit is theirs together.
	flows []limits.Flow
	limit limits.Limit
}

// findLimits finds the most that each treatment's flows can carry together. The
// agents have reported what kind of links their interfaces are on. Where a flow has no
// path the limit is unknown, which is no reason not to measure.
func (c *conductor) findLimits() {
	hellos := lists.Map(c.lab.Nodes(), func(node string) message.Hello { return c.lab.Hello(node) })
	base, kinds := asFound(&c.study.Topology, hellos)
	for i := range c.plan.Treatments {
		t := &c.plan.Treatments[i]
		c.networks[t.Name] = networkOf(t, base, kinds)
	}
}

func networkOf(t *study.Treatment, base *topology.Topology, kinds map[topology.End]string) *treatmentNetwork {
	g := &treatmentNetwork{over: base.With(t.Settings)}
	g.network = limits.Network{Topology: g.over, Kinds: kinds}
	g.flows, _ = g.network.Flows(t.Flows)
	g.limit = g.network.Planned(t.Flows)
	return g
}

// asFound is the topology with the MTU and the shapers that real hosts' interfaces have, and
// the kernel's kinds of all interfaces.
func asFound(t *topology.Topology, hellos []message.Hello) (*topology.Topology, map[topology.End]string) {
	kinds := map[topology.End]string{}
	var found []setting.Setting
	shaped := t
	for _, hello := range hellos {
		h, isHost := t.Host(hello.Node)
		for _, p := range hello.Interfaces {
			end := topology.End{Node: hello.Node, Interface: p.Interface}
			kinds[end] = p.Kind
			if isHost && len(h.Via) > 0 && p.Shaper.Bounds() {
				s := p.Shaper
				shaped = shaped.WithShaper(end, topology.Shaper{Kind: s.Kind, Rate: unit.BitRate(s.RateBps),
					Burst: unit.Bytes(s.BurstBytes), Overhead: s.OverheadBytes})
			}
			if isHost && len(h.Via) > 0 && p.MTU > 0 && p.MTU != t.MTUAt(end) {
				found = append(found, setting.Setting{Host: hello.Node, Link: &setting.Link{Interface: p.Interface,
					MTU: p.MTU}})
			}
		}
	}
	return shaped.With(found), kinds
}

// over is the topology as a treatment has it.
func (c *conductor) over(t *study.Treatment) *topology.Topology {
	if g := c.networks[t.Name]; g != nil {
		return g.over
	}
	return &c.study.Topology
}

// network is what the flows of one trial ran over: a treatment's ground, the treatment's
// flows, whose options they are held to, and the traces that the kernels answered.
type network struct {
	*treatmentNetwork
	planned []study.PlannedFlow // in the flows' order
	traces  map[*trial.Flow]*trace
}

// Paths finds the possible paths of the flows from the addresses that the kernels chose and,
// if there are several, the one that each flow took.
func (n network) Paths(flows []*trial.Flow, counted []record.Flow, hosts []netstate.HostReading) trial.Paths {
	paths := trial.Paths{Topology: n.over, Complete: true, Flows: make([]trial.Path, len(flows))}
	seen := arrivals(n.over, hosts)
	for i, f := range flows {
		path, rec := &paths.Flows[i], counted[i]
		if t := n.traces[f]; t != nil {
			path.Predicted, path.Note = trial.Texts(t.path), t.note
		}
		connected := *f
		if opened := rec.SourceAddr(); f.OpenerSends && opened.IsValid() {
			connected.Opened = netip.AddrPortFrom(opened, 0)
		} else if opened := rec.DestinationAddr(); !f.OpenerSends && opened.IsValid() {
			connected.Opened = netip.AddrPortFrom(opened, 0)
		}
		from, to := connected.Ends(n.over)
		var err error
		if path.Flow, err = limits.NewFlow(n.over, f.Sender(), from, to, n.planned[i].Spec); err != nil {
			path.Flow, path.Unknown = limits.Flow{}, err.Error()
			continue
		}
		if rec.SenderInfo != nil {
			path.Several = false // one connection is nearly all of it
			path.Frame.NoTimestamps = rec.SenderInfo.Options&1 == 0
		}
		if t := n.traces[f]; t != nil {
			path.Observed = inOrder(n.over, t.sender, path.Flow.Paths, seen[f.ID])
		}
		if len(path.Flow.Paths) > 1 {
			path.Taken = taken(*path)
		}
	}
	return paths
}

// Limits returns what the flows can carry alone and together, with the options that both
// ends of each agreed on.
func (n network) Limits(counted []record.Flow, _ []netstate.HostReading, paths trial.Paths) trial.Limits {
	limit := trial.Limits{Flows: make([]float64, len(counted))}
	actual, placed := make([]limits.Flow, len(counted)), make([]limits.Flow, len(counted))
	var unknown record.Limit
	for i, p := range paths.Flows {
		if p.Unknown != "" {
			unknown = record.Limit{None: record.NoLimitPath, Of: "flow " + counted[i].ID + ": " + p.Unknown}
			continue
		}
		actual[i], placed[i] = p.Flow, p.Flow
		if p.Taken != nil {
			placed[i] = p.Flow.On(p.Taken)
		}
		limit.Flows[i] = n.network.Flow(p.Flow).Bps
	}
	if !unknown.IsZero() {
		limit.Limit.Limit = unknown
		return limit
	}
	if !reflect.DeepEqual(placed, actual) {
		limit.PlacementBps = n.network.Aggregate(placed).Bps
	}
	if !reflect.DeepEqual(actual, n.flows) {
		n.flows, n.limit = actual, n.network.Aggregate(actual)
	}
	limit.Limit = n.limit
	return limit
}

// taken is the path of several that a flow took: the one with all the interfaces by which
// it was observed to arrive, and where that leaves several, because what it sent did not
// come further, or where nothing was observed, the one that was predicted; nil: unknown.
func taken(p trial.Path) []topology.End {
	with := func(paths [][]topology.End, want []string) (left [][]topology.End) {
		return lists.Where(paths, func(path []topology.End) bool {
			return !slices.ContainsFunc(want, func(end string) bool { return !slices.Contains(trial.Texts(path), end) })
		})
	}
	left := with(p.Paths, p.Observed)
	if len(p.Observed) == 0 && p.Note != "" {
		return nil // predicted for a part of the path, and observed nowhere
	}
	if len(left) > 1 {
		left = with(left, p.Predicted)
	}
	if len(left) != 1 {
		return nil
	}
	return left[0]
}
