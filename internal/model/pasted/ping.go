package pasted

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(&format{name: "ping", system: several, row: reads((*machine).pinged), sure: pingSure.MatchString,
	command: programs("ping", "ping6")})

// pings are the outputs of ping(8) and tracepath(8) while the text is parsed.
type pings struct {
	runs  []pingRun
	paths []pathTrace
	// hop is the last row of a report of mtr, until the report has ended; nil: there is none, or it had no answer.
	hop *pingRun
}

// pinging says to which of them the lines of a section belong: its index, from 1. 0: to none.
type pinging struct{ ping, trace int }

// mostPings limits the outputs of ping and tracepath of a machine.
const mostPings = 1000

// pingRun is the output of one ping(8).
type pingRun struct {
	peer, iface, command string
	address              netip.Addr
	// payload is the size of the data of a request. Whole reports whether requests are not fragmented.
	payload int
	whole   bool
	unsized bool // the text does not say the size: it begins with the statistics, without the command
	// sent and received are those of the statistics, if there are some.
	statistics     bool
	sent, received int
	replies        int
	duplicates     int       // as the replies, or the statistics, have them
	times          []float64 // of the replies in ms
	least, most    float64   // of the statistics in ms; 0: not there
	// reported is the smallest MTU that a router named, and local the one that this host knew. 0: none.
	reported, local int
}

// packet returns the size of a request with its headers.
func (r pingRun) packet() int {
	if r.address.Is6() {
		return r.payload + 40 + 8
	}
	return r.payload + 20 + 8
}

var (
	pingSure = pattern.MustCompile(`^(?:PING6? ?\(?.*\d+\)? ?(?:data )?bytes|PING6?\(\d+=40\+8\+\d+ bytes\)|--- \S* ` +
		`?ping6? statistics ---|` +
		`(?:\[[\d.]+\] )?\d+ bytes from \S+ ?(?:\(\S+\))?[:,] (?:icmp_)?(?:seq|req)=\d+ |\d+ packets transmitted, ` +
		`\d+ ` +
		`(?:packets )?received)`)
	pingHead = pattern.MustCompile(
		`^PING6? ?(\S{0,255}) ?\(?.*?(\d{1,6})(?:\(\d{1,6}\))? (?:data bytes|bytes of data\.?)$`)
	pingHead6 = pattern.MustCompile(`^PING6?\(\d{1,6}=40\+8\+(\d{1,6}) bytes\) \S+ --> (\S+)$`)
	pingFrom  = pattern.MustCompile(` from \S+?(?:%\S+?)?(?: ([\w.@-]{1,15}))?:? \d`)
	pingReply = pattern.MustCompile(`^(?:\[\d+\.\d+\] )?(\d{1,6}) bytes from \S+?(?: \(\S*\))?[:,] (?:icmp_)?(?:seq|` +
		`req)=\d+` +
		`(?: (?:ttl|hlim)=\d+)?(?: time[=<] ?(\d{1,9}(?:\.\d{1,6})?) ?ms)?( \(DUP!\))?`)
	pingError = pattern.MustCompile(`^(?:\[\d+\.\d+\] )?(?:From \S+(?: \(\S*\))?:? (?:icmp_)?(?:seq|req)[= ]\d+ |` +
		`\d{1,6} bytes from \S+(?: \(\S*\))?: [A-Za-z]|ping6?: (?:local error|sendmsg|sendto|recvmsg|connect)|no ` +
		`answer yet for icmp_seq=|Request timeout for icmp_seq )`)
	pingMTU    = pattern.MustCompile(`(?i)\bmtu ?[=:]? ?(\d{3,5})\b`)
	pingStart  = pattern.MustCompile(`^---\s+(\S*) ?ping6? statistics ---$`)
	pingCounts = pattern.MustCompile(`^(\d{1,9}) packets transmitted, (\d{1,9}) (?:packets )?received` +
		`(?:, \+?(\d{1,9}) duplicates)?`)
	pingTimes = pattern.MustCompile(`^(?:rtt|round-trip) min/avg/max(?:/[\w-]+)? = ` +
		`(\d{1,9}(?:\.\d{1,6})?)/[\d.]+/(\d{1,9}(?:\.\d{1,6})?)`)
	// pingNote matches lines without meaning: a broadcast, the pattern, the header that BSD prints of a
	// message, dots of -f.
	pingNote = pattern.MustCompile(`^(WARNING: |PATTERN: |Vr HL TOS |\s*[46]\s+5\s+00\s|wrong data byte|[.E]+$|pipe ` +
		`\d|` +
		`ping6?: (unknown host|cannot resolve|bad address|\S+: (Name or service|Temporary failure|No address))|` +
		`Warning: )`)
)

