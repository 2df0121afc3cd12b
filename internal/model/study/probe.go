package study

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// probeID is the ID of a workload's probe flow.
const probeID = "probe"

// probeRequests is the number of requests of a probe in a window: the 1,000 that p99 requires, and
// some more because the last ones are answered after the window.
const probeRequests = 1200

// Bounds of a probe's rate. The upper one stays below the 1,024 connections that a server allows a
// client, and causes a load of 1 Mbit/s.
const (
	leastProbePerS, mostProbePerS = 100, 1000
	// A request and its response, with acknowledgements, take probeBits in the busier direction.
	// Probes take at most the share probeShare of the slowest link.
	probeBits, probeShare = (67 + 66) * 8, 0.01
)

// probePerS returns the rate of a probe in a window. SlowestBps is the rate of the slowest link; 0:
// unknown. If the window is too short or the link too slow for 1,000 requests, p99 remains unknown.
func probePerS(window time.Duration, slowestBps float64) int {
	rate := min(probeRequests/window.Seconds(), mostProbePerS)
	if slowestBps > 0 {
		rate = min(rate, probeShare*slowestBps/probeBits)
	}
	return int(math.Ceil(max(rate, leastProbePerS)))
}

// longEnough returns the length of a window in which perS requests per second are enough requests
// for the metric, with some margin.
func longEnough(m metric.Metric, perS float64) time.Duration {
	enough := time.Duration(float64(record.PercentileNeeds(m.Quantile)) / perS * float64(time.Second))
	return (enough + enough/20).Truncate(100*time.Millisecond) + 100*time.Millisecond
}

// ProbeWindow returns the length of a window that is long enough for the p99 of a probe. SlowestBps
// is the rate of the slowest link; 0: unknown.
func ProbeWindow(slowestBps float64) time.Duration {
	return longEnough(metric.LatencyP99, float64(probePerS(time.Second, slowestBps)))
}

// ProbeOptions returns the options of a flow that measures latency in a window, beside other flows
// or alone. It has as many connections as it sends requests per second, each with one request at a
// time, so that a connection is free unless responses take a second. SlowestBps is the rate of the
// slowest link; 0: unknown.
func ProbeOptions(congestionControl string, window time.Duration, slowestBps float64) flow.Spec {
	rate := probePerS(window, slowestBps)
	return flow.Spec{
		Protocol: flow.RR, Direction: flow.Write, Streams: 1, Request: 1, Response: 1, Threads: 1,
		Connections: rate, Pace: float64(rate), CongestionControl: congestionControl,
	}
}

// probe returns a probe flow on the path of another flow. Its rate is the same in all treatments
// with windows of equal length, because it depends on the links before a treatment changes them.
func (s *Study) probe(beside PlannedFlow, window unit.Duration) PlannedFlow {
	control := cmp.Or(beside.CongestionControl, defaultCongestionControl)
	slowest := 0.0
	for _, l := range s.Topology.Links {
		slowest = unit.LeastSet(slowest, float64(l.Rate))
	}
	return PlannedFlow{
		ID: probeID, Opener: beside.Opener, Acceptor: beside.Acceptor, Source: beside.Source,
		Destination: beside.Destination,
		OpenerSends: true, Spec: ProbeOptions(control, time.Duration(window), slowest),
	}
}

// probed checks that no flow sends requests beside a probe.
func (c *checker) probed(p *Plan) {
	if !c.Workload.Probe {
		return
	}
	for _, t := range p.Treatments {
		if slices.ContainsFunc(t.Workload.Flows, func(f Flow) bool { return flow.Of(f.Protocol).Transactional() }) {
			c.report("workload.probe",
				"probe: treatment %q has flows of requests already; their latency is measured without one", t.Name)
			return
		}
	}
}

