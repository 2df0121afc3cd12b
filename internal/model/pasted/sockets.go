package pasted

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

// sockets are the sockets of a machine while its text is parsed.
type sockets struct {
	connections []netstate.Connection
	listeners   []netstate.Listener
	index       map[string]int // index in both lists, by protocol and addresses
	// udp reports whether the table has a socket that only UDP can have. The next indented line
	// belongs to the connection or listener at index entry; -1: to one that is not kept.
	udp       bool
	connected bool
	entry     int
	totals    map[string]int // by state, from ss -s
	timers    bool           // whether the text has the timers of connections
	// stateless reports whether rows of the table have no state: ss leaves the column out if only one is asked for.
	stateless bool
}

var (
	socketHead = pattern.MustCompile(`^(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\s+Local Address`)
	socketRow  = pattern.MustCompile(
		`^(?:(tcp|udp)\s+)?(ESTAB|SYN-SENT|SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|UNCONN|CLOSE-WAIT|LAST-ACK|` +
			`LISTEN|` +
			`CLOSING)\s+(\d{1,18})\s+(\d{1,18})\s+(\S+:\S+)\s+(\S+:\S+)(?:\s+(.*))?$`)
	statelessRow = pattern.MustCompile(`^(?:(tcp|udp)\s+)?(\d{1,18}\s+\d{1,18}\s+\S+:\S+\s+\S+:\S+.*)$`)
	noSocket     = pattern.MustCompile(
		`^(u_str|u_seq|u_dgr|nl|p_raw|p_dgr|raw|icmp6|vsock|sctp|dccp|mptcp|xdp|tipc|udplite)\s+[A-Z]`)
	program    = pattern.MustCompile(`users:\(\("([^"]{1,60})"`)
	skmemDrops = pattern.MustCompile(`skmem:\([^)]*\bd(\d{1,18})\)`)
	skmemRoom  = pattern.MustCompile(`skmem:\([^)]*\brb(\d{1,18})\b`)
	timer      = pattern.MustCompile(`timer:\((\w+),[^,)]*,(\d{1,9})\)`)
	summary    = pattern.MustCompile(
		`^TCP:\s+\d+ \(estab (\d{1,9}), closed \d+, orphaned (\d{1,9}), (?:synrecv (\d{1,9}), )?timewait (\d{1,9})`)
	summaryRow = pattern.MustCompile(
		`^(Total:\s+\d+( \(kernel \d+\))?$|Transport\s+Total\s+IP|(RAW|UDP|TCP|INET|FRAG|\*)\s+\d+\s+[\d-]+\s+[\d-]+$)`)
)

var _ = register(&format{name: "ss", part: "sockets", row: reads((*machine).socket), command: programs("ss"),
	sure: func(line string) bool {
		return socketHead.MatchString(line) || socketRow.MatchString(line) || summary.MatchString(line)
	}})

// socket parses a line of ss(8).
func (m *machine) socket(line string) bool {
	if socketHead.MatchString(line) {
		m.udp, m.entry, m.stateless = false, -1, !strings.Contains(line, "State")
		return m.ignore()
	}
	if row := statelessRow.FindStringSubmatch(line); m.stateless && row != nil {
		line = strings.TrimSpace(row[1] + " " + m.askedState() + " " + row[2])
	}
	if row := socketRow.FindStringSubmatch(line); row != nil {
		m.addSocket(row)
		return true
	}
	if total := summary.FindStringSubmatch(line); total != nil {
		m.addSummary(total)
		return true
	}
	if noSocket.MatchString(line) || summaryRow.MatchString(line) {
		m.entry = -1
		return m.ignore()
	}
	if !m.behindPart("sockets") || !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, " ") {
		return false
	}
	m.detail(line)
	return true
}

// askedState returns the state that the command asks for, as ss prints it.
func (m *machine) askedState() string {
	word := strings.ToUpper(cmp.Or(m.command.after("state"), "established"))
	return cmp.Or(map[string]string{"ESTABLISHED": "ESTAB", "LISTENING": "LISTEN", "CLOSED": "UNCONN"}[word], word)
}

// protocolOf returns the protocol of a row: that of the row or of the command; otherwise UDP if the
// table has a socket in a state that ss does not show for TCP.
func (m *machine) protocolOf(row []string) string {
	tcp, udp := false, false
	for _, word := range m.command {
		short := strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--")
		tcp = tcp || short && strings.Contains(word, "t") || word == "--tcp"
		udp = udp || short && strings.Contains(word, "u") || word == "--udp"
	}
	m.udp = m.udp || row[2] == "UNCONN"
	switch {
	case row[1] != "":
		return row[1]
	case row[2] == "LISTEN", m.command.is("ss") && tcp && !udp:
		return "tcp"
	case m.command.is("ss") && udp && !tcp, m.udp && row[2] == "ESTAB", row[2] == "UNCONN":
		return "udp"
	}
	return "tcp"
}

