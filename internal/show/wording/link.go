package wording

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

const (
	ethtoolPage = "ethtool(8); Linux Documentation/networking/ethtool-netlink.rst"
	operStates  = "Linux Documentation/networking/operstates.rst"
	ieee8021AB  = "IEEE 802.1AB; lldpcli(8)"
	clause28    = "IEEE 802.3, clause 28"
	ieee8021Q   = "IEEE 802.1Q"
)

// inFull returns a summary in which DEV is replaced by the interface of the finding.
func inFull[A any](of func(A) string) func(record.Finding, A) string {
	return func(f record.Finding, a A) string { return withDevice(f, of(a)) }
}

// about is inFull for a summary that does not depend on the arguments.
func about(text string) func(record.Finding, cause.None) string {
	return func(f record.Finding, _ cause.None) string { return withDevice(f, text) }
}

var _ = later(func() {
	say(cause.CarrierLost, words[cause.Event]{
		summary: func(f record.Finding, a cause.Event) string { return f.Host + "." + a.What + " in the window" },
		fix: []string{"ethtool DEV", "ip -s -s link show dev DEV",
			nowhere + "check the cable, the transceiver and the switch's port: the kernel log has the driver's lines " +
				"about the link",
			nowhere + "measure again: the figures of these trials are those of a link that failed"},
		read: operStates + "; ethtool(8)",
		found: "An interface lost its carrier in the window, or was taken down, and no event of the study did it. " +
			"Needs a measurement.",
	})
	say(cause.VLANMismatch, words[cause.Frames]{
		summary: func(_ record.Finding, a cause.Frames) string {
			return fmt.Sprintf("frames from %s to %s arrive at %s %s, and are not taken there", a.From, a.To, a.At,
				topology.Tagged(tagsOf(a)))
		},
		fixed: func(_ record.Finding, a cause.Frames) []string {
			switch {
			case a.Switch:
				return []string{theSteps, nowhere + fmt.Sprintf("or other VLANs for %s and %s", a.From, a.To)}
			case len(a.Tags) == 0:
				return []string{nowhere + fmt.Sprintf("give the address to %s itself, or tag the frames at %s",
					a.At, a.From)}
			}
			return []string{theSteps, nowhere + fmt.Sprintf(
				"and its address there, in place of %s; or the VLAN of %[1]s at %s", a.To, a.From)}
		},
		read: ieee8021Q + "; bridge(8), ip-link(8)",
		found: "A flow of one subnet cannot connect, and the VLANs of the interfaces and switch ports between its " +
			"ends do not fit. Needs a run.",
	})
	say(cause.HalfDuplex, words[cause.None]{
		summary: about("DEV is half duplex: it cannot send and receive at the same time"),
		fixed: func(f record.Finding, _ cause.None) []string {
			if negotiating(f) {
				return []string{"autonegotiation on at the other end, such as the switch's port: an end without it " +
					"makes this one half duplex, which negotiates already; a hub offers no more and is to be replaced"}
			}
			return []string{"ethtool -s DEV autoneg on, and the same at the switch's port: an end without " +
				"autonegotiation makes the other half duplex"}
		},
		read:  ethtoolPage + "; " + clause28,
		found: "A NIC with a link is half duplex.",
	})
	say(cause.SpeedBelowBest, words[cause.Speed]{
		summary: inFull(func(a cause.Speed) string {
			return fmt.Sprintf("DEV runs at %s, and its port can do %s", mbps(a.Mbps), mbps(a.BestMbps))
		}),
		fixed: func(f record.Finding, a cause.Speed) []string {
			text := "cable, transceiver or the other end: ethtool DEV lists what each end offers"
			if a.NoMore {
				text = "this end offers no more: ethtool DEV lists what each end offers"
			}
			switch {
			case !negotiating(f):
				text += "; ethtool -s DEV autoneg on"
			case a.NoMore:
				text += "; have DEV advertise all that it supports: ethtool -s DEV advertise N"
			}
			return []string{text}
		},
		read:  ethtoolPage,
		found: "A NIC's negotiated speed is below the fastest that its port supports.",
	})
	say(cause.AutonegOff, words[cause.Negotiation]{
		summary: inFull(func(a cause.Negotiation) string {
			becomes := "it may have no link"
			if a.HalfDuplex {
				becomes = "that becomes half duplex"
			}
			return "DEV does not negotiate its link: if the other end does, " + becomes
		}),
		fix:   []string{"ethtool -s DEV autoneg on, at both ends"},
		read:  clause28 + "; " + ethtoolPage,
		found: "A NIC for 1 Gbit/s or more, up to 10 Gbit/s, supports autonegotiation and does not negotiate its link.",
	})
	say(cause.LinkDown, words[cause.None]{
		summary: about("DEV has addresses and routes, but no link"),
		fix: []string{"check the cable, the transceiver and the port at the other end; or ip link set dev DEV " +
			"down, so that routes go elsewhere"},
		read:  operStates,
		found: "An interface other than a bridge is up and has addresses, but no carrier.",
	})
	say(cause.CarrierFlaps, words[cause.None]{
		summary: about("DEV has lost its link often"),
		fix:     []string{"cable, transceiver, or energy-efficient Ethernet (ethtool --show-eee DEV)"},
		read:    "Linux Documentation/ABI/testing/sysfs-class-net",
		found:   "A NIC's carrier changed at least ten times for each day since the boot.",
	})
	say(cause.LLDPMTU, words[cause.Neighbour]{
		summary: inFull(func(a cause.Neighbour) string {
			if a.Host {
				return "the host at the other end of DEV has a larger MTU: DEV drops its large frames"
			}
			return "the port that DEV is connected to takes smaller frames than DEV sends"
		}),
		fixed: func(_ record.Finding, a cause.Neighbour) []string {
			if a.Host {
				return []string{"one MTU at both ends: ip link set dev DEV mtu N"}
			}
			return []string{"a larger MTU at the port, or ip link set dev DEV mtu N"}
		},
		read: ieee8021AB,
		found: "The port at the other end takes smaller frames (LLDP, maximum frame size) than the MTU of the " +
			"interface, or is a host with a larger MTU.",
	})
	say(cause.LLDPLink, words[cause.Disagreement]{
		summary: inFull(func(a cause.Disagreement) string {
			switch a.In {
			case cause.InNegotiation:
				return "DEV negotiates its link, and the port that it is connected to does not: that ends half duplex"
			case cause.InSpeed:
				return "the port that DEV is connected to says another speed than DEV has: it is wrong, or " +
					"something is between them"
			}
			return "DEV and the port that it is connected to have different duplex"
		}),
		fixed: func(f record.Finding, a cause.Disagreement) []string {
			switch {
			case a.In == cause.InSpeed:
				return []string{"see what is between them: a converter, an extender, a switch that forwards LLDP"}
			case negotiating(f):
				return []string{"autonegotiation on at the port: DEV negotiates already"}
			}
			return []string{"autonegotiation at both ends: ethtool -s DEV autoneg on, and the same at the port"}
		},
		readFor: func(a cause.Disagreement) string {
			if a.In == cause.InSpeed {
				return ieee8021AB
			}
			return ieee8021AB + "; " + clause28
		},
		found: "The port at the other end has another duplex (LLDP) than the NIC, does not negotiate while the NIC " +
			"does, or, possible, says another speed.",
	})
	say(cause.LLDPVLAN, words[cause.NeighbourVLAN]{
		summary: inFull(func(a cause.NeighbourVLAN) string {
			const where = "the port that DEV is connected to"
			switch {
			case a.Bridge != "":
				return where + " has another VLAN without a tag than DEV in " + a.Bridge
			case a.NotNamed:
				return fmt.Sprintf(where+" does not name VLAN %d, which %s has", a.VLAN, a.Interface)
			}
			return fmt.Sprintf(where+" has VLAN %d without a tag, and %s sends it with one", a.VLAN, a.Interface)
		}),
		fixed: func(_ record.Finding, a cause.NeighbourVLAN) []string {
			switch {
			case a.Bridge != "":
				return []string{fmt.Sprintf(
					"one VLAN at both ends: bridge vlan add vid %d dev DEV pvid untagged, or the other at the port",
					a.PVID)}
			case a.NotNamed:
				return []string{"add the VLAN at the port, if it is not there: some switches do not name all"}
			}
			return []string{"the same at both ends: the VLAN tagged at the port, or its addresses on DEV"}
		},
		readFor: func(a cause.NeighbourVLAN) string {
			if a.Bridge != "" {
				return ieee8021AB + "; " + ieee8021Q + "; bridge(8)"
			}
			return ieee8021AB + "; " + ieee8021Q
		},
		found: "A VLAN interface has the VLAN that the port at the other end has without a tag (LLDP), a bridge's " +
			"port has another VLAN without a tag, or, possible, the port does not name the VLAN.",
	})

	spell(func(_ string, l fact.Link) string {
		var is []string
		switch {
		case l.Mbps == 0: // a text does not say it
		case l.Duplex == "half": // which is for links of 10 and 100 Mbit/s
			is = append(is, fmt.Sprintf("%d Mbit/s", l.Mbps))
		default:
			is = append(is, mbps(l.Mbps))
		}
		if l.Duplex != "" {
			is = append(is, l.Duplex+" duplex")
		}
		return l.Interface + ": " + strings.TrimPrefix(strings.Join(is, ", ")+negotiates(l.Autoneg), ", ")
	})
	spell(func(_ string, n fact.Negotiated) string {
		offers := ""
		if n.OfferedMbps > 0 {
			offers = ", advertises up to " + mbps(n.OfferedMbps)
		}
		return fmt.Sprintf("%s: negotiated %s%s, supports %s%s", n.Interface, mbps(n.Mbps), offers, mbps(n.BestMbps),
			negotiates(n.Autoneg))
	})
	spell(func(_ string, c fact.NoCarrier) string {
		return fmt.Sprintf("%s: up, no carrier (operstate %s), addresses %s", c.Interface, c.OperState,
			strings.Join(c.Addresses, ", "))
	})
	spell(func(_ string, r fact.RouteBy) string { return "route by it: " + r.Route })
	spell(func(_ string, c fact.CarrierChanges) string {
		return fmt.Sprintf("%s: %d changes of the carrier in the %.1f days since the machine was booted", c.Interface,
			c.Changes, c.Days)
	})
	spell(func(host string, c fact.CarrierLoss) string {
		at := fmt.Sprintf("%s.%s %.2f s after the window's begin", host, c.What, c.BeganS)
		if c.Again {
			return fmt.Sprintf("%s, and had it again %.2f s later", at, c.ForS)
		}
		return at + ", and had none until its end"
	})
	spell(func(_ string, s fact.Silence) string {
		during := "for the last "
		if s.Resumed {
			during = "for "
		}
		return fmt.Sprintf("flow %s: %s received nothing from %s %s", s.Flow, s.To, s.From, during) +
			record.SpellLost(s.LostS, s.LostAtMostS)
	})
	spell(func(_ string, n fact.NotReached) string {
		return fmt.Sprintf("flow %s: %s does not reach %s of %s", n.Flow, n.From, n.Address, n.To)
	})
	spell(func(_ string, l fact.LLDP) string { return l.Place + " says (LLDP): " + says(l) })
	spell(func(_ string, v fact.VLAN) string {
		if v.Bridge != "" {
			return fmt.Sprintf("%s in %s: VLAN %d without a tag (PVID)", v.Interface, v.Bridge, v.VLAN)
		}
		return fmt.Sprintf("%s: VLAN %d on %s", v.Interface, v.VLAN, v.On)
	})
})

