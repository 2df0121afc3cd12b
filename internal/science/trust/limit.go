package trust

import (
	"cmp"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// limit checks that nothing was faster than its path: all flows together, each flow, and each
// interface compared with the rate of its link.
func limit(v view) (judged, bool) {
	c := record.Check{Check: Limit, Pass: true}
	used := -1.0
	if v.LimitBps > 0 {
		doubt := 0.0
		for _, s := range v.skew {
			doubt = max(doubt, s)
		}
		allowed := v.overLimit() + doubt/v.WindowS + v.saved()*8/v.WindowS/v.LimitBps
		share := v.GoodputBps / v.LimitBps
		c.Pass, used = share <= 1+allowed, share
		c.Facts = facts("", fact.LimitShare{Bps: v.GoodputBps, LimitBps: v.LimitBps, Share: share,
			Allowed: 1 + allowed})
	}
	for _, worst := range []func() (any, float64){v.fastestFlow, v.fastestInterface} {
		fastest, excess := worst()
		used = max(used, excess)
		if excess > 1 {
			c.Pass = false
			c.Facts = append(c.Facts, facts("", fastest)...)
		}
	}
	if used < 0 {
		return judged{}, false
	}
	if c.Facts == nil {
		c.Facts = facts("", fact.BelowLimit{})
	}
	return judged{c, used}, true
}

// fastestFlow returns the flow that comes closest to the limit of its own path, or exceeds it most,
// and the share of what is allowed that it used; used is below 0 if no flow has a limit. Flows
// whose bytes were not on their path are left out.
func (v view) fastestFlow() (share any, used float64) {
	used = -1
	for _, f := range v.Flows {
		if f.LimitBps <= 0 || !f.Connected || v.elsewhere(f) {
			continue
		}
		got := f.GoodputBps / 8 * v.WindowS
		slack := v.unread(f) + v.bucket(f).bytes + v.absorbed(f) + paced(f) + got/v.WindowS*v.skew[f.To]
		most := f.LimitBps/8*v.WindowS*(1+limitTolerance+v.uncounted[f.ID]) + slack
		if got/most > used {
			used = got / most
			share = fact.FlowLimitShare{Flow: f.ID, From: f.From, To: f.To, LimitShare: fact.LimitShare{
				Bps: f.GoodputBps, LimitBps: f.LimitBps, Share: f.GoodputBps / f.LimitBps,
				Allowed: most * 8 / v.WindowS / f.LimitBps}}
		}
	}
	return share, used
}

// uncountedHeaders returns, by flow, the share by which it may exceed its limit because a token
// bucket counts the packets of a tunnel as shorter than they are. For a packet of many segments, it
// counts the headers of each; before Linux 6.17 it counts only those before the outer transport
// header, Ethernet and IP (qdisc_pkt_len_init in net/core/dev.c). A trial does not record the
// kernel's release, so this is allowed on every host.
func (v view) uncountedHeaders() map[string]float64 {
	const counted = 14 + 20 // over IPv4; over IPv6 it is more
	shares := map[string]float64{}
	for _, f := range v.Flows {
		if f.Datagrams != nil && f.CallBytes <= int64(f.Datagrams.Bytes) {
			continue // its packets have one segment
		}
		wraps, mtu := v.topology.Wraps(f.From, f.SourceAddr(), f.DestinationAddr())
		most := 0 // bytes of tunnels in a token bucket
		for _, wrap := range slices.Concat(wraps...) {
			link, ok := v.topology.LinkAt(wrap.From)
			if ok && (link.Towards(wrap.From).Bucket || (limits.Network{Topology: v.topology}).Shaped(*link)) {
				most = max(most, wrap.Tunnel)
			}
			for _, s := range wrap.Shapers {
				most = max(most, s.Tunnel)
			}
		}
		if most > 0 {
			frame := limits.FrameOf(f)
			frame.MTU, frame.Tunnel, frame.Shaped = cmp.Or(frame.MTU, mtu), most, true
			shares[f.ID] = float64(frame.Wire())/float64(frame.Payload()+frame.Packets()*counted) - 1
		}
	}
	return shares
}

// overLimit returns the share by which all flows together may exceed their limit, and an interface
// the rate of its link.
func (v view) overLimit() float64 {
	most := 0.0
	for _, share := range v.uncounted {
		most = max(most, share)
	}
	return limitTolerance + most
}

// elsewhere reports whether an interface of the flow's path carried less than the flow itself, so
// that it used another one. Flows leave and enter the interfaces of a path by turns.
func (v view) elsewhere(f record.Flow) bool {
	for i, end := range f.Ends() {
		h, _ := v.Reading(end.Node)
		for _, d := range h.Deltas() {
			carried := d.TxBytes
			if i%2 == 1 {
				carried = d.RxBytes
			}
			if d.Interface == end.Interface && carried < reached*float64(f.ReceivedBytes) {
				return true
			}
		}
	}
	return false
}

// unread returns the bytes of a flow that may have arrived before the window and were read in it:
// the difference if the receiver's kernel counts arrivals, otherwise the most that is likely. Bytes
// that waited behind a gap are added, because the kernel counts them when the gap is filled.
func (v view) unread(f record.Flow) float64 {
	if f.ArrivedBytes > 0 {
		return max(0, float64(f.ReceivedBytes-f.ArrivedBytes)) + float64(f.OutOfOrderBytes)
	}
	return float64(f.OutOfOrderBytes) + min(readerBehindBytes, readerBehindS*float64(f.ReceivedBytes)/v.WindowS)
}

// paced returns how much a sender with a rate cap sends at once, which may fall into the window as
// a whole. A paced connection sends one millisecond at its rate, but at least two segments
// (tcp_tso_autosize; net.ipv4.tcp_min_tso_segs). A sender that waits between writes, as a peer may,
// sends one write.
func paced(f record.Flow) float64 {
	switch {
	case f.RateCapBps > 0 && f.SenderInfo != nil:
		return max(min(oneFrame, f.RateCapBps/8*1e-3), 2*float64(f.SenderInfo.SndMSS))
	case f.WriteCapBps > 0 || f.RateCapBps > 0 && flow.Of(f.Protocol).Name == flow.TCP: // as iperf3 paces
		return float64(max(oneWrite, f.CallBytes))
	}
	return 0
}

// absorbed returns what the queues of a sending host held, for a flow whose count was reduced by
// the share that its peer lost over its whole time. That share is too small for the window, because
// a queue fills before it drops.
func (v view) absorbed(f record.Flow) (bytes float64) {
	if h, _ := v.Reading(f.From); f.CountedAt == record.CountedLessLoss {
		for _, q := range h.End.Qdiscs {
			bytes = max(bytes, float64(q.Backlog))
		}
	}
	return bytes
}

// bucket is a shaper's token bucket.
type bucket struct {
	at    topology.End
	bytes float64
}

// larger returns the larger of b and a bucket of the given size; of equal ones the given one.
func (b bucket) larger(at topology.End, size unit.Bytes) bucket {
	if float64(size) >= b.bytes {
		return bucket{at, float64(size)}
	}
	return b
}

// bucket returns the largest of a flow's buckets.
func (v view) bucket(f record.Flow) bucket {
	return slices.MaxFunc(v.buckets(f), func(a, b bucket) int { return cmp.Compare(a.bytes, b.bytes) })
}

// buckets returns the largest token bucket on each path that a flow may have taken; of equal ones
// the last. A full bucket is the most that a shaper can add to what its rate carries in the window.
func (v view) buckets(f record.Flow) (list []bucket) {
	var links bucket
	if v.topology == nil {
		for load := range limits.Loads(v.Hosts, nil) {
			if load.At.Node == f.From {
				links = links.larger(load.At, load.Shape.BurstSize())
			}
		}
		return []bucket{links}
	}
	ends := f.Ends()
	for _, end := range ends {
		if l, known := v.topology.LinkAt(end); known {
			links = links.larger(end, l.Towards(end).BurstSize())
		}
	}
	wraps, _ := v.topology.Wraps(f.From, f.SourceAddr(), f.DestinationAddr())
	for _, path := range wraps {
		if len(ends) > 0 && slices.ContainsFunc(path, func(w topology.Wrap) bool {
			return !slices.Contains(ends, w.From)
		}) {
			continue
		}
		b := links
		for _, wrap := range path {
			for _, s := range wrap.Shapers {
				b = b.larger(s.At, s.BurstSize())
			}
		}
		list = append(list, b)
	}
	if list == nil {
		list = []bucket{links}
	}
	return list
}

// saved returns what all flows together may have had when the window began, beyond what their paths
// and caps carry in it: unread bytes, bytes sent at once, and each bucket once.
func (v view) saved() float64 {
	total := 0.0
	counted := map[topology.End]bool{}
	for _, f := range v.Flows {
		total += v.unread(f) + v.absorbed(f) + paced(f)
		for _, b := range v.buckets(f) {
			if !counted[b.at] {
				counted[b.at] = true
				total += b.bytes
			}
		}
	}
	return total
}

// fastestInterface is fastestFlow for the interfaces of the topology and the rates of their links.
func (v view) fastestInterface() (share any, used float64) {
	used = -1
	for load := range limits.Loads(v.Hosts, v.topology) {
		rate := float64(load.Shape.Rate)
		if rate <= 0 || load.Seconds <= 0 {
			continue
		}
		most := rate*(1+v.overLimit()+load.RefreshS/load.Seconds) + float64(load.Shape.BurstSize())*8/load.Seconds
		if load.Bps/most > used {
			used = load.Bps / most
			share = fact.InterfaceShare{Interface: load.At.String(), Out: load.Out, Bps: load.Bps, RateBps: rate,
				Share: load.Bps / rate, Allowed: most / rate}
		}
	}
	return share, used
}

// fullInterface returns the name of an interface that carried all that its link can.
func (v view) fullInterface() (string, bool) {
	for load := range limits.Loads(v.Hosts, v.topology) {
		if load.Full() {
			return load.At.String(), true
		}
	}
	return "", false
}

// drawn reports whether an interface of a host is in the topology. Without a topology it returns
// true.
func (v view) drawn(host, port string) bool {
	if v.topology == nil {
		return true
	}
	h, ok := v.topology.Host(host)
	return ok && slices.ContainsFunc(h.Interfaces, func(p topology.Interface) bool { return p.Name == port })
}
