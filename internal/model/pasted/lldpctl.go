package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "lldpctl", system: several,
		part: "lldp", row: reads((*machine).lldpText), sure: lldpInterface.MatchString,
		command: func(c command) bool { return listsLLDP(c) && !lldpJSON(c) }},
	&format{name: "lldpctl -f json", system: several, part: "lldp", whole: (*machine).lldpDocument, sure: beginsJSON,
		command: func(c command) bool { return listsLLDP(c) && lldpJSON(c) }})

// listsLLDP reports whether a command lists neighbours: lldpctl, or lldpcli show neighbors.
func listsLLDP(c command) bool {
	return c.is("lldpctl") || c.is("lldpcli") && (len(c) == 1 || c.has("neighbors", "neighbours", "neigh"))
}

func lldpJSON(c command) bool {
	return c.hasOption("f", "format", "json") || c.hasOption("f", "format", "json0")
}

var (
	// lldpInterface begins a neighbour.
	lldpInterface = pattern.MustCompile(`^Interface: +([\w.@:-]{1,30}), via: ([\w-]{1,20})(?:, RID: \d+)?(?:, Time: ` +
		`.*)?$`)
	lldpRule = pattern.MustCompile(`^-{20,}$`)
	lldpRow  = pattern.MustCompile(`^ +([A-Z][\w /.-]{1,40}): *(.*)$`)
)

// lldpText parses a line of lldpctl(8) in its plain form:
//
//	Interface:    eth0, via: LLDP, RID: 1, Time: 0 day, 00:01:02
//	  Chassis:
//	    SysName:      sw1
//	  Port:
//	    PortID:       ifname Gi1/0/7
func (m *machine) lldpText(line string) bool {
	known := listsLLDP(m.command) || m.behindPart("lldp")
	if head := lldpInterface.FindStringSubmatch(line); head != nil {
		if m.hasNeighbour = len(m.State.LLDP) < netstate.MostLLDPNeighbours; m.hasNeighbour {
			m.State.LLDP = append(m.State.LLDP, netstate.LLDPNeighbour{Interface: head[1], Protocol: head[2]})
		}
		return true
	}
	if known && (lldpRule.MatchString(line) || line == "LLDP neighbors:" || line == "LLDP neighbors") {
		return m.ignore()
	}
	row := lldpRow.FindStringSubmatch(line)
	if row == nil || !known {
		return known && strings.HasPrefix(line, "    ") && m.ignore() // a description of several lines
	}
	if len(m.State.LLDP) == 0 || !m.hasNeighbour {
		return m.ignore()
	}
	n := &m.State.LLDP[len(m.State.LLDP)-1]
	return n != nil && lldpValue(n, row[1], strings.TrimSpace(row[2])) || m.ignore()
}

// lldpValue stores a value of a neighbour. False: no rule uses it.
func lldpValue(n *netstate.LLDPNeighbour, key, value string) bool {
	const longest = 200
	value = plain.Short(value, longest)
	_, identifier, _ := strings.Cut(value, " ") // its kind precedes it: mac, ifname, local
	switch key {
	case "ChassisID":
		n.Chassis = identifier
	case "SysName":
		n.System = value
	case "SysDescr":
		n.Description = value
	case "MgmtIP":
		if len(n.Addresses) < 8 {
			n.Addresses = append(n.Addresses, value)
		}
	case "Capability":
		kind, on, _ := strings.Cut(value, ", ")
		if on == "on" && len(n.Capabilities) < 16 {
			n.Capabilities = append(n.Capabilities, kind)
		}
	case "PortID":
		n.Port = identifier
	case "PortDescr":
		n.PortDescription = value
	case "MFS":
		n.MFS = bounded(value, 1<<16)
	case "PMD autoneg":
		if rest, is := strings.CutPrefix(value, "supported: yes, enabled: "); is {
			on := rest == "yes"
			n.Autoneg = &on
		}
	case "MAU oper type":
		n.Media = value
		n.SpeedMbps, n.Duplex = media(value)
	case "VLAN":
		text, rest, _ := strings.Cut(value, ", ")
		id, err := strconv.Atoi(strings.Fields(text + " x")[0])
		if err != nil || id < 1 || id > 4094 {
			return false
		}
		if strings.HasPrefix(rest, "pvid: yes") {
			n.PVID = id
		}
		if len(n.VLANs) < 4094 && !slices.Contains(n.VLANs, id) {
			n.VLANs = append(n.VLANs, id)
		}
	default:
		return false
	}
	return true
}

// lldpDocument parses the output of lldpctl -f json.
func (m *machine) lldpDocument(s *section) {
	text := strings.TrimSpace(s.text())
	list, err := LLDP([]byte(text))
	if err != nil && len(list) == 0 || !strings.Contains(text[:min(len(text), 200)], `"lldp"`) {
		return
	}
	m.State.LLDP = append(m.State.LLDP, list...)
	m.State.LLDP = m.State.LLDP[:min(len(m.State.LLDP), netstate.MostLLDPNeighbours)]
	s.all(used)
}
