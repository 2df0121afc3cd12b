package pasted

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var _ = register(&format{name: "ifconfig", system: several, part: "interfaces", row: reads((*machine).ifconfig),
	again: (*machine).sameIfconfig, command: func(c command) bool { return c.is("ifconfig") && !c.flag('s') },
	sure: func(line string) bool { _, is := ifconfigHead(line); return is }})

// ifconfigContext is the interface that lines of ifconfig belong to.
type ifconfigContext struct {
	netif string // empty: none, or one that is not kept
	known bool   // whether netif, or the loopback, is being parsed
	flags string // ",UP,BROADCAST,"
	link  string // "UNSPEC", of net-tools 1
}

// ifconfigHeadLine is the first line of an interface in the output of ifconfig.
type ifconfigHeadLine struct {
	name, link, mac string // link and mac: of net-tools 1
	flags, rest     string // of all others
}

var (
	// "eth0      Link encap:Ethernet  HWaddr 02:16:7E:35:C7:C2"
	encapHead = pattern.MustCompile(`^(\S{1,15})\s+Link encap:(.*?)(?:\s+HWaddr (\S+))?\s*$`)
	// "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500"
	flagsHead = pattern.MustCompile(`^(\S{1,18}): flags=[0-9a-fA-F]{1,16}(?:<([A-Z0-9_,]*)>)?(?:\s(.*))?$`)

	flagsRow     = pattern.MustCompile(`^(\[NO FLAGS\]|[A-Z]+(?: [A-Z]+)*)\s+MTU:(\d{1,6})\s+Metric:`)
	packetsRow   = pattern.MustCompile(`^(RX|TX) packets:? ?(\d{1,20})\b(.*)$`)
	errorsRow    = pattern.MustCompile(`^(RX|TX) errors (\d{1,20})\b(.*)$`)
	bytesRow     = pattern.MustCompile(`^RX bytes:(\d{1,20}) .*TX bytes:(\d{1,20})\b`)
	collisionRow = pattern.MustCompile(`^collisions:(\d{1,20})\b(?:\s+txqueuelen:(\d{1,9}))?`)
	ignoredRow   = pattern.MustCompile(`^(?:Interrupt:|Base address:|Memory:|DMA chan:|Media:|\[?RX compressed|` +
		`TX compressed|compressed:|device (?:interrupt|memory|base|dma)|media \w+$|EtherTalk|IPX/|econet|ipx )`)
)

// encapsulations maps what ifconfig prints of the type of an interface to its kind.
var encapsulations = map[string]string{"sit": "sit", "tunnel": "ipip", "gre": "gre", "ppp": "ppp", "tunnel6": "ip6tnl",
	"IPv6-in-IPv4": "sit", "IPIP Tunnel": "ipip", "Point-to-Point Protocol": "ppp", "UNSPEC": "tun", "unspec": "tun"}

// ifconfigHead parses the first line of an interface.
func ifconfigHead(line string) (h ifconfigHeadLine, is bool) {
	if m := encapHead.FindStringSubmatch(line); m != nil {
		h = ifconfigHeadLine{name: m[1], link: m[2], mac: m[3]}
	} else if m := flagsHead.FindStringSubmatch(line); m != nil {
		h = ifconfigHeadLine{name: m[1], flags: "," + m[2] + ",", rest: m[3]}
	} else {
		return h, false
	}
	name, _, _ := strings.Cut(h.name, ":")
	return h, wordlike.MatchString(name)
}

// sameIfconfig reports whether a line begins an interface that ifconfig already printed for the
// machine.
func (m *machine) sameIfconfig(line string, _ bool) bool {
	h, is := ifconfigHead(line)
	return is && m.configured[h.name]
}

// ifconfig parses a line of ifconfig(8): of Linux, with net-tools 1, net-tools 2 and BusyBox, and of
// FreeBSD, OpenBSD and macOS.
func (m *machine) ifconfig(line string) bool {
	if h, is := ifconfigHead(line); is {
		m.beginIfconfig(h)
		return true
	}
	text := strings.TrimSpace(line)
	if strings.HasSuffix(text, "error fetching interface information: Device not found") {
		return m.ignore()
	}
	if !m.ifconfigContext.known || !m.behind("ifconfig") {
		return false
	}
	if m.ifconfigContext.netif == "" {
		return m.ignore()
	}
	n := m.netif(m.ifconfigContext.netif)
	if n < 0 {
		return m.ignore()
	}
	i := &m.Reading.Snapshot.Interfaces[n]
	if words := strings.Fields(text); words[0] == "inet" || words[0] == "inet6" {
		return m.ifconfigAddress(i, words)
	}
	return m.ifconfigLinux(i, text) || m.ifconfigBSD(i, text)
}