// addSocket adds a socket, or replaces the entry for it. The queue for sending of a listener is its
// backlog; empty: it is not known.
func (m *machine) addSocket(row []string) {
	protocol, local, remote := m.protocolOf(row), endpoint(row[5]), endpoint(row[6])
	receive, _ := strconv.ParseInt(row[3], 10, 64)
	send, unknown := strconv.ParseInt(row[4], 10, 64)
	m.connected, m.entry = protocol == "tcp" && row[2] != "LISTEN", -1
	m.timers = m.timers || m.connected && (m.command.flag('o') || m.command.prints() != "")
	if m.index == nil {
		m.index, m.State.TCP = map[string]int{}, map[string]int{}
	}
	key := strings.Join([]string{protocol, local, remote}, " ")
	at, known := m.index[key]
	if !known && len(m.index) >= mostRows {
		return
	}
	switch {
	case !m.connected && !known:
		at = len(m.listeners)
		m.listeners = append(m.listeners, netstate.Listener{Protocol: protocol, Local: local,
			BacklogUnknown: protocol == "tcp"})
	case !known:
		at = len(m.connections)
		m.connections = append(m.connections, netstate.Connection{Local: local, Remote: remote})
	}
	m.index[key], m.entry = at, at
	if m.connected {
		c := &m.connections[at]
		c.State, c.ReceiveQueue, c.SendQueue = row[2], receive, send
	} else if l := &m.listeners[at]; protocol == "tcp" && unknown == nil {
		l.Queued, l.Backlog, l.BacklogUnknown = receive, send, false
	} else {
		l.Queued = receive
	}
	if row[7] != "" {
		m.detail(row[7])
	}
}

// endpoint converts an address with a port to the form in snapshots: without the interface; the
// wildcard becomes that of IPv6.
func endpoint(word string) string {
	host, port := word[:strings.LastIndex(word, ":")], word[strings.LastIndex(word, ":")+1:]
	host, scope, _ := strings.Cut(host, "%")
	if strings.HasSuffix(scope, "]") {
		host += "]"
	}
	if host == "*" {
		host = "[::]"
	}
	if a, err := netip.ParseAddrPort(host + ":" + port); err == nil {
		return a.String()
	}
	return plain.Short(host+":"+port, 2*longestName)
}

// addSummary parses ss -s, whose numbers cover all connections, including those that are not
// listed.
func (m *machine) addSummary(total []string) {
	if m.index == nil {
		m.State.TCP, m.index = map[string]int{}, map[string]int{}
	}
	m.entry, m.totals = -1, map[string]int{}
	for i, state := range map[int]string{1: "ESTAB", 3: "SYN-RECV", 4: "TIME-WAIT"} {
		if n, err := strconv.Atoi(total[i]); err == nil {
			m.totals[state] = n
		}
	}
	if n, err := strconv.ParseInt(total[2], 10, 64); err == nil {
		m.sockstat("TCP.orphan", n)
	}
}

// detail parses what ss prints about a socket after its addresses or on the next line.
func (m *machine) detail(text string) {
	if m.entry < 0 {
		return
	}
	name := ""
	if p := program.FindStringSubmatch(text); p != nil {
		name = p[1]
	}
	if !m.connected {
		l := &m.listeners[m.entry]
		l.Program = cmp.Or(name, l.Program)
		if d := skmemDrops.FindStringSubmatch(text); d != nil && l.Protocol == "udp" {
			l.Drops, _ = strconv.ParseInt(d[1], 10, 64)
			if room := skmemRoom.FindStringSubmatch(text); room != nil {
				l.ReceiveBuffer, _ = strconv.ParseInt(room[1], 10, 64)
			}
		}
		return
	}
	c := &m.connections[m.entry]
	c.Program = cmp.Or(name, c.Program)
	waits := timer.FindStringSubmatch(text)
	if waits == nil && !strings.Contains(text, " rto:") {
		return
	}
	if c.Info == nil {
		c.Info = &netstate.TCPInfo{Lacks: []string{"snd_wnd_bytes"}}
	}
	if waits != nil { // the row has them; the details are on the next line
		switch n, _ := strconv.ParseUint(waits[2], 10, 8); waits[1] {
		case "on":
			c.Info.Retransmits = uint8(n)
		case "persist": // it probes a closed window
			c.Info.Backoff, c.Info.Lacks = uint8(n), nil
		}
	}
	if strings.Contains(text, " rto:") {
		c.CongestionControl = cmp.Or(tcpInfo(c.Info, strings.Fields(text)), c.CongestionControl)
	}
}

