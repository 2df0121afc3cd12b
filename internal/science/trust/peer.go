package trust

import (
	"fmt"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Agreement is the check that a peer which is not linerate has counted what this
// host has.
const Agreement = "peer"

const (
	// peerTolerance is what the two figures may differ by beyond what their times
	// and buffers explain.
	peerTolerance = 0.02
	// peerBuffer is what a peer's socket may hold that neither end counts alike:
	// the most that Linux lets a send buffer grow to by itself.
	peerBuffer = 4 << 20
)

// peerPart is one part of a trial whose other end is not linerate's and counts over its own time.
type peerPart struct {
	record.Part
	sends   bool // the end that was read
	udp     bool
	windowS float64
}

// peer checks the parts of a trial whose other end is not linerate's.
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
			one.Detail += "; " + c.Detail
		}
		checks = append(checks, one)
	}
	return checks
}

// conserved: nothing is received that was not sent. The peer's time contains the
// window, and lies within the connection's life.
func (d peerPart) conserved() record.Check {
	// TCP counts a connection's end as a byte, when it is acknowledged.
	there, flows := float64(d.Peer.Bytes), float64(d.Flows)
	all, window := float64(d.TotalBytes), float64(d.ReceivedBytes)
	share := 0.01 * max(all, there)
	c := record.Check{Check: Conservation, Pass: true}
	within := func(least, most float64) {
		if there < least || there > most {
			c.Pass = false
			c.Detail += fmt.Sprintf("; expected %s to %s there", unit.FormatBytes(max(0, least)),
				unit.FormatBytes(most))
		}
	}
	if d.Peer.OmitS == 0 {
		window = all // it has counted everything
	}
	switch {
	case d.udp && d.sends:
		c.Detail = fmt.Sprintf("%s: this host sent %s in all, and the peer received %s", d.Name(),
			unit.FormatBytes(all), unit.FormatBytes(there))
		within(0, all)
	case d.udp:
		c.Detail = fmt.Sprintf("%s: the peer sent %s, and this host received %s in the window", d.Name(),
			unit.FormatBytes(there), unit.FormatBytes(float64(d.ReceivedBytes)))
		if least := float64(d.ReceivedBytes)*(1-peerTolerance) - unreadBytes*flows; there < least {
			c.Pass = false
		}
	case d.sends:
		c.Detail = fmt.Sprintf(
			"%s: this host had %s acknowledged in all and %s in the window, and the peer received %s",
			d.Name(), unit.FormatBytes(all), unit.FormatBytes(float64(d.ReceivedBytes)), unit.FormatBytes(there))
		within(window-share-unreadBytes*flows, all+flows)
	default:
		c.Detail = fmt.Sprintf("%s: the peer wrote %s, and this host received %s in all and %s in the window",
			d.Name(), unit.FormatBytes(there), unit.FormatBytes(all), unit.FormatBytes(float64(d.ReceivedBytes)))
		least := window - share
		if d.Peer.OmitS > 0 {
			least -= peerBuffer * flows // written before it began to count, received after
		}
		within(least, all+share+oneFrame*flows)
	}
	return c
}

// agrees: the peer's figure is this host's, as far as their times allow, and not
// above what the path can carry.
func (d peerPart) agrees() (record.Check, bool) {
	p := d.Peer
	if p.GoodputBps <= 0 || p.Seconds <= 0 || d.GoodputBps <= 0 || d.windowS <= 0 {
		return record.Check{}, false
	}
	c := record.Check{Check: Agreement, Pass: true}
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
		c.Pass = ratio >= least && ratio <= most
		c.Detail = fmt.Sprintf("%s: the peer counts %s over its own %s, this host %s in the window: %s",
			d.Name(), unit.FormatRate(p.GoodputBps), unit.FormatSeconds(p.Seconds), unit.FormatRate(d.GoodputBps),
			between(ratio-1, least-1, most-1))
	} else {
		c.Detail = fmt.Sprintf("%s: the peer counts %s over its own %s", d.Name(), unit.FormatRate(p.GoodputBps),
			unit.FormatSeconds(p.Seconds))
	}
	// A sender's figure may be above the limit: what it has counted may still lie in
	// its buffers.
	allowed := 1 + peerTolerance + unreadBytes*float64(d.Flows)/max(float64(p.Bytes), 1)
	if share := p.GoodputBps / max(d.LimitBps, 1); d.sends && d.LimitBps > 0 && share > allowed {
		c.Pass = false
		part, most := percents(share, allowed)
		c.Detail += fmt.Sprintf("; that is %s of the limit %s (allowed %s)", part, unit.FormatRate(d.LimitBps), most)
	}
	return c, true
}
