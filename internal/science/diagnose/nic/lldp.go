package nic

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// LLDPRules are about what the other end of the cable announces by LLDP.
var LLDPRules = []rule.Rule{
	{ID: cause.LLDPMTU.Code, Host: true, Parts: []string{"lldp", "mtus"}, Find: eachLLDP(lldpMTU),
		Explains: []string{"frames-too-long", "frames-wrong-length", "fragmentation-needed"}},
	{ID: cause.LLDPLink.Code, Host: true, Parts: []string{"lldp", "link modes"}, Find: eachLLDP(lldpLink),
		Explains: []string{"half-duplex", "collisions", "interface-errors", "speed-below-best"}},
	{ID: cause.LLDPVLAN.Code, Host: true, Parts: []string{"lldp"}, Find: eachLLDP(lldpVLAN),
		Explains: []string{"gateway-unresolved", "neighbour-failed", "syn-unanswered"}},
}

// eachLLDP returns a rule's Find that calls find for each LLDP neighbour of an interface that is
// up.
func eachLLDP(find func(facts.Port, netstate.LLDPNeighbour) *record.Finding) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, h := range f.Hosts {
			for _, n := range h.State.LLDP {
				i, _ := h.Snapshot(n.Interface)
				if !i.Up {
					continue
				}
				if finding := find(h.Port(i), n); finding != nil {
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

func lldpMTU(p facts.Port, n netstate.LLDPNeighbour) *record.Finding {
	const headers = 22 // Ethernet's with a VLAN tag, and the frame check sequence
	larger := n.MFS > p.Interface.MTU+headers && !n.Switches()
	if n.MFS == 0 || p.Interface.MTU <= 0 || n.MFS >= p.Interface.MTU && !larger {
		return nil
	}
	return found(cause.LLDPMTU, p, record.Likely, cause.Neighbour{Host: larger},
		fact.LLDP{Place: n.Place(), FrameBytes: n.MFS}).
		With(p.Host.Name, fact.MTU{Interface: p.Interface.Interface, Bytes: p.Interface.MTU})
}

func lldpLink(p facts.Port, n netstate.LLDPNeighbour) *record.Finding {
	says, in, confidence := fact.LLDP{Place: n.Place(), Media: n.Media}, "", record.Likely
	switch {
	case !p.Hardware() || !p.NIC.Carrier:
		return nil
	case n.Duplex != "" && p.NIC.Duplex != "" && n.Duplex != p.NIC.Duplex:
		in = cause.InDuplex
	case n.Autoneg != nil && !*n.Autoneg && p.NIC.Autoneg != nil && *p.NIC.Autoneg && p.NIC.BestMbps > 0 &&
		p.NIC.BestMbps <= 1000:
		says.AutonegOff, in = true, cause.InNegotiation
	case n.SpeedMbps > 0 && p.NIC.SpeedMbps > 0 && n.SpeedMbps != p.NIC.SpeedMbps:
		in, confidence = cause.InSpeed, record.Possible
	default:
		return nil
	}
	return found(cause.LLDPLink, p, confidence, cause.Disagreement{In: in}, says).With(p.Host.Name, linkOf(p))
}

func lldpVLAN(p facts.Port, n netstate.LLDPNeighbour) *record.Finding {
	for _, v := range p.Host.State.NICs {
		if v.VLAN == 0 || v.Peer != p.Interface.Index || p.Interface.Index == 0 {
			continue
		}
		args, own := cause.NeighbourVLAN{Interface: v.Interface, VLAN: v.VLAN},
			fact.VLAN{Interface: v.Interface, VLAN: v.VLAN, On: p.Interface.Interface}
		if v.VLAN == n.PVID {
			return found(cause.LLDPVLAN, p, record.Likely, args, fact.LLDP{Place: n.Place(), PVID: n.PVID}).
				With(p.Host.Name, own)
		}
		if args.NotNamed = len(n.VLANs) > 0 && !slices.Contains(n.VLANs, v.VLAN); args.NotNamed {
			return found(cause.LLDPVLAN, p, record.Possible, args, fact.LLDP{Place: n.Place(), VLANs: n.VLANs}).
				With(p.Host.Name, own)
		}
	}
	if bridge, own := untagged(p.Host, p.Interface.Interface); own > 0 && n.PVID > 0 && own != n.PVID {
		return found(cause.LLDPVLAN, p, record.Likely, cause.NeighbourVLAN{Bridge: bridge, PVID: n.PVID},
			fact.LLDP{Place: n.Place(), PVID: n.PVID}).
			With(p.Host.Name, fact.VLAN{Interface: p.Interface.Interface, VLAN: own, Bridge: bridge})
	}
	return nil
}

// untagged returns the VLAN of untagged frames of a bridge port, and the bridge; 0: the bridge has
// no VLANs.
func untagged(h *facts.Host, name string) (bridge string, vlan int) {
	for _, b := range h.State.Bridges {
		i := slices.IndexFunc(b.Ports, func(p netstate.BridgePort) bool { return p.Interface == name })
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
