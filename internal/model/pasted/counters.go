package pasted

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sections has the sections of netstat -s and the protocols with which names of nstat(8) begin;
// longer ones come first.
var sections = []string{"MPTcpExt", "TcpExt", "IcmpMsg", "UdpLite6", "UdpLite", "Icmp6", "IpExt", "Icmp", "Udp6", "Tcp",
	"Udp", "Ip6", "Ip"}

var (
	nstatRow    = regexp.MustCompile(`^([A-Z][A-Za-z0-9]+)\s+(\d+)\s+[\d.]+$`)
	sectionHead = regexp.MustCompile(`^([A-Za-z0-9]+):$`)
	figure      = regexp.MustCompile(`\d+`)
)

var _ = register(&format{name: "netstat -s", part: "snmp", row: reads((*machine).counter),
	sure: func(line string) bool { return nstatRow.MatchString(line) }, command: func(c command) bool {
		return c.is("nstat") || c.is("netstat") && (c.flag('s') || c.has("--statistics"))
	}})

// counter parses a line of nstat(8) or netstat(8) -s, whose counters are since boot.
func (m *machine) counter(line string) bool {
	if strings.HasPrefix(line, "#kernel") || strings.HasPrefix(line, "#") && strings.Contains(line, "nstat") {
		return m.ignore()
	}
	if row := nstatRow.FindStringSubmatch(line); row != nil {
		for _, protocol := range sections {
			if name, is := strings.CutPrefix(row[1], protocol); is && name != "" {
				return m.add(protocol+"."+name, row[2])
			}
		}
		return false
	}
	if head := sectionHead.FindStringSubmatch(line); head != nil && slices.Contains(sections, head[1]) {
		m.section = head[1]
		return m.ignore()
	}
	text, indented := strings.TrimSpace(line), strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
	if m.section == "" || !indented {
		return false
	}
	if name, value, is := strings.Cut(text, ": "); is && !strings.Contains(name, " ") && isNumber(value) {
		return m.add(m.section+"."+name, value)
	}
	value := figure.FindString(text)
	if value == "" {
		return (strings.HasPrefix(text, "Forwarding is") || strings.HasSuffix(text, ":")) && m.ignore() // of ICMP's histograms
	}
	if name := sentences[m.section][strings.Replace(text, value, "N", 1)]; name != "" {
		return m.add(m.section+"."+name, value)
	}
	return m.ignore() // a counter that no rule uses
}

func (m *machine) add(name, value string) bool {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	if m.Reading.End.SNMP == nil {
		m.Reading.End.SNMP = map[string]int64{}
	}
	if len(m.Reading.End.SNMP) < mostRows {
		m.Reading.End.SNMP[name] = n
	}
	return true
}

// sentences maps the sentences of netstat -s (net-tools, statistics.c), by section, to the counters
// that rules use. Counters without a sentence are printed by name.
var sentences = map[string]map[string]string{
	"Ip": {
		"N total packets received": "InReceives", "N with invalid headers": "InHdrErrors",
		"N with invalid addresses":     "InAddrErrors",
		"N incoming packets discarded": "InDiscards", "N incoming packets delivered": "InDelivers",
		"N requests sent out":        "OutRequests",
		"N outgoing packets dropped": "OutDiscards", "N dropped because of missing route": "OutNoRoutes",
		"N packet reassembles failed": "ReasmFails", "N packet reassemblies failed": "ReasmFails",
		"N reassemblies required": "ReasmReqds",
		"N fragments failed":      "FragFails", "N fragments created": "FragCreates", "N forwarded": "ForwDatagrams",
	},
	"Tcp": {
		"N active connection openings": "ActiveOpens", "N active connections openings": "ActiveOpens",
		"N passive connection openings": "PassiveOpens",
		"N failed connection attempts":  "AttemptFails", "N connection resets received": "EstabResets",
		"N segments received": "InSegs",
		"N segments sent out": "OutSegs", "N segments send out": "OutSegs", "N segments retransmitted": "RetransSegs",
		"N segments retransmited": "RetransSegs",
		"N bad segments received": "InErrs", "N bad segments received.": "InErrs", "N resets sent": "OutRsts",
	},
	"Udp": {
		"N packets received": "InDatagrams", "N packets to unknown port received": "NoPorts",
		"N packets to unknown port received.": "NoPorts",
		"N packet receive errors":             "InErrors", "N packets sent": "OutDatagrams",
		"N receive buffer errors": "RcvbufErrors", "N send buffer errors": "SndbufErrors",
	},
	"TcpExt": {
		"N times the listen queue of a socket overflowed":                            "ListenOverflows",
		"N SYNs to LISTEN sockets dropped":                                           "ListenDrops",
		"N SYNs to LISTEN sockets ignored":                                           "ListenDrops",
		"N packets pruned from receive queue because of socket buffer overrun":       "PruneCalled",
		"N packets pruned from receive queue":                                        "RcvPruned",
		"N packets dropped from out-of-order queue because of socket buffer overrun": "OfoPruned",
		"N connections reset due to unexpected data":                                 "TCPAbortOnData",
		"N connections reset due to early user close":                                "TCPAbortOnClose",
		"N connections aborted due to timeout":                                       "TCPAbortOnTimeout",
		"N connections aborted due to memory pressure":                               "TCPAbortOnMemory",
		"N DSACKs received":                                                          "TCPDSACKRecv",
		"N packets rejected in established connections because of timestamp":         "PAWSEstab",
		"N packetes rejected in established connections because of timestamp":        "PAWSEstab",
		"N active connections rejected because of time stamp":                        "PAWSActive",
		"N times recovered from packet loss by selective acknowledgements":           "TCPSackRecovery",
		"N other TCP timeouts":                                                       "TCPTimeouts",
		"Detected reordering N times using SACK":                                     "TCPSACKReorder",
		"Detected reordering N times using time stamp":                               "TCPTSReorder",
		"Detected reordering N times using reno fast retransmit":                     "TCPRenoReorder",
		"N bad SACK blocks received":                                                 "TCPSACKDiscard",
		"N SACK retransmits failed":                                                  "TCPSackFailures",
		"TCP ran low on memory N times":                                              "TCPMemoryPressures",
	},
}
