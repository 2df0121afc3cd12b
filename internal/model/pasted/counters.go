package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
)

// sections has the sections of netstat -s and the protocols with which names of nstat(8) begin;
// longer ones come first.
var sections = []string{"MPTcpExt", "TcpExt", "IcmpMsg", "UdpLite6", "UdpLite", "Icmp6", "IpExt", "Icmp", "Udp6", "Tcp6",
	"Tcp", "Udp", "Sctp", "Ip6", "Ip"}

var (
	nstatRow    = pattern.MustCompile(`^([A-Z][A-Za-z0-9]+)\s+(\d+)\s+\d+\.\d+$`)
	sectionHead = pattern.MustCompile(`^([A-Za-z0-9]+):$`)
	counterName = pattern.MustCompile(`^[A-Z][A-Za-z0-9]{1,60}$`)
)

var _ = register(&format{name: "netstat -s", system: several, part: "snmp", row: reads((*machine).counter),
	sure: func(line string) bool {
		_, sentence := sentenceOf(strings.TrimSpace(line))
		return nstatRow.MatchString(line) || tcpExtSentences[sentence] != ""
	}, command: func(c command) bool {
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
		m.section, m.histogram = head[1], ""
		return m.ignore()
	}
	text := strings.TrimSpace(line)
	if m.section == "" {
		return m.bsdSection == "" && m.sectionless(text)
	}
	if !indented(line) {
		return false
	}
	if direction := histograms[text]; direction != "" {
		m.histogram = direction
		return m.ignore()
	}
	value, sentence := sentenceOf(text)
	if name := m.sentence(sentence); name != "" && value != "" {
		return m.add(m.section+"."+name, value)
	}
	if name, value, is := strings.Cut(text, ": "); is && counterName.MatchString(name) && isNumber(value) {
		return m.add(m.section+"."+strings.TrimPrefix(name, m.section), value)
	}
	return (strings.HasPrefix(text, "Forwarding is ") || strings.HasPrefix(text, "Default TTL is ") ||
		strings.HasPrefix(text, "RTO algorithm is ")) && m.ignore()
}

// sectionless parses a line of netstat -s without the head of its section, as grep leaves it: a
// sentence about TCP, or a counter whose name begins with that.
func (m *machine) sectionless(text string) bool {
	value, sentence := sentenceOf(text)
	if name := tcpSentences[sentence]; name != "" && value != "" {
		return m.add("Tcp."+name, value)
	}
	if name := tcpExtSentences[sentence]; name != "" && value != "" {
		return m.add("TcpExt."+name, value)
	}
	name, value, is := strings.Cut(text, ": ")
	return is && m.command.is("netstat") && strings.HasPrefix(name, "TCP") && counterName.MatchString(name) &&
		isNumber(value) && m.add("TcpExt."+name, value)
}

// sentenceOf returns the number of a sentence of netstat -s, and the sentence with N in its place.
func sentenceOf(text string) (value, sentence string) {
	for i := 0; i < len(text) && value == ""; i++ {
		n := span(text[i:], len(text), isWordByte)
		if digits := span(text[i:], n, isDigit); n > 0 && digits == n {
			value = text[i : i+n]
		}
		i += n
	}
	if value == "" {
		return "", text
	}
	return value, strings.TrimSuffix(strings.Replace(text, value, "N", 1), ".")
}

// sentence returns the counter of a sentence of netstat -s, whose number is N, in the section of the
// text. Empty: it is of none.
func (m *machine) sentence(text string) string {
	switch m.section {
	case "Icmp", "Icmp6":
		if name := icmpSentences[text]; name != "" {
			return name
		}
		return icmpHistogram[m.histogram+" "+text]
	case "Ip", "Ip6":
		if text == "N forwarded" && m.section == "Ip6" {
			return "OutForwDatagrams"
		}
		return ipSentences[text]
	case "Udp", "Udp6", "UdpLite":
		return udpSentences[text]
	case "Tcp":
		return tcpSentences[text]
	case "TcpExt":
		return tcpExtSentences[text]
	}
	return ""
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
