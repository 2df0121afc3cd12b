package pasted

import (
	"encoding/json"
	"math"

	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "iperf", part: "transfers", system: several, row: reads((*machine).iperf),
		sure: iperfSure.MatchString, command: func(c command) bool { return measures(c) && !jsonOf(c) }},
	&format{name: "iperf3 -J", part: "transfers", system: several, whole: (*machine).iperfJSON, sure: beginsJSON,
		command: func(c command) bool { return measures(c) && jsonOf(c) }})

func measures(c command) bool { return c.is("iperf") || c.is("iperf3") || c.is("iperf2") }

// jsonOf reports whether iperf3(1) is to print JSON.
func jsonOf(c command) bool { return c.flag('J') || c.has("--json", "--json-stream") }

// beginsJSON reports whether a line is the first of JSON on several lines. What it is is then known at its
// end.
func beginsJSON(line string) bool { return line == "{" }

// transferState is what the lines of iperf(1) and iperf3(1) after a command refer to.
type transferState struct {
	index           map[string]int       // index in State.Transfers, by title and stream
	ends            map[string][2]string // this end and the other one, likewise
	reverse, server bool                 // whether the other end sends; whether this end is the server
	mss             int64
}

var (
	// iperfPrefix is what iperf3 -T and --timestamps put before a line.
	iperfPrefix = `^(?:[\w.-]{1,20}:  |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d |[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ ` +
		`\d\d:\d\d:\d\d \d{4} )?`
	iperfSure = pattern.MustCompile(iperfPrefix + `(?:Connecting to host \S+, port \d+$|` +
		`\[ *(?:\*?\d{1,5}|SUM)\](?:\[[TR]X-[CS]\])? +(?:local \S+ port \d+ connected (?:to|with) \S+ port \d+|` +
		`\d+\.\d+ *- *\d+\.\d+ +sec +[\d.]+ +[KMGT]?(?:i?Bytes|Byte))|\[ *ID\](?:\[Role\])? +Interval|` +
		`Accepted connection from \S+, port \d+$|iperf Done\.$|` +
		`(?:Client connecting to \S+|Server listening on) (?:TCP|UDP|\d+).*)`)
	iperfRow = pattern.MustCompile(iperfPrefix + `(?:(?:- ){5,}-? ?$|-{20,}$|Test Complete\. Summary Results:|` +
		`iperf \d|iperf version|Linux \S+ \S+ #|Control connection MSS|Time: |\s+Cookie: |\s+TCP MSS: |\s+Target ` +
		`Bitrate|` +
		`Starting Test: |CPU Utilization: |(?:snd|rcv)_tcp_congestion |Cookie: |Reverse mode, |Server output:|` +
		`TCP window size|UDP buffer size|Sending \d+ byte datagrams|Binding to |Server listening on|Client ` +
		`connecting ` +
		`to|` +
		`\[ *(?:\*?\d{1,5}|SUM)\](?:\[[TR]X-[CS]\])? |\[ *ID\]|WARNING: |warning: |MSS size|Window |` +
		`iperf3?: |bind failed|connect failed|Write buffer size|Read buffer size|Enhanced (?:latency|Interval)|TOS )`)

	iperfStream = pattern.MustCompile(`^(.*?)\[ *(\*?\d{1,5})\] +local (\S+) port (\d{1,5}) connected (?:to|with) (\S+) ` +
		`port (\d{1,5})`)
	// "[  5][TX-C]   0.00-10.00  sec   219 MBytes   183 Mbits/sec  2012             sender"
	iperfTotal = pattern.MustCompile(`^(.*?)\[ *(\*?\d{1,5})\](?:\[([TR])X-[CS]\])? +(\d+\.\d+) *- *(\d+\.\d+) +sec ` +
		`+([\d.]+) +([KMGT]?)Bytes +[\d.]+ +[KMGT]?bits/sec(.*)$`)
	iperfRetransmitted = pattern.MustCompile(`^ +(\d{1,12}) +(?:[\d.]+ +[KMGT]?Bytes|sender)`)
	iperfLost          = pattern.MustCompile(`^ +[\d.]+ ms +(-?\d{1,12})/ *(\d{1,12}) `)
	iperfMSS           = pattern.MustCompile(
		`(?:TCP MSS: |MSS size |Control connection MSS |icwnd/mss/irtt=\d+/)(\d{1,5})`)
)

