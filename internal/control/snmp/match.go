package snmp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Wanted describes a port to find: one end of a link of the study.
type Wanted struct {
	Port string // name of the port in the study
	Peer topology.End
	// Interface is the ifName or ifIndex of the port, if the study gives it; empty: it does not.
	Interface string
	// MAC is the MAC address of the link's other end; empty: not known, as for another switch.
	MAC string
	// LLDP is the port as the LLDP daemon at the link's other end reports it; empty: not known.
	LLDP string
	// Bps is the rate of the link, in bits per second; 0: not given.
	Bps float64
}

// port is a wanted port and what was found about it.
type port struct {
	record.SwitchPort
	wanted Wanted
	why    string // why it is not found: Missing without what to do about it in a study
	lacks  []bool // counters that it does not have
}

// match finds the interfaces of ports. Missing has the reason for each that is not found.
func (f *found) match(wanted []Wanted) (ports []*port) {
	for _, w := range wanted {
		p := &port{wanted: w, SwitchPort: record.SwitchPort{Port: w.Port, Peer: w.Peer.String()}}
		var hint string
		p.Index, p.Found, p.why, hint = f.find(w)
		p.Missing = p.why + hint
		p.Name = f.nameOf(p.Index)
		ports = append(ports, p)
	}
	for _, p := range ports {
		for _, o := range ports {
			if p != o && p.Index != 0 && p.Index == o.Index {
				p.Missing = fmt.Sprintf(
					"%s and %s are both behind its interface %s: it leads to another switch; name the ports in "+
						"snmp: ports", p.Peer, o.Peer, p.Name)
			}
		}
	}
	for _, p := range ports {
		if p.Missing != "" {
			p.Index, p.Name, p.Found = 0, "", ""
		}
	}
	return ports
}

// find finds the interface of one port: by the interface in the study, by name, by the peer's MAC address in
// the forwarding table, or by LLDP of the peer or the switch. If it is missing, hint is what to do about that
// in a study.
func (f *found) find(w Wanted) (index int, how, missing, hint string) {
	if w.Interface != "" {
		if index = f.byName(w.Interface); index != 0 {
			return index, "named in the study", "", ""
		}
		if n, err := strconv.Atoi(w.Interface); err == nil && f.nameOf(n) != "" {
			return n, "numbered in the study", "", ""
		}
		return 0, "", fmt.Sprintf("the switch has no interface %q, as the study names it (ifName or ifIndex)",
			w.Interface), ""
	}
	if index = f.byName(w.Port); index != 0 {
		return index, "has the name of the port", "", ""
	}
	var behind []int
	for _, l := range f.fdb {
		if w.MAC != "" && l.mac == strings.ToLower(w.MAC) && !slices.Contains(behind, l.index) {
			behind = append(behind, l.index)
		}
	}
	if len(behind) == 1 && f.nameOf(behind[0]) != "" {
		return behind[0], "has " + w.MAC + " behind it", "", ""
	}
	if index = f.byName(w.LLDP); w.LLDP != "" && index != 0 {
		return index, "named by LLDP on " + w.Peer.Node, "", ""
	}
	if index = f.byLLDP(w); index != 0 {
		return index, "names " + w.Peer.String() + " by LLDP", "", ""
	}
	switch {
	case len(behind) > 1:
		missing = fmt.Sprintf("%s (%s) is behind several of its interfaces", w.MAC, w.Peer)
	case w.MAC == "":
		missing = fmt.Sprintf("the MAC address of %s is not known, and LLDP does not name it", w.Peer)
	case len(f.fdb) == 0:
		missing = fmt.Sprintf("it gives no forwarding table, and LLDP does not name %s", w.Peer)
	default:
		missing = fmt.Sprintf("its forwarding table does not have %s (%s), and LLDP does not name it", w.MAC, w.Peer)
	}
	if len(f.lacking) > 0 {
		missing += " (" + strings.Join(f.lacking, "; ") + ")"
	}
	return 0, "", missing, fmt.Sprintf(": name the port in snmp: ports: {%s: IFNAME}", w.Port)
}

// byLLDP returns the interface whose neighbour is the peer, by MAC address or by the names of system and port;
// 0 if there is none or several.
func (f *found) byLLDP(w Wanted) (index int) {
	for _, n := range f.neighbours {
		system, _, _ := strings.Cut(n.system, ".")
		is := w.MAC != "" && n.port == strings.ToLower(w.MAC) || strings.EqualFold(system, w.Peer.Node) &&
			n.port == w.Peer.Interface
		if is && index != 0 && index != n.index || is && f.nameOf(n.index) == "" {
			return 0
		}
		if is {
			index = n.index
		}
	}
	return index
}
