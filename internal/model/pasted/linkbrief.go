package pasted

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/pattern"
)

var _ = register(&format{name: "ip -br", part: "interfaces", row: reads((*machine).linkBrief),
	sure: func(line string) bool {
		row := briefRow.FindStringSubmatch(line)
		return row != nil && (briefLink.MatchString(row[4]) || briefAddresses.MatchString(row[4]))
	}, command: func(c command) bool {
		return c.has("-br", "-brief") && (c.ip("link") || c.ip("address"))
	}})

var (
	// "eth0             UP             192.0.2.15/24 2001:db8::15/64"
	briefRow = pattern.MustCompile(`^(\S{1,15}?)(@\S{1,15})?\s+(UP|DOWN|UNKNOWN|LOWERLAYERDOWN|DORMANT|TESTING|` +
		`NOTPRESENT)(?:\s+(.*))?$`)
	// "02:00:00:00:00:01 <BROADCAST,MULTICAST,UP,LOWER_UP>"
	briefLink      = pattern.MustCompile(`^(\S+ )?<([A-Z0-9_,-]*)>$`)
	briefAddresses = pattern.MustCompile(`^[0-9a-f.:]+/\d{1,3}(?:\s|$)`)
)

// linkBrief parses a line of ip -br address or ip -br link. The state alone does not say whether an
// interface without a carrier is up.
func (m *machine) linkBrief(line string) bool {
	row := briefRow.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	link, addresses := briefLink.FindStringSubmatch(row[4]), strings.Fields(row[4])
	known := m.behind("ip -br") || m.command.is("ip")
	if link == nil && !briefAddresses.MatchString(row[4]) && (len(addresses) > 0 || !known) {
		return false
	}
	if row[1] == "lo" || !wordlike.MatchString(row[1]) || link != nil && strings.Contains(link[2], "LOOPBACK") {
		return m.ignore()
	}
	n := m.netif(row[1])
	if n < 0 {
		return m.ignore()
	}
	i := &m.Reading.Snapshot.Interfaces[n]
	if link == nil {
		for _, word := range addresses {
			if p, err := netip.ParsePrefix(word); err == nil {
				m.address(i, p)
			}
		}
		return true
	}
	flags := strings.Split(link[2], ",")
	i.Up = slices.Contains(flags, "UP")
	note := m.note(row[1])
	note.flags(i.Up && slices.Contains(flags, "NO-CARRIER"), note.promiscuous || slices.Contains(flags, "PROMISC"))
	if address, is := mac(strings.TrimSpace(link[1])); is {
		i.MAC = address
	}
	return true
}
