package measure

import (
	"linerate/internal/control/trial"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// finish adds to an assembled trial what went each way, and keeps it. Totals, checks and findings are of all
// that was sent; the parts are of the flows that were to be measured.
func (s *session) finish(t *record.Trial, readings trial.Readings) error {
	t.WarmupS, t.Mode = s.options.Warmup.Seconds(), s.options.Flows.Mode
	for _, way := range ways(t.Flows) {
		p, err := stats.Part(t.Flows, way[0], way[1], t.WindowS)
		if err != nil {
			return err
		}
		limit := s.network().direction(sent(t.Flows, way), t.Hosts, t.Over(nil))
		p.LimitBps, p.Limit = limit.Bps, limit.Limit
		p.Intervals = s.intervals(t, readings, p)
		if s.lost != nil && p.Transactions == nil {
			p.Counted = record.CountedAcknowledged
			if p.To == record.NodeClient {
				p.Counted = record.CountedReceived
			}
		}
		t.Parts = append(t.Parts, p)
	}
	for i := range t.Hosts {
		h := &t.Hosts[i]
		h.ConnectionBytes = perConnection(readings.Replies[h.Host].EndFlows)
	}
	s.trials = append(s.trials, *t)
	return nil
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

// enterPeer adds the server's results of a test with iperf3 to a trial.
func enterPeer(t *record.Trial, closed message.Iperf3Closed) {
	t.Peer = &record.Peer{Program: closed.Peer, CPUPercent: closed.CPUPercent, Results: closed.Results}
	for i := range t.Parts {
		p := &t.Parts[i]
		p.Peer = &record.PeerCount{Retransmits: -1, OmitS: closed.OmitS}
		for k, f := range t.Flows {
			if !p.Has(f) {
				continue
			}
			if record.CountedHere(p.Counted) {
				p.Counted = f.CountedAt
			}
			if k < len(closed.Counts) {
				addCount(p.Peer, closed.Counts[k])
			}
			if k < len(closed.Totals) {
				p.TotalBytes += closed.Totals[k]
			}
		}
		if p.Peer.Seconds > 0 {
			p.Peer.GoodputBps = float64(p.Peer.Bytes) * 8 / p.Peer.Seconds
		}
		if !record.CountedHere(p.Counted) {
			p.Intervals = []record.Interval{}
		}
	}
}

// addCount adds what the server counted of one stream to a part's.
func addCount(all *record.PeerCount, c record.PeerCount) {
	all.Bytes += c.Bytes
	all.Seconds = max(all.Seconds, c.Seconds)
	if c.Retransmits >= 0 {
		all.Retransmits = max(all.Retransmits, 0) + c.Retransmits
	}
	if c.Datagrams == nil {
		return
	}
	if all.Datagrams == nil {
		all.Datagrams = &record.Datagrams{}
	}
	all.WholeTest = all.WholeTest || c.WholeTest
	all.Datagrams.Add(c.Datagrams)
	all.Datagrams.JitterUs = max(all.Datagrams.JitterUs, c.Datagrams.JitterUs)
}
