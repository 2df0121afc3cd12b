package trust

import (
	"cmp"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/science/limits"
	"linerate/internal/science/stacked"
)

const (
	// What has arrived out of order, or not been read where only reads are
	// counted, is on the wire and in no count: at most this much.
	readerBehindS     = 0.005
	readerBehindBytes = 256 << 10
	// The longest headers, TCP's over IPv6 with timestamps (86 bytes), less the
	// shortest, UDP's over IPv4 (42).
	headerSpread = 44
	// A flow and its interface are read one after the other: a few frames that arrive
	// in between are in one count only, which is nothing to a flow that runs, and
	// much to one that got next to nothing.
	edgeFrames = 16 << 10
	// Any link has some frames of its own: ARP (RFC 826), neighbour discovery (RFC 4861), MLD
	// (RFC 3810), LLDP every 30 s and spanning tree every 2 s (IEEE 802.1AB, 802.1Q). They come
	// several at once, and so many bytes a second over a longer time, at most: next to nothing
	// of a link, but more than a hundredth of a flow that got next to nothing.
	linkBytes, linkBytesPerS = 4 << 10, 1000
)

// account is what one host's flows and interfaces count in one direction of one window.
type account struct {
	host         string
	flows, wired float64 // bytes of payload
	atEdges      float64 // bytes/s that flows may have at the window's edges
	// retrans were sent again; uncounted are datagrams that came twice, or were lost, which
	// may have been behind the interface. Both are of receiving hosts.
	retrans, uncounted float64
	slack              float64 // without the counters' own tolerance
	// besides are bytes that the interfaces may have counted of each packet besides payload
	// and headers, of each packet more, and of each that hardware counts tag; refreshS is how
	// many seconds apart their counters are refreshed. unevaluated says that these are too
	// many, or that what the interfaces count of the flows is not known; nil: neither.
	besides, more, tag, refreshS float64
	unevaluated                  any
}

// others is the payload on the interfaces that no flow accounts for.
func (a account) others() float64 { return a.wired - a.flows - a.retrans - a.uncounted - a.besides }

// receive adds what a flow's receiver makes of bytes that arrived, on a host that read an
// edge so many seconds late: the receiver may have waited for a processor as long.
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

// accounts compares, per host, what its flows received, or gave to the network, with
// what all its interfaces carried in that direction, so that it does not matter by which
// interface frames went. Of a sending host only interfaces in the topology count, what
// waited in their queues when the window began was sent in it, too, and one with a flow
// that is not counted is left out.
//
// An interface's payload is its bytes less one header per packet counted. That holds
// for a veth too: what it counts as one packet is a GSO frame of many segments,
// but its bytes then hold a single header, because the headers of the other
// segments are only made where the frame is cut. Acknowledgements are all header
// and add nothing.
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
				a.receive(f, payload, v.WindowS, max(edgeDoubt(h.Begin), edgeDoubt(h.End)))
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
			a.slack += edgeFrames
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

// unsteadiness is how many times its mean a flow's rate was in the third of the window at
// whose edge it was highest; 1: no higher than its mean, or it was not sampled.
func (v view) unsteadiness(f record.Flow) float64 {
	p := v.progress(f)
	whole := p.until(v.WindowS)
	if len(f.Bins) < 3 || whole <= 0 {
		return 1
	}
	return max(1, 3*p.until(v.WindowS/3)/whole, 3*(whole-p.until(v.WindowS*2/3))/whole)
}

// unsure is how far the bytes that interfaces carried of other clients' flows may be
// from what those flows count. Neither their retransmissions nor their protocols are
// known: any packet may have had other headers than the trial's own flows have.
func unsure(v view, host string, flows int, bytes int64, packets float64) float64 {
	perSecond := float64(bytes) / v.WindowS
	return min(float64(flows)*readerBehindBytes, readerBehindS*perSecond) +
		perSecond*v.skew[host] + (counterTolerance+foreignShare)*float64(bytes) + headerSpread*packets
}

// small is the most bytes that a flow of transactions can have sent and received at the
// interfaces of one of its hosts. Their payload says little of them: the packets are
// small, and many carry none.
func small(f record.Flow, host string) float64 {
	if f.Transactions == nil || f.From != host && f.To != host {
		return 0
	}
	const packets = 512 // bytes of all the headers that a transaction may take
	return float64(f.ReceivedBytes+f.Transactions.ResponseBytes) + packets*float64(f.Transactions.Done+
		f.Transactions.Failed+f.Transactions.Unanswered)
}

// gaps is by how much a receiver's kernel may have counted a flow's bytes later than
// the interface: what had arrived behind a gap, at one edge of the window or the other.
func gaps(f record.Flow) float64 {
	held := float64(max(f.OutOfOrderBytes, f.HeldBytes))
	if s := f.SenderInfo; s != nil {
		held = max(held, float64(s.Sacked)*float64(s.SndMSS))
	}
	return held
}

// headers of one of the flow's packets, as an interface counts them.
func headers(f record.Flow) float64 {
	frame := limits.Frame{IPv6: f.DestinationAddr().Is6()}
	if d := f.Datagrams; d != nil {
		frame.UDP, frame.Datagram, frame.MTU = true, d.Bytes, d.MTU
	}
	for _, info := range []*record.TCPInfo{f.SenderInfo, f.ReceiverInfo} {
		if info != nil {
			frame.NoTimestamps = info.Options&1 == 0
			break
		}
	}
	return frame.Headers()
}

// padding is what Ethernet may add to each of a flow's datagrams: an interface of
// hardware counts it, and a virtual one has none.
func padding(f record.Flow) float64 {
	const leastFrame = 60
	return max(0, leastFrame-headers(f)-float64(f.Datagrams.Bytes))
}

// wire: the interfaces of the receiving hosts carried what the receivers read, and no
// less. More by retransmissions may be: a duplicate arrives and is thrown away.
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

// foreign checks that no other traffic used the receiving or sending hosts' interfaces.
func foreign(v view) (judged, bool) {
	c := record.Check{Check: Foreign, Pass: true}
	most := -1.0
	received := accounts(v, true)
	for i, a := range slices.Concat(received, accounts(v, false)) {
		if a.unevaluated != nil {
			return unevaluated(Foreign, a.host, a.unevaluated), true
		}
		other := max(0, a.others()-a.slack-linkBytes-linkBytesPerS*v.WindowS)
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
