package pasted

import (
	"net/netip"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
)

var _ = register(
	&format{name: "netstat -i", system: several,
		part: "interfaces", row: reads((*machine).interfaceRow), again: (*machine).sameTable,
		sure: func(line string) bool { return interfaceHead.MatchString(line) || linkRow.MatchString(line) },
		command: func(c command) bool {
			return c.is("netstat") && (c.flag('i') || c.flag('I') || c.has("--interfaces")) && !c.flag('s') &&
				!c.flag('r') || c.is("ifconfig") && c.flag('s')
		}},
	&format{name: "net/dev", part: "interfaces", row: reads((*machine).deviceRow), again: (*machine).sameDevices,
		sure: deviceHead.MatchString, files: []string{"net/dev"}})

// tableContext has the columns of a table of netstat, from its head.
type tableContext struct {
	// heads are the words of the head. A BSD's table has the interface's name, MTU, network and
	// address first; width is that of names, which may be cut to it.
	heads []string
	bsd   bool
	width int
}

var (
	// "Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg"
	// "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll"
	interfaceHead = pattern.MustCompile(`^(?:Iface\s+MTU\s+(?:Met\s+)?RX-OK\s|Name\s+Mtu\s+Network\s+Address\s)`)
	// "ix0    1500 <Link#1>      02:a0:57:72:b3:8d 91827364  4121     0 81726354     0 91823"
	linkRow = pattern.MustCompile(`^(\S{1,16})\s+(\d{1,6})\s+<Link(?:#(\d{1,6}))?>\s+(.*)$`)
	netRow  = pattern.MustCompile(`^(\S{1,16})\s+(\d{1,6}|-)\s+(\S+)\s+(\S+)((?:\s+(?:\d{1,20}|-))+)\s*$`)
	flgRow  = pattern.MustCompile(`^(\S{1,16})\s+(\d{1,6})((?:\s+\d{1,20}){8,9})\s+([A-Zdmps]{1,12}|\[NO FLAGS\])$`)
	noStats = pattern.MustCompile(`^\S{1,16}\s+\d{1,6}\s+(?:\d+\s+)?-?\s*no statistics available -`)

	// macInterface matches names of macOS, which has no column Idrop.
	macInterface = pattern.MustCompile(`^(?:en|awdl|llw|utun|anpi|ap)\d+$`)

	deviceHead = pattern.MustCompile(`^\s*(?:Inter-\|\s+Receive\s+\|\s+Transmit|face \|bytes\s+packets errs drop fifo)`)
	loopback   = pattern.MustCompile(`^lo\d*$`)
	deviceRow  = pattern.MustCompile(`^\s*([^\s:]{1,15}(?::\d{1,5})?):\s*(\d{1,20}(?:\s+\d{1,20}){15})$`)
)

// interfaceColumns maps heads of netstat -i to counters as /proc/net/dev and ifnet(9) have them. The
// drops at input of a BSD include packets for which the NIC had no buffer.
var interfaceColumns = map[string][2]string{
	"RX-OK": {"RX", "packets"}, "RX-ERR": {"RX", "errors"}, "RX-DRP": {"RX", "dropped"},
	"RX-OVR": {"RX", "overruns"},
	"TX-OK":  {"TX", "packets"}, "TX-ERR": {"TX", "errors"}, "TX-DRP": {"TX", "dropped"},
	"Ipkts": {"RX", "packets"}, "Ierrs": {"RX", "errors"}, "Ifail": {"RX", "errors"}, "Idrop": {"RX", "dropped"},
	"Ibytes": {"RX", "bytes"}, "Opkts": {"TX", "packets"}, "Oerrs": {"TX", "errors"}, "Ofail": {"TX", "errors"},
	"Obytes": {"TX", "bytes"}, "Drop": {"TX", "dropped"}, "Odrop": {"TX", "dropped"}, "Coll": {"TX", "collisions"},
	"Colls": {"TX", "collisions"},
}

// sameTable reports whether a line begins a second table of the machine, or one that lacks its head.
func (m *machine) sameTable(line string, gap bool) bool {
	return interfaceHead.MatchString(line) && m.tabled[interfaceTable] || gap && linkRow.MatchString(line)
}

const interfaceTable, deviceTable = "netstat -i", "net/dev"

// beginTable records that the head of a table was read.
func (m *machine) beginTable(name string) {
	lists.Put(&m.tabled, name, true)
}

// interfaceRow parses a line of netstat -i of Linux or a BSD, or of ifconfig -s.
func (m *machine) interfaceRow(line string) bool {
	if line == "Kernel Interface table" || noStats.MatchString(line) {
		return m.ignore()
	}
	if interfaceHead.MatchString(line) {
		m.heads = strings.Fields(line)
		m.bsd, m.width = m.heads[0] == "Name", max(strings.Index(line, "Mtu"), 0)-1
		m.beginTable(interfaceTable)
		return m.ignore()
	}
	if row := linkRow.FindStringSubmatch(line); row != nil {
		return m.bsdLink(row)
	}
	if row := flgRow.FindStringSubmatch(line); row != nil {
		return m.linuxInterface(row)
	}
	row := netRow.FindStringSubmatch(line)
	return row != nil && m.bsd && m.behind("netstat -i") && m.bsdNetwork(row)
}

