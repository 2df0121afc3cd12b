package wording

import (
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

const ifMIB = "RFC 2863 (ifInDiscards, ifOutDiscards, ifInErrors, ifOutErrors)"

var _ = later(func() {
	say(cause.SwitchDiscards, words[cause.PortObject]{read: ifMIB, anywhere: true,
		found: "A switch's port discarded frames in the window (ifInDiscards, ifOutDiscards). Needs a measurement " +
			"and SNMP.",
		summary: func(f record.Finding, a cause.PortObject) string {
			what := "that it was to send to "
			if a.Object == "ifInDiscards" {
				what = "that it received from "
			}
			return fmt.Sprintf("%s discarded %s of those %s%s", portOf(a), framesOf(f), what, a.Peer)
		},
		fixed: func(_ record.Finding, a cause.PortObject) []string {
			if a.Object == "ifInDiscards" {
				return []string{
					"the switch had no buffer for them, or a filter or VLAN of the port does not let them in: look " +
						"at the port's configuration"}
			}
			return []string{"the link to " + a.Peer +
				" was too slow for what came, or its queue too short: more rate there, senders that pace or that " +
				"react to marks (ECN), or a longer queue on the switch"}
		}})
	say(cause.SwitchErrors, words[cause.PortObject]{read: ifMIB, anywhere: true,
		found: "A switch's port received damaged frames in the window, or could not send some (ifInErrors, " +
			"ifOutErrors). Needs a measurement and SNMP.",
		summary: func(f record.Finding, a cause.PortObject) string {
			if a.Object == "ifInErrors" {
				return fmt.Sprintf("%s received %s of all from %s damaged", portOf(a), framesOf(f), a.Peer)
			}
			return fmt.Sprintf("%s could not send %s of all to %s", portOf(a), framesOf(f), a.Peer)
		},
		fixed: func(_ record.Finding, a cause.PortObject) []string {
			if a.Object == "ifInErrors" {
				return []string{"change the cable or transceiver between " + a.Peer +
					" and the port, and compare duplex of both ends"}
			}
			return []string{"compare speed and duplex of both ends, and look at the switch's log of the port"}
		}})
	say(cause.LostAtHop, words[cause.SwitchHop]{read: ifMIB, anywhere: true,
		found: "What one end of a hop sent the other did not receive: from a host to a switch's port, through the " +
			"switch, from its port to a host; and flows lost as much. Needs a measurement and SNMP.",
		summary: func(f record.Finding, a cause.SwitchHop) string {
			h := first[fact.SwitchHop](f)
			where := fmt.Sprintf("in %s before %s", a.Switch, portsOf(a.Ports, "", ""))
			if a.Peer != "" {
				where = fmt.Sprintf("between %s and %s", a.Peer, portsOf(a.Ports, a.Name, a.Switch))
			}
			return fmt.Sprintf("%s of the bytes were lost %s", unit.FormatPercent(h.Lost()/h.First.Bytes), where)
		},
		fix: []string{
			"look at that hop: its queue and filters if it is in the switch, the cable and both ends' counters if " +
				"it is a link"}})

	spell(func(_ string, c fact.PortCounter) string {
		return fmt.Sprintf("%s grew by %d in %s, while %d frames passed", c.Object, c.Grew, unit.FormatSeconds(c.OverS),
			c.Passed)
	})
	spell(func(_ string, h fact.SwitchHop) string {
		return fmt.Sprintf("%s %s, %s %s: %s less (allowed %s)", endOf(h.First), unit.FormatBytes(h.First.Bytes),
			endOf(h.Then), unit.FormatBytes(h.Then.Bytes), unit.FormatPercent(h.Lost()/h.First.Bytes),
			unit.FormatPercent(h.Allowed/h.First.Bytes))
	})
	spell(func(_ string, l fact.LostByFlows) string {
		return fmt.Sprintf("flows lost or sent again %s in the window", unit.FormatBytes(l.Bytes))
	})
})

// portOf returns the name of a port, in the study and on the switch.
func portOf(a cause.PortObject) string { return portsOf([]string{a.Port}, a.Name, a.Switch) }

// portsOf returns the names of ports; name is the switch's own name of a single port, and of the
// switch, both empty if they are not to be shown.
func portsOf(ports []string, name, of string) string {
	text := "ports " + some(ports)
	if len(ports) == 1 {
		text = "port " + ports[0]
	}
	if name != "" {
		text += " (" + name + ")"
	}
	if of != "" {
		text += " of " + of
	}
	return text
}

// endOf returns an end of a part of a path, and whether it sent or received.
func endOf(e fact.SwitchHopEnd) string {
	did := " sent"
	if e.Received {
		did = " received"
	}
	if e.Interface != "" {
		return e.Interface + did
	}
	return portsOf(e.Ports, e.Name, e.Switch) + did
}

// framesOf returns the number of frames of a finding, and their share.
func framesOf(f record.Finding) string {
	c := first[fact.PortCounter](f)
	share := float64(c.Grew) / max(1, float64(c.Grew)+float64(c.Passed))
	return fmt.Sprintf("%d frames, %s", c.Grew, unit.FormatPercent(share))
}
