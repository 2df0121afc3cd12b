package trial

import (
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/failover"
	"linerate/internal/science/limits"
	"linerate/internal/science/stats"
	"linerate/internal/science/toolreport"
)

// Context is what is known about a trial besides the readings of its window.
type Context struct {
	// Nodes are the nodes whose readings belong to the trial, in the order of the record.
	Nodes []string
	// Planned is the topology that the trial was planned on; nil: there is none.
	Planned *topology.Topology
	Network Network
	// Programs is the output of foreign programs that generated flows; zero: there were none.
	Programs Programs
	// Switches are the readings of switch ports by SNMP.
	Switches []record.SwitchReading
	// Peer is the program that accepted the flows if that is not an agent; nil: agents read both ends
	// of every flow.
	Peer *Peer
}

// Network finds the paths that the flows of a trial took, and how much these flows can carry.
type Network interface {
	Paths(flows []*Flow, counted []record.Flow, hosts []netstate.HostReading) Paths
	Limits(counted []record.Flow, hosts []netstate.HostReading, paths Paths) Limits
}

// Paths are the paths of a trial's flows.
type Paths struct {
	// Topology is the network that the flows ran over; nil: not even the interfaces of the two ends are
	// known. Complete reports whether it has every link of every path.
	Topology *topology.Topology
	Complete bool
	Flows    []Path // in the flows' order
}

// Path is the path of one flow.
type Path struct {
	// Flow has all paths that routing allows. If there are none, the path is not known, and Unknown may
	// say why.
	limits.Flow
	Unknown string
	// Taken is the path that was observed or predicted; nil: not known.
	Taken []topology.End
	// Predicted are the interfaces that the kernels on the path named before the window. If a kernel
	// did not, Predicted ends there and Note says why. Observed are the interfaces on which packets
	// arrived.
	Predicted []string
	Note      string
	Observed  []string
}

// Limits are the most that the flows of a trial can carry, in bits per second; 0: not known.
type Limits struct {
	limits.Limit           // all flows together
	PlacementBps float64   // all flows together on the paths that they took; 0: the same as Limit
	Flows        []float64 // each flow alone, in the flows' order; nil: not known
}

// Assemble returns the record of a finished trial. header has what was known before the window:
// treatment, levels, settings and so on. Each stage of the assembly is a function of earlier results,
// and no later stage changes its value.
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
	clocks := r.clocks(c.Nodes)
	bottlenecks := bottleneck.Attribute(record.Trial{Flows: placed, Hosts: hosts, WindowS: windowS, Clocks: clocks},
		paths.Topology, paths.Complete)
	var predictions []*record.Prediction
	if paths.Complete {
		predictions = bottleneck.Predict(placed, hosts, over, options(flows))
	}

	t := header
	t.PlannedS = r.Planned.Seconds()
	t.WindowS, t.Hosts, t.Clocks, t.Events, t.Faults = windowS, hosts, clocks, events, faults
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

// judged returns the flows with the results that depend on all of them.
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

// Texts returns the interfaces of a path as "host.interface".
func Texts(path []topology.End) []string {
	return lists.Map(path, topology.End.String)
}

// notes joins the notes of a flow's two ends.
func notes(sender, receiver string) string { return strings.Trim(sender+"; "+receiver, "; ") }
