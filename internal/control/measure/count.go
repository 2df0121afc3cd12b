package measure

import (
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// lostShare is the part of the datagrams that a receiver was to have which it has
// not got.
func lostShare(lost, received int64) float64 {
	if lost <= 0 {
		return 0
	}
	return float64(lost) / float64(lost+max(received, 0))
}

// perConnection is a process's own memory for each connection that is open.
func perConnection(ends []message.FlowEnd) int64 {
	var bytes, connections int64
	for _, e := range ends {
		if t := e.Transactions; t != nil {
			bytes += t.BytesPerConnection * t.Connections
			connections += t.Connections
		}
	}
	return bytes / max(connections, 1)
}

// ids names the flows of a direction.
type ids map[string]bool

// progressed is how far a direction's flows are, all together.
type progressed struct {
	bytes, datagrams, lost, done int64
	flows                        int
}

func ofSamples(flows []netstate.FlowSample, of ids) (p progressed) {
	for _, f := range flows {
		if !of[f.ID] {
			continue
		}
		p.flows++
		p.bytes += f.ReceivedBytes + f.AckedBytes // one of them, by which end it is
		p.datagrams += f.Datagrams
		p.lost += f.Lost
		p.done += f.Done
	}
	return p
}

func ofEnds(ends []message.FlowEnd, of ids) (p progressed) {
	for _, e := range ends {
		if !of[e.ID] {
			continue
		}
		p.flows++
		p.bytes += e.ReceivedBytes
		if e.Sends && e.Info != nil && e.Transactions == nil {
			p.bytes += int64(e.Info.BytesAcked)
		}
		if d := e.Datagrams; d != nil {
			p.datagrams += d.Received
			p.lost += d.Lost
		}
		if t := e.Transactions; t != nil {
			p.done += t.Done
		}
	}
	return p
}

// counter is the node that counts what comes of flows from one host to another: the
// receiver, or who asks.
func (s *session) counter(from, to string) string {
	switch {
	case s.options.alone() || s.lost != nil:
		return record.NodeClient // there is no other
	case flow.Of(s.options.Flows.Protocol).Transactional():
		return from
	}
	return to
}

// intervals are what came of a part's flows in each interval. What is left of the
// window after the last whole one is an interval of its own if it is half as long at least, and
// a part of that one otherwise: over a moment a rate says nothing.
func (s *session) intervals(t *record.Trial, readings trial.Readings, p record.Part) []record.Interval {
	of := ids{}
	for _, f := range t.Flows {
		of[f.ID] = p.Has(f)
	}
	node := s.counter(p.From, p.To)
	h, _ := t.Reading(node)
	reply := readings.Replies[node]
	begin := h.Begin.BeganNs
	since, before := begin, ofEnds(reply.BeginFlows, of)
	var list []record.Interval
	add := func(at int64, now progressed) {
		seconds := float64(at-since) / 1e9
		list = append(list, record.Interval{
			FromS: float64(since-begin) / 1e9, ToS: float64(at-begin) / 1e9,
			GoodputBps: float64(now.bytes-before.bytes) * 8 / seconds,
			RatePerS:   float64(now.done-before.done) / seconds,
			LostShare:  lostShare(now.lost-before.lost, now.datagrams-before.datagrams),
		})
		since, before = at, now
	}
	const early = 0.99 // samples come on time, but their clock is not ours
	for _, sample := range h.Series {
		if float64(sample.AtNs-since) >= early*float64(s.options.Interval) &&
			h.End.BeganNs-sample.AtNs >= int64(s.options.Interval)/2 {
			add(sample.AtNs, ofSamples(sample.Flows, of))
		}
	}
	if h.End.BeganNs > since {
		add(h.End.BeganNs, ofEnds(reply.EndFlows, of))
	}
	return list
}
