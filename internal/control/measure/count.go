package measure

import (
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// counts sums up what flows count besides bytes.
func counts(flows []record.Flow) (c record.MeasureCounts, err error) {
	totals, err := stats.Total(flows)
	if err != nil {
		return c, err
	}
	c.Datagrams, c.RatePerS, c.LatencyUs = totals.Datagrams, totals.TransactionsPerS, totals.Latency
	var delays, lateness []*record.Distribution
	var t record.Transactions
	for _, f := range flows {
		if own := f.Datagrams; own != nil {
			d := c.Datagrams
			d.BufferBytes, d.Bytes, d.MTU = own.BufferBytes, own.Bytes, own.MTU // of each flow
			us, _ := own.Jitter()
			d.JitterUs += us * float64(own.Received)
			delays, lateness = append(delays, own.Delay), append(lateness, own.Lateness)
		}
		if own := f.Transactions; own != nil {
			c.Transactions = &t
			t.Done += own.Done
			t.Failed += own.Failed
			t.Unanswered += own.Unanswered
			t.Late += own.Late
			t.Waiting += own.Waiting
			t.LongestWaitUs = max(t.LongestWaitUs, own.LongestWaitUs)
			t.Connections += own.Connections
			t.Opened += own.Opened
			t.Processes = max(t.Processes, own.Processes)
			t.BytesPerConnection += own.BytesPerConnection * own.Connections
		}
	}
	if d := c.Datagrams; d != nil {
		d.JitterUs /= float64(max(d.Received, 1))
		c.Lost = &d.Lost
		c.LostShare, _ = d.LostShare()
		if d.Delay, err = stats.Together(delays...); err == nil {
			d.Lateness, err = stats.Together(lateness...)
		}
	}
	if c.Transactions != nil {
		t.Application = totals.Application
		t.BytesPerConnection /= max(t.Connections, 1)
		if share, known := t.LostShare(); known && flows[0].Protocol == flow.UDPRR { // they are all alike
			c.Lost, c.LostShare = &t.Unanswered, share
		}
	}
	return c, err
}

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

func ofSamples(flows []record.FlowSample, of ids) (p progressed) {
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

// counter is the node that counts what comes of a direction's flows: the
// receiver, or who asks.
func (s *session) counter(from string) string {
	if s.options.alone() || s.lost != nil {
		return record.NodeClient // there is no other
	}
	if flow.Of(s.options.Flows.Protocol).Transactional() == (from == record.NodeClient) {
		return record.NodeClient
	}
	return record.NodeServer
}

// intervals are what came of a direction's flows in each interval. What is left of the
// window after the last whole one is an interval of its own if it is half as long at least, and
// a part of that one otherwise: over a moment a rate says nothing.
func (s *session) intervals(t *record.Trial, readings trial.Readings, from string) []record.MeasureInterval {
	of := ids{}
	for _, f := range sentBy(t.Flows, from) {
		of[f.ID] = true
	}
	node := s.counter(from)
	h, _ := t.Reading(node)
	reply := readings.Replies[node]
	begin := h.Begin.BeganNs
	since, before := begin, ofEnds(reply.BeginFlows, of)
	var list []record.MeasureInterval
	add := func(at int64, now progressed) {
		seconds := float64(at-since) / 1e9
		list = append(list, record.MeasureInterval{
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