// iperf parses a line that iperf(1) or iperf3(1) prints.
func (m *machine) iperf(line string) bool {
	sure := iperfSure.MatchString(line)
	if !sure && (!measures(m.command) && (m.last == nil || m.last.name != "iperf") || !iperfRow.MatchString(line)) {
		return false
	}
	t := &m.transfer
	switch {
	case strings.Contains(line, "Reverse mode"):
		t.reverse = true
	case strings.Contains(line, "Server listening on"), strings.Contains(line, "Accepted connection from"):
		t.server = true
	case strings.Contains(line, "Client connecting to"), strings.Contains(line, "Connecting to host"):
		t.server, t.reverse = false, false
	case t.server && !t.reverse && strings.HasSuffix(strings.TrimRight(line, " "), "Retr  Cwnd"): // this end sends
		t.reverse = true
		for stream, at := range t.index {
			one := ongoing{&m.State.Transfers[at]}
			one.from(t.ends[stream], true)
		}
	}
	if row := iperfMSS.FindStringSubmatch(line); row != nil {
		t.mss, _ = strconv.ParseInt(row[1], 10, 64)
	}
	if row := iperfStream.FindStringSubmatch(line); row != nil {
		if one := m.transferOf(row[1]+row[2], true); one != nil {
			ends := [2]string{socketName(row[3], row[4]), socketName(row[5], row[6])}
			t.ends[row[1]+row[2]] = ends
			one.from(ends, t.reverse == t.server)
		}
		return true
	}
	row := iperfTotal.FindStringSubmatch(line)
	if row == nil || strings.Contains(line, "(omitted)") {
		return m.ignore()
	}
	one := m.transferOf(row[1]+row[2], false)
	if one == nil {
		return m.ignore()
	}
	sends := t.reverse == t.server
	if ends := t.ends[row[1]+row[2]]; row[3] != "" { // both directions at once
		sends = row[3] == "T"
		one.from(ends, sends)
	}
	one.row(row[4:], sends)
	if m.command.flag('b') || m.command.has("--bandwidth", "--bitrate") { // intervals without a byte are intended
		one.Idle = 0
	}
	return true
}

// transferOf returns the transfer of a stream, or adds it. Nil: there are too many.
func (m *machine) transferOf(stream string, begins bool) *ongoing {
	t := &m.transfer
	at, known := t.index[stream]
	if known && !begins {
		return &ongoing{&m.State.Transfers[at]}
	}
	if len(m.State.Transfers) >= netstate.MostTransfers {
		return nil
	}
	if t.index == nil {
		t.index, t.ends = map[string]int{}, map[string][2]string{}
	}
	t.index[stream] = len(m.State.Transfers)
	m.State.Transfers = append(m.State.Transfers, netstate.Transfer{Tool: "iperf", MSS: t.mss})
	return &ongoing{&m.State.Transfers[len(m.State.Transfers)-1]}
}

// ongoing is a transfer of which lines are parsed.
type ongoing struct{ *netstate.Transfer }

// from sets the direction: sends says whether this end does.
func (o *ongoing) from(ends [2]string, sends bool) {
	if o.From, o.To = ends[0], ends[1]; !sends {
		o.From, o.To = ends[1], ends[0]
	}
}

// row adds a row: from, to, bytes, their unit and the rest of the line. A total begins at 0 and is the longest of
// these. iperf3(1) says in it whose count it is; of iperf(1) it is that of the end that prints it, which sends or not.
func (o *ongoing) row(row []string, sends bool) {
	from, _ := strconv.ParseFloat(row[0], 64)
	to, _ := strconv.ParseFloat(row[1], 64)
	number, _ := strconv.ParseFloat(row[2], 64)
	unit := map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}[row[3]]
	bytes, rest := int64(min(number*unit, 1<<60)), row[4]
	sender, receiver := strings.HasSuffix(rest, "sender"), strings.HasSuffix(rest, "receiver")
	lost := iperfLost.FindStringSubmatch(rest)
	total := from == 0 && o.Intervals > 0
	if !sender && !receiver && lost == nil && !total {
		if o.Intervals++; bytes == 0 {
			o.Idle++
		}
	}
	if from > 0 || to < o.Seconds || to <= 0 {
		return
	}
	o.Seconds = to
	switch {
	case sender, !receiver && lost == nil && sends:
		o.SentBytes = &bytes
	default:
		o.ReceivedBytes = &bytes
	}
	if lost != nil {
		o.Protocol = "udp"
		gone, errGone := strconv.ParseInt(lost[1], 10, 64)
		all, errAll := strconv.ParseInt(lost[2], 10, 64)
		if errGone == nil && errAll == nil && gone >= 0 && all >= gone && !sender { // the sender knows of no losses
			o.Lost, o.Datagrams = &gone, &all
		}
		return
	}
	if again := iperfRetransmitted.FindStringSubmatch(rest); again != nil && (sender || o.Retransmitted == nil) {
		n, _ := strconv.ParseInt(again[1], 10, 64)
		o.Protocol, o.Retransmitted = "tcp", &n
	}
}

// socketName returns an address with a port as ss(8) prints them.
func socketName(host, port string) string {
	if host = plain.Short(host, longestName); strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return endpoint(host + ":" + port)
}

