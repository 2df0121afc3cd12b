package trust

import (
	"math"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/science/polled"
)

// switches checks that switch ports counted the same as the interfaces at the other ends of their
// links. These are the only counts of a trial that no host makes.
func switches(v view) (judged, bool) {
	if len(v.Switches) == 0 {
		return judged{}, false
	}
	c := record.Check{Check: Switch, Pass: true}
	worst, compared := -1.0, 0
	for _, s := range v.Switches {
		sides := polled.Sides(v.Trial, s, v.topology)
		fcs, known := polled.FCS(sides)
		for _, side := range sides {
			if side.Lossy {
				continue
			}
			compared++
			allowed := side.DoubtBytes + counterTolerance*side.HostBytes
			if !known || side.Unsure {
				allowed += polled.FCSBytes * side.Frames
			}
			differ := math.Abs(side.More(fcs && known))
			c.Pass = c.Pass && differ <= allowed
			if used := differ / allowed; used > worst {
				worst = used
				c.Facts = facts("", fact.SwitchCounts{Switch: side.Switch, Port: side.Port.Port, Peer: side.Port.Peer,
					Receives: side.Receives, SwitchBytes: side.SwitchBytes, HostBytes: side.HostBytes, Bytes: differ,
					Allowed: allowed, FCS: counting(fcs, known)})
			}
		}
	}
	switch list := withoutFigures(v.Switches); {
	case compared == 0 && list == nil:
		return unevaluated(Switch, "", fact.NoPorts{}), true
	case compared == 0:
		return unevaluated(Switch, "", fact.PortsUnread{List: list}), true
	case list != nil:
		c.Facts = append(c.Facts, facts("", fact.PortsUnread{List: list, Others: true})...)
	}
	return judged{c, worst}, true
}

// counting returns whether a switch counts frame check sequences, as a fact says it; empty: not
// known.
func counting(fcs, known bool) string {
	switch {
	case known && fcs:
		return fact.FCSCounted
	case known:
		return fact.FCSNotCounted
	}
	return ""
}

// withoutFigures returns the switches and ports that could not be read.
func withoutFigures(list []record.SwitchReading) (unread []fact.PortUnread) {
	for _, s := range list {
		if s.Missing != "" {
			unread = append(unread, fact.PortUnread{Switch: s.Switch, Error: s.Missing})
			continue
		}
		for _, p := range s.Ports {
			if p.Missing != "" {
				unread = append(unread, fact.PortUnread{Switch: s.Switch, Port: p.Port, Error: p.Missing})
			}
		}
	}
	return unread
}
