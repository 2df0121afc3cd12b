package pasted

import (
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"

	"linerate/internal/model/pattern"
)

var _ = register(
	&format{name: "net/route", part: "routes", row: reads((*machine).procRoute), files: []string{"net/route"},
		sure: procHead.MatchString},
	&format{name: "net/ipv6_route", part: "routes", row: reads((*machine).procRoute6),
		files: []string{"net/ipv6_route"}, sure: route6Row.MatchString})

var (
	procHead = pattern.MustCompile(`^Iface\s+Destination\s+Gateway\s+Flags\s`)
	procRow  = pattern.MustCompile(`^(\S{1,15})\s+([0-9A-F]{8})\s+([0-9A-F]{8})\s+([0-9A-F]{4,8})\s+\d+\s+\d+\s+(\d{1,10})\s+` +
		`([0-9A-F]{8})\s+\d+\s+\d+\s+\d+\s*$`)
	route6Row = pattern.MustCompile(`^([0-9a-f]{32}) ([0-9a-f]{2}) [0-9a-f]{32} [0-9a-f]{2} ([0-9a-f]{32}) ` +
		`([0-9a-f]{8}) [0-9a-f]{8} [0-9a-f]{8} ([0-9a-f]{8})\s+(\S{1,15})$`)
)

// procRoute parses a line of /proc/net/route (fib_route_seq_show in net/ipv4/fib_trie.c). Addresses
// are in the byte order of the machine, which is taken to be little-endian.
func (m *machine) procRoute(line string) bool {
	if procHead.MatchString(line) {
		return m.ignore()
	}
	row := procRow.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	const gateway, reject = 0x2, 0x200 // RTF_* of linux/route.h
	flags, _ := strconv.ParseUint(row[4], 16, 32)
	text := "U"
	if flags&gateway != 0 {
		text += "G"
	}
	if flags&reject != 0 {
		text = "!"
	}
	m.routeHeads = nil
	return m.linuxRow([]string{"", littleEndian(row[2]).String(), littleEndian(row[3]).String(),
		littleEndian(row[6]).String(), text, row[5], "", "", row[1]})
}

// littleEndian returns an IPv4 address of 8 hexadecimal digits, or an IPv6 address of 32, whose words
// are in little-endian byte order.
func littleEndian(digits string) netip.Addr {
	bytes, err := hex.DecodeString(digits)
	if err != nil {
		return netip.Addr{}
	}
	for word := range slices.Chunk(bytes, 4) {
		slices.Reverse(word)
	}
	a, _ := netip.AddrFromSlice(bytes)
	return a
}

// procRoute6 parses a line of /proc/net/ipv6_route (rt6_info_route in net/ipv6/route.c).
func (m *machine) procRoute6(line string) bool {
	row := route6Row.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	const gateway, reject, cached, local = 0x2, 0x200, 0x1000000, 0x80000000 // RTF_* of linux/ipv6_route.h
	flags, _ := strconv.ParseUint(row[5], 16, 32)
	bits, _ := strconv.ParseUint(row[2], 16, 8)
	metric, _ := strconv.ParseUint(row[4], 16, 32)
	address := func(digits string) string {
		bytes, _ := hex.DecodeString(digits)
		a, _ := netip.AddrFromSlice(bytes)
		return a.String()
	}
	text := "U"
	for _, f := range []struct {
		bit  uint64
		text string
	}{{reject, "!"}, {gateway, "G"}, {cached | local, "n"}} {
		if flags&f.bit != 0 {
			text += f.text
		}
	}
	return m.linuxRow6([]string{"", address(row[1]) + "/" + strconv.FormatUint(bits, 10), address(row[3]), text,
		strconv.FormatUint(metric, 10), "", row[6]})
}
