package pasted

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
)

// linkHead begins an interface in what ip address and ip link print.
var linkHead = regexp.MustCompile(`^(\d{1,9}): ([^:@\s]{1,15})(@\S+)?: <([A-Z0-9_,-]*)> (.*)$`)

// link reads a line of ip address, ip link or ip -s link.
func (m *machine) link(line string) bool {
	if head := linkHead.FindStringSubmatch(line); head != nil {
		m.beginLink(head)
		return true
	}
	words := strings.Fields(line)
	if !m.inside || m.last != "interfaces" || !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
		return false
	}
	if m.at < 0 { // the loopback
		return true
	}
	i := &m.Reading.Snapshot.Interfaces[m.at]
	switch {
	case strings.HasPrefix(words[0], "link/"):
		if len(words) > 1 {
			if address, is := mac(words[1]); is {
				i.MAC = address
			}
		}
		return true
	case (words[0] == "inet" || words[0] == "inet6") && len(words) > 1:
		if p, err := netip.ParsePrefix(words[1]); err == nil && len(i.Addresses) < mostRows {
			i.Addresses = append(i.Addresses, p.String())
			return true
		}
		return false
	case words[0] == "RX:" || words[0] == "TX:" || words[0] == "RX" || words[0] == "TX":
		direction := strings.ToLower(strings.TrimSuffix(words[0], ":"))
		m.counts = nil
		for _, w := range words[1:] {
			m.counts = append(m.counts, direction+" "+strings.TrimSuffix(w, ":"))
		}
		return true
	case m.counts != nil && isNumber(words[0]):
		m.count(words)
		m.counts = nil
		return true
	}
	return slices.Contains(details, words[0])
}

// details begin lines that no rule needs, also those of ip -d.
var details = []string{"valid_lft", "alias", "altname", "promiscuity", "minmtu", "veth", "tun", "bridge", "bridge_slave", "vlan", "bond", "bond_slave", "macvlan", "vxlan", "vrf", "numtxqueues", "addrgenmode", "vf"}

func (m *machine) beginLink(head []string) {
	index, _ := strconv.Atoi(head[1])
	flags := "," + head[4] + ","
	i := record.InterfaceSnapshot{Interface: head[2], Index: index, Up: strings.Contains(flags, ",UP,")}
	words := strings.Fields(head[5])
	for n, w := range words[:max(len(words)-1, 0)] {
		switch w {
		case "mtu":
			i.MTU, _ = strconv.Atoi(words[n+1])
			i.MTU = min(max(i.MTU, 0), 1<<20)
		case "master":
			i.Master = words[n+1]
		}
	}
	switch { // what ip -d says; without it names tell
	case strings.HasPrefix(head[3], "@if"):
		i.Kind = "veth"
	case head[3] != "":
		i.Kind = "vlan"
	case strings.HasPrefix(i.Interface, "br") || strings.HasPrefix(i.Interface, "docker"):
		i.Kind = "bridge"
	case strings.HasPrefix(i.Interface, "bond"):
		i.Kind = "bond"
	}
	m.counts, m.inside = nil, true
	if strings.Contains(flags, ",LOOPBACK,") || len(m.Reading.Snapshot.Interfaces) >= mostRows {
		m.at = -1
		return
	}
	for n, known := range m.Reading.Snapshot.Interfaces { // ip address and ip -s link of one host
		if known.Interface == i.Interface {
			m.at = n
			return
		}
	}
	m.Reading.Snapshot.Interfaces = append(m.Reading.Snapshot.Interfaces, i)
	m.at = len(m.Reading.Snapshot.Interfaces) - 1
}

func isNumber(word string) bool {
	_, err := strconv.ParseUint(word, 10, 64)
	return err == nil
}

// count reads the counters whose names were on the line before.
func (m *machine) count(words []string) {
	name := m.Reading.Snapshot.Interfaces[m.at].Interface
	list := &m.Reading.End.Interfaces
	if n := len(*list); n == 0 || (*list)[n-1].Interface != name {
		*list = append(*list, record.InterfaceCounters{Interface: name})
	}
	c := &(*list)[len(*list)-1]
	to := map[string]*uint64{
		"rx bytes": &c.RxBytes, "rx packets": &c.RxPackets, "rx errors": &c.RxErrors, "rx dropped": &c.RxDropped, "rx missed": &c.RxMissed,
		"rx length": &c.RxLength, "rx crc": &c.RxCRC, "rx otherhost": &c.RxOtherhost, "rx nohandler": &c.RxNoHandler,
		"tx bytes": &c.TxBytes, "tx packets": &c.TxPackets, "tx errors": &c.TxErrors, "tx dropped": &c.TxDropped, "tx carrier": &c.TxCarrier, "tx collsns": &c.Collisions,
	}
	names := m.counts
	if len(names) > 1 && (names[0] == "rx errors" || names[0] == "tx errors") { // the kinds of them
		names = names[1:]
	}
	for n, name := range names {
		if field := to[name]; field != nil && n < len(words) {
			*field, _ = strconv.ParseUint(words[n], 10, 64)
		}
	}
}
