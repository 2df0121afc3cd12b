package stats

import (
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Part sums up those of a trial's flows that one host sends to another, without a latency probe.
// The error says which latencies cannot be read.
func Part(all []record.Flow, from, to string, windowS float64) (p record.Part, err error) {
	p = record.Part{From: from, To: to}
	var flows []record.Flow
	for _, f := range all {
		if !p.Has(f) {
			continue
		}
		flows = append(flows, f)
		p.GoodputBps += f.GoodputBps
		p.WrittenBytes += f.WrittenBytes
		p.ReceivedBytes += f.ReceivedBytes
		p.RetransBytes += f.RetransBytes
	}
	p.Flows = len(flows)
	p.Counts, err = Counts(flows, windowS)
	return p, err
}

// Counts sums up what flows count besides bytes in a window. The error says which latencies cannot be
// read.
func Counts(flows []record.Flow, windowS float64) (c record.Counts, err error) {
	totals, err := Total(flows)
	if err != nil {
		return c, err
	}
	c.Datagrams, c.RatePerS, c.LatencyUs = totals.Datagrams, totals.TransactionsPerS, totals.Latency
	var delays, lateness []*record.Distribution
	var t record.Transactions
	for _, f := range flows {
		if own := f.Datagrams; own != nil {
			d := c.Datagrams
			d.BufferBytes, d.Bytes, d.MTU = own.BufferBytes, own.Bytes, own.MTU // the same for every flow
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
			t.Wait = own.Wait // the same for every flow: beside others, a flow does not spin
			t.BytesPerConnection += own.BytesPerConnection * own.Connections
		}
	}
	if d := c.Datagrams; d != nil {
		d.JitterUs /= float64(max(d.Received, 1))
		c.Lost = &d.Lost
		c.LostShare, _ = d.LostShare()
		if d.Delay, err = Together(delays...); err == nil {
			d.Lateness, err = Together(lateness...)
		}
	}
	if c.Transactions != nil {
		t.Application = totals.Application
		t.BytesPerConnection /= max(t.Connections, 1)
		if share, known := t.LostShare(); known && flows[0].Protocol == flow.UDPRR { // all flows have the same protocol
			c.Lost, c.LostShare = &t.Unanswered, share
		}
		c.Scheduled = scheduled(flows, t, c.LatencyUs, windowS)
	}
	return c, err
}

// inTimeS is within how many seconds after it is due a transaction counts as answered in time. It is the
// timeout of udp-rr.
const inTimeS = 1

// scheduled returns what became of the transactions that were due, from their sum t and their times,
// which are counted from when they were due; nil: a flow has no pace, or the times are not known.
func scheduled(flows []record.Flow, t record.Transactions, latency *record.Distribution,
	windowS float64) *record.Scheduled {
	due := 0.0
	for _, f := range flows {
		if f.PacePerS <= 0 {
			return nil
		}
		due += f.PacePerS * windowS
	}
	times, err := decode(latency)
	if err != nil || latency == nil || due < 1 {
		return nil
	}
	s := record.Scheduled{Due: int64(due + 0.5), WithinS: inTimeS, Lost: t.Failed + t.Unanswered}
	s.Late = min(t.Done, int64(times.beyond(inTimeS*1e6)+0.5))
	s.Due = max(s.Due, t.Done+s.Lost) // some were due shortly before the window
	s.InTime = t.Done - s.Late
	s.Unsent = s.Due - t.Done - s.Lost
	// What is due at the edges of the window is in flight, as much as each connection may have.
	if edges := t.Connections + 1; s.Unsent <= edges && t.LongestWaitUs < inTimeS*1e6 {
		s.Due, s.Unsent = s.Due-s.Unsent, 0
	}
	s.Share = float64(s.InTime) / float64(max(s.Due, 1))
	return &s
}
