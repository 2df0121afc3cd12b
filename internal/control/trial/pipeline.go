package trial

import (
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/failover"
	"linerate/internal/science/limits"
	"linerate/internal/science/stats"
	"linerate/internal/science/toolreport"
)

// Context is what is known of a trial besides what was read in its window.
type Context struct {
	// Nodes are those whose readings belong to the trial, in the record's order.
	Nodes []string
	// Planned is the topology that the trial was planned on; nil: none was.
	Planned *topology.Topology
	Network Network
	// Programs is what foreign programs printed that made flows; zero: none did.
	Programs Programs
	// Switches are what was read by SNMP meanwhile.
	Switches []record.SwitchReading
	// Peer is the program at the acceptors, where that is no agent; nil: agents read
	// both ends of every flow.
	Peer *Peer
}

// Network finds where a trial's flows went, and how much they can carry there.
type Network interface {
	Paths(flows []*Flow, counted []record.Flow, hosts []record.HostReading) Paths
	Limits(counted []record.Flow, hosts []record.HostReading, paths Paths) Limits
}

// Paths are where the flows of a trial went.
type Paths struct {
	// Topology is what they ran over; nil: not even the interfaces of the two ends are
	// known. Complete says that it has every link of every path.
	Topology *topology.Topology
	Complete bool
	Flows    []Path // in the flows' order
}

// Path is where one flow went.
type Path struct {
	// Flow has all paths that routing allows; none: no path is known, for the reason
	// Unknown if that is not empty.
	limits.Flow
	Unknown string
	// Taken is the one of several that was observed or predicted; nil: unknown.
	Taken []topology.End
	// Predicted is what the kernels on the path said before the window, up to where Note
	// says why not further; Observed are the interfaces by which packets came in.
	Predicted []string
	Note      string
	Observed  []string
}

// Limits are the most that the flows of a trial can carry; 0: unknown.
type Limits struct {
	limits.Limit           // all flows together
	PlacementBps float64   // all together on the paths that they took; 0: as the limit
	Flows        []float64 // each by itself, in the flows' order; nil: unknown
}

// Assemble makes a finished trial of what the nodes read in its window. The header is
// what was known before: treatment, levels, settings and the like. Each stage takes what
// it depends on, and returns a value that no later one changes.
func Assemble(header record.Trial, flows []*Flow, r Readings, c Context) (record.Trial, error) {
	windowS := r.Duration.Seconds()
	hosts := r.hosts(c.Nodes, c.Planned)
	events := r.events()
	counted := toolreport.AtInterfaces(r.count(flows, c.Programs, c.Peer), hosts, windowS, c.Planned)
	tools := r.tools(flows, counted, c.Programs, header.AccountSender)
	reported := toolreport.Sum(counted, tools, header.AccountSender)
	totals, err := stats.Total(counted)
	paths := c.Network.Paths(flows, counted, hosts)
	limit := c.Network.Limits(counted, hosts, paths)
	placed := paths.place(counted, limit)
	over := paths.Topology
	if over == nil {
		over = &topology.Topology{}
	}
	faults := failover.Faults(hosts, events, over)
	outages := failover.Detect(placed, hosts, events, over)
	if len(events) == 0 {
		outages = failover.DetectUnplanned(placed, hosts, faults, over)
	}
	bottlenecks := bottleneck.Attribute(placed, hosts, windowS, paths.Topology, paths.Complete)
	var predictions []*record.Prediction
	if paths.Complete {
		predictions = bottleneck.Predict(placed, hosts, over, options(flows))
	}

	t := header
	t.PlannedS = r.Planned.Seconds()
	t.WindowS, t.Hosts, t.Clocks, t.Events, t.Faults = windowS, hosts, r.clocks(c.Nodes), events, faults
	t.Flows = judged(placed, outages, bottlenecks, predictions)
	t.Tools, t.ToolReported, t.Switches = tools, reported, c.Switches
	t.GoodputBps, t.SenderReportedBps = totals.GoodputBps, totals.SenderReportedBps
	t.TransactionsPerS, t.Latency, t.Datagrams = totals.TransactionsPerS, totals.Latency, totals.Datagrams
	t.LimitBps, t.Limit, t.PlacementLimitBps = limit.Bps, limit.Limit.Limit, limit.PlacementBps
	if paths.Topology != c.Planned {
		t.Topology = paths.Topology
	}
	return t, err
}

// place returns the flows with their paths and limits.
func (p Paths) place(counted []record.Flow, limit Limits) []record.Flow {
	placed := slices.Clone(counted)
	for i := range placed {
		f := &placed[i]
		if i < len(p.Flows) {
			path := p.Flows[i]
			f.Path = Texts(path.Taken)
			if n := len(path.Paths); n > 0 && path.Taken == nil {
				f.Path = Texts(path.Paths[0])
			}
			if n := len(path.Paths); n > 1 {
				f.Paths = n
			}
			f.Predicted, f.PredictedNote, f.Observed = path.Predicted, path.Note, path.Observed
		}
		if i < len(limit.Flows) {
			f.LimitBps = limit.Flows[i]
		}
	}
	return placed
}

// judged returns the flows with what follows from all of them.
func judged(placed []record.Flow, outages [][]record.Outage, bottlenecks []bottleneck.Verdict,
	predictions []*record.Prediction) []record.Flow {
	flows := slices.Clone(placed)
	for i := range flows {
		f := &flows[i]
		if i < len(outages) {
			f.Outages = outages[i]
		}
		if i < len(predictions) {
			f.Expected = predictions[i]
		}
		f.LimitedBy, f.LimitedFacts = bottlenecks[i].By, bottlenecks[i].Facts
		f.RefusedBytes = int64(bottlenecks[i].Refused * float64(f.RetransBytes))
	}
	return flows
}

func options(flows []*Flow) []flow.Spec {
	list := make([]flow.Spec, len(flows))
	for i, f := range flows {
		list[i] = f.Spec
	}
	return list
}

// Texts spells a path, "host.interface" each.
func Texts(path []topology.End) []string {
	var list []string
	for _, e := range path {
		list = append(list, e.String())
	}
	return list
}

// notes joins what either end of a flow has to say.
func notes(sender, receiver string) string { return strings.Trim(sender+"; "+receiver, "; ") }
