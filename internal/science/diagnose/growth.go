package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// growth is a rule that goes by counters of /proc/net/snmp and /proc/net/netstat
// (Documentation/networking/snmp_counter.rst) which grew between two readings.
type growth struct {
	id        string
	own, load bool     // as of rule
	counters  []string // whose sum has to grow
	least     int64    // by so many
	of        []string // and by this share of the growth of others, if there are any
	share     float64
	// confidence that the cause is the one that the summary names.
	confidence, summary, reference string
	fix                            []string
	settings                       []string // keys and values, by turns, as in parameters
	// more is further evidence; nil: none. false: nothing is found after all.
	more func(*host) ([]string, bool)
	// Verdict of the drop table on packets that are counted: empty, if the counters are no
	// packets.
	verdict string
}

// rule is the growth as a rule of a host.
func (g growth) rule() rule {
	about := strings.Join(g.counters, " + ") + " grew"
	if g.least > 1 {
		about += fmt.Sprintf(" by at least %d", g.least)
	}
	if g.share > 0 {
		about += fmt.Sprintf(", and %g %% of %s", 100*g.share, strings.Join(g.of, " + "))
	}
	return rule{id: g.id, about: about + ": " + g.summary + ".", host: true, own: g.own, load: g.load, growth: true, find: each(everyHost, g.find), parts: []string{"snmp"}}
}

func (g growth) find(_ observed, h *host) *record.Finding {
	grown, of := h.grown(g.counters...), h.grown(g.of...)
	if grown < max(g.least, 1) || float64(grown) < g.share*float64(of) {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: g.confidence, Summary: g.summary, Reference: g.reference, Fix: on(h.name, h.alone, g.fix...)}
	for _, name := range g.counters {
		if n := h.grown(name); n > 0 {
			finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s grew by %d%s", name, n, h.within()))
		}
	}
	if g.share > 0 && of > 0 {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("that is %.2g %% of %s, %d", 100*float64(grown)/float64(of), strings.Join(g.of, " + "), of))
	}
	if g.more != nil {
		rows, found := g.more(h)
		if !found {
			return nil
		}
		finding.Evidence = append(finding.Evidence, rows...)
	}
	if len(g.settings) > 0 {
		finding.Settings = parameters(h.name, g.settings...)
		finding.Fix = append(finding.Fix, h.commands(finding.Settings)...)
	}
	return finding
}

// grown is by how much counters grew, together.
func (h *host) grown(names ...string) (sum int64) {
	for _, name := range names {
		sum += max(0, h.reading.SNMPDelta(name))
	}
	return sum
}

// within says over which time counters grew: " in 3.0 s", " since boot".
func (h *host) within() string {
	if h.boot {
		return " since boot"
	}
	return fmt.Sprintf(" in %.3g s", h.overS)
}

// listenersWhere are the rows of sockets, at most four.
func (h *host) listenersWhere(where func(record.Listener) bool, spell func(record.Listener) string) (rows []string) {
	for _, l := range h.state.Listeners {
		if where(l) && len(rows) < 4 {
			rows = append(rows, spell(l)+program(l))
		}
	}
	return rows
}

func program(l record.Listener) string {
	if l.Program == "" {
		return ""
	}
	return " (" + l.Program + ")"
}

func fullListeners(h *host) ([]string, bool) {
	return h.listenersWhere(func(l record.Listener) bool { return l.Protocol == "tcp" && l.Queued > 0 && l.Queued >= l.Backlog },
		func(l record.Listener) string {
			return fmt.Sprintf("%s: %d connections wait for accept(2), its backlog is %d", l.Local, l.Queued, l.Backlog)
		}), true
}

func droppingSockets(h *host) ([]string, bool) {
	return h.listenersWhere(func(l record.Listener) bool { return l.Drops > 0 },
		func(l record.Listener) string {
			return fmt.Sprintf("udp %s: %d datagrams dropped since it was opened, %d bytes wait to be read", l.Local, l.Drops, l.Queued)
		}), true
}

