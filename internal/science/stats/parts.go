package stats

import (
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Part sums up those of a trial's flows that one host sends to another, without a latency probe.
// The error says which latencies cannot be read.
func Part(all []record.Flow, from, to string) (p record.Part, err error) {
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
	p.Counts, err = Counts(flows)
	return p, err
}

// Counts sums up what flows count besides bytes. The error says which latencies cannot be read.
func Counts(flows []record.Flow) (c record.Counts, err error) {
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
	}
	return c, err
}
