package pcapfile

import "fmt"

// LinkType is what packets begin with, as a number that tcpdump.org assigns
// (https://www.tcpdump.org/linktypes.html).
type LinkType uint16

// Link types with which callers can do something.
const (
	Null        LinkType = 0
	Ethernet    LinkType = 1
	rawBSD      LinkType = 12 // the number of Raw on most systems, and on OpenBSD
	rawOpenBSD  LinkType = 14
	Raw         LinkType = 101
	Loop        LinkType = 108
	SLL         LinkType = 113
	IPv4        LinkType = 228
	IPv6        LinkType = 229
	NetAnalyzer LinkType = 240
	Pktap       LinkType = 258
	SLL2        LinkType = 276
)

// names are descriptions of frequent link types.
var names = map[LinkType]string{
	Null: "BSD loopback", Ethernet: "Ethernet", 9: "PPP", rawBSD: "IP", rawOpenBSD: "IP", 50: "PPP", 51: "PPPoE",
	Raw: "IP", 105: "IEEE 802.11", Loop: "OpenBSD loopback", SLL: "Linux cooked", 119: "IEEE 802.11 with Prism header",
	127: "IEEE 802.11 with radiotap header", 163: "IEEE 802.11 with AVS header", 187: "Bluetooth", 189: "USB of Linux",
	192: "PPI", 195: "IEEE 802.15.4", 201: "Bluetooth", 220: "USB of Linux", 227: "CAN", IPv4: "IPv4", IPv6: "IPv6",
	230: "IEEE 802.15.4", 239: "NFLOG", NetAnalyzer: "Ethernet of netANALYZER", 249: "USB of Windows",
	252: "exported PDUs of Wireshark", 253: "Netlink", 254: "Bluetooth", Pktap: "pktap of macOS",
	274: "Ethernet mPackets", SLL2: "Linux cooked v2",
}

func (l LinkType) String() string {
	if name := names[l]; name != "" {
		return fmt.Sprintf("%s (link type %d)", name, uint16(l))
	}
	return fmt.Sprintf("link type %d", uint16(l))
}

// IsIP returns whether packets begin with the header of IPv4 or IPv6.
func (l LinkType) IsIP() bool {
	switch l {
	case rawBSD, rawOpenBSD, Raw, IPv4, IPv6:
		return true
	}
	return false
}
