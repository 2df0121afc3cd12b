package bottleneck

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// outage is the share of the window without a byte from which on the carrier that an interface
// lost is what held a flow back.
const outage = 0.1

// carrier is what shows that a flow was held back by an interface on its path that had no carrier,
// or was down: nothing arrived for about as long. "": nothing does, such as of a flow that took
// another path.
func (s scene) carrier(f record.Flow) string {
	loss, at := s.carrierLoss(f)
	if at == "" {
		return ""
	}
	each := share(s.WindowS, float64(len(f.Bins)))
	silent := 0.0
	for i, bytes := range f.Bins {
		if bytes == 0 && each*float64(i+1) > loss.FromS {
			silent += each
		}
	}
	if silent < outage*s.WindowS {
		return ""
	}
	return fmt.Sprintf("%s for %s of %s, and nothing arrived for %s", at, unit.FormatSeconds(loss.ToS-loss.FromS), unit.FormatSeconds(s.WindowS), unit.FormatSeconds(silent))
}

// carrierLoss is the longest time in the window in which an interface on a flow's path, or where
// that is not known, one of its two hosts, had no carrier, with words for it; "": none. Of the two
// ends of a link, both of which lose it at once, the one that was taken down.
func (s scene) carrierLoss(f record.Flow) (longest record.CarrierLoss, at string) {
	ends := f.Ends()
	for _, h := range s.Hosts {
		for _, l := range h.CarrierLosses {
			if here := (topology.End{Node: h.Host, Interface: l.Interface}); len(ends) > 0 && !slices.Contains(ends, here) || len(ends) == 0 && h.Host != f.From && h.Host != f.To {
				continue
			}
			const alike = 0.1 // s
			if more := (l.ToS - l.FromS) - (longest.ToS - longest.FromS); at != "" && (more < -alike || more < alike && !l.Down) {
				continue
			}
			longest, at = l, h.Host+"."+l.Interface+" had no carrier"
			if l.Down {
				at = h.Host + "." + l.Interface + " was down"
			}
		}
	}
	return longest, at
}