func mbps(n int64) string { return unit.FormatRate(float64(n) * 1e6) }

func tagsOf(a cause.Frames) (tags []device.VLAN) {
	return lists.Map(a.Tags, func(tag int) device.VLAN { return device.VLAN(tag) })
}

// negotiating reports whether a finding's evidence says that the NIC negotiates its link.
func negotiating(f record.Finding) bool {
	return slices.ContainsFunc(f.Facts, func(one fact.Fact) bool {
		switch l := one.Is.(type) {
		case fact.Link:
			return l.Autoneg != nil && *l.Autoneg
		case fact.Negotiated:
			return l.Autoneg != nil && *l.Autoneg
		}
		return false
	})
}

// negotiates returns the setting of autonegotiation, to be appended; empty: not known.
func negotiates(autoneg *bool) string {
	switch {
	case autoneg == nil:
		return ""
	case *autoneg:
		return ", autonegotiation on"
	}
	return ", autonegotiation off"
}

// says returns what a port announces.
func says(l fact.LLDP) string {
	switch {
	case l.FrameBytes > 0:
		return fmt.Sprintf("maximum frame size %d bytes", l.FrameBytes)
	case l.AutonegOff:
		return "autonegotiation supported, and off; " + l.Media
	case l.PVID > 0:
		return fmt.Sprintf("VLAN %d without a tag (PVID)", l.PVID)
	case len(l.VLANs) > 0:
		list := lists.Map(l.VLANs, func(n int) string { return fmt.Sprint(n) })
		return "VLANs " + some(list)
	}
	return l.Media
}
