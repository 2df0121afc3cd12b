package trust

import (
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Agreement is the name of the check that this host and a peer that is not linerate have counted
// the same.
const Agreement = "peer"

const (
	// peerTolerance is the share by which the two rates may differ beyond what their times and buffers
	// explain.
	peerTolerance = 0.02
	// peerBuffer is how much a peer's socket may hold that only one end counts: the most to which Linux
	// enlarges a send buffer itself.
	peerBuffer = 4 << 20
)

// peerPart is a part of a trial whose other end is not linerate, and counts over its own time.
type peerPart struct {
	record.Part
	sends   bool // this host sends; false: the peer does
	udp     bool
	windowS float64
}

// peer checks the parts of a trial whose other end is not linerate.
func peer(t record.Trial) []record.Check {
	var conserved, agree []record.Check
	for _, p := range t.Parts {
		if p.Peer == nil {
			continue
		}
		d := peerPart{Part: p, windowS: t.WindowS}
		_, d.sends = t.Reading(p.From)
		d.udp = slices.ContainsFunc(t.Flows, func(f record.Flow) bool { return p.Has(f) && f.Protocol == flow.UDP })
		conserved = append(conserved, d.conserved())
		if c, ok := d.agrees(); ok {
			agree = append(agree, c)
		}
	}
	var checks []record.Check
	for _, list := range [][]record.Check{conserved, agree} {
		if len(list) == 0 {
			continue
		}
		one := list[0]
		for _, c := range list[1:] {
			one.Pass = one.Pass && c.Pass
			one.Facts = append(one.Facts, c.Facts...)
		}
		checks = append(checks, one)
	}
	return checks
}

// conserved checks that nothing was received that was not sent. The peer's time contains the
// window, and lies within the time of the connection.
func (d peerPart) conserved() record.Check {
	// TCP counts a connection's end as a byte, when it is acknowledged.
	there, flows := float64(d.Peer.Bytes), float64(d.Flows)
	all, window := float64(d.TotalBytes), float64(d.ReceivedBytes)
	share := 0.01 * max(all, there)
	counted := fact.PeerBytes{Direction: d.Name(), UDP: d.udp, Sends: d.sends, PeerBytes: there, AllBytes: all,
		WindowBytes: window}
	pass := true
	within := func(least, most float64) {
		if there < least || there > most {
			pass, counted.Expected = false, &fact.Bounds{LeastBytes: max(0, least), MostBytes: most}
		}
	}
	if d.Peer.OmitS == 0 {
		window = all // it has counted everything
	}
	switch {
	case d.udp && d.sends:
		within(0, all)
	case d.udp:
		pass = there >= float64(d.ReceivedBytes)*(1-peerTolerance)-unreadBytes*flows
	case d.sends:
		within(window-share-unreadBytes*flows, all+flows)
	default:
		least := window - share
		if d.Peer.OmitS > 0 {
			least -= peerBuffer * flows // written before it began to count, received after
		}
		within(least, all+share+oneFrame*flows)
	}
	return record.Check{Check: Conservation, Pass: pass, Facts: facts("", counted)}
}

// agrees checks that the peer's rate is that of this host, as far as their times allow, and not
// above the limit of the path.
func (d peerPart) agrees() (record.Check, bool) {
	p := d.Peer
	if p.GoodputBps <= 0 || p.Seconds <= 0 || d.GoodputBps <= 0 || d.windowS <= 0 {
		return record.Check{}, false
	}
	pass, rate := true, fact.PeerRate{Direction: d.Name(), PeerBps: p.GoodputBps, Seconds: p.Seconds}
	if record.CountedHere(d.Counted) {
		// In what its time has beyond the window nothing need have been sent, and
		// what lay in buffers is counted at one end alone.
		least := (1 - peerTolerance) * min(1, d.windowS/p.Seconds)
		held := unreadBytes * float64(d.Flows)
		if !d.sends {
			held = peerBuffer * float64(d.Flows)
		}
		most := 1 + peerTolerance + held/(d.GoodputBps/8*min(p.Seconds, d.windowS))
		ratio := p.GoodputBps / d.GoodputBps
		pass = ratio >= least && ratio <= most
		rate.Bps, rate.Change, rate.Least, rate.Most = d.GoodputBps, ratio-1, least-1, most-1
	}
	// A sender's figure may be above the limit: what it has counted may still lie in
	// its buffers.
	allowed := 1 + peerTolerance + unreadBytes*float64(d.Flows)/max(float64(p.Bytes), 1)
	if share := p.GoodputBps / max(d.LimitBps, 1); d.sends && d.LimitBps > 0 && share > allowed {
		pass = false
		rate.Limit = &fact.LimitShare{Bps: p.GoodputBps, LimitBps: d.LimitBps, Share: share, Allowed: allowed}
	}
	return record.Check{Check: Agreement, Pass: pass, Facts: facts("", rate)}, true
}
