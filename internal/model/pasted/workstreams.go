package pasted

import (
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "netstat -Q", system: only(opsystem.FreeBSD),
		part: "snmp", row: reads((*machine).workstream), sure: workstreamHead.MatchString,
		command: func(c command) bool { return c.is("netstat") && c.flag('Q') }},
	&format{name: "vmstat -i", system: only(opsystem.OtherBSD),
		part: "interrupts", row: reads((*machine).interruptSource),
		sure: interruptsHead.MatchString, command: func(c command) bool { return c.is("vmstat") && c.flag('i') }})

var (
	// "WSID CPU   Name     Len WMark   Disp'd  HDisp'd   QDrops   Queued  Handled"
	workstreamHead = pattern.MustCompile(`^WSID CPU\s+Name\s+Len\s+WMark\s+Disp'd\s+HDisp'd\s+` +
		`QDrops\s+Queued\s+Handled$`)
	workstreamRow = pattern.MustCompile(`^\s+(?:\d{1,5}\s+\d{1,5}\s+)?[a-z]\w*(?:\s+\d{1,20}){4}\s+(\d{1,20})` +
		`\s+\d{1,20}\s+\d{1,20}$`)
	netisrRow = pattern.MustCompile(`^(?:Configuration|Protocols|Workstreams):$|^Setting\s+(?:Current|Value)\s+` +
		`|^(?:Thread count|Default queue limit|Dispatch policy|Direct dispatch|Forced direct dispatch|` +
		`Threads bound to CPUs)\s|^Name\s+Proto\s+QLimit\s|^[a-z]\w*\s+\d+\s+\d+\s+(?:source|flow|cpu|default|-)\s`)

	// "interrupt                          total       rate"
	interruptsHead = pattern.MustCompile(`^interrupt\s+total\s+rate$`)
	// "irq264: igb0:rxq0                 123456789       1234" of FreeBSD, "irq114/em0:0   343434   7" of OpenBSD
	interruptsRow = pattern.MustCompile(`^(irq(\d{1,6})(?:: |/)(\S.*?)|\S.*?)\s+(\d{1,20})\s+\d{1,20}$`)
	// "igb0:rxq0", "igb0:que 0", "em0:irq0", "ix0:3"
	queueIRQ = pattern.MustCompile(`^([a-z][a-z0-9]*\d):(?:rxq|que ?|q|irq|rx ?)?\d{1,4}\+?$`)
)

// workstreamContext says whether the rows of workstreams, or the sources of interrupts, follow.
type workstreamContext struct{ workstreams, sources bool }

// workstream parses a line of netstat -Q of FreeBSD (usr.bin/netstat/netisr.c): what each CPU did with the packets
// of each protocol.
func (m *machine) workstream(line string) bool {
	if workstreamHead.MatchString(line) {
		m.workstreams = true
		delete(m.Reading.End.SNMP, netstate.NetisrDrops)
		return m.ignore()
	}
	row := workstreamRow.FindStringSubmatch(line)
	if row == nil || !m.workstreams {
		return (m.command.is("netstat") || m.behind("netstat -Q")) && netisrRow.MatchString(line) && m.ignore()
	}
	n, err := strconv.ParseInt(row[1], 10, 64)
	before := m.Reading.End.SNMP[netstate.NetisrDrops]
	if err != nil || before+n < before {
		return m.ignore()
	}
	m.counterName(netstate.NetisrDrops, "netstat -Q: QDrops")
	return m.add(netstate.NetisrDrops, strconv.FormatInt(before+n, 10))
}

// interruptSource parses a line of vmstat -i of FreeBSD or OpenBSD. Of the sources only the queues of NICs are kept.
func (m *machine) interruptSource(line string) bool {
	if interruptsHead.MatchString(line) {
		m.sources = true
		return m.ignore()
	}
	row := interruptsRow.FindStringSubmatch(line)
	if row == nil || !m.sources {
		return false
	}
	queue := queueIRQ.FindStringSubmatch(row[3])
	count, err := strconv.ParseInt(row[4], 10, 64)
	if queue == nil || err != nil || !wordlike.MatchString(queue[1]) || m.netif(queue[1]) < 0 ||
		m.irqCounts >= mostRows {
		return m.ignore()
	}
	nic := m.nicOf(queue[1])
	nic.IRQs = append(nic.IRQs, netstate.IRQ{IRQ: number(row[2]), Name: plain.Short(strings.TrimSuffix(row[3], "+"),
		longestName), Count: count})
	m.irqCounts++
	return true
}