func unread(h *host) (rows []string, found bool) {
	for _, c := range h.state.Notable {
		if c.State == "ESTAB" && c.ReceiveQueue > 0 && len(rows) < 4 {
			rows = append(rows, fmt.Sprintf("%s from %s: %d bytes wait to be read", c.Local, c.Remote, c.ReceiveQueue))
		}
	}
	return rows, true
}

const (
	snmpCounters = "Linux Documentation/networking/snmp_counter.rst"
	ipSysctl     = "Linux Documentation/networking/ip-sysctl.rst"
	netSysctl    = "Linux Documentation/admin-guide/sysctl/net.rst"
)

// Verdicts of the drop table.
const (
	harmful  = "harmful"
	harmless = "harmless"
	unknown  = "unknown"
)

var udpIn = []string{"Udp.InDatagrams", "Udp.InErrors"}

var growths = []growth{
	{id: "udp-buffer-overflow", own: true, counters: []string{"Udp.RcvbufErrors"}, least: 1, of: udpIn, share: 1e-4, confidence: record.Certain, verdict: harmful,
		summary:  "datagrams were dropped because the receive buffer of a UDP socket was full",
		fix:      []string{"have the program read faster, or set a larger SO_RCVBUF; the largest that it can set:"},
		settings: []string{"net.core.rmem_max", "26214400"}, more: droppingSockets, reference: snmpCounters + "; udp(7)"},
	{id: "udp-send-buffer", load: true, counters: []string{"Udp.SndbufErrors"}, least: 1, confidence: record.Likely, verdict: harmful,
		summary: "datagrams were not sent because a send buffer or a queue of the host was full",
		fix:     []string{"send at a rate that the interface carries, or set a larger SO_SNDBUF (net.core.wmem_max)"}, reference: snmpCounters + "; udp(7)"},
	{id: "udp-memory", own: true, counters: []string{"Udp.MemErrors"}, least: 1, confidence: record.Certain, verdict: harmful,
		summary: "datagrams were dropped because UDP reached the bound of its memory",
		fix:     []string{"raise net.ipv4.udp_mem (in pages, of the whole machine)"}, reference: ipSysctl},
	{id: "udp-no-listener", counters: []string{"Udp.NoPorts"}, least: 10, of: udpIn, share: 0.01, confidence: record.Likely, verdict: unknown,
		summary: "datagrams arrive for ports on which no program listens",
		fix:     []string{"start the receiver, or have the sender use its port; ss -lun shows the ports"}, reference: snmpCounters},
	{id: "listen-overflow", own: true, counters: []string{"TcpExt.ListenOverflows"}, least: 1, confidence: record.Certain, verdict: harmful,
		summary:  "connections were refused because a listener's accept queue was full",
		fix:      []string{"have the program accept faster, or call listen(2) with a larger backlog; the largest that is granted:"},
		settings: []string{"net.core.somaxconn", "8192"}, more: fullListeners, reference: "listen(2); " + ipSysctl},
	{id: "syn-queue-full", own: true, counters: []string{"TcpExt.TCPReqQFullDrop", "TcpExt.TCPReqQFullDoCookies"}, least: 1, confidence: record.Likely, verdict: harmful,
		summary: "the queue of half-open connections was full",
		fix:     []string{"raise net.ipv4.tcp_max_syn_backlog, net.core.somaxconn and the program's backlog; see where the SYNs come from: ss -tn state syn-recv"}, reference: ipSysctl},
	{id: "tcp-retransmissions", load: true, counters: []string{"Tcp.RetransSegs"}, least: 30, of: []string{"Tcp.OutSegs"}, share: 0.01, confidence: record.Likely,
		summary: "TCP sends more than 1 % of its segments again",
		fix:     []string{"find where packets are lost: queues and interfaces of this host are in the table of drops; then those of the path"}, more: retransmitting, reference: snmpCounters},
	{id: "spurious-retransmissions", load: true, counters: []string{"TcpExt.TCPDSACKRecv"}, least: 10, of: []string{"Tcp.RetransSegs"}, share: 0.5, confidence: record.Likely,
		summary: "most of what TCP sent again had arrived: packets are reordered or delayed, not lost",
		fix:     []string{"look for paths or queues that reorder: balance-rr bonds, per-packet load balancing, changed RPS or XPS masks"}, reference: "RFC 2883; " + snmpCounters},
	{id: "tcp-reordering", load: true, counters: []string{"TcpExt.TCPSACKReorder", "TcpExt.TCPTSReorder", "TcpExt.TCPRenoReorder"}, least: 50, of: []string{"Tcp.OutSegs"}, share: 1e-3, confidence: record.Possible,
		summary: "packets overtake each other on the path",
		fix:     []string{"keep a flow on one path: hash policies by flow, no balance-rr"}, reference: snmpCounters},
	{id: "socket-backlog-drop", own: true, counters: []string{"TcpExt.TCPBacklogDrop"}, least: 1, confidence: record.Likely, verdict: harmful,
		summary: "segments were dropped because a socket's backlog was full while its program used it",
		fix:     []string{"larger receive buffers, or smaller reads; a program on another CPU than the interrupts"}, reference: snmpCounters},
	{id: "receive-queue-pruned", load: true, counters: []string{"TcpExt.RcvPruned", "TcpExt.OfoPruned", "TcpExt.TCPRcvQDrop", "TcpExt.TCPOFODrop"}, least: 1, confidence: record.Likely, verdict: harmful,
		summary: "TCP threw received segments away because a receive buffer was full",
		fix:     []string{"larger receive buffers (net.ipv4.tcp_rmem), or a program that reads faster"}, more: unread, reference: snmpCounters},
	{id: "slow-reader", counters: []string{"TcpExt.TCPToZeroWindowAdv"}, least: 3, confidence: record.Possible,
		summary: "programs read from their connections more slowly than data arrives, so that the receive window closes (zero window)",
		fix:     []string{"find what the program waits for: its CPU, its disk, its locks"}, more: unread, reference: snmpCounters},
	{id: "checksum-errors", counters: []string{"Tcp.InCsumErrors", "Udp.InCsumErrors", "Icmp.InCsumErrors", "IpExt.InCsumErrors"}, least: 1, confidence: record.Certain, verdict: harmful,
		summary: "packets arrived with wrong checksums: they were damaged behind the last Ethernet check, or an offload is broken",
		fix:     []string{"see by which interface they come; try without receive checksum offload there: ethtool -K DEV rx off; then memory and cables of routers"}, reference: snmpCounters},
	{id: "no-route", counters: []string{"Ip.OutNoRoutes", "IpExt.InNoRoutes"}, least: 1, confidence: record.Likely, verdict: unknown,
		summary: "packets were discarded because there is no route to their destination",
		fix:     []string{"see what is tried: ip route get ADDRESS; add the route, or end what sends there"}, reference: "RFC 2011; ip-route(8)"},
	{id: "fragmentation-needed", counters: []string{"Ip.FragFails"}, least: 1, confidence: record.Certain, verdict: harmful,
		summary: "packets were larger than the next link takes and were not to be fragmented",
		fix:     []string{"one MTU on all links of the path, or ICMP type 3 code 4 that reaches the sender"}, reference: "RFC 1191; " + snmpCounters},
	{id: "fragmentation", counters: []string{"Ip.FragCreates"}, least: 10, confidence: record.Likely,
		summary: "this host fragments packets: a lost fragment costs the whole packet, and hashing by ports does not see it",
		fix:     []string{"datagrams that fit the MTU less the headers (1472 bytes of UDP over IPv4 at 1500), or a larger MTU"}, reference: "RFC 8900; " + snmpCounters},
	{id: "reassembly-failed", counters: []string{"Ip.ReasmFails"}, least: 1, confidence: record.Certain, verdict: harmful,
		summary: "fragments were thrown away because others of their packet did not arrive, or there was no memory for them",
		fix:     []string{"avoid fragments: smaller datagrams or a larger MTU; net.ipv4.ipfrag_high_thresh if memory was short"}, reference: ipSysctl},
	{id: "connect-fails", counters: []string{"Tcp.AttemptFails"}, least: 10, of: []string{"Tcp.ActiveOpens", "Tcp.PassiveOpens"}, share: 0.1, confidence: record.Likely,
		summary: "connections are refused or not answered",
		fix:     []string{"see which: ss -tn state syn-sent; start the service there, or permit it in the firewall"}, reference: "RFC 4022"},
	{id: "connections-timed-out", counters: []string{"TcpExt.TCPAbortOnTimeout"}, least: 1, confidence: record.Likely,
		summary: "connections were given up because nothing was acknowledged for too long",
		fix:     []string{"the path or the peer was away; see ss -tno for those that wait now"}, reference: snmpCounters + "; " + ipSysctl + " (tcp_retries2)"},
	{id: "closed-with-data", counters: []string{"TcpExt.TCPAbortOnData", "TcpExt.TCPAbortOnClose"}, least: 10, of: []string{"Tcp.ActiveOpens", "Tcp.PassiveOpens"}, share: 0.05, confidence: record.Possible,
		summary: "programs close connections on which data is unread, which resets them: the peer may lose the end of an answer",
		fix:     []string{"read to the end before close(2)"}, reference: "RFC 2525, section 2.17; " + snmpCounters},
	{id: "paws-rejected", counters: []string{"TcpExt.PAWSEstab", "TcpExt.PAWSActive"}, least: 10, confidence: record.Possible, verdict: unknown,
		summary: "segments were thrown away for old timestamps, as of several clients behind one NAT",
		fix:     []string{"look for a NAT or balancer that merges hosts with clocks of their own"}, reference: "RFC 7323, section 5"},
	{id: "challenge-acks", counters: []string{"TcpExt.TCPChallengeACK", "TcpExt.TCPSYNChallenge"}, least: 10, confidence: record.Possible,
		summary: "segments outside of the window arrive on connections: a middlebox that lost its state, or attempts to inject",
		fix:     []string{"look at NATs, firewalls and balancers on the path"}, reference: "RFC 5961"},
	{id: "sack-reneging", own: true, counters: []string{"TcpExt.TCPSACKReneging"}, least: 1, confidence: record.Likely,
		summary: "a receiver took back what it had acknowledged selectively: it is short of memory",
		fix:     []string{"look at the receiver's memory and at its tcp_rmem"}, reference: "RFC 2018, section 8"},
	{id: "retransmission-refused", load: true, counters: []string{"TcpExt.TCPRetransFail"}, least: 10, confidence: record.Likely, verdict: harmful,
		summary: "the host's own queue or memory refused retransmissions",
		fix:     []string{"a longer queue at the interface (table of drops), or fq, which does not drop what TCP paces"}, reference: snmpCounters},
	{id: "retransmission-queued", load: true, counters: []string{"TcpExt.TCPSpuriousRtxHostQueues"}, least: 10, confidence: record.Possible,
		summary: "TCP wanted to send again what had not left this host: its queues are longer than TCP's timeouts",
		fix:     []string{"shorter queues: fq_codel or fq at the interface, smaller rings, BQL"}, reference: snmpCounters},
	{id: "not-for-us", counters: []string{"Ip.InAddrErrors"}, least: 10, confidence: record.Likely, verdict: unknown,
		summary: "packets for other hosts arrive, and this host does not forward",
		fix:     []string{"if it is to be a router: sysctl -w net.ipv4.ip_forward=1; otherwise correct the sender's route or ARP entry"}, reference: ipSysctl},
	{id: "ttl-exceeded", counters: []string{"Ip.InHdrErrors"}, least: 10, confidence: record.Likely, verdict: harmful,
		summary: "packets arrive whose time to live has run out: routes form a loop, or headers are wrong",
		fix:     []string{"follow the path: ip route get ADDRESS on each router"}, reference: "RFC 1812, section 5.3.1"},
	{id: "ip-discards", load: true, counters: []string{"Ip.InDiscards", "Ip.OutDiscards"}, least: 10, confidence: record.Likely, verdict: harmful,
		summary: "IP packets were discarded for want of a buffer, or by a full queue or a filter of this host",
		fix:     []string{"see the interfaces and qdiscs in the table of drops; then nft list ruleset"}, reference: "RFC 2011"},
	{id: "icmp-rate-limited", counters: []string{"Icmp.OutRateLimitGlobal", "Icmp.OutRateLimitHost"}, least: 10, confidence: record.Possible,
		summary: "ICMP messages were not sent because of their rate limit: senders may not learn the path's MTU",
		fix:     []string{"raise net.ipv4.icmp_msgs_per_sec or icmp_ratelimit"}, reference: ipSysctl},
	{id: "time-wait-overflow", own: true, counters: []string{"TcpExt.TCPTimeWaitOverflow"}, least: 1, confidence: record.Likely,
		summary: "there were more connections in TIME-WAIT than tcp_max_tw_buckets",
		fix:     []string{"keep connections open for several requests, or raise net.ipv4.tcp_max_tw_buckets"}, reference: ipSysctl},
	{id: "tcp-md5", own: true, counters: []string{"TcpExt.TCPMD5NotFound", "TcpExt.TCPMD5Unexpected", "TcpExt.TCPMD5Failure", "TcpExt.TCPAOBad", "TcpExt.TCPAOKeyNotFound"}, least: 1, confidence: record.Certain, verdict: harmful,
		summary: "segments with a wrong or missing signature were dropped: the two ends of a BGP session have different keys",
		fix:     []string{"the same key at both ends"}, reference: "RFC 2385; RFC 5925"},
	{id: "deferred-accept-drop", own: true, counters: []string{"TcpExt.TCPDeferAcceptDrop"}, least: 1, confidence: record.Likely,
		summary: "TCP_DEFER_ACCEPT drops the acknowledgement of clients that wait for the server to speak first",
		fix:     []string{"remove TCP_DEFER_ACCEPT where the server speaks first"}, reference: "tcp(7)"},
	{id: "fastopen-overflow", own: true, counters: []string{"TcpExt.TCPFastOpenListenOverflow"}, least: 1, confidence: record.Likely,
		summary: "a listener had more pending fast opens than it allows",
		fix:     []string{"a larger TCP_FASTOPEN queue"}, reference: "RFC 7413; tcp(7)"},
}