// requests returns the maximum number of requests that a trial of the treatment sends in its window.
// It follows from the pace of the flows and, since the number of concurrent requests of a connection
// is limited, from the delay of their paths; byDelay reports whether the delay limits a flow. Known
// is false if a flow has neither limit, or if no flow sends requests.
func (p *Plan) requests(t *Treatment) (planned float64, byDelay, known bool) {
	over := p.Study.Topology.With(t.Settings)
	window := time.Duration(t.Workload.Duration).Seconds()
	for _, f := range t.Flows {
		of := flow.Of(f.Protocol)
		if !of.Transactional() {
			continue
		}
		most := math.Inf(1)
		if f.Pace > 0 {
			most = f.Pace * window
		}
		if rtt := roundTrip(over, f); rtt > 0 {
			if of.Connects {
				rtt *= 2 // its handshake
			}
			if closed := float64(max(1, f.Connections)*max(1, f.Pipeline)) * window / rtt; closed < most {
				most, byDelay = closed, true
			}
		}
		if planned += most; math.IsInf(most, 1) {
			return 0, false, false
		}
		known = true
	}
	return planned, byDelay, known
}

// RoundTrip returns the longest round-trip delay of the links on the paths of a treatment's flows.
// 0: no link has a delay.
func (p *Plan) RoundTrip(t *Treatment) time.Duration {
	type ends struct {
		opener              string
		source, destination netip.Addr
	}
	if !slices.ContainsFunc(p.Study.Topology.Links, func(l topology.Link) bool {
		return l.Towards(l.From).Delay > 0 || l.Towards(l.To).Delay > 0
	}) {
		return 0
	}
	over, longest := p.Study.Topology.With(t.Settings), 0.0
	seen := map[ends]bool{}
	for _, f := range t.Flows {
		if at := (ends{f.Opener, f.Source, f.Destination}); !seen[at] {
			seen[at] = true
			longest = max(longest, roundTrip(over, f))
		}
	}
	return time.Duration(longest * float64(time.Second))
}

// roundTrip returns the round-trip delay of the links on the flow's shortest path, in seconds. 0:
// unknown.
func roundTrip(over *topology.Topology, f PlannedFlow) (least float64) {
	paths, err := over.Paths(f.Opener, f.Source, f.Destination)
	if err != nil {
		return 0
	}
	for i, path := range paths {
		rtt := 0.0
		for j := 0; j+1 < len(path); j += 2 {
			if link, ok := over.LinkAt(path[j]); ok {
				rtt += link.Towards(path[j]).Delay.Seconds() + link.Towards(path[j+1]).Delay.Seconds()
			}
		}
		if i == 0 || rtt < least {
			least = rtt
		}
	}
	return least
}

// roundTripLoss returns the probability that a packet or its answer is lost on the links of the
// flow's first path. 0: unknown.
func roundTripLoss(over *topology.Topology, f PlannedFlow) float64 {
	paths, err := over.Paths(f.Opener, f.Source, f.Destination)
	if err != nil || len(paths) == 0 {
		return 0
	}
	arrives := 1.0
	for j := 0; j+1 < len(paths[0]); j += 2 {
		if link, ok := over.LinkAt(paths[0][j]); ok {
			arrives *= (1 - float64(link.Towards(paths[0][j]).Loss)) * (1 - float64(link.Towards(paths[0][j+1]).Loss))
		}
	}
	return 1 - arrives
}

// TooFew lists the percentiles among the study's responses that a trial cannot show because it
// sends too few requests, in the treatment that sends the fewest.
func (p *Plan) TooFew() (list []string) {
	var fewest *Treatment
	least, delayed := math.Inf(1), false
	for _, name := range p.Study.Responses {
		r, _ := metric.Find(name)
		if r.Quantile == 0 {
			continue
		}
		if fewest == nil {
			for i := range p.Treatments {
				if planned, byDelay, known := p.requests(&p.Treatments[i]); known && planned < least {
					fewest, least, delayed = &p.Treatments[i], planned, byDelay
				}
			}
		}
		// Some requests are answered after the window.
		if fewest == nil || r.TooFew(int64(least-least/100)) == "" {
			continue
		}
		window := time.Duration(fewest.Workload.Duration)
		text := r.TooFew(min(int64(least), record.PercentileNeeds(r.Quantile)-1)) + ". "
		if delayed {
			text += "More are not possible with the path's delay and so many connections. "
		}
		text += fmt.Sprintf("The comparison will be inconclusive in trials of %v, such as of %q", window, fewest.Name)
		if least > 0 {
			text += fmt.Sprintf("; long enough: --set workload.duration=%v", longEnough(r, least/window.Seconds()))
		}
		list = append(list, text)
	}
	return list
}