// iperfReport is the part of iperf3's JSON that is used. Times are in microseconds.
type iperfReport struct {
	Start struct {
		Connected []struct {
			Socket     int    `json:"socket"`
			LocalHost  string `json:"local_host"`
			LocalPort  int    `json:"local_port"`
			RemoteHost string `json:"remote_host"`
			RemotePort int    `json:"remote_port"`
		} `json:"connected"`
		MSS       float64         `json:"tcp_mss_default"`
		OtherMSS  float64         `json:"tcp_mss"`
		Accepted  json.RawMessage `json:"accepted_connection"`
		TestStart struct {
			Protocol string  `json:"protocol"`
			Reverse  float64 `json:"reverse"`
			Rate     float64 `json:"target_bitrate"` // 0: as fast as possible
		} `json:"test_start"`
	} `json:"start"`
	Intervals []struct {
		Streams []struct {
			Socket  int     `json:"socket"`
			Bytes   float64 `json:"bytes"`
			Omitted bool    `json:"omitted"`
		} `json:"streams"`
	} `json:"intervals"`
	End struct {
		Streams []struct {
			Sender, Receiver, UDP *iperfStreamEnd
		} `json:"streams"`
	} `json:"end"`
}

type iperfStreamEnd struct {
	Socket      int      `json:"socket"`
	Seconds     float64  `json:"seconds"`
	Bytes       *float64 `json:"bytes"`
	Retransmits *float64 `json:"retransmits"`
	MinRTT      float64  `json:"min_rtt"`
	MeanRTT     float64  `json:"mean_rtt"`
	Sender      *bool    `json:"sender"` // whether the end that prints it sends
	Lost        *float64 `json:"lost_packets"`
	Packets     *float64 `json:"packets"`
}

// iperfJSON parses what iperf3(1) prints as JSON.
func (m *machine) iperfJSON(s *section) {
	var known struct{ Start, Event json.RawMessage }
	if json.NewDecoder(strings.NewReader(s.text())).Decode(&known) != nil || len(known.Start)+len(known.Event) == 0 {
		return
	}
	var r iperfReport
	err := json.NewDecoder(strings.NewReader(s.text())).Decode(&r)
	mark := idle
	for _, c := range r.Start.Connected {
		if err != nil || len(m.State.Transfers) >= netstate.MostTransfers {
			break
		}
		t := netstate.Transfer{Tool: "iperf", Protocol: strings.ToLower(plain.Short(r.Start.TestStart.Protocol, 8)),
			From: socketName(c.LocalHost, strconv.Itoa(c.LocalPort)),
			To:   socketName(c.RemoteHost, strconv.Itoa(c.RemotePort)),
			MSS:  int64(between(max(r.Start.MSS, r.Start.OtherMSS), 1<<16))}
		for _, i := range r.Intervals {
			for _, one := range i.Streams {
				if one.Socket == c.Socket && !one.Omitted {
					if t.Intervals++; one.Bytes == 0 && r.Start.TestStart.Rate == 0 {
						t.Idle++
					}
				}
			}
		}
		receives := (r.Start.TestStart.Reverse != 0) != (len(r.Start.Accepted) > 0)
		for _, e := range r.End.Streams {
			for _, one := range []*iperfStreamEnd{e.Sender, e.Receiver, e.UDP} {
				if one != nil && one.Socket == c.Socket {
					if one.addTo(&t, one == e.Receiver); one.Sender != nil {
						receives = !*one.Sender
					}
				}
			}
		}
		if receives {
			t.From, t.To = t.To, t.From
		}
		m.State.Transfers, mark = append(m.State.Transfers, t), used
	}
	s.all(mark)
}

// addTo adds the totals of one end.
func (e *iperfStreamEnd) addTo(t *netstate.Transfer, receiver bool) {
	whole := func(value *float64) *int64 {
		if value == nil || *value < 0 || math.IsNaN(*value) {
			return nil
		}
		n := int64(between(*value, 1<<60))
		return &n
	}
	t.Seconds = max(t.Seconds, between(e.Seconds, 1e9))
	switch {
	case receiver:
		t.ReceivedBytes = whole(e.Bytes)
		return
	case e.Packets != nil:
		t.SentBytes = whole(e.Bytes)
		if t.Lost, t.Datagrams = whole(e.Lost), whole(e.Packets); t.Lost == nil || t.Datagrams == nil ||
			*t.Lost > *t.Datagrams {
			t.Lost, t.Datagrams = nil, nil
		}
		return
	}
	t.SentBytes, t.Retransmitted = whole(e.Bytes), whole(e.Retransmits)
	t.MinRTTUs, t.MeanRTTUs = uint32(between(e.MinRTT, 1e9)), uint32(between(e.MeanRTT, 1e9))
}

// between limits a number of a text to 0 and most.
func between(value, most float64) float64 {
	if !(value > 0) {
		return 0
	}
	return min(value, most)
}

// finishTransfers removes transfers of which no total was printed, and sorts them.
func (m *machine) finishTransfers() {
	m.State.Transfers = slices.DeleteFunc(m.State.Transfers, func(t netstate.Transfer) bool {
		return t.Seconds == 0 && t.Intervals == 0
	})
	slices.SortStableFunc(m.State.Transfers, func(a, b netstate.Transfer) int {
		return strings.Compare(a.From+" "+a.To, b.From+" "+b.To)
	})
}
