package study

import (
	"cmp"
	"slices"

	"linerate/internal/model/flow"
)

// probeID is what the flow of a workload's probe is called.
const probeID = "probe"

// The probe sends so many requests a second, over so many connections, each with one
// request at a time: unless a response takes a second, one is free for the next.
const (
	ProbePerS        = 100
	probeConnections = 100
)

// ProbeOptions are those of a flow that measures latency beside others.
func ProbeOptions(congestionControl string) flow.Spec {
	return flow.Spec{
		Protocol: flow.RR, Direction: flow.Write, Streams: 1, Request: 1, Response: 1, Threads: 1,
		Connections: probeConnections, Pace: ProbePerS, CongestionControl: congestionControl,
	}
}

// probe is a flow on the path of another.
func probe(beside PlannedFlow) PlannedFlow {
	control := cmp.Or(beside.CongestionControl, defaultCongestionControl)
	return PlannedFlow{
		ID: probeID, Opener: beside.Opener, Acceptor: beside.Acceptor, Source: beside.Source, Destination: beside.Destination,
		OpenerSends: true, Spec: ProbeOptions(control),
	}
}

// probed checks that no other flow sends requests beside a probe.
func (c *checker) probed(p *Plan) {
	if !c.Workload.Probe {
		return
	}
	for _, t := range p.Treatments {
		if slices.ContainsFunc(t.Workload.Flows, func(f Flow) bool { return flow.Of(f.Protocol).Transactional() }) {
			c.report("workload.probe", "probe: treatment %q has flows of requests already; their latency is measured without one", t.Name)
			return
		}
	}
}
