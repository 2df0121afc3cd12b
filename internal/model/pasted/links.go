package pasted

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/syntax"
)

var _ = register(
	&format{name: "ip link", part: "interfaces", row: reads((*machine).link), again: behindGap,
		sure: linkHead.MatchString, command: func(c command) bool {
			return c.ip("link") || c.ip("address") && c.object() != "all"
		}})

// linkHead matches the line that begins an interface in the output of ip address and ip link.
var linkHead = pattern.MustCompile(`^(\d{1,9}): ([^:@\s]{1,15})(@\S+)?: <([A-Z0-9_,-]*)> (.*)$`)

var (
	// onelineAddress matches what ip -o address prints of an address.
	onelineAddress = pattern.MustCompile(`^(\d{1,9}): ([^:@\s]{1,15})(@\S+)?\s+(inet6?) (.*)$`)
)

// link parses a line of ip address, ip link or ip -s link. With -o, the lines of an interface or of
// an address are one, with backslashes between them.
func (m *machine) link(line string) bool {
	if first, rest, joined := strings.Cut(line, `\ `); joined {
		known := m.link(first)
		for part := range strings.SplitSeq(rest, `\ `) {
			known = known && m.link("    "+strings.TrimLeft(part, " ")) || known
		}
		return known
	}
	if one := onelineAddress.FindStringSubmatch(line); one != nil {
		if one[2] == "lo" {
			return m.ignore()
		}
		if m.at, m.inside = m.netif(one[2]), true; m.at < 0 {
			return m.ignore()
		}
		m.Reading.Snapshot.Interfaces[m.at].Index, _ = strconv.Atoi(one[1])
		return m.addressLine(strings.Fields(one[4] + " " + one[5]))
	}
	if head := linkHead.FindStringSubmatch(line); head != nil {
		m.beginLink(head)
		return true
	}
	words := strings.Fields(line)
	if !m.inside || !m.behind("ip link") || !indented(line) {
		return false
	}
	if m.at < 0 { // the loopback is not kept
		return m.ignore()
	}
	i := &m.Reading.Snapshot.Interfaces[m.at]
	if address := command(words).after("parentdev"); pciAddress.MatchString(address) { // of ip -d
		m.note(i.Interface).bus = address
	}
	switch {
	case strings.HasPrefix(words[0], "link/"):
		if kind := tunnels[strings.TrimPrefix(words[0], "link/")]; kind != "" && !device.TunnelKind(i.Kind) {
			i.Kind = kind
		}
		if len(words) > 1 {
			if address, is := mac(words[1]); is {
				i.MAC = address
			}
		}
		if n := number(command(words).after("promiscuity")); n > 0 {
			m.note(i.Interface).promiscuous = true
		}
		return true
	case (words[0] == "inet" || words[0] == "inet6") && len(words) > 1:
		return m.addressLine(words)
	case words[0] == "vf":
		m.vf = true
		return m.ignore()
	case words[0] == "RX:" || words[0] == "TX:" || words[0] == "RX" || words[0] == "TX":
		direction := strings.ToLower(strings.TrimSuffix(words[0], ":"))
		m.counts = nil
		for _, w := range words[1:] {
			m.counts = append(m.counts, direction+" "+strings.TrimSuffix(w, ":"))
		}
		return true
	case m.counts != nil && isNumber(words[0]):
		counts := m.counts
		if m.counts = nil; m.vf { // of a virtual function
			return m.ignore()
		}
		m.count(counts, words)
		return true
	}
	if slices.Contains(kinds, words[0]) || device.TunnelKind(words[0]) {
		i.Kind = words[0]
		m.kindDetails(i, words)
		return true
	}
	if words[0] == "bond_slave" {
		m.slaveDetails(i, words)
		return true
	}
	return slices.Contains(details, words[0]) && m.ignore()
}

// addressLine parses an address of the current interface: "inet 192.0.2.15/24 …".
func (m *machine) addressLine(words []string) bool {
	text := words[1]
	if len(words) > 2 && words[2] == "peer" { // the prefix length belongs to the peer
		text += map[string]string{"inet": "/32", "inet6": "/128"}[words[0]]
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return false
	}
	i := &m.Reading.Snapshot.Interfaces[m.at]
	m.address(i, p)
	if slices.Contains(words, "dadfailed") {
		m.duplicate(i, p)
	}
	return true
}