// beginIfconfig begins an interface. The name of an alias, "eth0:1", is that of its interface.
func (m *machine) beginIfconfig(h ifconfigHeadLine) {
	name, _, _ := strings.Cut(h.name, ":")
	if m.configured == nil {
		m.configured = map[string]bool{}
	}
	if len(m.configured) < mostInterfaces {
		m.configured[h.name] = true
	}
	m.ifconfigContext = ifconfigContext{known: true, flags: h.flags, link: h.link}
	m.bsdContext = bsdContext{}
	if h.link == "Local Loopback" || strings.Contains(h.flags, ",LOOPBACK,") {
		m.ignore()
		return
	}
	n := m.netif(name)
	if n < 0 {
		return
	}
	m.ifconfigContext.netif = name
	i := &m.Reading.Snapshot.Interfaces[n]
	if h.flags != "" {
		i.Up = strings.Contains(h.flags, ",UP,")
		words := command(strings.Fields(h.rest))
		if mtu := number(words.after("mtu")); mtu > 0 && mtu <= 1<<20 {
			i.MTU = mtu
		}
		if index := number(words.after("index")); index > 0 {
			i.Index = index
		}
	}
	if address, is := mac(h.mac); is {
		i.MAC = address
	}
	m.encapsulated(i, h.link)
	if i.Kind == "" {
		i.Kind = kindOfBSD(name)
	}
}

// ifconfigLinux parses a line of the Linux program, without its indentation.
func (m *machine) ifconfigLinux(i *netstate.InterfaceSnapshot, text string) bool {
	if row := flagsRow.FindStringSubmatch(text); row != nil {
		m.ifconfigContext.flags = "," + strings.ReplaceAll(row[1], " ", ",") + ","
		i.MTU, i.Up = min(number(row[2]), 1<<20), strings.Contains(m.ifconfigContext.flags, ",UP,")
		m.linuxFlags(i)
		m.encapsulated(i, m.ifconfigContext.link)
		return true
	}
	if row := packetsRow.FindStringSubmatch(text); row != nil {
		m.linuxFlags(i)
		c := m.countersOf(i.Interface, true)
		m.setCounter(c, row[1], "packets", row[2])
		m.ifconfigCounters(c, row[1], row[3])
		return true
	}
	if row := errorsRow.FindStringSubmatch(text); row != nil {
		c := m.countersOf(i.Interface, true)
		m.setCounter(c, row[1], "errors", row[2])
		m.ifconfigCounters(c, row[1], row[3])
		return true
	}
	if row := bytesRow.FindStringSubmatch(text); row != nil {
		c := m.countersOf(i.Interface, true)
		m.setCounter(c, "RX", "bytes", row[1])
		m.setCounter(c, "TX", "bytes", row[2])
		return true
	}
	if row := collisionRow.FindStringSubmatch(text); row != nil {
		m.setCounter(m.countersOf(i.Interface, true), "TX", "collisions", row[1])
		m.note(i.Interface).queue = number(row[2])
		return true
	}
	if ignoredRow.MatchString(text) {
		return m.ignore()
	}
	words := command(strings.Fields(text))
	queue := words.after("txqueuelen")
	if queue == "" || encapsulations[words[0]] == "" &&
		!slices.Contains([]string{"ether", "infiniband", "loop"}, words[0]) {
		return false
	}
	// "ether 02:16:7e:35:c7:c2  txqueuelen 1000  (Ethernet)"
	m.note(i.Interface).queue = number(queue)
	if address, is := mac(words[1]); is && words[0] == "ether" {
		i.MAC = address
	}
	m.encapsulated(i, words[0])
	return true
}

// encapsulated stores the kind of an interface if its type tells it.
func (m *machine) encapsulated(i *netstate.InterfaceSnapshot, link string) {
	kind := encapsulations[link]
	if kind == "tun" && !strings.Contains(m.ifconfigContext.flags, ",POINTOPOINT,") {
		return
	}
	if i.Kind == "" {
		i.Kind = kind
	}
}

// linuxFlags stores what the flags of an interface have besides UP. On Linux, RUNNING is the state of
// the link (netdevice(7)).
func (m *machine) linuxFlags(i *netstate.InterfaceSnapshot) {
	has := func(flag string) bool { return strings.Contains(m.ifconfigContext.flags, ","+flag+",") }
	note := m.note(i.Interface)
	note.flags(has("UP") && !has("RUNNING"), has("PROMISC"))
	note.slave, note.bond = has("SLAVE"), has("MASTER")
	if note.bond && i.Kind == "" {
		i.Kind = "bond"
	}
}

// ifconfigCounters parses the counters of a line behind its first one: " errors:0 dropped:5 overruns:0
// frame:0", "  bytes 7 (7.0 B)", "  dropped 5 overruns 0  carrier 0  collisions 0".
func (m *machine) ifconfigCounters(c *netstate.InterfaceCounters, direction, text string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ':' })
	for n := 0; n+1 < len(words); n += 2 {
		if strings.HasPrefix(words[n], "(") {
			return
		}
		m.setCounter(c, direction, words[n], words[n+1])
	}
}

