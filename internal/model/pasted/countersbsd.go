package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
)

// bsdHeads are heads of parts in the output of netstat of FreeBSD, OpenBSD and macOS. They have the
// form of a title, and name no machine.
var bsdHeads = []string{"tcp", "udp", "ip", "icmp", "igmp", "sctp", "carp", "pfsync", "pim", "arp", "divert", "ip6",
	"icmp6", "udp6", "tcp6", "rip6", "pim6", "ipsec", "ipsec6", "ah", "esp", "ipcomp", "ipip", "etherip", "ipencap",
	"gre", "mobileip", "netisr", "mptcp", "pfkey", "unix", "route", "ethernet", "aqm", "pflow", "Internet", "Internet6",
	"Encap"}

var _ = register(
	&format{name: "netstat -s (BSD)", part: "snmp", row: reads((*machine).bsdCounter),
		again:   (*machine).sameBSDCounters,
		command: func(c command) bool { return c.is("netstat") && c.flag('s') }},
	&format{name: "netstat -m", row: reads(func(m *machine, line string) bool {
		return (mbufRow.MatchString(line) || m.behind("netstat -m") && memoryRow.MatchString(line)) && m.ignore()
	}), sure: mbufRow.MatchString, command: func(c command) bool { return c.is("netstat") && c.flag('m') }})

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
	// "0/48123/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)"
	mbufRow = pattern.MustCompile(`^\s*\d+K?(?:/\d+K?){0,3} (?:\d+k (?:\(page size\) )?|\d+K?B? )?` +
		`(?:requests for )?(?:mbufs?|mbuf\+clusters|jumbo clusters)\b`)
	memoryRow = pattern.MustCompile(`^\s*\d+K?(?:/\d+K?){0,2} (?:bytes|Kbytes|KB) (?:allocated to network|returned ` +
		`to ` +
		`the system)\b|` +
		`^\s*\d+(?:/\d+){0,2} (?:requests for (?:memory|sfbufs|I/O)|calls to (?:protocol )?drain|sendfile syscalls|` +
		`sfbufs|` +
		`pages (?:read|were)|times sendfile)\b`)
)

// bsdCounters maps sentences of netstat -s of FreeBSD, OpenBSD and macOS (usr.bin/netstat/inet.c and
// inet6.c) to counters of Linux with the same meaning. N is the number; nouns are in the singular.
// Others, such as "retransmit timeouts", count something else than Linux does and are not used.
var bsdCounters = map[string]map[string]string{
	"tcp": {
		"packet sent": "Tcp.OutSegs", "data packet (N byte) retransmitted": "Tcp.RetransSegs",
		"packet received": "Tcp.InSegs", "discarded for bad checksum": "Tcp.InCsumErrors",
		"connection request": "Tcp.ActiveOpens", "connection accept": "Tcp.PassiveOpens",
		"listen queue overflow":                    "TcpExt.ListenOverflows",
		"connection dropped by rexmit timeout":     "TcpExt.TCPAbortOnTimeout",
		"SACK recovery episode":                    "TcpExt.TCPSackRecovery",
		"packet with bad signature received":       "TcpExt.TCPMD5Failure",
		"time unexpected signature received":       "TcpExt.TCPMD5Unexpected",
		"time no signature provided by segment":    "TcpExt.TCPMD5NotFound",
		"bad signature":                            "TcpExt.TCPMD5Failure",
		"connection in ESTABLISHED state":          "Tcp.CurrEstab",
		"connections in ESTABLISHED state":         "Tcp.CurrEstab",
		"connection in ESTABLISHED state (native)": "Tcp.CurrEstab",
	},
	"udp": {
		"delivered": "Udp.InDatagrams", "with bad checksum": "Udp.InCsumErrors", "dropped due to no socket": "Udp.NoPorts",
		"dropped due to full socket buffers": "Udp.RcvbufErrors", "datagram output": "Udp.OutDatagrams",
	},
	"ip": {
		"total packet received": "Ip.InReceives", "bad header checksum": "IpExt.InCsumErrors",
		"fragment received": "Ip.ReasmReqds", "packet reassembled ok": "Ip.ReasmOKs",
		"packet for this host": "Ip.InDelivers", "packet for unknown/unsupported protocol": "Ip.InUnknownProtos",
		"redirect sent": "Icmp.OutRedirects", "packet sent from this host": "Ip.OutRequests",
		"output packet dropped due to no bufs, etc.": "Ip.OutDiscards",
		"output packet discarded due to no route":    "Ip.OutNoRoutes",
		"output datagram fragmented":                 "Ip.FragOKs", "fragment created": "Ip.FragCreates",
		"datagram that can't be fragmented": "Ip.FragFails",
	},
	"ip6": {
		"total packet received": "Ip6.InReceives", "fragment received": "Ip6.ReasmReqds",
		"packet reassembled ok": "Ip6.ReasmOKs", "packet for this host": "Ip6.InDelivers",
		"packet sent from this host":                 "Ip6.OutRequests",
		"output packet dropped due to no bufs, etc.": "Ip6.OutDiscards",
		"output packet discarded due to no route":    "Ip6.OutNoRoutes",
		"output datagram fragmented":                 "Ip6.FragOKs", "fragment created": "Ip6.FragCreates",
		"datagram that can't be fragmented": "Ip6.FragFails",
	},
	"icmp": {"bad checksum": "Icmp.InCsumErrors"}, "icmp6": {"bad checksum": "Icmp6.InCsumErrors"},
}

// bsdTypes maps types of ICMP messages in histograms to the end of the names of counters.
var bsdTypes = map[string]string{"destination unreachable": "DestUnreachs", "routing redirect": "Redirects",
	"time exceeded": "TimeExcds", "parameter problem": "ParmProbs", "unreach": "DestUnreachs", "redirect": "Redirects",
	"time exceed": "TimeExcds"}

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
		name := bsdTypes[row[1]]
		if protocol == "Icmp6" && row[1] == "parameter problem" {
			name = "ParmProblems"
		}
		if protocol == "" || m.bsdHistogram == "" || name == "" {
			return m.ignore()
		}
		return m.add(protocol+"."+m.bsdHistogram+name, row[2])
	}
	row := bsdSentence.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	words := strings.Split(bsdFigure.ReplaceAllString(row[2], "N"), " ")
	for n, w := range words {
		bare := strings.TrimRight(w, ")")
		if slices.Contains(bsdNouns, bare) {
			words[n] = strings.TrimSuffix(bare, "s") + w[len(bare):]
		}
	}
	name := bsdCounters[m.bsdSection][strings.Join(words, " ")]
	if name == "" {
		return m.ignore()
	}
	if name == "Tcp.RetransSegs" { // of the segments sent, Linux counts these apart
		n, _ := strconv.ParseInt(row[1], 10, 64)
		if sent := m.Reading.End.SNMP["Tcp.OutSegs"]; sent >= n && n > 0 {
			m.Reading.End.SNMP["Tcp.OutSegs"] = sent - n
		}
	}
	return m.add(name, row[1])
}

// sameBSDCounters reports whether a line begins a section that the machine already has.
func (m *machine) sameBSDCounters(line string, gap bool) bool {
	first := map[string]string{"tcp:": "Tcp.OutSegs", "udp:": "Udp.NoPorts", "ip:": "Ip.InReceives"}[line]
	_, has := m.Reading.End.SNMP[first]
	return gap && first != "" && has
}