// pinged parses a line of ping(8).
func (m *machine) pinged(line string) bool {
	if m.beginsPing(line) {
		return true
	}
	run := &pingRun{}
	if m.ping > 0 && m.ping <= len(m.runs) {
		run = &m.runs[m.ping-1]
	}
	if row := pingReply.FindStringSubmatch(line); row != nil {
		if row[3] != "" {
			run.duplicates++
		} else {
			run.replies++
			if ms, err := strconv.ParseFloat(row[2], 64); err == nil && len(run.times) < mostRows {
				run.times = append(run.times, ms)
			}
		}
		return true
	}
	if row := pingCounts.FindStringSubmatch(line); row != nil {
		run.sent, _ = strconv.Atoi(row[1])
		run.received, _ = strconv.Atoi(row[2])
		printed, _ := strconv.Atoi(row[3])
		if run.duplicates = max(run.duplicates, printed); m.command.has("-b") {
			run.duplicates = 0 // of a broadcast
		}
		// Requests of an unknown size of which none was answered may have been larger than the path takes.
		run.statistics = run.sent > 0 && run.received <= run.sent && (run.received > 0 || !run.unsized)
		return true
	}
	if row := pingTimes.FindStringSubmatch(line); row != nil {
		run.least, _ = strconv.ParseFloat(row[1], 64)
		run.most, _ = strconv.ParseFloat(row[2], 64)
		return true
	}
	if pingError.MatchString(line) {
		if row := pingMTU.FindStringSubmatch(line); row != nil {
			to := &run.reported
			if strings.HasPrefix(line, "ping") {
				to = &run.local
			}
			if mtu, _ := strconv.Atoi(row[1]); *to == 0 || mtu < *to {
				*to = mtu
			}
			return true
		}
		return m.ignore()
	}
	known := m.command.is("ping") || m.command.is("ping6") || m.last != nil && m.last.name == "ping"
	return known && pingNote.MatchString(line) && m.ignore()
}

// beginsPing begins an output with the line that names the peer, or with the statistics if what precedes
// them was left out.
func (m *machine) beginsPing(line string) bool {
	run := pingRun{command: plain.Short(strings.Join(m.command, " "), 3*longestName)}
	if row := pingStart.FindStringSubmatch(line); row != nil {
		address, _ := netip.ParseAddr(withoutZone(row[1]))
		if m.ping > 0 && m.ping <= len(m.runs) && !m.runs[m.ping-1].statistics {
			return m.ignore()
		}
		run.peer, run.address = plain.Short(row[1], longestName), address
		if run.unsized = !m.command.is("ping") && !m.command.is("ping6"); !run.unsized {
			run.payload, _ = strconv.Atoi(cmp.Or(m.command.after("-s"), "56"))
		}
	} else if row := pingHead6.FindStringSubmatch(line); row != nil {
		run.payload, _ = strconv.Atoi(row[1])
		run.address, _ = netip.ParseAddr(withoutZone(row[2]))
		run.peer = plain.Short(row[2], longestName)
	} else if row := pingHead.FindStringSubmatch(line); row != nil {
		run.payload, _ = strconv.Atoi(row[2])
		name, _, _ := strings.Cut(row[1], "(")
		run.peer = plain.Short(name, longestName)
		before := line
		if from := pingFrom.Regexp().FindStringSubmatchIndex(line); from != nil {
			if before = line[:from[0]]; from[2] >= 0 {
				run.iface = plain.Short(line[from[2]:from[3]], longestName)
			}
		}
		for word := range strings.FieldsFuncSeq(before, func(r rune) bool { return strings.ContainsRune(" ()", r) }) {
			if address, err := netip.ParseAddr(withoutZone(strings.TrimSuffix(word, ":"))); err == nil {
				run.address = address
			}
		}
		if !run.address.IsValid() {
			return false
		}
		if run.peer == "" {
			run.peer = run.address.String()
		}
		run.whole = run.address.Is6() || m.command.hasOption("M", "pmtudisc", "do") ||
			strings.HasSuffix(line, " data bytes") && m.command.flag('D') // BSD; of Linux, -D prints times
	} else {
		return false
	}
	if run.iface == "" && m.command.has("-I") && ifnameLike.MatchString(m.command.after("-I")) {
		run.iface = plain.Short(m.command.after("-I"), longestName)
	}
	if m.ping = 0; len(m.runs) < mostPings {
		m.runs = append(m.runs, run)
		m.ping = len(m.runs)
	}
	return true
}

// withoutZone returns the text of an address without its zone: fe80::1 of fe80::1%eth0.
func withoutZone(text string) string {
	address, _, _ := strings.Cut(text, "%")
	return address
}
