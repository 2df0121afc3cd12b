package run

import (
	"reflect"
	"slices"

	"linerate/internal/control/trial"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
)

// ground is what a treatment's flows run over, and what they are held to.
type ground struct {
	// over is the topology with what the treatment changes in it.
	over    *topology.Topology
	network limits.Network
	// flows are as planned, or as the latest trial's connections came about;
	// limit is theirs together.
	flows []limits.Flow
	limit limits.Limit
}

// survey finds the most that each treatment's flows can carry together. The
// agents have said what kind of links their interfaces are on. Where a flow has no
// way the limit is unknown, which is no reason not to measure.
func (c *conductor) survey() {
	var hellos []message.Hello
	for _, node := range c.lab.Nodes() {
		hellos = append(hellos, c.lab.Hello(node))
	}
	base, kinds := asFound(&c.study.Topology, hellos)
	for i := range c.plan.Treatments {
		t := &c.plan.Treatments[i]
		c.grounds[t.Name] = groundOf(t, base, kinds)
	}
}

func groundOf(t *study.Treatment, base *topology.Topology, kinds map[topology.End]string) *ground {
	g := &ground{over: base.With(t.Settings)}
	g.network = limits.Network{Topology: g.over, Kinds: kinds}
	g.flows, _ = g.network.Flows(t.Flows)
	g.limit = g.network.Planned(t.Flows)
	return g
}

// asFound is the topology with the MTU that real hosts' interfaces have, and the
// kernel's kinds of all interfaces.
func asFound(t *topology.Topology, hellos []message.Hello) (*topology.Topology, map[topology.End]string) {
	kinds := map[topology.End]string{}
	var found []setting.Setting
	for _, hello := range hellos {
		h, isHost := t.Host(hello.Node)
		for _, p := range hello.Interfaces {
			end := topology.End{Node: hello.Node, Interface: p.Interface}
			kinds[end] = p.Kind
			if isHost && len(h.Via) > 0 && p.MTU > 0 && p.MTU != t.MTUAt(end) {
				found = append(found, setting.Setting{Host: hello.Node, Link: &setting.Link{Interface: p.Interface, MTU: p.MTU}})
			}
		}
	}
	return t.With(found), kinds
}

// over is the topology as a treatment has it.
func (c *conductor) over(t *study.Treatment) *topology.Topology {
	if g := c.grounds[t.Name]; g != nil {
		return g.over
	}
	return &c.study.Topology
}

// hold says of a trial's flows, one by one and together, which way they are
// meant to take and what they can carry at most: from the addresses that the
// kernel chose and the options that the two ends agreed on.
func (g *ground) hold(t *record.Trial, flows []*trial.Flow) {
	actual, placed := make([]limits.Flow, len(flows)), make([]limits.Flow, len(flows))
	unknown := ""
	for i, f := range flows {
		flow := &t.Flows[i]
		from, to := f.Ends(g.over)
		var err error
		actual[i], err = limits.NewFlow(g.over, f.Sender(), from, to, f.Options)
		if err != nil {
			unknown = "unknown: flow " + f.ID + ": " + err.Error()
			continue
		}
		flow.Path, placed[i] = texts(actual[i].Paths[0]), actual[i]
		if n := len(actual[i].Paths); n > 1 {
			flow.Paths = n
			if way, known := taken(actual[i].Paths, flow); known {
				flow.Path = texts(way)
				placed[i].Paths = [][]topology.End{way}
			}
		}
		if flow.SenderInfo != nil {
			actual[i].Frame.NoTimestamps = flow.SenderInfo.Options&1 == 0
		}
		flow.LimitBps = g.network.Flow(actual[i]).Bps
	}
	for i := range placed {
		placed[i].Frame = actual[i].Frame
	}
	if !reflect.DeepEqual(placed, actual) {
		t.PlacementLimitBps = g.network.Aggregate(placed).Bps
	}
	if !reflect.DeepEqual(actual, g.flows) {
		g.flows, g.limit = actual, g.network.Aggregate(actual)
	}
	t.LimitBps, t.LimitWhy = g.limit.Bps, g.limit.Why
	if unknown != "" {
		t.LimitBps, t.PlacementLimitBps, t.LimitWhy = 0, 0, unknown
	}
}

// taken is the way of several that a flow took: the one with all the interfaces that it
// was seen to come in by, and where that leaves several, because what it sent did not
// come further, or where nothing was seen, the one that was predicted.
func taken(paths [][]topology.End, flow *record.Flow) (way []topology.End, known bool) {
	with := func(paths [][]topology.End, want []string) (left [][]topology.End) {
		for _, path := range paths {
			if !slices.ContainsFunc(want, func(end string) bool { return !slices.Contains(texts(path), end) }) {
				left = append(left, path)
			}
		}
		return left
	}
	left := with(paths, flow.Observed)
	if len(flow.Observed) == 0 && flow.PredictedNote != "" {
		return nil, false // where it goes is known for a part of the way, from nobody's sight
	}
	if len(left) > 1 {
		left = with(left, flow.Predicted)
	}
	if len(left) != 1 {
		return nil, false
	}
	return left[0], true
}
