package measure

import (
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/science/hostload"
)

// document makes the document of a finished trial. Its figures are of the flows that were
// to be measured; what the trial is checked for, and the causes found, of all that was sent.
func (s *session) document(t *record.Trial, readings trial.Readings) (*record.Measure, error) {
	m := &record.Measure{
		Schema: record.MeasureSchema, Address: s.server.String(), Protocol: flow.Of(s.options.Flows.Protocol).Name,
		Started:   t.Started,
		DurationS: t.WindowS, WarmupS: s.options.Warmup.Seconds(), PlannedS: t.PlannedS, Ended: t.Ended,
		Mode:       s.options.Flows.Mode,
		GoodputBps: t.GoodputBps, LimitBps: t.LimitBps, Limit: t.Limit,
	}
	s.trials = append(s.trials, *t)
	m.Flows, m.Latency = withoutProbe(t.Flows)
	m.Trust, m.Findings = trial.Judge(*t, nil)
	over := t.Over(nil)
	for _, d := range directions {
		flows := sentBy(m.Flows, d.from)
		if len(flows) == 0 {
			continue
		}
		of := direction(d.name, flows)
		var err error
		if of.MeasureCounts, err = counts(flows); err != nil {
			return nil, err
		}
		limit := s.network().direction(m.Flows, t.Hosts, over, d.from)
		of.LimitBps, of.Limit = limit.Bps, limit.Limit
		of.Intervals = s.intervals(t, readings, d.from)
		m.WrittenBytes += of.WrittenBytes
		m.ReceivedBytes += of.ReceivedBytes
		m.RetransBytes += of.RetransBytes
		m.Directions = append(m.Directions, of)
	}
	if s.lost != nil {
		s.oneEnd(m)
	}
	var err error
	if m.MeasureCounts, err = counts(m.Flows); err != nil {
		return nil, err
	}
	all := interfacesOf(m.Flows, t.Hosts)
	m.Addresses = byAddress(m.Flows, all)
	for _, node := range s.group.Nodes {
		m.Ends = append(m.Ends, s.end(t, node, usedOn(all, node), m, readings.Replies[node].EndFlows))
	}
	if len(t.Hosts) == 2 {
		m.OneMachine = hostload.Same(t.Hosts[0], t.Hosts[1])
	}
	for _, e := range m.Ends {
		m.CPUSPerGigabyte += e.CPUSPerGigabyte
		m.CPUUsPerTransaction += e.CPUUsPerTransaction
	}
	return m, nil
}

// network is what is known of the network to the server.
func (s *session) network() direct {
	n := direct{peer: s.options.alone() || s.lost != nil}
	if asked := s.options.Flows.RateCap; s.rateCap() != asked {
		n.serverCap, n.askedBps = true, float64(asked)
	}
	return n
}

// smaller is the smaller of two figures of which 0 is not known.
func smaller[T int | float64](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// direction sums up flows of one direction.
func direction(name string, flows []record.Flow) record.MeasureDirection {
	d := record.MeasureDirection{Direction: name, Flows: len(flows)}
	for _, f := range flows {
		d.GoodputBps += f.GoodputBps
		d.WrittenBytes += f.WrittenBytes
		d.ReceivedBytes += f.ReceivedBytes
		d.RetransBytes += f.RetransBytes
	}
	return d
}

// end describes one machine and what the measurement cost it.
func (s *session) end(t *record.Trial, node string, ports []record.InterfaceSnapshot, m *record.Measure,
	ends []message.FlowEnd) record.MeasureEnd {
	h, _ := t.Reading(node)
	e := record.MeasureEnd{
		CPUS: h.ProcessCPUS, CPUBusy: h.CPUBusy, GeneratorCPU: h.GeneratorCPU, AllowedCPUs: h.AllowedCPUs,
		Others: h.Others,
	}
	for i, p := range ports {
		if i == 0 {
			e.Interface, e.SpeedBps = p.Interface, p.SpeedBps
		}
		if len(ports) > 1 {
			counted := record.MeasureInterface{Interface: p.Interface, SpeedBps: p.SpeedBps}
			for _, d := range h.Deltas() {
				if d.Interface == p.Interface {
					counted.RxBps, counted.TxBps = d.RxBps(), d.TxBps()
				}
			}
			e.Interfaces = append(e.Interfaces, counted)
		}
	}
	e.HostEnvironment, e.Version = s.hellos[node].Environment, s.hellos[node].Version
	e.Host = node
	e.BusyCPUS = h.CPUBusy * t.WindowS * float64(e.CPUs)
	for _, f := range m.Flows {
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