// indented reports whether a line belongs to a line above it.
func indented(line string) bool { return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") }

// tunnels maps what ip(8) prints after link/ (ARPHRD_* of linux/if_arp.h) to a kind of tunnel. Some
// kinds share a type: tun, WireGuard and others have none, and several have ipip. The exact kind is
// in a line of ip -d.
var tunnels = map[string]string{"none": "tun", "gre": "gre", "gre6": "ip6gre", "ipip": "ipip", "tunnel6": "ip6tnl",
	"sit": "sit", "ppp": "ppp"}

// kinds are link kinds that begin a line of ip -d, like tunnels do.
var kinds = []string{"veth", "bridge", "vlan", "bond", "team", "macvlan", "macvtap", "ipvlan", "ipvtap", "vrf", "dummy",
	"ifb", "macsec", "netkit", "hsr", "openvswitch"}

// details are words that begin lines which no rule uses, including those of ip -d.
var details = []string{"valid_lft", "alias", "altname", "promiscuity", "minmtu", "bridge_slave", "team_slave",
	"macvlan_slave", "numtxqueues", "addrgenmode", "ingress-qos-map", "egress-qos-map", "{"}

func (m *machine) beginLink(head []string) {
	flags := "," + head[4] + ","
	m.counts, m.inside, m.at, m.vf = nil, true, -1, false
	if strings.Contains(flags, ",LOOPBACK,") {
		return
	}
	if m.at = m.netif(head[2]); m.at < 0 {
		return
	}
	i := &m.Reading.Snapshot.Interfaces[m.at] // ip address and ip -s link of the same host
	i.Index, _ = strconv.Atoi(head[1])
	i.Up = strings.Contains(flags, ",UP,")
	words := strings.Fields(head[5])
	for n, w := range words[:max(len(words)-1, 0)] {
		switch w {
		case "mtu":
			i.MTU, _ = strconv.Atoi(words[n+1])
			i.MTU = min(max(i.MTU, 0), 1<<20)
		case "master":
			if isName(words[n+1]) {
				i.Master = words[n+1]
			}
		case "qlen":
			m.note(head[2]).queue, _ = strconv.Atoi(words[n+1])
		}
	}
	note := m.note(head[2])
	note.flags(i.Up && strings.Contains(flags, ",NO-CARRIER,"), strings.Contains(flags, ",PROMISC,"))
	if over := strings.TrimPrefix(head[3], "@"); over != "" && !strings.HasPrefix(over, "if") {
		note.over = over
	}
	switch { // ip -d has the kind in the following lines; without it the name tells
	case strings.HasPrefix(head[3], "@if"):
		i.Kind = "veth"
	case head[3] != "" && i.Kind == "":
		i.Kind = "vlan"
	}
}

// isName reports whether a word can be the name of an interface or of a switch's port.
func isName(word string) bool {
	return word != "" && len(word) <= longestName && syntax.Name.Fits(word)
}

// netif returns the index of an interface, which it adds if it is new. -1: there are too many, or it
// cannot have this name.
func (m *machine) netif(name string) int {
	list := &m.Reading.Snapshot.Interfaces
	if n, has := m.netifs[name]; has {
		return n
	}
	if len(*list) >= mostInterfaces || !isName(name) {
		return -1
	}
	i := netstate.InterfaceSnapshot{Interface: name, Up: true, Kind: kindOfName(name)}
	lists.Put(&m.netifs, name, len(*list))
	*list = append(*list, i)
	return m.netifs[name]
}

// interfaceOf returns an interface, which it adds if it is new. If there are too many, what is stored in
// the result is lost.
func (m *machine) interfaceOf(name string) *netstate.InterfaceSnapshot {
	if at := m.netif(name); at >= 0 {
		return &m.Reading.Snapshot.Interfaces[at]
	}
	return &netstate.InterfaceSnapshot{}
}

func isNumber(word string) bool {
	_, err := strconv.ParseUint(word, 10, 64)
	return err == nil
}

// count parses counters, whose names are on the previous line.
func (m *machine) count(names, words []string) {
	name := m.Reading.Snapshot.Interfaces[m.at].Interface
	of := m.countersOf(name, false)
	to := kernelCounters(of)
	if len(names) > 1 && (names[0] == "rx errors" || names[0] == "tx errors") { // the kinds of them
		names = names[1:]
	}
	for n, name := range names {
		if name == "rx overrun" && n < len(words) {
			m.overran(of, "overrun", words[n])
			continue
		}
		counter := cmp.Or(columns[name], strings.ReplaceAll(name, " ", "_"))
		if field := to[counter]; field != nil && n < len(words) {
			if counter == "rx_missed_errors" && *field > 0 && words[n] == "0" {
				continue // the line before has an overrun
			}
			m.hasCounter(counter)
			if counter == "rx_missed_errors" {
				delete(m.CounterNames, counter)
			}
			*field, _ = strconv.ParseUint(words[n], 10, 64)
		} else if name == "tx transns" && n < len(words) {
			m.note(m.Reading.Snapshot.Interfaces[m.at].Interface).changes, _ = strconv.ParseInt(words[n], 10, 64)
		}
	}
}

// columns maps counter names of ip(8) to those of linux/if_link.h where they differ.
var columns = map[string]string{
	"rx missed": "rx_missed_errors", "rx length": "rx_length_errors", "rx crc": "rx_crc_errors",
	"rx otherhost": "rx_otherhost_dropped",
	"tx carrier":   "tx_carrier_errors", "tx collsns": "collisions",
}

// kernelCounters returns the counters of an interface by their names in linux/if_link.h.
func kernelCounters(c *netstate.InterfaceCounters) map[string]*uint64 {
	return map[string]*uint64{
		"rx_bytes": &c.RxBytes, "rx_packets": &c.RxPackets, "rx_errors": &c.RxErrors, "rx_dropped": &c.RxDropped,
		"rx_missed_errors": &c.RxMissed,
		"rx_length_errors": &c.RxLength, "rx_crc_errors": &c.RxCRC, "rx_otherhost_dropped": &c.RxOtherhost,
		"rx_nohandler": &c.RxNoHandler,
		"tx_bytes":     &c.TxBytes, "tx_packets": &c.TxPackets, "tx_errors": &c.TxErrors, "tx_dropped": &c.TxDropped,
		"tx_carrier_errors": &c.TxCarrier, "collisions": &c.Collisions,
	}
}
