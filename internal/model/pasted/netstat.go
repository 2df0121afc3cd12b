package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(&format{name: "netstat", system: several, part: "sockets", row: reads((*machine).netstat),
	sure: func(line string) bool {
		return netstatTitle.MatchString(line) || netstatRow.MatchString(line) || bsdSocket.MatchString(line)
	}, command: func(c command) bool {
		return c.is("netstat") && !slices.ContainsFunc([]byte("srimIgMQ"), c.flag) && !c.has("--statistics", "--route",
			"--interfaces", "--groups", "--masquerade")
	}})

var (
	netstatTitle = pattern.MustCompile(`^Active (?:Internet|UNIX domain|LOCAL \(UNIX\) domain|Bluetooth|Multipath ` +
		`Internet|kernel (?:event|control)) ` +
		`(?:connections|sockets)\b|^Current listen queue sizes \(qlen/incqlen/maxqlen\)$`)
	netstatHead = pattern.MustCompile(`^(?:(?:Tcpcb|Socket|PCB)\s+)?(?:Flowhash\s+)?Proto\s+(?:Recv-Q\s+Send-Q|` +
		`RefCnt|` +
		`Listen|Destination)\s|` +
		`^Address\s+Type\s+Recv-Q\s`)
	// "tcp        0      0 192.0.2.1:22            198.51.100.7:50412      ESTABLISHED 1206/sshd   on (0.21/3/0)"
	netstatRow = pattern.MustCompile(`^(tcp|udp)6?\s+(\d{1,18})\s+(\d{1,18})\s+(\S+:(?:[\w-]+|\*))\s+(\S+:(?:[\w-]+|` +
		`\*))` +
		`(?:\s+(` + strings.Join(netstatStates(), "|") + `|UNKNOWN))?(?:\s+(.*))?$`)
	// "tcp4       0      0 192.0.2.1.22       198.51.100.7.64330 ESTABLISHED"
	bsdSocket = pattern.MustCompile(`^(?:[0-9a-f]{8,16}\s+(?:[0-9a-f]{1,8}\s+)?)?(tcp|udp)(?:4|6|` +
		`46)?\s+(\d{1,18})\s+(\d{1,18})\s+` +
		`(\S+\.(?:\S+|\*))\s+(\S+\.(?:\S+|\*))(?:\s+(` + strings.Join(netstatStates(), "|") + `))?(?:\s+(.*))?$`)
	// "tcp4  5/0/128        *.22"
	bsdQueue = pattern.MustCompile(`^(tcp)(?:4|6|46)?\s+(\d{1,9})/(\d{1,9})/(\d{1,9})\s+(\S+\.(?:\S+|\*))\s*$`)
	// "raw6       0      0 :::58                   :::*                    7"
	otherSocket = pattern.MustCompile(`^(?:(?:raw|udplite|icm|icmp|sctp|div|l2cap|rfcomm)[46]?\s+\d+\s+\d+\s|` +
		`unix\s+(?:\d+\s+\[|\d+/\d+/\d+\s)|(?:stream|dgram|seqpac)\s|[0-9a-f]{8,16}\s+(?:stream|dgram|seqpac)\s|` +
		`(?:kctl|kevt)\d?\s)`)
	netstatTimer = pattern.MustCompile(`\b(off|on\d?|keepalive|timewait|probe|unkn-\d+) ` +
		`\([\d.]+/(\d{1,9})/(\d{1,9})\)\s*$`)
	netstatProgram = pattern.MustCompile(`(?:^|\s)\d{1,10}/(\S.{0,40})$`)
	noIdentity     = pattern.MustCompile(`^\((?:No info could be read for "-p"|Not all processes could be identified|` +
		` ` +
		`will not be shown)`)
)

// tcpStates maps states as netstat prints them to the names of ss(8).
var tcpStates = map[string]string{"ESTABLISHED": "ESTAB", "SYN_SENT": "SYN-SENT", "SYN_RECV": "SYN-RECV",
	"SYN_RCVD": "SYN-RECV", "FIN_WAIT1": "FIN-WAIT-1", "FIN_WAIT_1": "FIN-WAIT-1", "FIN_WAIT2": "FIN-WAIT-2",
	"FIN_WAIT_2": "FIN-WAIT-2", "TIME_WAIT": netstate.TimeWait, "CLOSE": "UNCONN", "CLOSED": "UNCONN",
	"CLOSE_WAIT": "CLOSE-WAIT", "LAST_ACK": "LAST-ACK", "LISTEN": "LISTEN", "CLOSING": "CLOSING"}

