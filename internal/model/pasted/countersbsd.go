package pasted

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/pattern"
)

// bsdHeads are heads of parts in the output of netstat of FreeBSD, OpenBSD and macOS. They have the
// form of a title, and name no machine.
var bsdHeads = []string{"tcp", "udp", "ip", "icmp", "igmp", "sctp", "carp", "pfsync", "pim", "arp", "divert", "ip6",
	"icmp6", "udp6", "tcp6", "rip6", "pim6", "ipsec", "ipsec6", "ah", "esp", "ipcomp", "ipip", "etherip", "ipencap",
	"gre", "mobileip", "netisr", "mptcp", "pfkey", "unix", "route", "ethernet", "aqm", "pflow", "Internet", "Internet6",
	"Encap", "Configuration", "Protocols", "Workstreams"}

var _ = register(
	&format{name: "netstat -s (BSD)", system: only(opsystem.OtherBSD), part: "snmp", row: reads((*machine).bsdCounter),
		again:   (*machine).sameBSDCounters,
		command: func(c command) bool { return c.is("netstat") && c.flag('s') }},
	&format{name: "netstat -m", system: only(opsystem.OtherBSD),
		part: "snmp", row: reads((*machine).mbufs), sure: mbufRow.MatchString,
		command: func(c command) bool { return c.is("netstat") && c.flag('m') }})

// bsdCounterContext is the section that lines of netstat -s of a BSD belong to, and the direction of the
// histogram in it.
type bsdCounterContext struct{ bsdSection, bsdHistogram string }

var (
	// "	182733 data packets (264596384 bytes) retransmitted"
	bsdSentence = pattern.MustCompile(`^\s+(\d{1,20}) (\S.*)$`)
	// "		destination unreachable: 65"
	bsdType    = pattern.MustCompile(`^\s+([A-Za-z#][A-Za-z0-9 #/-]{0,60})(?:: |= )(\d{1,20})$`)
	bsdSubhead = pattern.MustCompile(`^\s+(?:(Input|Output) (?:packet )?histogram(?: \(by type\))?|Histogram of [a-z ` +
		`]+|Mbuf statistics|` +
		`two or more (?:ext )?mbuf|[Ss]ource addresses .*|TCP connection count by state|ICMP address mask responses ` +
		`are disabled|` +
		`Failures of source address selection|dropped due to .*):?$|^TCP connection count by state:$`)
)

// bsdNouns are words that netstat prints in the plural unless the number is 1.
var bsdNouns = strings.Fields("packets datagrams overflows checksums requests accepts connections bytes fragments " +
	"times episodes redirects signatures")

var bsdFigure = pattern.MustCompile(`\b\d{1,20}\b`)

// bsdCounter parses a line of netstat -s of FreeBSD, OpenBSD or macOS, whose counters are since boot.
func (m *machine) bsdCounter(line string) bool {
	if head := title.FindStringSubmatch(line); head != nil && slices.Contains(bsdHeads, head[1]) {
		m.bsdSection, m.bsdHistogram = head[1], ""
		return m.ignore()
	}
	if m.bsdSection == "" || !indented(line) && !strings.HasPrefix(line, "TCP connection count") {
		return false
	}
	if head := bsdSubhead.FindStringSubmatch(line); head != nil {
		m.bsdHistogram = map[string]string{"Input": "In", "Output": "Out"}[head[1]]
		return m.ignore()
	}
	if row := bsdType.FindStringSubmatch(line); row != nil {
		protocol := map[string]string{"icmp": "Icmp", "icmp6": "Icmp6"}[m.bsdSection]
		name := netstate.BSDTypes[row[1]]
		if protocol == "Icmp6" && row[1] == "parameter problem" {
			name = "ParmProblems"
		}
		if protocol == "" || m.bsdHistogram == "" || name == "" {
			return m.ignore()
		}
		m.counterName(protocol+"."+m.bsdHistogram+name, fmt.Sprintf("%s: %s (%s histogram)", m.bsdSection, row[1],
			map[string]string{"In": "input", "Out": "output"}[m.bsdHistogram]))
		return m.add(protocol+"."+m.bsdHistogram+name, row[2])
	}
	row := bsdSentence.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	words := strings.Split(bsdFigure.Regexp().ReplaceAllString(row[2], "N"), " ")
	for n, w := range words {
		bare := strings.TrimRight(w, ")")
		if slices.Contains(bsdNouns, bare) {
			words[n] = strings.TrimSuffix(bare, "s") + w[len(bare):]
		}
	}
	name := netstate.BSDCounters()[m.bsdSection][strings.Join(words, " ")]
	if name == "" {
		return m.ignore()
	}
	if name == "Tcp.RetransSegs" { // of the segments sent, Linux counts these apart
		n, _ := strconv.ParseInt(row[1], 10, 64)
		if sent := m.Reading.End.SNMP["Tcp.OutSegs"]; sent >= n && n > 0 {
			m.Reading.End.SNMP["Tcp.OutSegs"] = sent - n
		}
	}
	m.counterName(name, m.bsdSection+": "+bsdFigure.Regexp().ReplaceAllString(row[2], "N"))
	return m.add(name, row[1])
}

// sameBSDCounters reports whether a line begins a section that the machine already has.
func (m *machine) sameBSDCounters(line string, gap bool) bool {
	first := map[string]string{"tcp:": "Tcp.OutSegs", "udp:": "Udp.NoPorts", "ip:": "Ip.InReceives"}[line]
	_, has := m.Reading.End.SNMP[first]
	return gap && first != "" && has
}
