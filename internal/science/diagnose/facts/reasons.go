package facts

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// A reason is what the kernel's reason for a drop means (enum skb_drop_reason,
// include/net/dropreason-core.h of Linux 6.18), and which counters count such packets: of an
// interface or its qdisc by their own names, others as "Udp.NoPorts".
type reason struct {
	Verdict, Why string
	Counters     []string
}

// ReasonOf is unknown for what is not in the table, as reasons of later kernels.
func ReasonOf(d record.KernelDrop) reason {
	r, is := Reasons[d.Reason]
	if !is {
		r = reason{Verdict: Unknown, Why: "linerate does not know this reason of the kernel"}
	}
	if d.Reason == "NO_SOCKET" && !strings.HasSuffix(d.Protocol, " UDP") {
		r.Counters = nil
	}
	if strings.HasPrefix(d.Protocol, "IPv6") {
		r.Counters = slices.Clone(r.Counters)
		for i, name := range r.Counters {
			r.Counters[i] = ofIPv6.Replace(name)
		}
	}
	return r
}

// ofIPv6 replaces the groups of IPv4's counters by those of IPv6's.
var ofIPv6 = strings.NewReplacer("IpExt.", "Ip6.", "Ip.", "Ip6.", "Icmp.", "Icmp6.", "Udp.", "Udp6.")

func counts(names ...string) []string { return names }