// netstatStates returns the states as netstat prints them, longest first.
func netstatStates() (list []string) {
	for state := range tcpStates {
		list = append(list, state)
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

// netstat parses a line of netstat(8) about sockets: of Linux or BusyBox, and of FreeBSD, OpenBSD and
// macOS. A listener's backlog is only in netstat -L of FreeBSD and macOS.
func (m *machine) netstat(line string) bool {
	if netstatTitle.MatchString(line) || netstatHead.MatchString(line) || noIdentity.MatchString(line) ||
		strings.HasSuffix(line, "you would have to be root to see it all.)") {
		return m.ignore()
	}
	if row := netstatRow.FindStringSubmatch(line); row != nil {
		m.netstatSocket(row, netstatEnd(row[4]), netstatEnd(row[5]))
		return true
	}
	if row := bsdSocket.FindStringSubmatch(line); row != nil {
		m.netstatSocket(row, bsdEnd(row[4]), bsdEnd(row[5]))
		return true
	}
	if row := bsdQueue.FindStringSubmatch(line); row != nil {
		limit, _ := strconv.ParseInt(row[4], 10, 64)
		// The queue takes half as many again (sonewconn in sys/kern/uipc_socket.c).
		full := strconv.FormatInt(3*limit/2, 10)
		m.addSocket([]string{"", "tcp", "LISTEN", row[2], full, bsdEnd(row[5]), "[::]:*", ""})
		return true
	}
	return (m.behind("netstat") || m.command.is("netstat")) && otherSocket.MatchString(line) && m.ignore()
}

// netstatSocket stores a row. The state of a UDP socket without a peer is empty; tables of TCP with
// other columns have none.
func (m *machine) netstatSocket(row []string, local, remote string) {
	state, send, rest := tcpStates[row[6]], row[3], row[7]
	switch {
	case state == "" && row[1] == "tcp":
		m.ignore()
		return
	case state == "":
		state = "UNCONN"
	case state == "LISTEN":
		send = "" // it is no backlog
	}
	timer := netstatTimer.FindStringSubmatch(rest)
	if timer != nil {
		rest = strings.TrimSpace(rest[:len(rest)-len(timer[0])])
	}
	m.addSocket([]string{"", row[1], state, row[2], send, local, remote, ""})
	if m.entry < 0 {
		return
	}
	if p := netstatProgram.FindStringSubmatch(rest); p != nil {
		name, _, _ := strings.Cut(strings.Split(p[1], "  ")[0], ":")
		m.owner(plain.Short(name, longestName))
	}
	if timer != nil && m.connected {
		again, _ := strconv.ParseUint(timer[2], 10, 8)
		probes, _ := strconv.ParseUint(timer[3], 10, 8)
		m.timed(timer[1] == "probe", uint8(again), uint8(probes))
	}
}

// owner stores the program of the last socket.
func (m *machine) owner(name string) {
	if m.connected {
		m.connections[m.entry].Program = name
	} else {
		m.listeners[m.entry].Program = name
	}
}

// timed stores how often in a row the last connection sent a segment again, or probed a closed window.
// The kernel doubles the time-out each time.
func (m *machine) timed(probing bool, again, probes uint8) {
	if again == 0 && !(probing && probes > 0) {
		return
	}
	c := &m.connections[m.entry]
	if c.Info == nil {
		c.Info = &netstate.TCPInfo{Lacks: []string{"snd_wnd_bytes"}}
	}
	c.Info.Retransmits, c.Info.Backoff = max(c.Info.Retransmits, again), max(c.Info.Backoff, again)
	if probing {
		c.Info.Backoff, c.Info.Lacks = max(c.Info.Backoff, probes), nil
	}
}

// netstatEnd returns an address with its port in the form of ss(8). netstat cuts addresses and ports to
// 22 characters together without -W: an IPv6 address that may be cut is kept as a text that is none.
func netstatEnd(word string) string {
	at := strings.LastIndex(word, ":")
	host, port := word[:at], word[at:]
	if !strings.Contains(host, ":") || strings.HasPrefix(host, "[") {
		return word
	}
	const cut = 23
	if len(word) == cut {
		return host + "…" + port
	}
	return "[" + host + "]" + port
}

// bsdEnd returns an address with its port, which a dot precedes, in the form of ss(8). netstat cuts
// addresses without -W: an IPv6 address that may be cut is kept as a text that is none.
func bsdEnd(word string) string {
	at := strings.LastIndex(word, ".")
	host, port := word[:at], word[at+1:]
	const cut = 15
	switch {
	case host == "*":
		host = "[::]"
	case strings.Contains(host, ":") && len(host) >= cut:
		host += "…"
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	case strings.Count(host, ".") == 3 && len(word) >= 18 && len(port) < 5: // its port may be cut
		port += "…"
	}
	return host + ":" + port
}
