package counter

import (
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/said"
)

var (
	udpIn = []string{"Udp.InDatagrams", "Udp.InErrors", "Udp6.InDatagrams", "Udp6.InErrors"}
	ipIn  = []string{"Ip.InReceives", "Ip6.InReceives"}
)

// ipGrowths are counters of UDP, IP, ICMP and ARP, of both families, which TCP's are anyway. Two
// of IPv6 are left out, which grow on hosts that work. Ip6.OutNoRoutes: a host without IPv6
// counts each name that it looks up (RFC 6724 has getaddrinfo(3) ask for a route).
// Ip6.InDiscards: an interface with disable_ipv6 counts what the link's other hosts send to all.
// Those whose harm depends on what is done are
// possible at most.
var ipGrowths = []growth{
	{id: "udp-buffer-overflow", own: true, counters: []string{"Udp.RcvbufErrors", "Udp6.RcvbufErrors"}, least: 1,
		of: udpIn, share: 1e-4, confidence: record.Certain, verdict: facts.Harmful,
		summary: "datagrams were dropped because the receive buffer of a UDP socket was full",
		fixes:   largerUDPBuffer, more: said.DroppingSockets, explains: []string{"udp-socket-dropped"},
		reference: said.SNMPCounters + "; udp(7)"},
	{id: "udp-send-buffer", load: true, counters: []string{"Udp.SndbufErrors", "Udp6.SndbufErrors"}, least: 1,
		confidence: record.Likely, verdict: facts.Harmful,
		summary:   "datagrams were not sent because a send buffer or a queue of the host was full",
		fix:       []string{"send at a rate that the interface carries, or set a larger SO_SNDBUF (net.core.wmem_max)"},
		reference: said.SNMPCounters + "; udp(7)"},
	{id: "udp-memory", own: true, counters: []string{"Udp.MemErrors", "Udp6.MemErrors"}, least: 1,
		confidence: record.Certain, verdict: facts.Harmful,
		summary: "datagrams were dropped because UDP reached the bound of its memory",
		fix:     []string{"raise net.ipv4.udp_mem (in pages, of the whole machine)"}, reference: said.IPSysctl},
	{id: "udp-no-listener", counters: []string{"Udp.NoPorts", "Udp6.NoPorts"}, least: 10, of: udpIn, share: 0.01,
		confidence: record.Likely, verdict: facts.Unknown,
		summary:   "datagrams arrive for ports on which no program listens",
		fix:       []string{"start the receiver, or have the sender use its port; ss -lun shows the ports"},
		reference: said.SNMPCounters},
	{id: "no-route", counters: []string{"Ip.OutNoRoutes", "IpExt.InNoRoutes", "Ip6.InNoRoutes"}, least: 1,
		apart: facts.Routeless, confidence: record.Likely, verdict: facts.Unknown,
		summary:   "packets were discarded because there is no route to their destination",
		says:      "Ip.OutNoRoutes is left out on a host that has no default route of IPv4, and has one of IPv6 or no IPv4 address: getaddrinfo(3) tries each IPv4 address of a name. So are fewer than ten of Ip6.InNoRoutes.",
		fix:       []string{"see what is tried: ip route get ADDRESS; add the route, or end what sends there"},
		reference: "RFC 2011; ip-route(8)"},
	{id: "fragmentation-needed", counters: []string{"Ip.FragFails", "Ip6.FragFails"}, least: 1,
		confidence: record.Likely, verdict: facts.Harmful,
		summary:   "packets were larger than the next link takes and were not to be fragmented",
		apart:     facts.RefusedFragments,
		says:      "As many as a queue of the host dropped, or as Udp.SndbufErrors + Udp6.SndbufErrors, are taken for fragments that the queue refused: FragFails counts these as well.",
		fix:       []string{"one MTU on all links of the path, or ICMP type 3 code 4 that reaches the sender"},
		reference: "RFC 1191; " + said.SNMPCounters},
	{id: "fragmentation", counters: []string{"Ip.FragCreates", "Ip6.FragCreates"}, least: 10, confidence: record.Likely,
		summary: "this host fragments packets: a lost fragment costs the whole packet, and hashing by ports does not see it",
		fix: []string{
			"datagrams that fit the path's MTU (ip route get ADDRESS shows it) less the headers, 28 bytes of UDP over IPv4 and 48 over IPv6; or a larger MTU"},
		reference: "RFC 8900; " + said.SNMPCounters},
	{id: "reassembly-failed", counters: []string{"Ip.ReasmFails", "Ip6.ReasmFails"}, least: 1,
		confidence: record.Certain, verdict: facts.Harmful,
		summary: "fragments were thrown away because others of their packet did not arrive, or there was no memory for them",
		fix: []string{
			"avoid fragments: smaller datagrams or a larger MTU; net.ipv4.ipfrag_high_thresh if memory was short"},
		reference: said.IPSysctl},
	{id: "not-for-us", counters: []string{"Ip.InAddrErrors", "Ip6.InAddrErrors"}, least: 10, confidence: record.Likely,
		verdict: facts.Unknown,
		summary: "packets for other hosts arrive, and this host does not forward",
		fix: []string{
			"if it is to be a router: sysctl -w net.ipv4.ip_forward=1; otherwise correct the sender's route or ARP entry"},
		reference: said.IPSysctl},
	{id: "ttl-exceeded", counters: []string{"Ip.InHdrErrors", "Ip6.InHdrErrors"}, least: 10, confidence: record.Likely,
		perS: 5, verdict: facts.Unknown,
		summary: "packets arrive whose time to live has run out: routes form a loop, a traceroute or mtr runs through this host, or headers are wrong",
		fix: []string{
			"none if it is a traceroute; otherwise follow the path: ip route get ADDRESS on each router"},
		reference: "RFC 1812, section 5.3.1"},
	{id: "ip-discards", load: true, counters: []string{"Ip.InDiscards", "Ip.OutDiscards", "Ip6.OutDiscards"}, least: 10,
		confidence: record.Likely, verdict: facts.Harmful,
		summary: "IP packets were discarded for want of a buffer, or by a full queue or a filter of this host",
		fix:     []string{"see which: ip -s link, tc -s qdisc; then nft list ruleset"}, reference: "RFC 2011"},
	{id: "icmp-rate-limited", counters: []string{"Icmp.OutRateLimitGlobal", "Icmp.OutRateLimitHost",
		"Icmp6.OutRateLimitHost"}, least: 10, confidence: record.Possible,
		summary: "ICMP messages were not sent because of their rate limit: senders may not learn the path's MTU",
		fix:     []string{"raise net.ipv4.icmp_msgs_per_sec or icmp_ratelimit"}, reference: said.IPSysctl},
	{id: "ecn-marked", counters: []string{"IpExt.InCEPkts", "Ip6.InCEPkts"}, least: 100, of: ipIn, share: 0.01,
		confidence: record.Possible,
		summary:    "routers mark packets to this host (ECN): a queue on the path is longer than its target",
		fix: []string{
			"none: senders slow down without loss, as is meant; find the queue by the routers' counters"},
		reference: "RFC 3168; " + said.SNMPCounters},
	{id: "packets-truncated", counters: []string{"IpExt.InTruncatedPkts", "Ip6.InTruncatedPkts"}, least: 1,
		confidence: record.Likely, verdict: facts.Harmful,
		summary:   "packets arrive that are shorter than their header says",
		fix:       []string{"look for a device that cuts packets: drivers, tunnels, captures that are replayed"},
		reference: "RFC 4293 (ipIfStatsInTruncatedPkts)"},
	{id: "broadcasts-many", counters: []string{"IpExt.InBcastPkts"}, least: 5000, of: []string{"Ip.InReceives"},
		share: 0.1, confidence: record.Likely,
		summary: "many broadcasts arrive, each of which every host of the network handles",
		fix: []string{
			"see who sends them: tcpdump -n -e ether broadcast; a loop of switches, or a program that announces too often"},
		reference: "RFC 4293; RFC 1122, section 3.3.6"},
	{id: "protocol-unknown", counters: []string{"Ip.InUnknownProtos", "Ip6.InUnknownProtos"}, least: 10,
		confidence: record.Likely, verdict: facts.Unknown,
		summary: "IP packets of a protocol arrive that this host does not handle",
		fix: []string{
			"see which: tcpdump -n -v 'not (tcp or udp or icmp)'; load the module of the tunnel that they are of, or end what sends them"},
		reference: "RFC 2011; RFC 1122, section 3.2.2.1"},
	{id: "fragments-overlap", counters: []string{"IpExt.ReasmOverlaps"}, least: 1, confidence: record.Possible,
		verdict:   facts.Harmful,
		summary:   "fragments overlapped, so that their packets were thrown away: two packets with one identification, or an attack",
		fix:       []string{"avoid fragments; at high rates identifications of IPv4 are used again within a second"},
		reference: "RFC 4963; RFC 5722"},
	{id: "redirects-received", counters: []string{"Icmp.InRedirects", "Icmp6.InRedirects"}, least: 3,
		confidence: record.Likely,
		summary:    "a router says that another one is nearer (ICMP redirect): the route of this host takes a detour",
		fix: []string{
			"ip route get ADDRESS; name the right gateway in the route, or make one router of the two"},
		reference: "RFC 1122, section 3.2.2.2; " + said.IPSysctl + " (accept_redirects)"},
	{id: "redirects-sent", counters: []string{"Icmp.OutRedirects", "Icmp6.OutRedirects"}, least: 3,
		confidence: record.Likely,
		summary:    "this host forwards packets back into the network that they come from, and tells their senders of a nearer gateway",
		fix: []string{
			"correct the senders' routes; sysctl -w net.ipv4.conf.all.send_redirects=0 if the detour is meant"},
		reference: "RFC 1812, section 5.2.7.2; " + said.IPSysctl + " (send_redirects)"},
	{id: "time-exceeded-received", counters: []string{"Icmp.InTimeExcds", "Icmp6.InTimeExcds"}, least: 10,
		confidence: record.Likely,
		summary:    "routers say that packets of this host have passed too many of them: routes form a loop, or a traceroute runs",
		fix:        []string{"follow the path: mtr -n ADDRESS; the loop is where addresses repeat"},
		reference:  "RFC 792; RFC 1812, section 5.3.1"},
	{id: "unreachable-received", counters: []string{"Icmp.InDestUnreachs", "Icmp6.InDestUnreachs"}, least: 20,
		confidence: record.Possible,
		summary:    "others say that what this host sends does not reach its destination (ICMP destination unreachable)",
		fix: []string{
			"see for what: tcpdump -n icmp; a port without a program, a route that is missing, a packet that is too large"},
		reference: "RFC 792; RFC 1122, section 3.2.2.1"},
	{id: "unreachable-sent", counters: []string{"Icmp.OutDestUnreachs", "Icmp6.OutDestUnreachs"}, least: 20,
		confidence: record.Possible,
		summary:    "this host tells others that what they send does not reach its destination",
		fix:        []string{"see for what: tcpdump -n icmp; start the service, or correct the route"},
		reference:  "RFC 792; RFC 1812, section 5.2.7.1"},
	{id: "parameter-problem", counters: []string{"Icmp.InParmProbs", "Icmp6.InParmProblems"}, least: 1,
		confidence: record.Possible,
		summary:    "another host could not read headers of packets that this one sent",
		fix:        []string{"see which: tcpdump -n -v icmp; IP options that a router does not take"},
		reference:  "RFC 792; RFC 1122, section 3.2.2.5"},
	{id: "arp-filtered", counters: []string{"TcpExt.ArpFilter"}, least: 10, confidence: record.Possible,
		summary: "arp_filter kept interfaces from answering ARP requests for addresses that are sent from by another one",
		fix: []string{
			"none if that is meant; a host that is not reached for it needs a rule and a table for each address"},
		reference: said.IPSysctl + " (arp_filter)"},
}
