package trust

import (
	"cmp"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/apart"
	"linerate/internal/science/limits"
	"linerate/internal/science/stacked"
)

const (
	// Bytes that arrived out of order, or were not read yet where only reads are counted, are on the
	// wire but in no count. There are at most this many.
	readerBehindS     = 0.005
	readerBehindBytes = 256 << 10
)

// account is what the flows and the interfaces of one host counted in one direction of a window.
type account struct {
	host         string
	flows, wired float64 // bytes of payload
	atEdges      float64 // bytes per second that flows may have at the edges of the window
	// retrans are bytes that were sent again. uncounted are those of datagrams that arrived twice or
	// were lost, perhaps behind the interface. Both are of receiving hosts.
	retrans, uncounted float64
	slack              float64 // allowed difference, without the counters' own tolerance
	// besides are bytes that the interfaces may have counted besides payload and headers: for each
	// packet more, and for each that hardware counts tag. refreshS is the time between refreshes of
	// their counters, in seconds. unevaluated is the reason why the counts cannot be compared; nil:
	// they can.
	besides, more, tag, refreshS float64
	unevaluated                  any
}

// others returns the payload on the interfaces that belongs to no flow.
func (a account) others() float64 { return a.wired - a.flows - a.retrans - a.uncounted - a.besides }

// receive adds the bytes of a flow that arrived at its receiver. late is how many seconds late the
// host read an edge: the receiver may have waited for a CPU for as long.
func (a *account) receive(f record.Flow, arrived, windowS, late float64) {
	a.retrans += float64(f.ResentBytes())
	behind := float64(readerBehindBytes)
	if d := f.Datagrams; d != nil {
		a.uncounted += float64(d.Lost+d.Duplicates+d.Stale) * float64(d.Bytes)
		a.slack += padding(f) * float64(d.Received)
		behind = max(behind, float64(d.BufferBytes))
	}
	a.slack += min(behind, max(readerBehindS, late)*arrived/windowS) + gaps(f)
}

// accounts compares, for each host, what its flows received, or sent, with what all its interfaces
// carried in that direction, so that it does not matter which interface frames used. Of a sending
// host, only interfaces in the topology count, and what waited in their queues when the window
// began was also sent in it. A sending host with a flow that was not counted is left out.
//
// The payload of an interface is its bytes without one header for each packet counted. This holds
// for a veth too: it counts a GSO frame of many segments as one packet, but the bytes then contain
// a single header, because those of the other segments are only made when the frame is split.
// Acknowledgements consist of headers and add nothing.
func accounts(v view, receiving bool) (list []account) {
	for _, h := range v.Hosts {
		a := account{host: h.Host}
		headerBytes, known := 0.0, true
		for _, f := range v.Flows {
			a.slack += small(f, h.Host)
			host, payload := f.From, float64(f.SentBytes)
			if receiving { // what was not read yet has arrived, too
				host, payload = f.To, float64(cmp.Or(f.ArrivedBytes, f.ReceivedBytes))
			}
			if host != h.Host || !f.Connected || f.Transactions != nil || f.DestinationAddr().IsLoopback() {
				continue // the loopback's packets meet no interface that is read
			}
			if receiving {
				a.receive(f, payload, v.WindowS, max(apart.EdgeS(h.Begin), apart.EdgeS(h.End)))
			}
			known = known && (receiving || f.SentBytes > 0 || f.ReceivedBytes == 0)
			if again := stacked.Unknown(h, f, receiving, v.topology); again != nil && a.unevaluated == nil {
				a.unevaluated = *again
			}
			a.flows += payload
			a.atEdges += payload / v.WindowS * v.unsteadiness(f)
			tunnel, more := stacked.Overhead(h, f, receiving, v.topology)
			headerBytes += payload * (headers(f) + tunnel)
			a.more = max(a.more, more)
			if stacked.Tagged(h.Snapshot, f, receiving) {
				a.tag = device.TagBytes
			}
		}
		if !known || a.flows == 0 {
			continue
		}
		header := headerBytes / a.flows // the mean, where families mix
		counted, packets := false, 0.0
		for _, d := range h.Deltas() {
			if d.Seconds <= 0 || stacked.Interface(h, d.Interface, v.topology) || !receiving &&
				!v.drawn(h.Host, d.Interface) {
				continue
			}
			bytes, count := d.TxBytes, d.TxPackets
			if receiving {
				bytes, count = d.RxBytes, d.RxPackets
			}
			counted = true
			packets += count
			// Over the interface's own interval, then moved to the common window.
			a.wired += max(0, bytes-count*header) * v.WindowS / d.Seconds
			a.addCounting(v, h, d, count)
		}
		if !counted {
			continue
		}
		if o := h.Others; o != nil {
			bytes := o.WrittenBytes
			if receiving {
				bytes = o.ReceivedBytes
			}
			a.wired = max(0, a.wired-float64(bytes))
			a.slack += unsure(v, h.Host, o.Flows, bytes, packets)
		}
		if receiving {
			a.slack += apart.EdgeBytes
			a.addFragments(v, h)
		} else {
			for _, q := range h.Begin.Qdiscs {
				if v.drawn(h.Host, q.Interface) {
					a.slack += float64(q.Backlog)
				}
			}
		}
		// The flows' counts are of the edges at the time they were read.
		a.slack += a.atEdges * (v.skew[h.Host] + a.refreshS)
		list = append(list, a)
	}
	return list
}

