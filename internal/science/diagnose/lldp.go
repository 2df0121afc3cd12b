package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
)

const ieee8021AB = "IEEE 802.1AB; lldpcli(8)"

// Rules about what the other end of the cable says of itself.
var lldpRules = []rule{
	{id: "lldp-mtu", host: true, parts: []string{"lldp"}, find: eachLLDP(lldpMTU), sameCause: sameSummary,
		explains: []string{"frames-too-long", "frames-wrong-length", "fragmentation-needed"},
		about:    "The port at the other end takes smaller frames (LLDP, maximum frame size) than the MTU of the interface, or is a host with a larger MTU."},
	{id: "lldp-link", host: true, parts: []string{"lldp", "nics"}, find: eachLLDP(lldpLink), sameCause: sameSummary,
		explains: []string{"half-duplex", "collisions", "interface-errors", "speed-below-best"},
		about:    "The port at the other end has another duplex (LLDP) than the NIC, does not negotiate while the NIC does, or, possible, says another speed."},
	{id: "lldp-vlan", host: true, parts: []string{"lldp"}, find: eachLLDP(lldpVLAN), sameCause: sameSummary,
		explains: []string{"gateway-unresolved", "neighbour-failed", "syn-unanswered"},
		about:    "A VLAN interface has the VLAN that the port at the other end has without a tag (LLDP), a bridge's port has another VLAN without a tag, or, possible, the port does not name the VLAN."},
}