// Counter is a counter of /proc/net/snmp or /proc/net/netstat that rules go by.
type Counter struct {
	Name  string   // "TcpExt.ListenOverflows"
	Rules []string // in the order of Rules
}

// Counters are those of all rules of hosts, by name.
func Counters() (list []Counter) {
	rules := map[string][]string{"TcpExt.IPReversePathFilter": {"strict-rp-filter"}}
	for _, g := range allGrowths {
		for _, name := range slices.Concat(g.counters, g.of) {
			if !slices.Contains(rules[name], g.id) {
				rules[name] = append(rules[name], g.id)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		list = append(list, Counter{name, rules[name]})
	}
	return list
}

// retransmitting are the connections that wait for an acknowledgement.
func retransmitting(h *host) (rows []string, found bool) {
	for _, c := range h.state.Notable {
		if i := c.Info; i != nil && i.TotalRetrans > 0 && len(rows) < 4 {
			rows = append(rows, fmt.Sprintf("%s to %s: %d of %d segments were sent again", c.Local, c.Remote, i.TotalRetrans, i.SegsOut))
		}
	}
	return rows, true
}

var allGrowths = slices.Concat(growths, moreGrowths)

var growthRules = func() (list []rule) {
	for _, g := range allGrowths {
		list = append(list, g.rule())
	}
	return list
}()

// fixed is a fix by kernel parameters: lines before them, the commands, and the settings.
func (h *host) fixed(lines []string, pairs ...string) ([]string, []setting.Setting) {
	return h.fixedBy(lines, parameters(h.name, pairs...)...)
}
