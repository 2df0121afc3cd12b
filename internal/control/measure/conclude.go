package measure

import (
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/limits"
	"linerate/internal/science/trust"
)

// conclude makes the document of a trial.
func (s *session) conclude(t *record.Trial, readings trial.Readings) (*record.Measure, error) {
	m := &record.Measure{
		Schema: record.MeasureSchema, Address: s.server.String(), Protocol: s.protocol(), Started: t.Started,
		DurationS: t.WindowS, WarmupS: s.options.Warmup.Seconds(), Mode: s.options.Flows.Mode, GoodputBps: t.GoodputBps,
	}
	ways := waysOf(t)
	over := between(ways)
	for i := range t.Flows {
		if f := &t.Flows[i]; over != nil {
			for _, end := range path(over, *f, ways[i]) {
				f.Path = append(f.Path, end.String())
			}
		}
	}
	bottleneck.AttributeEnds(t, orEmpty(over))
	// The figures are of what was to be measured, and trust is asked about all
	// that was on the wire.
	everything := t.Flows
	t.Flows, m.Latency = withoutProbe(t.Flows)
	ways = ways[:len(t.Flows)]
	rate := 0.0
	if len(ways) > 0 {
		rate = slower(ways[0].client.SpeedBps, ways[0].server.SpeedBps)
	}
	for _, d := range []struct{ name, from string }{{study.Write, record.NodeClient}, {study.Read, record.NodeServer}} {
		of := direction(t, d.name, d.from, rate)
		if of.Flows == 0 {
			continue
		}
		var err error
		if of.MeasureCounts, err = counts(t.Flows, d.from); err != nil {
			return nil, err
		}
		if over != nil && len(over.Switches) > 0 && !transacts(s.protocol()) {
			most := limit(over, t.Flows, ways, d.from)
			of.LimitBps, of.LimitWhy = most.Bps, most.Why
		}
		of.Intervals = s.intervals(t, readings, d.from)
		m.Directions = append(m.Directions, of)
	}
	var err error
	if m.MeasureCounts, err = counts(t.Flows, ""); err != nil {
		return nil, err
	}
	known := true
	if m.Latency != nil {
		m.GoodputBps -= m.Latency.Probe.GoodputBps
	}
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
	m.Flows = t.Flows
	t.Flows = everything
	m.Trust = trust.Trial(*t, over)
	t.Flows = m.Flows
	m.Addresses = byAddress(t, ways)
	for _, node := range s.group.Nodes {
		of := ofClient
		if node == record.NodeServer {
			of = ofServer
		}
		m.Ends = append(m.Ends, s.end(t, node, portsOf(ways, of), m, readings.Replies[node].EndFlows))
	}
	for _, e := range m.Ends {
		m.CPUSPerGigabyte += e.CPUSPerGigabyte
		m.CPUUsPerTransaction += e.CPUUsPerTransaction
	}
	return m, nil
}

// protocol is what is measured.
func (s *session) protocol() string {
	if p := s.options.Flows.Protocol; p != "" {
		return p
	}
	return flow.TCP
}

func slower(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
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
	if transacts(first.Protocol) {
		d.LimitWhy = "none: transactions are held to no rate"
		return d
	}
	limit := limits.Direct(rate, frame(*first), d.Flows, first.CapBps())
	d.LimitBps, d.LimitWhy = limit.Bps, limit.Why
	return d
}

// frame is how a flow's payload was wrapped: by the MTU of its route and what the
// two ends agreed on.
func frame(f record.Flow) limits.Frame {
	frame := limits.Frame{IPv6: f.DestinationAddr().Is6()}
	if d := f.Datagrams; d != nil {
		frame.UDP, frame.Datagram, frame.MTU = true, d.Bytes, d.MTU
	}
	i := f.SenderInfo
	if i == nil {
		i = f.ReceiverInfo // the sender is a peer that tells nothing
	}
	if i != nil {
		frame.MTU, frame.NoTimestamps = int(i.PMTU), i.Options&1 == 0
		// A smaller maximum was asked for, by an end or on the way.
		if payload := int(i.SndMSS); payload > 0 && payload < frame.Payload() {
			frame.MTU -= frame.Payload() - payload
		}
	}
	return frame
}

// end describes one machine and what the measurement cost it.
func (s *session) end(t *record.Trial, node string, ports []record.InterfaceSnapshot, m *record.Measure, ends []message.FlowEnd) record.MeasureEnd {
	h, _ := t.Reading(node)
	e := record.MeasureEnd{
		CPUS: h.ProcessCPUS, CPUBusy: h.CPUBusy, GeneratorCPU: h.GeneratorCPU, Others: h.Others,
	}
	for i, p := range ports {
		if i == 0 {
			e.Interface, e.SpeedBps = p.Interface, p.SpeedBps
		}
		if len(ports) > 1 {
			e.Interfaces = append(e.Interfaces, record.MeasureInterface{Interface: p.Interface, SpeedBps: p.SpeedBps})
		}
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
	if m.ReceivedBytes > 0 {
		e.CPUSPerGigabyte = e.CPUS * 1e9 / float64(m.ReceivedBytes)
	}
	if m.Transactions != nil && m.Transactions.Done > 0 {
		e.CPUUsPerTransaction = e.CPUS * 1e6 / float64(m.Transactions.Done)
	}
	e.BytesPerConnection = perConnection(ends)
	return e
}