// eachLLDP is a rule's find for each neighbour of an interface that is up.
func eachLLDP(find func(port, record.LLDPNeighbour) *record.Finding) func(observed) []record.Finding {
	return func(f observed) (findings []record.Finding) {
		for _, h := range f.hosts {
			for _, n := range h.state.LLDP {
				i := slices.IndexFunc(h.reading.Snapshot.Interfaces, func(i record.InterfaceSnapshot) bool {
					return i.Interface == n.Interface
				})
				if i < 0 || !h.reading.Snapshot.Interfaces[i].Up {
					continue
				}
				if finding := find(h.port(h.reading.Snapshot.Interfaces[i]), n); finding != nil {
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

func lldpMTU(p port, n record.LLDPNeighbour) *record.Finding {
	const headers = 22 // Ethernet's with a VLAN tag, and the frame check sequence
	switch {
	case n.MFS == 0 || p.i.MTU <= 0:
		return nil
	case n.MFS < p.i.MTU:
		return p.found(record.Likely,
			fmt.Sprintf("the port that %s is connected to takes smaller frames than %[1]s sends", p.i.Interface),
			ieee8021AB,
			[]string{says(n, "maximum frame size %d bytes", n.MFS), fmt.Sprintf("%s: MTU %d", p.i.Interface, p.i.MTU)},
			fmt.Sprintf("a larger MTU at the port, or ip link set dev %s mtu N", p.i.Interface))
	case n.MFS > p.i.MTU+headers && !n.Switches():
		return p.found(record.Likely,
			fmt.Sprintf("the host at the other end of %s has a larger MTU: %[1]s drops its large frames",
				p.i.Interface), ieee8021AB,
			[]string{says(n, "maximum frame size %d bytes", n.MFS), fmt.Sprintf("%s: MTU %d", p.i.Interface, p.i.MTU)},
			"one MTU at both ends: ip link set dev "+p.i.Interface+" mtu N")
	}
	return nil
}

func lldpLink(p port, n record.LLDPNeighbour) *record.Finding {
	own := fmt.Sprintf("%s: %s, %s duplex%s", p.i.Interface, mbps(p.nic.SpeedMbps), p.nic.Duplex, negotiates(p.nic))
	fix := "autonegotiation at both ends: ethtool -s " + p.i.Interface + " autoneg on, and the same at the port"
	switch {
	case !p.hardware() || !p.nic.Carrier:
		return nil
	case n.Duplex != "" && p.nic.Duplex != "" && n.Duplex != p.nic.Duplex:
		return p.found(record.Likely, fmt.Sprintf("%s and the port that it is connected to have different duplex",
			p.i.Interface), ieee8021AB+"; IEEE 802.3, clause 28", []string{says(n, "%s", n.Media), own}, fix)
	case n.Autoneg != nil && !*n.Autoneg && p.nic.Autoneg != nil && *p.nic.Autoneg && p.nic.BestMbps > 0 &&
		p.nic.BestMbps <= 1000:
		return p.found(record.Likely,
			fmt.Sprintf("%s negotiates its link, and the port that it is connected to does not: that ends half duplex",
				p.i.Interface), ieee8021AB+"; IEEE 802.3, clause 28",
			[]string{says(n, "autonegotiation supported, and off; %s", n.Media), own}, fix)
	case n.SpeedMbps > 0 && p.nic.SpeedMbps > 0 && n.SpeedMbps != p.nic.SpeedMbps:
		return p.found(record.Possible,
			fmt.Sprintf(
				"the port that %s is connected to says another speed than %[1]s has: it is wrong, or something is between them",
				p.i.Interface), ieee8021AB,
			[]string{says(n, "%s", n.Media), own},
			"see what is between them: a converter, an extender, a switch that forwards LLDP")
	}
	return nil
}

func lldpVLAN(p port, n record.LLDPNeighbour) *record.Finding {
	where := fmt.Sprintf("the port that %s is connected to", p.i.Interface)
	for _, v := range p.h.state.NICs {
		switch {
		case v.VLAN == 0 || v.Peer != p.i.Index || p.i.Index == 0:
		case v.VLAN == n.PVID:
			return p.found(record.Likely, fmt.Sprintf("%s has VLAN %d without a tag, and %s sends it with one", where,
				v.VLAN, v.Interface), ieee8021AB+"; IEEE 802.1Q",
				[]string{says(n, "VLAN %d without a tag (PVID)", n.PVID), fmt.Sprintf("%s: VLAN %d on %s", v.Interface,
					v.VLAN, p.i.Interface)}, "the same at both ends: the VLAN tagged at the port, or its addresses on "+
					p.i.Interface)
		case len(n.VLANs) > 0 && !slices.Contains(n.VLANs, v.VLAN):
			return p.found(record.Possible, fmt.Sprintf("%s does not name VLAN %d, which %s has", where, v.VLAN,
				v.Interface), ieee8021AB+"; IEEE 802.1Q",
				[]string{says(n, "VLANs %s", numbers(n.VLANs)), fmt.Sprintf("%s: VLAN %d on %s", v.Interface, v.VLAN,
					p.i.Interface)}, "add the VLAN at the port, if it is not there: some switches do not name all")
		}
	}
	if bridge, own := p.h.untagged(p.i.Interface); own > 0 && n.PVID > 0 && own != n.PVID {
		return p.found(record.Likely, fmt.Sprintf("%s has another VLAN without a tag than %s in %s", where,
			p.i.Interface, bridge), ieee8021AB+"; IEEE 802.1Q; bridge(8)",
			[]string{says(n, "VLAN %d without a tag (PVID)", n.PVID),
				fmt.Sprintf("%s in %s: VLAN %d without a tag (PVID)", p.i.Interface, bridge, own)},
			fmt.Sprintf("one VLAN at both ends: bridge vlan add vid %d dev %s pvid untagged, or the other at the port",
				n.PVID, p.i.Interface))
	}
	return nil
}

// untagged is the VLAN of frames without a tag of a port of a bridge with VLANs; 0: it is none.
func (h *host) untagged(name string) (bridge string, vlan int) {
	for _, b := range h.state.Bridges {
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
	return join(all)
}

// cabled adds to findings where the interfaces that they name are connected, at most two rows
// to each.
func (f observed) cabled(findings []record.Finding) {
	ports := map[string]map[string][]string{} // of hosts and interfaces
	for _, h := range f.hosts {
		if len(h.state.LLDP) > 0 {
			ports[h.name] = map[string][]string{}
		}
		for _, n := range h.state.LLDP {
			ports[h.name][n.Interface] = append(ports[h.name][n.Interface], n.Place())
		}
	}
	for i, finding := range findings {
		var rows []string
		for _, word := range words(strings.Join(append([]string{finding.Summary}, finding.Evidence...), " ")) {
			for _, place := range ports[finding.Host][word] {
				row := fmt.Sprintf("%s is connected to %s (LLDP)", word, place)
				if len(rows) < 2 && !slices.Contains(rows, row) &&
					!slices.ContainsFunc(finding.Evidence, func(line string) bool {
						return strings.Contains(line, place)
					}) {
					rows = append(rows, row)
				}
			}
		}
		findings[i].Evidence = slices.Concat(finding.Evidence, rows)
	}
}
