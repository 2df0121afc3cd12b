package trust

import (
	"fmt"
	"math"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/polled"
)

// switches: the ports of switches counted what the interfaces of the hosts at the other ends
// of their links did. It is the one count of a trial that no host makes.
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
				worst, c.Detail = used, sideText(side, differ, allowed, fcs, known)
			}
		}
	}
	if why := withoutFigures(v.Switches); compared == 0 {
		if why == "" {
			why = "at the other ends of its ports are no interfaces that were read, or links that lose frames as the study says"
		}
		return unevaluated(Switch, why), true
	} else if why != "" {
		c.Detail += "; not compared: " + why
	}
	return judged{c, worst}, true
}

func sideText(s polled.Side, differ, allowed float64, fcs, known bool) string {
	verb, other := "received", "sent"
	if !s.Receives {
		verb, other = other, verb
	}
	how := "whether the switch counts frame check sequences is not known"
	switch {
	case known && fcs:
		how = "without the frame check sequences, which the switch counts"
	case known:
		how = "the switch does not count frame check sequences"
	}
	base := max(s.HostBytes, 1)
	part, most := percents(differ/base, allowed/base)
	if s.HostBytes < allowed { // shares of next to nothing
		part, most = unit.FormatBytes(differ), unit.FormatBytes(allowed)
	}
	return fmt.Sprintf("port %s of %s %s %s, %s %s %s: %s apart (allowed %s; %s)",
		s.Port.Port, s.Switch, verb, unit.FormatBytes(s.SwitchBytes), s.Port.Peer, other, unit.FormatBytes(s.HostBytes),
		part, most, how)
}

// mostReasons are listed of why ports have no figures.
const mostReasons = 3

// withoutFigures says why switches or ports have none; empty: all have.
func withoutFigures(list []record.SwitchReading) string {
	var reasons []string
	for _, s := range list {
		if s.Missing != "" {
			reasons = append(reasons, s.Switch+": "+s.Missing)
			continue
		}
		for _, p := range s.Ports {
			if p.Missing != "" {
				reasons = append(reasons, fmt.Sprintf("port %s of %s: %s", p.Port, s.Switch, p.Missing))
			}
		}
	}
	if n := len(reasons) - mostReasons; n > 0 {
		reasons = append(reasons[:mostReasons], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(reasons, "; ")
}
