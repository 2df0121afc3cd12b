package measure

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/control/conduct"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/attribute"
	"linerate/internal/science/limits"
	"linerate/internal/science/trust"
)

// conclude makes the document of a trial.
func (s *session) conclude(t *record.Trial, readings conduct.Readings) *record.Measure {
	m := &record.Measure{
		Schema: record.MeasureSchema, Address: s.server.String(), Protocol: "tcp", Started: t.Started,
		DurationS: t.WindowS, WarmupS: s.options.Warmup.Seconds(), GoodputBps: t.GoodputBps,
	}
	ports := map[string]record.PortSnapshot{
		record.NodeClient: clientPort(t),
		record.NodeServer: serverPort(t, readings.Replies[record.NodeServer].EndFlows),
	}
	rate := slower(ports[record.NodeClient].SpeedBps, ports[record.NodeServer].SpeedBps)
	over := between(ports, rate)
	for i := range t.Flows {
		f := &t.Flows[i]
		f.RateCapBps = float64(s.rateCap())
		if over != nil {
			f.Path = []string{f.From + "." + ports[f.From].Port, f.To + "." + ports[f.To].Port}
		}
	}
	for _, d := range []struct{ name, from string }{{study.Write, record.NodeClient}, {study.Read, record.NodeServer}} {
		if of := direction(t, d.name, d.from, rate); of.Flows > 0 {
			of.Intervals = s.intervals(t, readings, d.from)
			m.Directions = append(m.Directions, of)
		}
	}
	known := true
	for _, d := range m.Directions {
		m.WrittenBytes += d.WrittenBytes
		m.ReceivedBytes += d.ReceivedBytes
		m.RetransBytes += d.RetransBytes
		m.LimitBps += d.LimitBps
		m.LimitWhy = d.LimitWhy
		known = known && d.LimitBps > 0
	}
	switch {
	case !known:
		m.LimitBps = 0
	case len(m.Directions) > 1:
		m.LimitWhy = "both directions: " + m.Directions[0].LimitWhy + " + " + m.Directions[1].LimitWhy
	}
	t.LimitBps, t.LimitWhy = m.LimitBps, m.LimitWhy
	attribute.Flows(t, orEmpty(over))
	m.Flows, m.Trust = t.Flows, trust.Trial(*t, over)
	for _, node := range s.group.Nodes {
		m.Ends = append(m.Ends, s.end(t, node, ports[node], m.ReceivedBytes))
	}
	for _, e := range m.Ends {
		m.CPUSPerGigabyte += e.CPUSPerGigabyte
	}
	return m
}

