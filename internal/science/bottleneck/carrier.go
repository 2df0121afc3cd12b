package bottleneck

import (
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// outage is the share of the window without a carrier from which on that held a flow back.
const outage = 0.1

// drained is the share of its usual rate up to which a flow can receive without a carrier: packets
// in flight still arrive, and a busy host reads them late.
const drained = 0.1

// carrier returns the evidence that an interface on a flow's path had no carrier, or was down, and
// that almost nothing was received in that time. It is nil if the flow went on, as by another path,
// or if the time is shorter than the sampling interval.
func (s scene) carrier(f record.Flow) []fact.Fact {
	loss, at := s.carrierLoss(f)
	if loss.ToS-loss.FromS < outage*s.WindowS {
		return nil
	}
	ends, sampled := s.BinEnds(f)
	if !sampled {
		return nil
	}
	var within, besides struct{ bytes, seconds float64 }
	began := 0.0
	for i, ended := range ends {
		of := &besides
		if began >= loss.FromS && ended <= loss.ToS {
			of = &within
		}
		of.bytes, of.seconds = of.bytes+float64(f.Bins[i]), of.seconds+ended-began
		began = ended
	}
	if within.seconds == 0 || within.bytes > 0 && within.bytes*besides.seconds >= drained*besides.bytes*within.seconds {
		return nil
	}
	return facts(fact.NoCarrierFor{Interface: at, Down: loss.Down, Seconds: loss.ToS - loss.FromS, WindowS: s.WindowS})
}

// carrierLoss returns the longest time in the window in which an interface of the flow's path had
// no carrier, and that interface; "": none. If the path is not known, all interfaces of the two
// hosts count. If both ends of a link lost it at once, the end that was taken down is returned.
func (s scene) carrierLoss(f record.Flow) (longest netstate.CarrierLoss, at string) {
	ends := f.Ends()
	for _, h := range s.Hosts {
		for _, l := range h.CarrierLosses {
			if here := (topology.End{Node: h.Host, Interface: l.Interface}); len(ends) > 0 &&
				!slices.Contains(ends, here) || len(ends) == 0 && h.Host != f.From && h.Host != f.To {
				continue
			}
			const alike = 0.1 // s
			if more := (l.ToS - l.FromS) - (longest.ToS - longest.FromS); at != "" &&
				(more < -alike || more < alike && !l.Down) {
				continue
			}
			longest, at = l, h.Host+"."+l.Interface
		}
	}
	return longest, at
}
