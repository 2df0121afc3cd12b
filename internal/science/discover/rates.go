package discover

import (
	"cmp"

	"linerate/internal/model/topology"
)

// measureLinks sets the rates and MTUs of links, and says which are not known.
func (b *builder) measureLinks() {
	for i := range b.links {
		l := &b.links[i]
		// The slower end decides what the link negotiates; a shaper is of one direction.
		rate := least(b.speed(l.From), b.speed(l.To))
		l.RateBps, l.BackBps = least(rate, b.shaper(l.From)), least(rate, b.shaper(l.To))
		if mtu := b.mtu(l.From); mtu == cmp.Or(b.mtu(l.To), mtu) {
			l.MTU = mtu
		} else {
			l.MTU = min(cmp.Or(mtu, b.mtu(l.To)), b.mtu(l.To))
		}
		if l.RateBps == 0 && !b.isAssumed(l.From) && !b.isAssumed(l.To) {
			b.say("ethtool there, or --switch", "the rate of the link %s – %s", l.From, l.To)
		}
	}
}

// least returns the smaller of two rates, of which 0 is not known.
func least(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (b *builder) isAssumed(e topology.End) bool {
	d := b.unmanaged(e.Node)
	return b.node(e.Node) == nil && d != nil && d.Assumed
}

// speed returns the rate that an end has negotiated. 0: not known. A virtual interface says one that it does
// not have.
func (b *builder) speed(e topology.End) float64 {
	n := b.node(e.Node)
	if n == nil {
		return b.unmanaged(e.Node).speeds[e.Interface]
	}
	sum := 0.0
	for _, i := range n.Snapshot.Reading.Snapshot.Interfaces {
		if n.cabled(i) == e.Interface && i.Kind == "" { // several of a team
			sum += cmp.Or(float64(n.nics[i.Interface].SpeedMbps)*1e6, i.SpeedBps)
		}
	}
	return max(0, sum)
}

// shaper returns the rate of a qdisc at an end. 0: there is none.
func (b *builder) shaper(e topology.End) float64 {
	if n := b.node(e.Node); n != nil {
		if s := n.of[e.Interface].Shaper; s.Bounds() {
			return s.RateBps
		}
	}
	return 0
}

// mtu returns that of an end. 0: not known.
func (b *builder) mtu(e topology.End) int {
	if n := b.node(e.Node); n != nil {
		return n.of[e.Interface].MTU
	}
	return 0
}