func slower(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// clientPort is the port that this host's packets leave by.
func clientPort(t *record.Trial) record.PortSnapshot {
	h, _ := t.Reading(record.NodeClient)
	for _, l := range h.Snapshot.Lookups {
		for _, p := range h.Snapshot.Ports {
			if p.Port == l.Port {
				return p
			}
		}
	}
	return record.PortSnapshot{}
}

// serverPort is the one that holds the address to which the flows came.
func serverPort(t *record.Trial, ends []record.FlowEnd) record.PortSnapshot {
	h, _ := t.Reading(record.NodeServer)
	for _, p := range h.Snapshot.Ports {
		for _, text := range p.Addresses {
			prefix, err := netip.ParsePrefix(text)
			if err == nil && slices.ContainsFunc(ends, func(e record.FlowEnd) bool { return e.Local.Addr().WithZone("") == prefix.Addr() }) {
				return p
			}
		}
	}
	return record.PortSnapshot{}
}

// between is all that is known of the way: a link from port to port that is as
// fast as the slower of them. nil: not even the ports are known, as on loopback.
func between(ports map[string]record.PortSnapshot, rate float64) *topology.Topology {
	client, server := ports[record.NodeClient].Port, ports[record.NodeServer].Port
	if client == "" || server == "" {
		return nil
	}
	t := &topology.Topology{
		Hosts: []topology.Host{
			{Name: record.NodeClient, Ports: []topology.Port{{Name: client}}},
			{Name: record.NodeServer, Ports: []topology.Port{{Name: server}}},
		},
		Links: []topology.Link{{
			From: topology.End{Node: record.NodeClient, Port: client}, To: topology.End{Node: record.NodeServer, Port: server},
		}},
	}
	t.Links[0].Rate = unit.BitRate(rate)
	return t
}

func orEmpty(t *topology.Topology) *topology.Topology {
	if t == nil {
		return &topology.Topology{}
	}
	return t
}

// direction sums one direction's flows up, and finds their limit.
func direction(t *record.Trial, name, from string, rate float64) record.MeasureDirection {
	d := record.MeasureDirection{Direction: name}
	var first *record.Flow
	for i := range t.Flows {
		f := &t.Flows[i]
		if f.From != from {
			continue
		}
		if first == nil {
			first = f
		}
		d.Flows++
		d.GoodputBps += f.GoodputBps
		d.WrittenBytes += f.WrittenBytes
		d.ReceivedBytes += f.ReceivedBytes
		d.RetransBytes += f.RetransBytes
	}
	if first == nil {
		return d
	}
	limit := limits.Direct(rate, frame(*first), d.Flows, first.RateCapBps)
	d.LimitBps, d.LimitWhy = limit.Bps, limit.Why
	return d
}

// frame is how a flow's payload was wrapped: by the MTU of its route and what the
// two ends agreed on.
func frame(f record.Flow) limits.Frame {
	frame := limits.Frame{IPv6: f.DestinationAddr().Is6()}
	if i := f.SenderInfo; i != nil {
		frame.MTU, frame.NoTimestamps = int(i.PMTU), i.Options&1 == 0
		// A smaller maximum was asked for, by an end or on the way.
		if payload := int(i.SndMSS); payload > 0 && payload < frame.Payload() {
			frame.MTU -= frame.Payload() - payload
		}
	}
	return frame
}

// end describes one machine and what the measurement cost it.
func (s *session) end(t *record.Trial, node string, port record.PortSnapshot, received int64) record.MeasureEnd {
	h, _ := t.Reading(node)
	e := record.MeasureEnd{
		Port: port.Port, SpeedBps: port.SpeedBps,
		CPUS: h.ProcessCPUS, CPUBusy: h.CPUBusy, GeneratorCPU: h.GeneratorCPU, Others: h.Others,
	}
	e.HostEnvironment, e.Version = s.environment(node)
	e.Host = node
	e.BusyCPUS = h.CPUBusy * t.WindowS * float64(e.CPUs)
	for _, f := range t.Flows {
		e.CongestionControl = f.CongestionControl
		if f.From == node {
			break
		}
	}
	if received > 0 {
		e.CPUSPerGigabyte = e.CPUS * 1e9 / float64(received)
	}
	return e
}

// intervals are what the receivers of a direction read in each interval; the last
// one may be shorter.
func (s *session) intervals(t *record.Trial, readings conduct.Readings, from string) []record.MeasureInterval {
	to, letter := record.NodeServer, "w"
	if from == record.NodeServer {
		to, letter = record.NodeClient, "r"
	}
	edge := func(ends []record.FlowEnd) (bytes int64) {
		for _, e := range ends {
			if strings.HasPrefix(e.ID, letter) {
				bytes += e.ReceivedBytes
			}
		}
		return bytes
	}
	h, _ := t.Reading(to)
	reply := readings.Replies[to]
	begin := h.Begin.BeganNs
	since, bytes := begin, edge(reply.BeginFlows)
	var list []record.MeasureInterval
	add := func(at, total int64) {
		list = append(list, record.MeasureInterval{
			FromS: float64(since-begin) / 1e9, ToS: float64(at-begin) / 1e9,
			GoodputBps: float64(total-bytes) * 8e9 / float64(at-since),
		})
		since, bytes = at, total
	}
	const early = 0.99 // samples come on time, but their clock is not ours
	for _, sample := range h.Series {
		if float64(sample.AtNs-since) < early*float64(s.options.Interval) {
			continue
		}
		var total int64
		for _, f := range sample.Flows {
			if strings.HasPrefix(f.ID, letter) {
				total += f.ReceivedBytes
			}
		}
		add(sample.AtNs, total)
	}
	if h.End.BeganNs > since {
		add(h.End.BeganNs, edge(reply.EndFlows))
	}
	return list
}