// unsteadiness returns the ratio of a flow's rate to its mean in the first or last third of the
// window, whichever is higher; at least 1, and 1 if the flow was not sampled.
func (v view) unsteadiness(f record.Flow) float64 {
	p := v.progress(f)
	whole := p.until(v.WindowS)
	if len(f.Bins) < 3 || whole <= 0 {
		return 1
	}
	return max(1, 3*p.until(v.WindowS/3)/whole, 3*(whole-p.until(v.WindowS*2/3))/whole)
}

// unsure returns by how many bytes the traffic of other clients on the interfaces may differ from
// what their flows count. Neither their retransmissions nor their protocols are known, so each
// packet may have other headers than those of the trial's flows.
func unsure(v view, host string, flows int, bytes int64, packets float64) float64 {
	perSecond := float64(bytes) / v.WindowS
	return min(float64(flows)*readerBehindBytes, readerBehindS*perSecond) +
		perSecond*v.skew[host] + (counterTolerance+foreignShare)*float64(bytes) + apart.HeaderSpread*packets
}

// small returns the most bytes that a flow of transactions can have sent and received on the
// interfaces of one of its hosts. Its payload does not tell: packets are small, and many carry
// none.
func small(f record.Flow, host string) float64 {
	if f.Transactions == nil || f.From != host && f.To != host {
		return 0
	}
	const packets = 512 // bytes of all the headers that a transaction may take
	return float64(f.ReceivedBytes+f.Transactions.ResponseBytes) + packets*float64(f.Transactions.Done+
		f.Transactions.Failed+f.Transactions.Unanswered)
}

// gaps returns how many bytes of a flow the receiver's kernel may have counted later than the
// interface: those that waited behind a gap at an edge of the window.
func gaps(f record.Flow) float64 {
	held := float64(max(f.OutOfOrderBytes, f.HeldBytes))
	if s := f.SenderInfo; s != nil {
		held = max(held, float64(s.Sacked)*float64(s.SndMSS))
	}
	return held
}

// headers returns the bytes of headers of one of the flow's packets, as an interface counts them.
func headers(f record.Flow) float64 {
	frame := limits.Frame{IPv6: f.DestinationAddr().Is6()}
	if d := f.Datagrams; d != nil {
		frame.UDP, frame.Datagram, frame.MTU = true, d.Bytes, d.MTU
	}
	for _, info := range []*netstate.TCPInfo{f.SenderInfo, f.ReceiverInfo} {
		if info != nil {
			frame.NoTimestamps = info.Options&1 == 0
			break
		}
	}
	return frame.Headers()
}

// padding returns how many bytes Ethernet may add to each datagram of a flow: hardware interfaces
// count them, virtual ones have none.
func padding(f record.Flow) float64 {
	const leastFrame = 60
	return max(0, leastFrame-headers(f)-float64(f.Datagrams.Bytes))
}

// wire checks that the interfaces of the receiving hosts carried what the receivers read, and not
// less. They may carry more by retransmissions: a duplicate arrives and is discarded.
func wire(v view) (judged, bool) {
	list := accounts(v, true)
	if len(list) == 0 {
		return judged{}, false
	}
	c := record.Check{Check: Wire, Pass: true}
	worst := -1.0
	for _, a := range list {
		if a.unevaluated != nil {
			return unevaluated(Wire, a.host, a.unevaluated), true
		}
		allowed := a.slack + counterTolerance*a.flows
		differ := max(0, a.flows-a.wired, a.others())
		if differ > allowed {
			c.Pass = false
		}
		if used := differ / allowed; used > worst {
			worst = used
			c.Facts = facts(a.host, fact.Carried{InterfaceBytes: a.wired, FlowBytes: a.flows, ResentBytes: a.retrans,
				UncountedBytes: a.uncounted, Share: differ / a.flows, Allowed: allowed / a.flows})
		}
	}
	return judged{c, worst}, true
}

// foreign checks that the interfaces of the receiving and sending hosts carried no other traffic.
func foreign(v view) (judged, bool) {
	c := record.Check{Check: Foreign, Pass: true}
	most := -1.0
	received := accounts(v, true)
	for i, a := range slices.Concat(received, accounts(v, false)) {
		if a.unevaluated != nil {
			return unevaluated(Foreign, a.host, a.unevaluated), true
		}
		other := max(0, a.others()-a.slack-apart.Link(v.WindowS))
		share := other / a.flows
		if share <= most {
			continue
		}
		most, c.Pass = share, c.Pass && share <= foreignShare
		c.Facts = facts(a.host, fact.NoFlow{Sent: i >= len(received), Bytes: other, Share: share,
			Allowed: foreignShare})
	}
	return judged{c, most / foreignShare}, most >= 0
}