// setCounter stores a counter as /proc/net/dev has it (dev_seq_printf_stats in net/core/net-procfs.c):
// dropped includes rx_missed_errors, and carrier further errors of sending. With collisions, it may be
// these. frame is a sum without a field of its own.
func (m *machine) setCounter(c *netstate.InterfaceCounters, direction, name, value string) {
	fields := map[string]*uint64{"RX packets": &c.RxPackets, "RX bytes": &c.RxBytes, "RX errors": &c.RxErrors,
		"RX dropped": &c.RxDropped, "TX packets": &c.TxPackets, "TX bytes": &c.TxBytes, "TX errors": &c.TxErrors,
		"TX dropped": &c.TxDropped, "TX carrier": &c.TxCarrier, "TX collisions": &c.Collisions}
	if field := fields[direction+" "+name]; field != nil {
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			*field = n
			m.hasCounter(counted[direction+" "+name])
		}
	} else if direction == "RX" && slices.Contains([]string{"overruns", "fifo"}, name) {
		m.overran(c, name, value)
	}
	if c.Collisions > 0 {
		c.TxCarrier = 0
	}
}

// overran stores packets that found no room, by a counter of which drivers have their own idea (rx_fifo_errors,
// rx_over_errors), if the text has none that missed the ring. That it is 0 says nothing about others.
func (m *machine) overran(c *netstate.InterfaceCounters, name, value string) {
	if n, err := strconv.ParseUint(value, 10, 64); err == nil && n > 0 && c.RxMissed == 0 {
		c.RxMissed = n
		m.hasCounter("rx_missed_errors")
		m.counterName("rx_missed_errors", name)
	}
}

// counted has the names in linux/if_link.h of counters as ifconfig(8) and /proc/net/dev call them.
var counted = map[string]string{"RX errors": "rx_errors", "RX dropped": "rx_dropped", "TX errors": "tx_errors",
	"TX dropped": "tx_dropped", "TX carrier": "tx_carrier_errors", "TX collisions": "collisions"}

// ifconfigAddress parses a line with an address, in one of these forms:
//
//	inet addr:192.0.2.1  Bcast:192.0.2.255  Mask:255.255.255.0
//	inet addr:10.8.0.2  P-t-P:10.8.0.1  Mask:255.255.255.255
//	inet6 addr: fe80::1/64 Scope:Link
//	inet 192.0.2.1  netmask 255.255.255.0  broadcast 192.0.2.255
//	inet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255
//	inet 10.8.0.2 --> 10.8.0.1 netmask 0xffffffff
//	inet 192.0.2.1/24 broadcast 192.0.2.255
//	inet6 fe80::1%em0 prefixlen 64 scopeid 0x1
func (m *machine) ifconfigAddress(i *netstate.InterfaceSnapshot, words []string) bool {
	line := command(words)
	text, _ := strings.CutPrefix(line.after(words[0]), "addr:")
	if text == "" {
		text = line.after("addr:")
	}
	text, length, has := strings.Cut(text, "/")
	text, _, _ = strings.Cut(text, "%")
	a, err := netip.ParseAddr(text)
	if err != nil {
		return false
	}
	size := a.BitLen()
	peer := slices.Contains(words, "-->") || slices.Contains(words, "destination")
	for _, w := range words {
		peer = peer || strings.HasPrefix(w, "P-t-P:")
		if mask, is := strings.CutPrefix(w, "Mask:"); is {
			size = maskBits(mask)
		}
	}
	switch {
	case has:
		size = number(length)
	case line.after("netmask") != "":
		size = maskBits(line.after("netmask"))
	case line.after("prefixlen") != "":
		size = number(line.after("prefixlen"))
	}
	if peer { // the prefix length belongs to the peer
		size = a.BitLen()
	}
	p := netip.PrefixFrom(a, size)
	if !p.IsValid() {
		return false
	}
	m.address(i, p)
	if slices.Contains(words, "duplicated") {
		m.duplicate(i, p)
	}
	return true
}

// maskBits returns the prefix length of a mask: "255.255.255.0", "0xffffff00". -1: it is none.
func maskBits(text string) int {
	var mask uint32
	if hex, is := strings.CutPrefix(text, "0x"); is {
		n, err := strconv.ParseUint(hex, 16, 32)
		if err != nil {
			return -1
		}
		mask = uint32(n)
	} else {
		a, err := netip.ParseAddr(text)
		if err != nil || !a.Is4() {
			return -1
		}
		four := a.As4()
		mask = binary.BigEndian.Uint32(four[:])
	}
	ones := bits.LeadingZeros32(^mask)
	if mask<<ones != 0 {
		return -1
	}
	return ones
}
