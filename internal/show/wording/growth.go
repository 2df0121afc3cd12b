package wording

import "linerate/internal/model/cause"

// growth adds the text of a cause that is counters which grew: the summary, what its explanation
// adds, the reference, and the advice.
func growth(c cause.Of[cause.None], summary, says, reference string, fix ...string) {
	found := summary + "."
	if says != "" {
		found += " " + says
	}
	say(c, words[cause.None]{text: summary, read: reference, found: found, fix: fix})
}

var _ = later(func() {
	growth(cause.ListenOverflow,
		"connections were refused because a listener's accept queue was full", "", "listen(2); "+ipSysctl,
		"have the program accept faster", theSteps)
	growth(cause.SYNQueueFull,
		"the queue of half-open connections was full", "", ipSysctl,
		"raise net.ipv4.tcp_max_syn_backlog, net.core.somaxconn and the program's backlog; see where the SYNs come "+
			"from: ss -tn state syn-recv")
	growth(cause.TCPRetransmissions,
		"TCP sends more than 1 % of its segments again", "", snmpCounters,
		"find where packets are lost: on this host ip -s link and tc -s qdisc show it; then on the path")
	growth(cause.SpuriousRetransmissions,
		"most of what TCP sent again had arrived: packets are reordered or delayed, not lost", "", "RFC 2883; "+
			snmpCounters,
		"look for paths or queues that reorder: balance-rr bonds, per-packet load balancing, changed RPS or XPS masks")
	growth(cause.TCPReordering,
		"packets overtake each other on the path", "", snmpCounters,
		"keep a flow on one path: hash policies by flow, no balance-rr")
	growth(cause.SocketBacklogDrop,
		"segments were dropped because a socket's backlog was full while its program used it", "", snmpCounters,
		"larger receive buffers, or smaller reads; a program on another CPU than the interrupts")
	growth(cause.ReceiveQueuePruned,
		"TCP threw received segments away because a receive buffer was full", "", snmpCounters,
		"larger receive buffers (net.ipv4.tcp_rmem), or a program that reads faster")
	growth(cause.SlowReader,
		"programs read from their connections more slowly than data arrives, so that the receive window closes "+
			"(zero window)",
		"", snmpCounters, "find what the program waits for: its CPU, its disk, its locks")
	growth(cause.ChecksumErrors,
		"packets arrived with wrong checksums: they were damaged behind the last Ethernet check, or an offload is "+
			"broken",
		"", snmpCounters,
		"see by which interface they come; try without receive checksum offload there: ethtool -K DEV rx off; then "+
			"memory and cables of routers")
	growth(cause.ConnectFails,
		"connections are refused or not answered", "", "RFC 4022",
		"see which: ss -tn state syn-sent; start the service there, or permit it in the firewall")
	growth(cause.ConnectionsTimedOut,
		"connections were given up because nothing was acknowledged for too long", "", snmpCounters+"; "+ipSysctl+
			" (tcp_retries2)", "the path or the peer was away; see ss -tno for those that wait now")
	growth(cause.ClosedWithData,
		"programs close connections on which data is unread, which resets them: the peer may lose the end of an answer",
		"linerate's own connections end so as well, and are left out.", "RFC 2525, section 2.17; "+
			snmpCounters,
		"read to the end before close(2)")
	growth(cause.PAWSRejected,
		"segments were thrown away for old timestamps: others had overtaken them, or several clients are behind "+
			"one NAT",
		"", "RFC 7323, section 5",
		"none if packets overtake each other (tcp-reordering); otherwise look for a NAT or balancer that merges "+
			"hosts with clocks of their own")
	growth(cause.TimeWaitRecycled,
		"sockets in TIME-WAIT were recycled by their timestamps while segments with older timestamps were refused: "+
			"with "+
			"net.ipv4.tcp_tw_recycle clients behind one NAT cannot connect",
		"TWRecycled or PAWSPassive grew, and PAWSEstab as well or net.ipv4.tcp_tw_recycle is 1.",
		"RFC 7323, section 5; Linux 4.12 removed tcp_tw_recycle",
		"sysctl -w net.ipv4.tcp_tw_recycle=0, if the kernel has it; tcp_tw_reuse serves clients and refuses nothing")
	growth(cause.ChallengeACKs,
		"segments outside of the window arrive on connections: a middlebox that lost its state, or attempts to inject",
		"", "RFC 5961", "look at NATs, firewalls and balancers on the path")
	growth(cause.SACKReneging,
		"a receiver took back what it had acknowledged selectively: it is short of memory", "", "RFC 2018, section 8",
		"look at the receiver's memory and at its tcp_rmem")
	growth(cause.RetransmissionRefused,
		"the host's own queue or memory refused retransmissions", "", snmpCounters,
		"a longer queue at the interface (tc -s qdisc), or fq, which does not drop what TCP paces")
	growth(cause.RetransmissionQueued,
		"TCP wanted to send again what had not left this host: its queues are longer than TCP's timeouts", "",
		snmpCounters, "shorter queues: fq_codel or fq at the interface, smaller rings, BQL")
	growth(cause.TimeWaitOverflow,
		"there were more connections in TIME-WAIT than tcp_max_tw_buckets", "", ipSysctl,
		"keep connections open for several requests, or raise net.ipv4.tcp_max_tw_buckets")
	growth(cause.TCPMD5,
		"segments with a wrong or missing signature were dropped: the two ends of a BGP session have different keys",
		"", "RFC 2385; RFC 5925", "the same key at both ends")
	growth(cause.FastopenOverflow,
		"a listener had more pending fast opens than it allows", "", "RFC 7413; tcp(7)", "a larger TCP_FASTOPEN queue")
	growth(cause.TCPTimeouts,
		"TCP waits for its timer to send again, 200 ms and longer each time", "", snmpCounters+"; RFC 6298",
		"find where packets are lost; ss -tnio shows which connections wait")
	growth(cause.TailLoss,
		"the last segments of what is sent are not acknowledged in time, so that TCP probes for their loss", "",
		"RFC 8985, section 7", "look for loss on the path, or for peers that acknowledge late")
	growth(cause.SpuriousTimeouts,
		"TCP's timer ran out although nothing was lost: the path's delay jumps", "", "RFC 5682; "+snmpCounters,
		"look for queues without management (bufferbloat), wireless links and CPUs that stall")
	growth(cause.RecoveryUndone,
		"TCP took reordered packets for lost, and took its slowdown back afterwards", "", snmpCounters+
			"; RFC 4015", "keep a flow on one path: hash policies by flow, no balance-rr")
	growth(cause.RetransmissionsLost,
		"what TCP sends again is lost again: a policer, or a queue that stays full", "", snmpCounters+"; RFC 8985",
		"send more slowly than the bottleneck (fq with maxrate, SO_MAX_PACING_RATE), or a larger burst of the policer")
	growth(cause.RecoveryWithoutSACK,
		"connections recover from losses without selective acknowledgements, one segment in each round trip", "",
		"RFC 2018; "+snmpCounters, "net.ipv4.tcp_sack=1 at both ends; a firewall on the path may strip the option")
	growth(cause.DuplicatesReceived,
		"peers send again what has arrived: this host's acknowledgements are lost or late", "", "RFC 2883; "+
			snmpCounters, "look at the path from this host to its peers: loss and queues in that direction")
	growth(cause.TCPMemoryAborts,
		"connections were reset because TCP had no memory, or too many orphans", "", snmpCounters+"; "+ipSysctl,
		"raise net.ipv4.tcp_mem (in pages) and net.ipv4.tcp_max_orphans, or have fewer connections")
	growth(cause.MemoryReserveDrop,
		"packets were dropped because they were received into the reserve of memory", "",
		"Linux Documentation/admin-guide/sysctl/vm.rst (min_free_kbytes); linux/snmp.h",
		"free memory; raise vm.min_free_kbytes")
	growth(cause.ReceiveQueueCollapsed,
		"TCP copies segments together to save receive memory, which delays the connection", "", snmpCounters,
		"larger receive buffers (net.ipv4.tcp_rmem), or a program that reads faster")
	growth(cause.ZeroWindowDrop,
		"segments arrive for connections whose receive window is closed", "", "RFC 9293, section 3.8.6; linux/snmp.h",
		"have the program read faster; see which: ss -tnm")
	growth(cause.WriteQueueRefused,
		"a retransmission could not be split, because SO_SNDBUF is too small for what is sent", "",
		"socket(7); linux/snmp.h", "programs without SO_SNDBUF, or with a larger one")
	growth(cause.ACKsSuppressed,
		"acknowledgements of segments that were thrown away are limited: they were overtaken, or two hosts "+
			"disagree about a connection",
		"", snmpCounters+" (TCPACKSkipped…); "+ipSysctl+" (tcp_invalid_ratelimit)",
		"none if packets overtake each other (tcp-reordering); otherwise look for middleboxes that change sequence "+
			"numbers, and for two hosts with one address")
	growth(cause.PathRehash,
		"TCP changed the hash of connections to leave a path on which nothing arrives", "", ipSysctl+
			" (txrehash); RFC 6438",
		"look for a dead member among equal-cost routes and links: linerate limits ecmp, mtr by several source ports")
	growth(cause.MTUProbed,
		"TCP had to probe for the packet size of paths: messages about their MTU do not arrive", "", "RFC 4821; "+
			ipSysctl+" (tcp_mtu_probing)",
		"let ICMP type 3 code 4 and ICMPv6 type 2 pass, and have one MTU in each subnet; linerate doctor --probe "+
			"PEER finds the size")
	growth(cause.ICMPNotHeeded,
		"ICMP messages for connections were dropped, because a program used the socket", "", snmpCounters,
		"none if few: senders repeat them; smaller writes hold the socket for less time")
	growth(cause.ICMPOutOfWindow,
		"ICMP messages arrive that are of no segment in flight: late ones, or attempts to slow connections down", "",
		"RFC 5927; "+snmpCounters, "see who sends them: tcpdump -n icmp")
	growth(cause.SYNCookiesFailed,
		"acknowledgements arrive for handshakes of which this host does not know", "", "RFC 4987; "+snmpCounters,
		"look for a restarted service behind a balancer, or for forged packets: ss -tn state syn-recv")
	growth(cause.HandshakesReset,
		"peers reset connections before they are open, as probes of balancers and scans do", "", snmpCounters,
		"see who: tcpdump -n 'tcp[tcpflags] & tcp-rst != 0'")
	growth(cause.FastopenBlackhole,
		"TCP Fast Open was switched off for a while: a firewall drops SYNs with data", "", ipSysctl+
			" (tcp_fastopen_blackhole_timeout_sec); RFC 7413",
		"let such SYNs pass, or sysctl -w net.ipv4.tcp_fastopen=0")
	growth(cause.FastopenFailed,
		"connections by TCP Fast Open fell back to a full handshake", "", "RFC 7413; "+
			snmpCounters, "cookies that expired, or a server without it: none if few")
	growth(cause.MPTCPFallback,
		"connections fell back from Multipath TCP to TCP: the peer does not have it, or a middlebox strips its options",
		"", "RFC 8684, section 3.7; Linux Documentation/networking/mptcp.rst",
		"if the peer has it, look for firewalls on the path that remove TCP options")
	growth(cause.TTLSecurity,
		"segments were dropped because they came over more hops than the socket allows (GTSM)", "", "RFC 5082; ip(7)",
		"the right number of hops for the neighbour in the routing daemon (ttl security)")
	growth(cause.ResetsReceived,
		"many connections end by a reset instead of a close",
		"linerate's own connections end so as well, and are left out.", "RFC 4022; "+snmpCounters,
		"see which peers and programs: services that restart, balancers that give idle connections up")
	growth(cause.ResetsSent,
		"this host answers much with resets: a service does not run, or the host is scanned", "",
		"RFC 4022; RFC 9293, section 3.5.3", "see for which port: tcpdump -n 'tcp[tcpflags] & tcp-rst != 0'")
	growth(cause.BadSegments,
		"TCP received segments with wrong headers or checksums", "", "RFC 4022",
		"see the counters of checksums, and the errors of the interfaces")
	growth(cause.UDPBufferOverflow,
		"datagrams were dropped because the receive buffer of a UDP socket was full", "", snmpCounters+"; udp(7)")
	growth(cause.UDPSendBuffer,
		"datagrams were not sent because a send buffer or a queue of the host was full", "", snmpCounters+"; udp(7)",
		"send at a rate that the interface carries, or set a larger SO_SNDBUF (net.core.wmem_max)")
	growth(cause.UDPMemory,
		"datagrams were dropped because UDP reached the bound of its memory", "", ipSysctl,
		"raise net.ipv4.udp_mem (in pages, of the whole machine)")
	growth(cause.UDPNoListener,
		"datagrams arrive for ports on which no program listens", "", snmpCounters,
		"start the receiver, or have the sender use its port; ss -lun shows the ports")
	growth(cause.NoRoute,
		"packets were discarded because there is no route to their destination",
		"Ip.OutNoRoutes is left out on a host that has no default route of IPv4, and has one of IPv6 or no IPv4 "+
			"address: getaddrinfo(3) tries each IPv4 address of a name. So are fewer than ten of Ip6.InNoRoutes.",
		"RFC 2011; ip-route(8)", "see what is tried: ip route get ADDRESS; add the route, or end what sends there")
	growth(cause.FragmentationNeeded,
		"packets were larger than the next link takes and were not to be fragmented",
		"As many as a queue of the host dropped, or as Udp.SndbufErrors + Udp6.SndbufErrors, are taken for "+
			"fragments that the queue refused: FragFails counts these as well.",
		"RFC 1191; "+snmpCounters, "one MTU on all links of the path, or ICMP type 3 code 4 that reaches the sender")
	growth(cause.Fragmentation,
		"this host fragments packets: a lost fragment costs the whole packet, and hashing by ports does not see it", "",
		"RFC 8900; "+snmpCounters,
		"datagrams that fit the path's MTU (ip route get ADDRESS shows it) less the headers, 28 bytes of UDP over "+
			"IPv4 and 48 over IPv6; or a larger MTU")
	growth(cause.ReassemblyFailed,
		"fragments were thrown away because others of their packet did not arrive, or there was no memory for them", "",
		ipSysctl, "avoid fragments: smaller datagrams or a larger MTU; net.ipv4.ipfrag_high_thresh if memory was short")
	growth(cause.NotForUs,
		"packets for other hosts arrive, and this host does not forward", "", ipSysctl,
		"if it is to be a router: sysctl -w net.ipv4.ip_forward=1; otherwise correct the sender's route or ARP entry")
	growth(cause.TTLExceeded,
		"packets arrive whose time to live has run out: routes form a loop, a traceroute or mtr runs through this "+
			"host, or headers are wrong",
		"", "RFC 1812, section 5.3.1",
		"none if it is a traceroute; otherwise follow the path: ip route get ADDRESS on each router")
	growth(cause.IPDiscards,
		"IP packets were discarded for want of a buffer, or by a full queue or a filter of this host", "", "RFC 2011",
		"see which: ip -s link, tc -s qdisc; then nft list ruleset")
	growth(cause.EchoUnreplied,
		"of the echo requests that this host sent, more than 5 % got no reply", "",
		"RFC 792; "+snmpCounters, "ping each peer separately: no reply at all means "+
			"that it is down or filters echo requests, some replies missing means loss or a rate limit on the path")
	growth(cause.ICMPRateLimited,
		"ICMP messages were not sent because of their rate limit: senders may not learn the path's MTU", "", ipSysctl,
		"raise net.ipv4.icmp_msgs_per_sec or icmp_ratelimit")
	growth(cause.ECNMarked,
		"routers mark packets to this host (ECN): a queue on the path is longer than its target", "", "RFC 3168; "+
			snmpCounters, "none: senders slow down without loss, as is meant; find the queue by the routers' counters")
	growth(cause.PacketsTruncated,
		"packets arrive that are shorter than their header says", "", "RFC 4293 (ipIfStatsInTruncatedPkts)",
		"look for a device that cuts packets: drivers, tunnels, captures that are replayed")
	growth(cause.BroadcastsMany,
		"many broadcasts arrive, each of which every host of the network handles", "",
		"RFC 4293; RFC 1122, section 3.3.6",
		"see who sends them: tcpdump -n -e ether broadcast; a loop of switches, or a program that announces too often")
	growth(cause.ProtocolUnknown,
		"IP packets of a protocol arrive that this host does not handle", "", "RFC 2011; RFC 1122, section 3.2.2.1",
		"see which: tcpdump -n -v 'not (tcp or udp or icmp)'; load the module of the tunnel that they are of, or "+
			"end what sends them")
	growth(cause.FragmentsOverlap,
		"fragments overlapped, so that their packets were thrown away: two packets with one identification, or an "+
			"attack",
		"", "RFC 4963; RFC 5722",
		"avoid fragments; at high rates identifications of IPv4 are used again within a second")
	growth(cause.RedirectsReceived,
		"a router says that another one is nearer (ICMP redirect): the route of this host takes a detour", "",
		"RFC 1122, section 3.2.2.2; "+ipSysctl+" (accept_redirects)",
		"ip route get ADDRESS; name the right gateway in the route, or make one router of the two")
	growth(cause.RedirectsSent,
		"this host forwards packets back into the network that they come from, and tells their senders of a nearer "+
			"gateway",
		"", "RFC 1812, section 5.2.7.2; "+ipSysctl+" (send_redirects)",
		"correct the senders' routes; sysctl -w net.ipv4.conf.all.send_redirects=0 if the detour is meant")
	growth(cause.TimeExceededReceived,
		"routers say that packets of this host have passed too many of them: routes form a loop, or a traceroute runs",
		"", "RFC 792; RFC 1812, section 5.3.1", "follow the path: mtr -n ADDRESS; the loop is where addresses repeat")
	growth(cause.UnreachableReceived,
		"others say that what this host sends does not reach its destination (ICMP destination unreachable)", "",
		"RFC 792; RFC 1122, section 3.2.2.1",
		"see for what: tcpdump -n icmp; a port without a program, a route that is missing, a packet that is too large")
	growth(cause.UnreachableSent,
		"this host tells others that what they send does not reach its destination", "",
		"RFC 792; RFC 1812, section 5.2.7.1", "see for what: tcpdump -n icmp; start the service, or correct the route")
	growth(cause.ParameterProblem,
		"another host could not read headers of packets that this one sent", "", "RFC 792; RFC 1122, section 3.2.2.5",
		"see which: tcpdump -n -v icmp; IP options that a router does not take")
	growth(cause.ARPFiltered,
		"arp_filter kept interfaces from answering ARP requests for addresses that are sent from by another one", "",
		ipSysctl+" (arp_filter)",
		"none if that is meant; a host that is not reached for it needs a rule and a table for each address")
})
