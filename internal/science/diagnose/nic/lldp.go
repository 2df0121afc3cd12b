package nic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

const ieee8021AB = "IEEE 802.1AB; lldpcli(8)"

// Rules about what the other end of the cable says of itself.
var LLDPRules = []rule.Rule{
	{ID: "lldp-mtu", Host: true, Parts: []string{"lldp"}, Find: eachLLDP(lldpMTU), SameCause: rule.SameSummary,
		Explains: []string{"frames-too-long", "frames-wrong-length", "fragmentation-needed"},
		About:    "The port at the other end takes smaller frames (LLDP, maximum frame size) than the MTU of the interface, or is a host with a larger MTU."},
	{ID: "lldp-link", Host: true, Parts: []string{"lldp", "nics"}, Find: eachLLDP(lldpLink),
		SameCause: rule.SameSummary,
		Explains:  []string{"half-duplex", "collisions", "interface-errors", "speed-below-best"},
		About:     "The port at the other end has another duplex (LLDP) than the NIC, does not negotiate while the NIC does, or, possible, says another speed."},
	{ID: "lldp-vlan", Host: true, Parts: []string{"lldp"}, Find: eachLLDP(lldpVLAN), SameCause: rule.SameSummary,
		Explains: []string{"gateway-unresolved", "neighbour-failed", "syn-unanswered"},
		About:    "A VLAN interface has the VLAN that the port at the other end has without a tag (LLDP), a bridge's port has another VLAN without a tag, or, possible, the port does not name the VLAN."},
}

