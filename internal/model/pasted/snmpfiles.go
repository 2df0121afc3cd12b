package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
)

var _ = register(
	&format{name: "net/snmp", part: "snmp", row: reads((*machine).snmpPair), sure: ofProtocol,
		files: []string{"net/snmp", "net/netstat"}, again: (*machine).sameSNMP},
	&format{name: "net/snmp6", part: "snmp", row: reads((*machine).snmp6),
		files: []string{"net/snmp6", "net/dev_snmp6/*"}},
	&format{name: "net/sockstat", part: "sockstat", row: reads((*machine).sockstatRow),
		sure: sockstatRow.MatchString, files: []string{"net/sockstat", "net/sockstat6"}})

// snmpContext has the names of the counters whose values are on the next line.
type snmpContext struct {
	snmpProtocol string
	snmpColumns  []string
}

var (
	// "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors"
	snmpNames  = pattern.MustCompile(`^([A-Z][A-Za-z]{1,15}):((?: [A-Z][A-Za-z0-9]{1,60}){2,})$`)
	snmpValues = pattern.MustCompile(`^([A-Z][A-Za-z]{1,15}):((?: -?\d{1,19})+)$`)
	// "Ip6InReceives                   	1532"
	snmp6Row = pattern.MustCompile(`^(?:(Ip6|Icmp6|Udp6|UdpLite6)([A-Z][A-Za-z0-9]{1,60})|ifIndex)\s+(\d{1,19})$`)
	// "TCP: inuse 1365 orphan 17 tw 2030 alloc 2788 mem 4109"
	sockstatRow = pattern.MustCompile(`^(?:(sockets): used \d+|(TCP|UDP|UDPLITE|RAW|FRAG)(6?): inuse (\d{1,18})((?: ` +
		`[a-z]{1,10} \d{1,18})*))$`)
)

// ofProtocol reports whether a line has the names of a protocol's counters.
func ofProtocol(line string) bool {
	row := snmpNames.FindStringSubmatch(line)
	return row != nil && slices.Contains(sections, row[1])
}

// snmpPair parses a line of /proc/net/snmp or netstat: of two lines, the first has the names and the
// second the values (net/ipv4/proc.c).
func (m *machine) snmpPair(line string) bool {
	if row := snmpNames.FindStringSubmatch(line); row != nil && slices.Contains(sections, row[1]) {
		m.snmpProtocol, m.snmpColumns = row[1], strings.Fields(row[2])
		return m.ignore()
	}
	row := snmpValues.FindStringSubmatch(line)
	if row == nil || row[1] != m.snmpProtocol {
		return false
	}
	values := strings.Fields(row[2])
	if len(values) != len(m.snmpColumns) {
		return false
	}
	for n, value := range values {
		m.add(m.snmpProtocol+"."+m.snmpColumns[n], value)
	}
	m.snmpProtocol = ""
	return true
}

// sameSNMP reports whether a line has names of counters that the machine already has, after an empty
// line.
func (m *machine) sameSNMP(line string, gap bool) bool {
	row := snmpNames.FindStringSubmatch(line)
	if !gap || row == nil {
		return false
	}
	_, has := m.Reading.End.SNMP[row[1]+"."+strings.Fields(row[2])[0]]
	return has
}

// snmp6 parses a line of /proc/net/snmp6.
func (m *machine) snmp6(line string) bool {
	row := snmp6Row.FindStringSubmatch(line)
	switch {
	case row == nil:
		return false
	case row[1] == "", strings.Contains(m.command.prints(), "dev_snmp6"): // of one interface
		return m.ignore()
	}
	return m.add(row[1]+"."+row[2], row[3])
}

// sockstatRow parses a line of /proc/net/sockstat or sockstat6.
func (m *machine) sockstatRow(line string) bool {
	row := sockstatRow.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	if row[1] != "" {
		return m.ignore()
	}
	words := append([]string{"inuse", row[4]}, strings.Fields(row[5])...)
	for n := 0; n+1 < len(words); n += 2 {
		if value, err := strconv.ParseInt(words[n+1], 10, 64); err == nil {
			m.sockstat(row[2]+row[3]+"."+words[n], value)
		}
	}
	return true
}

// sockstat stores a value of /proc/net/sockstat.
func (m *machine) sockstat(name string, value int64) {
	if m.State.Sockstat == nil {
		m.State.Sockstat = map[string]int64{}
	}
	if len(m.State.Sockstat) < 256 {
		m.State.Sockstat[name] = value
	}
}
