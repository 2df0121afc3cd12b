package wording

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	lists "linerate/internal/show/words"
)

var _ = later(func() {
	say(cause.AcceptQueueFull, words[cause.None]{
		text: "a program does not accept connections as fast as they come: its queue is full now",
		read: "listen(2); accept(2)", found: "More connections wait for accept(2) than a listener's backlog.",
		fix: []string{"see what the program waits for", theSteps}})
	say(cause.BacklogSmall, words[cause.None]{
		text: "a program lets only a few connections wait for accept(2): more at once are delayed by a second and " +
			"longer",
		read:  "listen(2)",
		found: "A listener's backlog is below 8, on an address other than the loopback's.",
		fix:   []string{"a larger backlog in the program's listen(2), such as 128"}})
	say(cause.CloseWait, words[cause.None]{
		text: "a program does not close connections that its peers have closed",
		read: "RFC 9293, section 3.6; close(2)", found: "At least 20 connections are in CLOSE-WAIT.",
		fix: []string{"ss -tnp state close-wait names the program; each takes a descriptor until it ends"}})
	say(cause.SYNUnanswered, words[cause.None]{
		text: "connections are opened, and nothing answers: the peer is off, a firewall drops silently, or the " +
			"path is broken in one direction",
		read: "RFC 9293, section 3.8.1", found: "A connection in SYN-SENT has sent its SYN again.",
		fix: []string{"ip route get ADDRESS, ip neigh show ADDRESS; then doctor with the peer's snapshot as well"}})
	say(cause.Unacknowledged, words[cause.None]{
		text: "connections have sent data that nothing acknowledges: the path is cut, or takes only smaller packets",
		read: "RFC 2923, section 2.1; " + ipSysctl + " (tcp_retries2)",
		found: "A connection has unacknowledged data and at least two timeouts in a row, with room in the window " +
			"of its peer.",
		fixed: func(f record.Finding, _ cause.None) []string {
			// An echo request has 28 bytes of headers, over IPv6 48.
			ping := "ping -M do -s 1472"
			if slices.ContainsFunc(f.Facts, func(is fact.Fact) bool {
				c, connection := is.Is.(fact.Connection)
				return connection && strings.HasPrefix(c.Remote, "[") && !strings.HasPrefix(c.Remote, "[::ffff:")
			}) {
				ping = "ping -6 -M do -s 1452"
			}
			return []string{"does " + ping + " ADDRESS pass, and with -s 1000? if only the smaller one does, a " +
				"link has a " +
				"smaller MTU: net.ipv4.tcp_mtu_probing=1 is a workaround", "ss -tnio shows the retransmissions"}
		}})
	say(cause.ConnectionStalled, words[cause.None]{
		text: "connections with data to send stand still: nothing was sent or acknowledged for seconds, and " +
			"nothing was " +
			"sent again",
		read: "ss(8); Linux net/ipv4/tcp_output.c",
		found: "A connection has data to send, and lastsnd and lastack are at least 3 s and ten round trips, " +
			"without a " +
			"timeout.",
		fix: []string{"see where the segments in flight are: tc -s qdisc (a delay or rate on this host), then a " +
			"capture at " +
			"both ends", "acknowledgements that a firewall, a NAT or one direction of the path loses"}})
	spell(func(_ string, s fact.Stalled) string {
		return fmt.Sprintf("%s to %s: %s wait, %d segments in the window; last sent %s ago, acknowledged %s ago, "+
			"round-trip "+
			"time %.3g ms", s.Local, s.Remote, unit.FormatBytes(float64(s.Waiting)), s.Window,
			unit.FormatSeconds(s.SentAgoS), unit.FormatSeconds(s.AckAgoS), float64(s.RTTUs)/1e3)
	})
	say(cause.ConnectionLosses, words[cause.None]{
		text: "connections lose segments on their path, and send them again", read: "ss(8); RFC 5681",
		found: "In a text: an established connection retransmitted at least 3 segments, and at least 0.05 % of those " +
			"it sent.",
		fix: []string{"find where: ip -s -s link and ethtool -S at both ends, tc -s qdisc, then the switches between",
			"what its congestion control carries at this loss and round-trip time: linerate limits bdp --help"}})
	say(cause.DatagramsLost, words[cause.None]{
		text: "datagrams were sent that the receiving program did not get: they were dropped on the path, or in a " +
			"socket buffer at an end",
		read:  "iperf3(1); udp(7)",
		found: "In a text: iperf lost at least 10 datagrams of a flow, and 0.1 % of them; likely from 1 % on.",
		fix: []string{"is it the receiver? nstat -az UdpRcvbufErrors there; otherwise ip -s -s link and ethtool -S " +
			"at both ends, then the switches between",
			"is it the rate? a lower one, such as iperf3 -u -b 100M, or datagrams that fit the MTU (-l 1448)"}})
	say(cause.TransferStalled, words[cause.None]{
		text: "a transfer stood still: in most of its intervals no byte was transferred",
		read: "iperf3(1); RFC 2923, section 2.1",
		found: "In a text: in at least 3 intervals that iperf printed of a stream, and in more than half of them, " +
			"nothing was transferred.",
		fix: []string{"does ping -M do -s 1472 ADDRESS pass, and with -s 1000? if only the smaller one does, a link " +
			"has a smaller MTU and the message about it is lost",
			"while it stands: ss -tino at the sender (timer, unacked, lastack), and a capture at both ends"}})
	say(cause.SenderAhead, words[cause.None]{
		text: "the sender's figure is larger than what arrived: it has bytes that were still in buffers",
		read: "iperf3(1)",
		found: "In a text: iperf's sender counted at least 2 % and 1 MiB more bytes of a TCP connection than its " +
			"receiver.",
		fix: []string{"use the receiver's figure, or a longer test (-t 60): what is in buffers weighs less"}})
	spell(func(_ string, t fact.Transferred) string {
		who := "a stream"
		if t.From != "" {
			who = t.From + " to " + t.To
		}
		if t.Seconds > 0 {
			who += " in " + unit.FormatSeconds(t.Seconds)
		}
		var parts []string
		if t.Sent != nil {
			parts = append(parts, "sent "+unit.FormatBytes(float64(*t.Sent)))
		}
		if t.Received != nil {
			parts = append(parts, "received "+unit.FormatBytes(float64(*t.Received)))
		}
		if t.Lost != nil && t.Datagrams != nil {
			parts = append(parts, fmt.Sprintf("lost %d of %d datagrams (%.3g %%)", *t.Lost, *t.Datagrams,
				100*float64(*t.Lost)/float64(max(*t.Datagrams, 1))))
		}
		if t.Idle > 0 {
			parts = append(parts, fmt.Sprintf("nothing in %d of %d intervals", t.Idle, t.Intervals))
		}
		return who + ": " + strings.Join(parts, ", ")
	})
	say(cause.PathQueue, words[cause.None]{
		text: "connections have a round-trip time of several times their minimum: packets are queued on the path",
		read: "ss(8); RFC 8289",
		found: "In a text: an established connection with at least 4 segments in flight has a smoothed round-trip " +
			"time of at least 4 times its shortest, and 1 ms more.",
		fix: []string{"find the queue: tc -s qdisc at both ends, and the slowest link between, which is full or shaped",
			"if tc -s qdisc shows the backlog on this host: fq_codel for each transmit queue (sysctl -w " +
				"net.core.default_qdisc=fq_codel, then tc qdisc replace dev DEV root mq), or before a slower uplink " +
				"tc qdisc replace dev DEV root cake bandwidth RATE, a little below it; each replaces the present " +
				"qdisc"}})
	spell(func(_ string, w fact.PathQueue) string {
		return fmt.Sprintf("%s to %s: round-trip time %.3g ms, of which the path takes %.3g ms (minrtt)", w.Local,
			w.Remote, float64(w.RTTUs)/1e3, float64(w.MinRTTUs)/1e3)
	})
	say(cause.UnreadData, words[cause.None]{
		text: "data has arrived that its program does not read", read: "tcp(7)",
		found: "An established connection has at least 64 KiB unread, which its program would read in more than " +
			"half a second at the rate at which it reads; possible where that was not seen between two readings.",
		fix: []string{"ss -tnp names the program: see whether it waits for a disk, a lock or a CPU"}})
	say(cause.UDPQueueFull, words[cause.None]{
		text: "datagrams have arrived that their program does not read", read: "udp(7)",
		found: "At least 32 KiB wait in the receive queue of a UDP socket.",
		fix:   []string{"ss -unp names the program; a larger SO_RCVBUF only helps against bursts"}})
	say(cause.HalfOpenMany, words[cause.None]{
		text: "many connections are half open: their peers do not complete the handshake", read: "RFC 4987",
		found: "At least 64 connections are in SYN-RECV.",
		fix: []string{"ss -tn state syn-recv: from one network an attack, from everywhere answers that do not " +
			"arrive"}})
	say(cause.PortsInTimeWait, words[cause.None]{
		text: "connections in TIME-WAIT hold most of the ports: between two addresses no further ones may be left",
		read: "RFC 9293, section 3.6; ip(7)",
		found: "Connections in TIME-WAIT between one address of the host and one address and port are at least " +
			"half as many as the local port range has ports; possible where their addresses are not known, and all " +
			"are as many.",
		fix: []string{"keep connections open for several requests; or:", theSteps}})
	say(cause.FinWaitMany, words[cause.None]{
		text: "peers do not close connections that this host has closed",
		read: "RFC 9293, section 3.6; " + ipSysctl + " (tcp_fin_timeout)",
		found: "At least 20 connections are in FIN-WAIT-2: this host has closed them, and its peers have not. " +
			"Likely if they are more than those that are open.",
		fix: []string{"the program at the peer does not call close(2): on it, ss -tnp state close-wait"}})
	say(cause.ClosingUnanswered, words[cause.None]{
		text: "the end of connections is not acknowledged: their peers are gone, or the path is cut",
		read: "RFC 9293, section 3.6; " + ipSysctl + " (tcp_orphan_retries)",
		found: "At least 20 connections are in FIN-WAIT-1, CLOSING or LAST-ACK: their end is not acknowledged. " +
			"Likely if they are more than those that are open.",
		fix: []string{
			"does the peer answer? ping it; sysctl -w net.ipv4.tcp_orphan_retries=2 gives such connections up " +
				"earlier"}})
	say(cause.PeerWindowClosed, words[cause.None]{
		text: "peers have closed their windows: their programs do not read what is sent to them",
		read: "RFC 9293, section 3.8.6",
		found: "A connection has data to send, and has asked its peer, whose window is smaller than a segment, for " +
			"a larger one more than once.",
		fix: []string{"at the peer: ss -tnp shows which program has data in Recv-Q; doctor there finds unread-data"}})
	say(cause.WindowLimited, words[cause.None]{
		text: "connections wait for the receive windows of their peers, which are too small or read slowly",
		read: "tcp(7) (TCP_INFO, rwnd_limited); RFC 7323",
		found: "A connection with data to send spent at least 0.3 s, and half of its busy time, waiting for the " +
			"window of its peer; likely if that is below 64 KiB.",
		fix: []string{
			"at the peer: no SO_RCVBUF in the program, net.ipv4.tcp_rmem as large as linerate limits bdp says for " +
				"the rate and the round-trip time; or a program that reads faster"}})
	say(cause.SendBufferLimited, words[cause.None]{
		text:  "connections are held back by their send buffers",
		read:  "tcp(7) (TCP_INFO, sndbuf_limited); " + ipSysctl + " (tcp_wmem)",
		found: "A connection spent at least 0.3 s, and half of its busy time, with a full send buffer.",
		fix: []string{
			"no SO_SNDBUF in the program; net.ipv4.tcp_wmem as large as linerate limits bdp says for the rate and " +
				"the round-trip time"}})
	say(cause.MSSSmall, words[cause.None]{
		text: "connections have small segments: their peers or a firewall ask for them (MSS)",
		read: "RFC 9293, section 3.7.1; RFC 6691",
		found: "An established connection with data to send has segments of less than 1,000 bytes, though its path " +
			"takes 1,280 and more.",
		fix: []string{
			"look for advmss in the routes of the peer, for a rule that sets the MSS (nft list ruleset, maxseg), " +
				"and for TCP_MAXSEG in its program"}})
	say(cause.UDPSocketDropped, words[cause.None]{
		text:  "UDP sockets have dropped datagrams for which they had no room",
		read:  "udp(7); proc_net_udp(5)",
		found: "A UDP socket has dropped datagrams since it was opened.",
		fix:   []string{"have the program read faster, or a larger SO_RCVBUF, up to net.core.rmem_max"}})
	say(cause.OrphansMany, words[cause.None]{
		text: "many connections have no program any more and wait for their peers", read: ipSysctl,
		found: "Orphaned connections are at least a quarter of tcp_max_orphans.",
		fix:   []string{"find the peers that vanish; or:", theSteps}})

	heldBy(cause.ReceiverWindow, "receive buffer", "SO_RCVBUF (--window, --receive-buffer)", "net.ipv4.tcp_rmem",
		"The window of its receiver held a flow of TCP back (limited_by), between hosts that are no lab's. Needs a "+
			"run or a measurement.")
	heldBy(cause.SendBuffer, "send buffer", "SO_SNDBUF (--window, --send-buffer)", "net.ipv4.tcp_wmem",
		"Its send buffer held a flow of TCP back (limited_by), between hosts that are no lab's. Needs a run or a "+
			"measurement.")

	say(cause.PortsExhausted, words[cause.Ports]{anywhere: true,
		read: "ip(7); Linux Documentation/networking/ip-sysctl.rst (ip_local_port_range)",
		found: "A flow could not bind or connect because no source port was left (EADDRNOTAVAIL, EADDRINUSE). " +
			"Needs a measurement.",
		summary: func(f record.Finding, a cause.Ports) string {
			if a.Bound {
				return f.Host + " has no port left to bind: bind(2) takes one of the source address for each " +
					"connection, wherever it goes"
			}
			return f.Host + " has no port left between two addresses and one port of the other end"
		},
		fixed: func(f record.Finding, a cause.Ports) (lines []string) {
			lines = []string{
				"connect to a further address of the other end (an alias), or from a further one of this host: " +
					"each pair has as many connections",
				"or to a further port"}
			if a.Bound {
				lines = []string{
					"set IP_BIND_ADDRESS_NO_PORT before bind(2), so that connect(2) chooses (in a study: " +
						"bind_no_port: true)",
					"or bind to further source addresses: each has as many ports"}
			}
			if len(f.Steps) > 0 {
				lines = append(lines,
					"or widen the range (net.ipv4.ip_local_reserved_ports keeps ports of services out of it):",
					theSteps)
			}
			return lines
		}})
	say(cause.DescriptorsExhausted, words[cause.None]{anywhere: true,
		read: "getrlimit(2) (RLIMIT_NOFILE); Linux Documentation/admin-guide/sysctl/fs.rst (nr_open)",
		found: "A flow could not open a connection because the process had no file descriptor left (EMFILE). Needs " +
			"a measurement.",
		summary: func(f record.Finding, _ cause.None) string {
			return f.Host + " has no descriptor left for a further connection in the process that opens them"
		},
		fix: []string{
			"raise the limit of the process: ulimit -Hn, LimitNOFILE= of systemd.exec(5); as root up to fs.nr_open",
			"or open connections from further processes or hosts"}})

	spell(func(_ string, s fact.InStates) string {
		return fmt.Sprintf("%d connections in %s", s.Count, lists.Join(s.States, "or"))
	})
	spell(func(_ string, c fact.Connection) string {
		row := fmt.Sprintf("%s to %s: %s, %d bytes unread, %d unacknowledged", c.Local, c.Remote, c.State, c.Unread,
			c.Unacknowledged)
		if c.ReadBps != nil {
			row += fmt.Sprintf("; its program read %s", unit.FormatRate(*c.ReadBps))
		}
		if c.Timeouts > 0 {
			row += fmt.Sprintf("; %d timeouts in a row", c.Timeouts)
		}
		return row
	})
	spell(func(_ string, h fact.HeldBack) string {
		by := "the peer's window"
		if h.SendBuffer {
			by = "the send buffer"
		}
		row := fmt.Sprintf("%s to %s: %s of %s limited by %s", h.Local, h.Remote,
			unit.FormatSeconds(float64(h.WaitedUs)/1e6), unit.FormatSeconds(float64(h.BusyUs)/1e6), by)
		if h.WindowBytes != nil {
			row += fmt.Sprintf(", which is %d bytes", *h.WindowBytes)
		}
		return row
	})
	spell(func(_ string, s fact.SmallSegments) string {
		return fmt.Sprintf("%s to %s: segments of %d bytes, path MTU %d", s.Local, s.Remote, s.MSS, s.PathMTU)
	})
	spell(func(_ string, b fact.Backlog) string {
		return fmt.Sprintf("%s: backlog %d", b.Local, b.Backlog) + program(b.Program)
	})
	spell(func(_ string, s fact.UnreadSocket) string {
		return fmt.Sprintf("udp %s: %s wait to be read, %d datagrams were dropped", s.Local,
			unit.FormatBytes(float64(s.Bytes)), s.Drops) + program(s.Program)
	})
	spell(func(_ string, t fact.InTimeWait) string {
		between := "in TIME-WAIT between one address of this host and one address and port"
		if !t.Between {
			between = "in TIME-WAIT, to whatever address and port; those of a server that closes first hold its " +
				"own port, and no further ones"
		}
		return fmt.Sprintf("%d %s; net.ipv4.ip_local_port_range = %d %d", t.Count, between, t.Range.First, t.Range.Last)
	})
	spell(func(_ string, o fact.Orphans) string {
		return fmt.Sprintf("%d orphans; net.ipv4.tcp_max_orphans is %d", o.Count, o.Most)
	})
	spell(func(_ string, l fact.Limited) string { return "flow " + l.Flow + ": " + Limited(l.By, l.Why) })
	spell(func(_ string, p fact.NoPort) string {
		source := "any address"
		if p.Source.IsValid() {
			source = p.Source.String()
		}
		return fmt.Sprintf("%s → %s: %d of %d connections are open", source, p.Destination, p.Open, p.Wanted)
	})
	spell(func(_ string, f fact.Failed) string {
		return fmt.Sprintf("the next %s failed with %s", f.Call, f.Error)
	})
	spell(func(host string, p fact.LocalPorts) string {
		return fmt.Sprintf("%s: net.ipv4.ip_local_port_range = %d %d, which is %d ports", host, p.First, p.Last,
			int(p.Last)-int(p.First)+1)
	})
	spell(func(_ string, d fact.NoDescriptor) string {
		return fmt.Sprintf("flow %s: %d of %d connections are open, the next socket(2) failed with EMFILE", d.Flow,
			d.Open, d.Wanted)
	})
	spell(func(host string, d fact.DescriptorLimit) string {
		return fmt.Sprintf("%s: RLIMIT_NOFILE is %d", host, d.Limit)
	})
})

// heldBy adds the text of a cause that is a buffer which holds flows back.
func heldBy(c cause.Of[cause.Between], buffer, option, key, found string) {
	say(c, words[cause.Between]{read: "tcp(7); RFC 7323; " + ipSysctl, found: found,
		summary: func(f record.Finding, a cause.Between) string {
			return fmt.Sprintf("the %s of %s holds flows from %s to %s back", buffer, f.Host, a.From, a.To)
		},
		fix: []string{fmt.Sprintf(
			"no %s; %s as large as linerate limits bdp says for the rate and the round-trip time, and no less "+
				"than it is",
			option, key)}})
}