// Reasons are what the kernel's reasons for drops mean, by their names without SKB_DROP_REASON_.
var Reasons = map[string]reason{
	// The link and what is below IP.
	"OTHERHOST": {Harmless,
		"for another host's MAC address: flooded by a switch, or seen for promiscuous mode",
		counts("rx_otherhost_dropped")},
	"UNHANDLED_PROTO": {Harmless,
		"of a protocol that nothing on this host handles, as LLDP and STP of a switch",
		counts("rx_dropped", "rx_nohandler")},
	"UNICAST_IN_L2_MULTICAST": {Harmless, "for one host's IP address in a frame for several", nil},
	"LOCAL_MAC": {Unknown,
		"the source MAC address is this host's own: a loop, or an address that two hosts have", nil},
	"MAC_INVALID_SOURCE":   {Harmful, "the source MAC address is no host's", nil},
	"MAC_IEEE_MAC_CONTROL": {Harmless, "a MAC control frame, as of pause, that is not for bridges to forward", nil},
	"BRIDGE_INGRESS_STP_STATE": {Unknown, "the bridge port does not forward (STP, or a link that has just come up)",
		nil},
	"NO_TX_TARGET":      {Unknown, "the bridge or tunnel has no port to send it to", nil},
	"ARP_PVLAN_DISABLE": {Harmless, "an ARP request that proxy_arp_pvlan is not set for", nil},
	"PKT_TOO_SMALL":     {Harmful, "shorter than its headers", nil},
	"PKT_TOO_BIG": {Harmful,
		"longer than the next link takes, and not to be fragmented: MTUs differ on the path", counts("Ip.FragFails")},
	"HDR_TRUNC": {Harmful, "its headers are not all there", nil},
	"DEV_HDR":   {Harmful, "the driver's header of the packet is wrong", nil},
	"DEV_READY": {Unknown, "the interface is down, or nothing is at its other end",
		counts("rx_dropped", "tx_dropped")},
	"FULL_RING": {Harmful,
		"the queue of a tun, tap or virtual interface is full: its reader is too slow",
		counts("tx_dropped", "rx_dropped")},
	"CPU_BACKLOG": {Harmful,
		"a CPU's queue of received packets is full (net.core.netdev_max_backlog), or a flow has more than its share of it",
		counts(SoftnetDropped, "rx_dropped")},
	"NOMEM":      {Harmful, "there was no memory", counts("rx_dropped", "tx_dropped")},
	"PFMEMALLOC": {Harmful, "memory was so short that only traffic to the swap device was received", nil},
	"RECURSION_LIMIT": {Harmful, "it passed too many interfaces that are made on each other: a loop",
		counts("tx_dropped")},
	"SKB_CSUM":        {Harmful, "its checksum could not be computed", counts("tx_dropped")},
	"SKB_GSO_SEG":     {Harmful, "it could not be divided into segments", counts("tx_dropped")},
	"SKB_UCOPY_FAULT": {Harmful, "it could not be copied from the program's memory", nil},

	// Filters and programs.
	"NETFILTER_DROP": {Unknown, "a firewall rule dropped it, on purpose or not: nft list ruleset",
		counts(NftDropped)},
	"XDP": {Unknown, "an XDP program dropped it: ip -details link show", nil},
	"TC_INGRESS": {Unknown, "a tc filter at ingress dropped it: tc filter show dev DEV ingress",
		counts(FilterDropped)},
	"TC_EGRESS": {Unknown, "a tc filter at egress dropped it: tc filter show dev DEV egress",
		counts(FilterDropped)},
	"TC_COOKIE_ERROR":    {Harmful, "tc failed between chains of filters", nil},
	"TC_CHAIN_NOTFOUND":  {Harmful, "a tc filter goes to a chain that is not there", nil},
	"TC_RECLASSIFY_LOOP": {Harmful, "tc filters classify in a loop", nil},
	"BPF_CGROUP_EGRESS":  {Unknown, "a BPF program of the control group dropped it: bpftool cgroup tree", nil},
	"SECURITY_HOOK":      {Unknown, "a security module (SELinux, AppArmor) dropped it: see its audit log", nil},
	"XFRM_POLICY": {Unknown, "an IPsec policy does not permit it as it is: ip xfrm policy",
		counts("Ip.InDiscards")},
	"SOCKET_FILTER":     {Harmless, "the socket's own filter does not want it", nil},
	"TAP_FILTER":        {Unknown, "the BPF filter of a tap interface dropped it", nil},
	"TAP_TXFILTER":      {Harmless, "the reader of a tap interface does not want it", nil},
	"PSP_INPUT":         {Harmful, "PSP could not decrypt it, or the connection wants it encrypted", nil},
	"PSP_OUTPUT":        {Harmful, "PSP could not encrypt it", nil},
	"OVS_DROP_EXPLICIT": {Unknown, "an Open vSwitch flow drops it: ovs-ofctl dump-flows", nil},
	"OVS_DROP_IP_TTL":   {Harmful, "its time to live ran out in Open vSwitch", nil},
	"OVS_DROP_METER":    {Harmful, "a meter of Open vSwitch was exceeded", nil},

	// Queues to the link.
	"QDISC_DROP": {Harmful, "the queue of the interface dropped it: full, or longer than its target",
		counts("qdisc")},
	"QDISC_OVERLIMIT":     {Harmful, "the queue of the interface is full", counts("qdisc")},
	"QDISC_CONGESTED":     {Harmful, "the queue of the interface is longer than its target (AQM)", counts("qdisc")},
	"CAKE_FLOOD":          {Harmful, "cake: a flow does not slow down", counts("qdisc")},
	"FQ_BAND_LIMIT":       {Harmful, "fq: the band's queue is full", counts("qdisc")},
	"FQ_HORIZON_LIMIT":    {Harmful, "fq: it is to be sent too far in the future (horizon)", counts("qdisc")},
	"FQ_FLOW_LIMIT":       {Harmful, "fq: a flow has too many packets in the queue (flow_limit)", counts("qdisc")},
	"DUALPI2_STEP_DROP":   {Harmful, "dualpi2: it waited longer than the step threshold", counts("qdisc")},
	"NEIGH_CREATEFAIL":    {Harmful, "there was no room for the neighbour entry (gc_thresh3)", nil},
	"NEIGH_FAILED":        {Harmful, "the next hop does not answer ARP or neighbour discovery", nil},
	"NEIGH_QUEUEFULL":     {Harmful, "too many packets wait for an answer to ARP (unres_qlen_bytes)", nil},
	"NEIGH_DEAD":          {Harmful, "the neighbour entry was being removed", nil},
	"NEIGH_HH_FILLFAIL":   {Harmful, "the header of the link could not be written", nil},
	"VXLAN_INVALID_HDR":   {Harmful, "its VXLAN header is wrong", counts("rx_dropped")},
	"VXLAN_VNI_NOT_FOUND": {Harmful, "no VXLAN interface has its network identifier", nil},
	"VXLAN_ENTRY_EXISTS":  {Harmful, "a static VXLAN entry has its source at another place", nil},
	"IP_TUNNEL_ECN":       {Harmful, "the ECN fields of tunnel and packet contradict each other (RFC 6040)", nil},
	"TUNNEL_TXINFO":       {Harmful, "the tunnel has no destination for it", counts("tx_dropped")},

	// IP.
	"IP_CSUM": {Harmful, "its IP header has a wrong checksum", counts("IpExt.InCsumErrors")},
	"IP_INHDR": {Unknown,
		"its IP header is wrong, or its time to live ran out (a routing loop, or traceroute)",
		counts("Ip.InHdrErrors")},
	"IP_RPFILTER": {Harmful,
		"the reverse-path filter dropped it: replies to its source would leave by another interface",
		counts("TcpExt.IPReversePathFilter")},
	"IP_NOPROTO":     {Unknown, "nothing on this host handles its IP protocol", nil},
	"IP_OUTNOROUTES": {Harmful, "no route to the destination", counts("Ip.OutNoRoutes")},
	"IP_INNOROUTES":  {Unknown, "it arrived, and no route leads on", counts("IpExt.InNoRoutes")},
	"IP_INADDRERRORS": {Unknown, "it is for an address of another host, and this host does not forward",
		counts("Ip.InAddrErrors")},
	"IP_LOCAL_SOURCE": {Unknown,
		"its source is an address of this host: a loop, or an address that two hosts have", nil},
	"IP_INVALID_SOURCE": {Unknown, "its source can be no host's (multicast, broadcast, zero)", nil},
	"IP_LOCALNET":       {Unknown, "an address of the loopback came from outside (route_localnet)", nil},
	"IP_INVALID_DEST":   {Unknown, "its destination can be no host's", nil},
	"INVALID_PROTO": {Harmless, "of a kind that is to be ignored, as a broadcast ICMP timestamp request",
		nil},
	"ICMP_CSUM": {Harmful, "ICMP with a wrong checksum", counts("Icmp.InCsumErrors")},
	"DUP_FRAG":  {Harmless, "a fragment that was there already", nil},
	"FRAG_REASM_TIMEOUT": {Harmful, "other fragments of its packet did not arrive in time",
		counts("Ip.ReasmFails")},
	"FRAG_TOO_FAR": {Harmful, "fragments of its packet are reordered too far (ipfrag_max_dist)",
		counts("Ip.ReasmFails")},
	"IPV6DISABLED":            {Harmless, "IPv6 is disabled on the interface", nil},
	"IPV6_BAD_EXTHDR":         {Harmful, "an IPv6 extension header is wrong", nil},
	"IPV6_NDISC_FRAG":         {Harmful, "neighbour discovery in fragments (suppress_frag_ndisc)", nil},
	"IPV6_NDISC_HOP_LIMIT":    {Harmful, "neighbour discovery that has passed a router: forged", nil},
	"IPV6_NDISC_BAD_CODE":     {Harmful, "neighbour discovery with a wrong code", nil},
	"IPV6_NDISC_BAD_OPTIONS":  {Harmful, "neighbour discovery with wrong options", nil},
	"IPV6_NDISC_NS_OTHERHOST": {Harmless, "a neighbour solicitation for another host", nil},

	// Sockets.
	"NO_SOCKET": {Unknown, "no program receives on its port", counts("Udp.NoPorts")},
	"SOCKET_RCVBUFF": {Harmful,
		"the receive buffer of a socket is full: the program reads too slowly, or the buffer is small",
		counts("Udp.RcvbufErrors", "TcpExt.TCPRcvQDrop", "TcpExt.RcvPruned")},
	"SOCKET_BACKLOG": {Harmful, "the backlog of a socket is full while its program uses it",
		counts("TcpExt.TCPBacklogDrop")},
	"SOCKET_CLOSE": {Harmless, "the socket was closed before the program had read it", nil},
	"PROTO_MEM": {Harmful, "the protocol has all the memory that it may (tcp_mem, udp_mem)",
		counts("Udp.MemErrors", "TcpExt.TCPRcvQDrop")},
	"QUEUE_PURGE":       {Harmless, "it waited in a queue that was emptied, as of a socket that is closed", nil},
	"PACKET_SOCK_ERROR": {Unknown, "a packet socket (tcpdump) had no room for its copy", nil},
	"UNIX_DISCONNECT":   {Harmless, "a Unix socket was closed with data in it", nil},
	"UNIX_SKIP_OOB":     {Harmless, "out-of-band data of a Unix socket that was not read", nil},
	"UDP_CSUM":          {Harmful, "UDP with a wrong checksum", counts("Udp.InCsumErrors")},

	// TCP.
	"TCP_CSUM":            {Harmful, "TCP with a wrong checksum", counts("Tcp.InCsumErrors")},
	"TCP_FLAGS":           {Unknown, "TCP flags that fit no connection", nil},
	"TCP_LISTEN_OVERFLOW": {Harmful, "a listener's accept queue is full", counts("TcpExt.ListenOverflows")},
	"TCP_ZEROWINDOW":      {Harmful, "the receive window is closed: the program reads too slowly", nil},
	"TCP_OVERWINDOW":      {Harmful, "data beyond the receive window", nil},
	"TCP_OFO_QUEUE_PRUNE": {Harmful, "the receive buffer is full: segments behind a gap were thrown away",
		counts("TcpExt.OfoPruned")},
	"TCP_OFO_DROP": {Harmful, "the receive buffer has no room for a segment behind a gap",
		counts("TcpExt.TCPOFODrop")},
	"TCP_OLD_DATA":             {Harmless, "data that had arrived already", nil},
	"TCP_OFOMERGE":             {Harmless, "data that had arrived already, behind a gap", nil},
	"TCP_OLD_SEQUENCE":         {Harmless, "a segment that had arrived already", nil},
	"TCP_OLD_ACK":              {Harmless, "an acknowledgement that a later one has overtaken", nil},
	"TCP_TOO_OLD_ACK":          {Unknown, "an acknowledgement older than the window: delayed, or forged", nil},
	"TCP_ACK_UNSENT_DATA":      {Unknown, "it acknowledges what was not sent: forged, or a middlebox", nil},
	"TCP_INVALID_SEQUENCE":     {Unknown, "a segment outside of the window", nil},
	"TCP_INVALID_END_SEQUENCE": {Unknown, "a segment that ends outside of the window", nil},
	"TCP_INVALID_ACK_SEQUENCE": {Unknown, "an acknowledgement that fits no state of the connection", nil},
	"TCP_INVALID_SYN":          {Unknown, "a SYN on a connection that is open", nil},
	"TCP_RFC7323_PAWS": {Unknown, "an old timestamp, as of several clients behind one NAT",
		counts("TcpExt.PAWSEstab")},
	"TCP_RFC7323_PAWS_ACK": {Harmless, "an acknowledgement with an old timestamp: reordered",
		counts("TcpExt.PAWSEstab")},
	"TCP_RFC7323_TW_PAWS": {Unknown, "an old timestamp for a connection in TIME-WAIT", nil},
	"TCP_RFC7323_TSECR":   {Unknown, "it echoes a timestamp that was not sent", nil},
	"TCP_RESET":           {Unknown, "a reset: the peer refuses or ends the connection", nil},
	"TCP_ABORT_ON_DATA":   {Unknown, "data for a connection that the program had closed", nil},
	"TCP_CLOSE":           {Harmless, "for a connection that has ended", nil},
	"TCP_FASTOPEN":        {Unknown, "for a fast open that is not complete", nil},
	"TCP_MINTTL":          {Unknown, "its time to live is below what the socket asks for (IP_MINTTL)", nil},
	"TCP_AUTH_HDR":        {Harmful, "two signatures, or a wrong one", nil},
	"TCP_MD5NOTFOUND": {Harmful, "no MD5 signature where the socket wants one",
		counts("TcpExt.TCPMD5NotFound")},
	"TCP_MD5UNEXPECTED": {Harmful, "an MD5 signature where the socket has no key",
		counts("TcpExt.TCPMD5Unexpected")},
	"TCP_MD5FAILURE": {Harmful, "a wrong MD5 signature: the ends have different keys",
		counts("TcpExt.TCPMD5Failure")},
	"TCP_AONOTFOUND": {Harmful, "no TCP-AO signature where the socket wants one", nil},
	"TCP_AOUNEXPECTED": {Harmful, "a TCP-AO signature where the socket has no key",
		counts("TcpExt.TCPAOKeyNotFound")},
	"TCP_AOKEYNOTFOUND": {Harmful, "a TCP-AO key that the socket does not have",
		counts("TcpExt.TCPAOKeyNotFound")},
	"TCP_AOFAILURE": {Harmful, "a wrong TCP-AO signature: the ends have different keys",
		counts("TcpExt.TCPAOBad")},

	// CAN.
	"CAN_RX_INVALID_FRAME":   {Harmful, "no CAN frame", nil},
	"CANFD_RX_INVALID_FRAME": {Harmful, "no CAN FD frame", nil},
	"CANXL_RX_INVALID_FRAME": {Harmful, "no CAN XL frame", nil},
}