// tcpInfo parses the values that ss -i prints for a connection, and returns its congestion control.
func tcpInfo(i *netstate.TCPInfo, words []string) (control string) {
	counts := map[string]*uint32{
		"mss": &i.SndMSS, "pmtu": &i.PMTU, "rcvmss": &i.RcvMSS, "cwnd": &i.SndCwnd, "ssthresh": &i.SndSsthresh,
		"unacked": &i.Unacked, "sacked": &i.Sacked,
		"segs_out": &i.SegsOut, "segs_in": &i.SegsIn, "notsent": &i.NotsentBytes, "rcv_space": &i.RcvSpace,
		"snd_wnd":   &i.SndWnd,
		"delivered": &i.Delivered, "delivered_ce": &i.DeliveredCE, "reord_seen": &i.ReordSeen,
		"dsack_dups": &i.DsackDups, "lastsnd": &i.LastSndMs, "lastack": &i.LastAckMs,
	}
	bytes := map[string]*uint64{"bytes_sent": &i.BytesSent, "bytes_acked": &i.BytesAcked,
		"bytes_received": &i.BytesReceived, "bytes_retrans": &i.BytesRetrans}
	times := map[string]*uint64{"busy": &i.BusyUs, "rwnd_limited": &i.RwndLimitedUs, "sndbuf_limited": &i.SndbufLimited}
	flags := map[string]uint8{"ts": 1, "sack": 2, "wscale": 4, "ecn": 8}
	for n, word := range words {
		key, value, has := strings.Cut(word, ":")
		i.Options |= flags[key]
		first, second, _ := strings.Cut(value, "/")
		switch {
		case !has && n+1 < len(words) && key == "pacing_rate":
			i.PacingRateBps = bitRate(words[n+1])
		case !has && n+1 < len(words) && key == "delivery_rate":
			i.DeliveryBps = bitRate(words[n+1])
		case !has && control == "" && i.SndMSS == 0 && algorithm.MatchString(key) && flags[key] == 0 &&
			!slices.Contains(notAlgorithms, key):
			control = key
		case counts[key] != nil:
			n, _ := strconv.ParseUint(value, 10, 32)
			*counts[key] = uint32(n)
		case bytes[key] != nil:
			*bytes[key], _ = strconv.ParseUint(value, 10, 64)
		case times[key] != nil: // "100ms(8.1%)"
			ms, _, _ := strings.Cut(value, "ms")
			*times[key] = microseconds(ms)
		case key == "rtt":
			i.RTTUs, i.RTTVarUs = uint32(microseconds(first)), uint32(microseconds(second))
		case key == "minrtt":
			i.MinRTTUs = uint32(microseconds(value))
		case key == "backoff":
			n, _ := strconv.ParseUint(value, 10, 8)
			i.Backoff = uint8(n)
		case key == "retrans":
			n, _ := strconv.ParseUint(second, 10, 32)
			i.TotalRetrans = uint32(n)
		}
		if key == "snd_wnd" || key == "rcv_wnd" {
			i.Lacks = nil // ss omits a window of 0 bytes; it prints neither window if both are unknown
		}
	}
	i.Retransmits = max(i.Retransmits, i.Backoff)
	return control
}

// algorithm matches the name of a congestion control. notAlgorithms are words that ss prints in the
// same place.
var algorithm = pattern.MustCompile(`^[a-z][a-z0-9_-]{1,15}$`)
var notAlgorithms = []string{"ecnseen", "accecn", "fastopen", "send", "app_limited", "fallback_mode"}

// microseconds converts a text with milliseconds. 0: it is no number.
func microseconds(ms string) uint64 {
	v, err := strconv.ParseFloat(ms, 64)
	if err != nil || !(v >= 0 && v < math.MaxUint32/1000) {
		return 0
	}
	return uint64(math.Round(v * 1000))
}

// bitRate converts "5Mbps" to bit/s. 0: it is no rate.
func bitRate(word string) uint64 {
	word = strings.TrimSuffix(word, "bps")
	scale := 1.0
	if i := strings.IndexAny(word, "KMGT"); i >= 0 && i == len(word)-1 {
		scale = map[byte]float64{'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}[word[i]]
		word = word[:i]
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || !(v >= 0 && v*scale < 1e18) {
		return 0
	}
	return uint64(v * scale)
}

// finishSockets counts connections by state, and keeps the notable ones.
func (m *machine) finishSockets() {
	waiting := map[[2]netip.AddrPort]int{}
	for _, c := range m.connections {
		m.State.TCP[c.State]++
		local, err := netip.ParseAddrPort(c.Local)
		remote, remoteErr := netip.ParseAddrPort(c.Remote)
		if c.State == netstate.TimeWait && err == nil && remoteErr == nil {
			m.State.CountTimeWait(waiting, local, remote)
		}
		if netstate.Notable(c.State, c.ReceiveQueue, c.SendQueue, c.Info) ||
			c.Info != nil && (c.Info.TotalRetrans > 0 || c.Info.MinRTTUs > 0 && c.Info.RTTUs/2 > c.Info.MinRTTUs) {
			m.State.Notable = append(m.State.Notable, c)
		}
	}
	for state, n := range m.totals {
		m.State.TCP[state] = max(m.State.TCP[state], n)
	}
	m.State.Listeners = m.listeners
	m.State.BoundSockets()
}
