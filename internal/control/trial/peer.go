package trial

import (
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// Peer describes the program that accepted the flows of a trial if it is not an agent, such as an
// iperf3 server. It counts over a time of its own, and nothing is read on its host, so that flows
// are counted at this end: sent bytes by the acknowledgements that arrived in the window.
// Datagrams are not acknowledged: for them it is the bytes sent, less the share that the peer
// counts as lost.
type Peer struct {
	Mode              string             // how the peer says that it moves bytes
	Counts            []record.PeerCount // for each flow, in the flows' order
	CongestionControl string             // the peer's
}

// fill fills in the figures of the i-th flow, of which only the opener was read.
func (p *Peer) fill(rec *record.Flow, i int, f *Flow, e ends, reply message.WindowReply) {
	var count record.PeerCount
	if i < len(p.Counts) {
		count = p.Counts[i]
	}
	if rec.Transactions != nil { // which the opener counts
		rec.Alive, rec.Error, rec.CountedAt = e.s1.Alive, e.s1.Error.Error(), record.CountedReceived
		return
	}
	if !f.OpenerSends {
		rec.Alive, rec.Error = e.r1.Alive, e.r1.Error.Error()
		if rec.ReceiveMode != "" {
			rec.SendMode = p.Mode
		}
		rec.CountedAt, rec.CongestionControl = record.CountedReceived, p.CongestionControl
		rec.Datagrams = datagramsHere(e.r0.Datagrams, e.r1.Datagrams, e.r2.Datagrams)
		return
	}
	rec.Alive, rec.Error = e.s1.Alive, e.s1.Error.Error()
	if rec.SendMode != "" {
		rec.ReceiveMode = p.Mode
	}
	span := e.s1.AtNs - e.s0.AtNs
	var begin int64
	if e.s0.Info != nil {
		begin = int64(e.s0.Info.BytesAcked)
	}
	rec.Bins = bins(reply, f.ID, begin, acknowledged)
	if e.s0.Info != nil && e.s1.Info != nil {
		rec.CountedAt, rec.ReceivedBytes = record.CountedAcknowledged, rec.AckedBytes
		if span > 0 {
			rec.GoodputBps = float64(rec.AckedBytes) * 8e9 / float64(span)
		}
		return
	}
	rec.CountedAt, rec.ReceivedBytes, rec.GoodputBps = record.CountedByPeer, count.Bytes, count.GoodputBps
	if count.Seconds == 0 && span > 0 {
		// iperf3 before 3.2 does not report its time, which is about this
		rec.GoodputBps = float64(count.Bytes) * 8e9 / float64(span)
	}
	if d := datagramsHere(e.s0.Datagrams, e.s1.Datagrams, nil); d != nil && count.Datagrams != nil {
		d.Received, d.Lost, d.JitterUs = count.Datagrams.Received, count.Datagrams.Lost, count.Datagrams.JitterUs
		rec.Datagrams = d
		// The peer's time begins before the first datagram and ends after the last: its rate is
		// too low by that, also where none is lost.
		if all := d.Received + d.Lost; all > 0 && span > 0 {
			rec.CountedAt = record.CountedLessLoss
			rec.GoodputBps = float64(rec.WrittenBytes) * 8e9 / float64(span) * float64(d.Received) / float64(all)
		}
	}
}

// datagramsHere returns the datagrams that this host's end counted in the window; nil: none were
// counted. A receiver derives the number sent from the sequence numbers.
func datagramsHere(begin, end, final *record.Datagrams) *record.Datagrams {
	if begin == nil || end == nil {
		return nil
	}
	d := end.Since(begin)
	if final != nil {
		d.Delay = final.Delay
	}
	if d.Sent == 0 {
		d.Sent = d.Received + d.Lost
	}
	return d
}
