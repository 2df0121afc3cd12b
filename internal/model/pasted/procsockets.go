package pasted

import (
	"net/netip"
	"path"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var _ = register(&format{name: "net/tcp", part: "sockets", row: reads((*machine).procSocket),
	files: []string{"net/tcp", "net/tcp6", "net/udp", "net/udp6"}, sure: func(line string) bool {
		return procSocketHead.MatchString(line) || procSocketRow.MatchString(line)
	}})

var (
	procSocketHead = pattern.MustCompile(`^\s*sl\s+local_address\s+rem(?:ote)?_address\s+st\s+tx_queue`)
	// " 7345: 00000000:232A 00000000:0000 07 00000000:00034200 00:00000000 00000000     0        0 31337 2
	// ffff880fe3f1d440 1887364512"
	procSocketRow = pattern.MustCompile(`^\s*\d{1,9}: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) ` +
		`([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) ([0-9A-F]{2}) ([0-9A-F]{8}):([0-9A-F]{8}) ` +
		`([0-9A-F]{2}):[0-9A-F]{8,16} ` +
		`([0-9A-F]{8})\s+\d{1,10}\s+(\d{1,10})\s+\d{1,20}((?: +\S+)*)$`)
)

// procSocket parses a line of /proc/net/tcp or udp (get_tcp4_sock in net/ipv4/tcp_ipv4.c,
// udp4_format_sock in net/ipv4/udp.c). Addresses are in the byte order of the machine, which is taken
// to be little-endian. Behind the inode a UDP socket has a reference count, an address and its drops
// (since Linux 2.6.27); of TCP, sockets in TIME-WAIT and SYN-RECV have the first two, others more.
func (m *machine) procSocket(line string) bool {
	if procSocketHead.MatchString(line) {
		return m.ignore()
	}
	row := procSocketRow.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	value := func(n int) uint64 {
		v, _ := strconv.ParseUint(row[n], 16, 32)
		return v
	}
	if number := value(5); number == 0 || number >= uint64(len(netstate.TCPStates)) {
		return false
	}
	state := netstate.TCPStates[value(5)]
	rest := strings.Fields(row[11])
	protocol := "tcp"
	switch file := path.Base(m.command.prints()); {
	case len(rest) == 3, len(rest) < 3 && strings.HasPrefix(file, "udp"), len(rest) == 2 && state == "UNCONN":
		protocol = "udp"
	}
	send := strconv.FormatUint(value(6), 10)
	if protocol == "tcp" && state == "LISTEN" {
		send = "" // it is no backlog
	}
	end := func(address, port int) string {
		end := netip.AddrPortFrom(littleEndian(row[address]), uint16(value(port)))
		if end.Port() == 0 {
			return strings.TrimSuffix(end.String(), "0") + "*"
		}
		return end.String()
	}
	m.addSocket([]string{"", protocol, state, strconv.FormatUint(value(7), 10), send, end(1, 2), end(3, 4), ""})
	switch {
	case m.entry < 0:
	case m.connected:
		const probing = 4
		probes, _ := strconv.ParseUint(row[10], 10, 8)
		m.timed(value(8) == probing, uint8(min(value(9), 255)), uint8(probes))
	case protocol == "udp" && len(rest) == 3:
		m.listeners[m.entry].Drops, _ = strconv.ParseInt(rest[2], 10, 64)
	}
	return true
}