// eachLLDP is a rule's find for each neighbour of an interface that is up.
func eachLLDP(find func(facts.Port, record.LLDPNeighbour) *record.Finding) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, h := range f.Hosts {
			for _, n := range h.State.LLDP {
				i := slices.IndexFunc(h.Reading.Snapshot.Interfaces, func(i record.InterfaceSnapshot) bool {
					return i.Interface == n.Interface
				})
				if i < 0 || !h.Reading.Snapshot.Interfaces[i].Up {
					continue
				}
				if finding := find(h.Port(h.Reading.Snapshot.Interfaces[i]), n); finding != nil {
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

// says is what a neighbour says of its port, as evidence.
func says(n record.LLDPNeighbour, format string, values ...any) string {
	return fmt.Sprintf("%s says (LLDP): ", n.Place()) + fmt.Sprintf(format, values...)
}

func lldpMTU(p facts.Port, n record.LLDPNeighbour) *record.Finding {
	const headers = 22 // Ethernet's with a VLAN tag, and the frame check sequence
	switch {
	case n.MFS == 0 || p.Interface.MTU <= 0:
		return nil
	case n.MFS < p.Interface.MTU:
		return rule.Found(p, record.Likely,
			fmt.Sprintf("the port that %s is connected to takes smaller frames than %[1]s sends",
				p.Interface.Interface),
			ieee8021AB,
			[]string{says(n, "maximum frame size %d bytes", n.MFS), fmt.Sprintf("%s: MTU %d", p.Interface.Interface,
				p.Interface.MTU)},
			fmt.Sprintf("a larger MTU at the port, or ip link set dev %s mtu N", p.Interface.Interface))
	case n.MFS > p.Interface.MTU+headers && !n.Switches():
		return rule.Found(p, record.Likely,
			fmt.Sprintf("the host at the other end of %s has a larger MTU: %[1]s drops its large frames",
				p.Interface.Interface), ieee8021AB,
			[]string{says(n, "maximum frame size %d bytes", n.MFS), fmt.Sprintf("%s: MTU %d", p.Interface.Interface,
				p.Interface.MTU)},
			"one MTU at both ends: ip link set dev "+p.Interface.Interface+" mtu N")
	}
	return nil
}

func lldpLink(p facts.Port, n record.LLDPNeighbour) *record.Finding {
	own := fmt.Sprintf("%s: %s, %s duplex%s", p.Interface.Interface, mbps(p.NIC.SpeedMbps), p.NIC.Duplex,
		negotiates(p.NIC))
	fix := "autonegotiation at both ends: ethtool -s " + p.Interface.Interface + " autoneg on, and the same at the port"
	switch {
	case !p.Hardware() || !p.NIC.Carrier:
		return nil
	case n.Duplex != "" && p.NIC.Duplex != "" && n.Duplex != p.NIC.Duplex:
		return rule.Found(p, record.Likely, fmt.Sprintf("%s and the port that it is connected to have different duplex",
			p.Interface.Interface), ieee8021AB+"; IEEE 802.3, clause 28", []string{says(n, "%s", n.Media), own}, fix)
	case n.Autoneg != nil && !*n.Autoneg && p.NIC.Autoneg != nil && *p.NIC.Autoneg && p.NIC.BestMbps > 0 &&
		p.NIC.BestMbps <= 1000:
		return rule.Found(p, record.Likely,
			fmt.Sprintf("%s negotiates its link, and the port that it is connected to does not: that ends half duplex",
				p.Interface.Interface), ieee8021AB+"; IEEE 802.3, clause 28",
			[]string{says(n, "autonegotiation supported, and off; %s", n.Media), own}, fix)
	case n.SpeedMbps > 0 && p.NIC.SpeedMbps > 0 && n.SpeedMbps != p.NIC.SpeedMbps:
		return rule.Found(p, record.Possible,
			fmt.Sprintf(
				"the port that %s is connected to says another speed than %[1]s has: it is wrong, or something is between them",
				p.Interface.Interface), ieee8021AB,
			[]string{says(n, "%s", n.Media), own},
			"see what is between them: a converter, an extender, a switch that forwards LLDP")
	}
	return nil
}

func lldpVLAN(p facts.Port, n record.LLDPNeighbour) *record.Finding {
	where := fmt.Sprintf("the port that %s is connected to", p.Interface.Interface)
	for _, v := range p.Host.State.NICs {
		switch {
		case v.VLAN == 0 || v.Peer != p.Interface.Index || p.Interface.Index == 0:
		case v.VLAN == n.PVID:
			return rule.Found(p, record.Likely,
				fmt.Sprintf("%s has VLAN %d without a tag, and %s sends it with one", where,
					v.VLAN, v.Interface), ieee8021AB+"; IEEE 802.1Q",
				[]string{says(n, "VLAN %d without a tag (PVID)", n.PVID), fmt.Sprintf("%s: VLAN %d on %s", v.Interface,
					v.VLAN, p.Interface.Interface)},
				"the same at both ends: the VLAN tagged at the port, or its addresses on "+
					p.Interface.Interface)
		case len(n.VLANs) > 0 && !slices.Contains(n.VLANs, v.VLAN):
			return rule.Found(p, record.Possible, fmt.Sprintf("%s does not name VLAN %d, which %s has", where, v.VLAN,
				v.Interface), ieee8021AB+"; IEEE 802.1Q",
				[]string{says(n, "VLANs %s", numbers(n.VLANs)), fmt.Sprintf("%s: VLAN %d on %s", v.Interface, v.VLAN,
					p.Interface.Interface)},
				"add the VLAN at the port, if it is not there: some switches do not name all")
		}
	}
	if bridge, own := untagged(p.Host, p.Interface.Interface); own > 0 && n.PVID > 0 && own != n.PVID {
		return rule.Found(p, record.Likely, fmt.Sprintf("%s has another VLAN without a tag than %s in %s", where,
			p.Interface.Interface, bridge), ieee8021AB+"; IEEE 802.1Q; bridge(8)",
			[]string{says(n, "VLAN %d without a tag (PVID)", n.PVID),
				fmt.Sprintf("%s in %s: VLAN %d without a tag (PVID)", p.Interface.Interface, bridge, own)},
			fmt.Sprintf("one VLAN at both ends: bridge vlan add vid %d dev %s pvid untagged, or the other at the port",
				n.PVID, p.Interface.Interface))
	}
	return nil
}

// untagged is the VLAN of frames without a tag of a port of a bridge with VLANs; 0: it is none.
func untagged(h *facts.Host, name string) (bridge string, vlan int) {
	for _, b := range h.State.Bridges {
		i := slices.IndexFunc(b.Ports, func(p record.BridgePort) bool { return p.Interface == name })
		if !b.VLANFiltering || i < 0 {
			continue
		}
		for _, v := range b.Ports[i].VLANs {
			if id, rest, _ := strings.Cut(v, " "); strings.HasPrefix(rest, "PVID") {
				vlan, _ = strconv.Atoi(id)
				return b.Interface, vlan
			}
		}
	}
	return "", 0
}

func numbers(list []int) string {
	var all []string
	for _, n := range list {
		all = append(all, fmt.Sprint(n))
	}
	return facts.Join(all)
}