// linuxInterface stores a row of Linux. Without a head, the values are those of the current version.
func (m *machine) linuxInterface(row []string) bool {
	heads := []string{"RX-OK", "RX-ERR", "RX-DRP", "RX-OVR", "TX-OK", "TX-ERR", "TX-DRP", "TX-OVR"}
	values := strings.Fields(row[3])
	if len(m.heads) == len(values)+3 && m.heads[0] == "Iface" {
		heads = m.heads[2 : len(m.heads)-1]
	} else if len(values) != len(heads) {
		return false
	}
	name, _, alias := strings.Cut(row[1], ":")
	if flags := row[4]; alias || strings.Contains(flags, "L") || !wordlike.MatchString(name) {
		return m.ignore()
	}
	n := m.netif(name)
	if n < 0 {
		return m.ignore()
	}
	i := &m.Reading.Snapshot.Interfaces[n]
	i.MTU, i.Up = min(number(row[2]), 1<<20), strings.Contains(row[4], "U") && row[4] != "[NO FLAGS]"
	note := m.note(name)
	note.flags(i.Up && !strings.Contains(row[4], "R"), strings.Contains(row[4], "P"))
	m.tableCounters(name, heads, values)
	return true
}

// tableCounters stores the counters of a row.
func (m *machine) tableCounters(name string, heads, values []string) {
	c := m.countersOf(name, true)
	for n, value := range values {
		if to, is := interfaceColumns[heads[n]]; is {
			m.setCounter(c, to[0], to[1], value)
			if counter := counted[to[0]+" "+to[1]]; m.bsd && counter != "" {
				m.counterName(counter, heads[n])
			}
		}
	}
}

// bsdLink stores a row of the link of an interface. A name that may be cut is not used.
func (m *machine) bsdLink(row []string) bool {
	name, down := strings.CutSuffix(row[1], "*")
	if m.width > 0 && len(row[1]) >= m.width && strings.TrimRight(name, "0123456789") == name ||
		!wordlike.MatchString(name) || loopback.MatchString(name) {
		return m.ignore()
	}
	values := strings.Fields(row[4])
	heads := []string{"Ipkts", "Ierrs", "Idrop", "Opkts", "Oerrs", "Coll"}
	if m.bsd {
		heads = m.heads[4:]
	} else if macInterface.MatchString(name) {
		return false // those heads are FreeBSD's
	}
	address := ""
	if len(values) > len(heads) || len(values) > 0 && !isNumber(values[0]) {
		address, values = values[0], values[1:]
	}
	if len(values) != len(heads) {
		return false // the head is missing, or it is of another table
	}
	at := m.netif(name)
	if at < 0 {
		return m.ignore()
	}
	i := &m.Reading.Snapshot.Interfaces[at]
	if index := number(row[3]); i.Index != 0 && index != 0 && i.Index != index {
		return m.ignore() // of another interface, whose name is cut to the same
	} else if index != 0 {
		i.Index = index
	}
	if i.MTU = min(number(row[2]), 1<<20); i.Kind == "" {
		i.Kind = kindOfBSD(name)
	}
	if i.Up = !down; address != "" {
		if a, is := mac(address); is {
			i.MAC = a
		}
	}
	m.tableCounters(name, heads, values)
	return true
}

// bsdNetwork reads the address of a row that has a network with its length: "192.0.2.0/24  192.0.2.1".
// Its counters are those of the address.
func (m *machine) bsdNetwork(row []string) bool {
	name := strings.TrimSuffix(row[1], "*")
	network, err := netip.ParsePrefix(row[3])
	a, addressErr := netip.ParseAddr(row[4])
	at, known := m.netifs[name]
	if err != nil || addressErr != nil || !a.Is4() || !network.Contains(a) || !known {
		return m.ignore()
	}
	m.address(&m.Reading.Snapshot.Interfaces[at], netip.PrefixFrom(a, network.Bits()))
	return true
}

// sameDevices reports whether a line begins a second table of /proc/net/dev.
func (m *machine) sameDevices(line string, _ bool) bool {
	return strings.HasPrefix(line, "Inter-") && m.tabled[deviceTable]
}

// deviceRow parses a line of /proc/net/dev (net/core/net-procfs.c).
func (m *machine) deviceRow(line string) bool {
	if deviceHead.MatchString(line) {
		if strings.HasPrefix(line, "Inter-") {
			m.beginTable(deviceTable)
		}
		return m.ignore()
	}
	row := deviceRow.FindStringSubmatch(line)
	if row == nil || !m.behind("net/dev") && m.command.prints() == "" {
		return false
	}
	if row[1] == "lo" || !wordlike.MatchString(row[1]) {
		return m.ignore()
	}
	n := m.netif(row[1])
	if n < 0 {
		return m.ignore()
	}
	c := m.countersOf(row[1], true)
	for at, value := range strings.Fields(row[2]) {
		if name := deviceColumns[at]; name != "" {
			direction, counter, _ := strings.Cut(name, " ")
			m.setCounter(c, direction, counter, value)
		}
	}
	return true
}

// deviceColumns are the counters of a row of /proc/net/dev. Empty: one without a field.
var deviceColumns = [16]string{"RX bytes", "RX packets", "RX errors", "RX dropped", "RX fifo", "", "", "",
	"TX bytes", "TX packets", "TX errors", "TX dropped", "", "TX collisions", "TX carrier", ""}
