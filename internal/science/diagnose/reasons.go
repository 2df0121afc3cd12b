package diagnose

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// A reason is what the kernel's reason for a drop means (enum skb_drop_reason,
// include/net/dropreason-core.h of Linux 6.18), and which counters count such packets: of an
// interface or its qdisc by their own names, others as "Udp.NoPorts".
type reason struct {
	verdict, why string
	counters     []string
}

// reasonOf is unknown for what is not in the table, as reasons of later kernels.
func reasonOf(d record.KernelDrop) reason {
	r, is := reasons[d.Reason]
	if !is {
		r = reason{verdict: unknown, why: "linerate does not know this reason of the kernel"}
	}
	if d.Reason == "NO_SOCKET" && !strings.HasSuffix(d.Protocol, " UDP") {
		r.counters = nil
	}
	if strings.HasPrefix(d.Protocol, "IPv6") {
		r.counters = slices.Clone(r.counters)
		for i, name := range r.counters {
			r.counters[i] = ofIPv6.Replace(name)
		}
	}
	return r
}

// ofIPv6 replaces the groups of IPv4's counters by those of IPv6's.
var ofIPv6 = strings.NewReplacer("IpExt.", "Ip6.", "Ip.", "Ip6.", "Icmp.", "Icmp6.", "Udp.", "Udp6.")

func counts(names ...string) []string { return names }

var reasons = map[string]reason{
	// The link and what is below IP.
	"OTHERHOST": {harmless,
		"for another host's MAC address: flooded by a switch, or seen for promiscuous mode",
		counts("rx_otherhost_dropped")},
	"UNHANDLED_PROTO": {harmless,
		"of a protocol that nothing on this host handles, as LLDP and STP of a switch",
		counts("rx_dropped", "rx_nohandler")},
	"UNICAST_IN_L2_MULTICAST": {harmless, "for one host's IP address in a frame for several", nil},
	"LOCAL_MAC": {unknown,
		"the source MAC address is this host's own: a loop, or an address that two hosts have", nil},
	"MAC_INVALID_SOURCE":   {harmful, "the source MAC address is no host's", nil},
	"MAC_IEEE_MAC_CONTROL": {harmless, "a MAC control frame, as of pause, that is not for bridges to forward", nil},
	"BRIDGE_INGRESS_STP_STATE": {unknown, "the bridge port does not forward (STP, or a link that has just come up)",
		nil},
	"NO_TX_TARGET":      {unknown, "the bridge or tunnel has no port to send it to", nil},
	"ARP_PVLAN_DISABLE": {harmless, "an ARP request that proxy_arp_pvlan is not set for", nil},
	"PKT_TOO_SMALL":     {harmful, "shorter than its headers", nil},
	"PKT_TOO_BIG": {harmful,
		"longer than the next link takes, and not to be fragmented: MTUs differ on the path", counts("Ip.FragFails")},
	"HDR_TRUNC": {harmful, "its headers are not all there", nil},
	"DEV_HDR":   {harmful, "the driver's header of the packet is wrong", nil},
	"DEV_READY": {unknown, "the interface is down, or nothing is at its other end",
		counts("rx_dropped", "tx_dropped")},
	"FULL_RING": {harmful,
		"the queue of a tun, tap or virtual interface is full: its reader is too slow",
		counts("tx_dropped", "rx_dropped")},
	"CPU_BACKLOG": {harmful,
		"a CPU's queue of received packets is full (net.core.netdev_max_backlog), or a flow has more than its share of it",
		counts(softnetDropped, "rx_dropped")},
	"NOMEM":      {harmful, "there was no memory", counts("rx_dropped", "tx_dropped")},
	"PFMEMALLOC": {harmful, "memory was so short that only traffic to the swap device was received", nil},
	"RECURSION_LIMIT": {harmful, "it passed too many interfaces that are made on each other: a loop",
		counts("tx_dropped")},
	"SKB_CSUM":        {harmful, "its checksum could not be computed", counts("tx_dropped")},
	"SKB_GSO_SEG":     {harmful, "it could not be divided into segments", counts("tx_dropped")},
	"SKB_UCOPY_FAULT": {harmful, "it could not be copied from the program's memory", nil},

	// Filters and programs.
	"NETFILTER_DROP": {unknown, "a firewall rule dropped it, on purpose or not: nft list ruleset",
		counts(nftDropped)},
	"XDP": {unknown, "an XDP program dropped it: ip -details link show", nil},
	"TC_INGRESS": {unknown, "a tc filter at ingress dropped it: tc filter show dev DEV ingress",
		counts(filterDropped)},
	"TC_EGRESS": {unknown, "a tc filter at egress dropped it: tc filter show dev DEV egress",
		counts(filterDropped)},
	"TC_COOKIE_ERROR":    {harmful, "tc failed between chains of filters", nil},
	"TC_CHAIN_NOTFOUND":  {harmful, "a tc filter goes to a chain that is not there", nil},
	"TC_RECLASSIFY_LOOP": {harmful, "tc filters classify in a loop", nil},
	"BPF_CGROUP_EGRESS":  {unknown, "a BPF program of the control group dropped it: bpftool cgroup tree", nil},
	"SECURITY_HOOK":      {unknown, "a security module (SELinux, AppArmor) dropped it: see its audit log", nil},
	"XFRM_POLICY": {unknown, "an IPsec policy does not permit it as it is: ip xfrm policy",
		counts("Ip.InDiscards")},
	"SOCKET_FILTER":     {harmless, "the socket's own filter does not want it", nil},
	"TAP_FILTER":        {unknown, "the BPF filter of a tap interface dropped it", nil},
	"TAP_TXFILTER":      {harmless, "the reader of a tap interface does not want it", nil},
	"PSP_INPUT":         {harmful, "PSP could not decrypt it, or the connection wants it encrypted", nil},
	"PSP_OUTPUT":        {harmful, "PSP could not encrypt it", nil},
	"OVS_DROP_EXPLICIT": {unknown, "an Open vSwitch flow drops it: ovs-ofctl dump-flows", nil},
	"OVS_DROP_IP_TTL":   {harmful, "its time to live ran out in Open vSwitch", nil},
	"OVS_DROP_METER":    {harmful, "a meter of Open vSwitch was exceeded", nil},

	// Queues to the link.
	"QDISC_DROP": {harmful, "the queue of the interface dropped it: full, or longer than its target",
		counts("qdisc")},
	"QDISC_OVERLIMIT":     {harmful, "the queue of the interface is full", counts("qdisc")},
	"QDISC_CONGESTED":     {harmful, "the queue of the interface is longer than its target (AQM)", counts("qdisc")},
	"CAKE_FLOOD":          {harmful, "cake: a flow does not slow down", counts("qdisc")},
	"FQ_BAND_LIMIT":       {harmful, "fq: the band's queue is full", counts("qdisc")},
	"FQ_HORIZON_LIMIT":    {harmful, "fq: it is to be sent too far in the future (horizon)", counts("qdisc")},
	"FQ_FLOW_LIMIT":       {harmful, "fq: a flow has too many packets in the queue (flow_limit)", counts("qdisc")},
	"DUALPI2_STEP_DROP":   {harmful, "dualpi2: it waited longer than the step threshold", counts("qdisc")},
	"NEIGH_CREATEFAIL":    {harmful, "there was no room for the neighbour entry (gc_thresh3)", nil},
	"NEIGH_FAILED":        {harmful, "the next hop does not answer ARP or neighbour discovery", nil},
	"NEIGH_QUEUEFULL":     {harmful, "too many packets wait for an answer to ARP (unres_qlen_bytes)", nil},
	"NEIGH_DEAD":          {harmful, "the neighbour entry was being removed", nil},
	"NEIGH_HH_FILLFAIL":   {harmful, "the header of the link could not be written", nil},
	"VXLAN_INVALID_HDR":   {harmful, "its VXLAN header is wrong", counts("rx_dropped")},
	"VXLAN_VNI_NOT_FOUND": {harmful, "no VXLAN interface has its network identifier", nil},
	"VXLAN_ENTRY_EXISTS":  {harmful, "a static VXLAN entry has its source at another place", nil},
	"IP_TUNNEL_ECN":       {harmful, "the ECN fields of tunnel and packet contradict each other (RFC 6040)", nil},
	"TUNNEL_TXINFO":       {harmful, "the tunnel has no destination for it", counts("tx_dropped")},

	// IP.
	"IP_CSUM": {harmful, "its IP header has a wrong checksum", counts("IpExt.InCsumErrors")},
	"IP_INHDR": {unknown,
		"its IP header is wrong, or its time to live ran out (a routing loop, or traceroute)",
		counts("Ip.InHdrErrors")},
	"IP_RPFILTER": {harmful,
		"the reverse-path filter dropped it: replies to its source would leave by another interface",
		counts("TcpExt.IPReversePathFilter")},
	"IP_NOPROTO":     {unknown, "nothing on this host handles its IP protocol", nil},
	"IP_OUTNOROUTES": {harmful, "no route to the destination", counts("Ip.OutNoRoutes")},
	"IP_INNOROUTES":  {unknown, "it arrived, and no route leads on", counts("IpExt.InNoRoutes")},
	"IP_INADDRERRORS": {unknown, "it is for an address of another host, and this host does not forward",
		counts("Ip.InAddrErrors")},
	"IP_LOCAL_SOURCE": {unknown,
		"its source is an address of this host: a loop, or an address that two hosts have", nil},
	"IP_INVALID_SOURCE": {unknown, "its source can be no host's (multicast, broadcast, zero)", nil},
	"IP_LOCALNET":       {unknown, "an address of the loopback came from outside (route_localnet)", nil},
	"IP_INVALID_DEST":   {unknown, "its destination can be no host's", nil},
	"INVALID_PROTO": {harmless, "of a kind that is to be ignored, as a broadcast ICMP timestamp request",
		nil},
	"ICMP_CSUM": {harmful, "ICMP with a wrong checksum", counts("Icmp.InCsumErrors")},
	"DUP_FRAG":  {harmless, "a fragment that was there already", nil},
	"FRAG_REASM_TIMEOUT": {harmful, "other fragments of its packet did not arrive in time",
		counts("Ip.ReasmFails")},
	"FRAG_TOO_FAR": {harmful, "fragments of its packet are reordered too far (ipfrag_max_dist)",
		counts("Ip.ReasmFails")},
	"IPV6DISABLED":            {harmless, "IPv6 is disabled on the interface", nil},
	"IPV6_BAD_EXTHDR":         {harmful, "an IPv6 extension header is wrong", nil},
	"IPV6_NDISC_FRAG":         {harmful, "neighbour discovery in fragments (suppress_frag_ndisc)", nil},
	"IPV6_NDISC_HOP_LIMIT":    {harmful, "neighbour discovery that has passed a router: forged", nil},
	"IPV6_NDISC_BAD_CODE":     {harmful, "neighbour discovery with a wrong code", nil},
	"IPV6_NDISC_BAD_OPTIONS":  {harmful, "neighbour discovery with wrong options", nil},
	"IPV6_NDISC_NS_OTHERHOST": {harmless, "a neighbour solicitation for another host", nil},

	// Sockets.
	"NO_SOCKET": {unknown, "no program receives on its port", counts("Udp.NoPorts")},
	"SOCKET_RCVBUFF": {harmful,
		"the receive buffer of a socket is full: the program reads too slowly, or the buffer is small",
		counts("Udp.RcvbufErrors", "TcpExt.TCPRcvQDrop", "TcpExt.RcvPruned")},
	"SOCKET_BACKLOG": {harmful, "the backlog of a socket is full while its program uses it",
		counts("TcpExt.TCPBacklogDrop")},
	"SOCKET_CLOSE": {harmless, "the socket was closed before the program had read it", nil},
	"PROTO_MEM": {harmful, "the protocol has all the memory that it may (tcp_mem, udp_mem)",
		counts("Udp.MemErrors", "TcpExt.TCPRcvQDrop")},
	"QUEUE_PURGE":       {harmless, "it waited in a queue that was emptied, as of a socket that is closed", nil},
	"PACKET_SOCK_ERROR": {unknown, "a packet socket (tcpdump) had no room for its copy", nil},
	"UNIX_DISCONNECT":   {harmless, "a Unix socket was closed with data in it", nil},
	"UNIX_SKIP_OOB":     {harmless, "out-of-band data of a Unix socket that was not read", nil},
	"UDP_CSUM":          {harmful, "UDP with a wrong checksum", counts("Udp.InCsumErrors")},

	// TCP.
	"TCP_CSUM":            {harmful, "TCP with a wrong checksum", counts("Tcp.InCsumErrors")},
	"TCP_FLAGS":           {unknown, "TCP flags that fit no connection", nil},
	"TCP_LISTEN_OVERFLOW": {harmful, "a listener's accept queue is full", counts("TcpExt.ListenOverflows")},
	"TCP_ZEROWINDOW":      {harmful, "the receive window is closed: the program reads too slowly", nil},
	"TCP_OVERWINDOW":      {harmful, "data beyond the receive window", nil},
	"TCP_OFO_QUEUE_PRUNE": {harmful, "the receive buffer is full: segments behind a gap were thrown away",
		counts("TcpExt.OfoPruned")},
	"TCP_OFO_DROP": {harmful, "the receive buffer has no room for a segment behind a gap",
		counts("TcpExt.TCPOFODrop")},
	"TCP_OLD_DATA":             {harmless, "data that had arrived already", nil},
	"TCP_OFOMERGE":             {harmless, "data that had arrived already, behind a gap", nil},
	"TCP_OLD_SEQUENCE":         {harmless, "a segment that had arrived already", nil},
	"TCP_OLD_ACK":              {harmless, "an acknowledgement that a later one has overtaken", nil},
	"TCP_TOO_OLD_ACK":          {unknown, "an acknowledgement older than the window: delayed, or forged", nil},
	"TCP_ACK_UNSENT_DATA":      {unknown, "it acknowledges what was not sent: forged, or a middlebox", nil},
	"TCP_INVALID_SEQUENCE":     {unknown, "a segment outside of the window", nil},
	"TCP_INVALID_END_SEQUENCE": {unknown, "a segment that ends outside of the window", nil},
	"TCP_INVALID_ACK_SEQUENCE": {unknown, "an acknowledgement that fits no state of the connection", nil},
	"TCP_INVALID_SYN":          {unknown, "a SYN on a connection that is open", nil},
	"TCP_RFC7323_PAWS": {unknown, "an old timestamp, as of several clients behind one NAT",
		counts("TcpExt.PAWSEstab")},
	"TCP_RFC7323_PAWS_ACK": {harmless, "an acknowledgement with an old timestamp: reordered",
		counts("TcpExt.PAWSEstab")},
	"TCP_RFC7323_TW_PAWS": {unknown, "an old timestamp for a connection in TIME-WAIT", nil},
	"TCP_RFC7323_TSECR":   {unknown, "it echoes a timestamp that was not sent", nil},
	"TCP_RESET":           {unknown, "a reset: the peer refuses or ends the connection", nil},
	"TCP_ABORT_ON_DATA":   {unknown, "data for a connection that the program had closed", nil},
	"TCP_CLOSE":           {harmless, "for a connection that has ended", nil},
	"TCP_FASTOPEN":        {unknown, "for a fast open that is not complete", nil},
	"TCP_MINTTL":          {unknown, "its time to live is below what the socket asks for (IP_MINTTL)", nil},
	"TCP_AUTH_HDR":        {harmful, "two signatures, or a wrong one", nil},
	"TCP_MD5NOTFOUND": {harmful, "no MD5 signature where the socket wants one",
		counts("TcpExt.TCPMD5NotFound")},
	"TCP_MD5UNEXPECTED": {harmful, "an MD5 signature where the socket has no key",
		counts("TcpExt.TCPMD5Unexpected")},
	"TCP_MD5FAILURE": {harmful, "a wrong MD5 signature: the ends have different keys",
		counts("TcpExt.TCPMD5Failure")},
	"TCP_AONOTFOUND": {harmful, "no TCP-AO signature where the socket wants one", nil},
	"TCP_AOUNEXPECTED": {harmful, "a TCP-AO signature where the socket has no key",
		counts("TcpExt.TCPAOKeyNotFound")},
	"TCP_AOKEYNOTFOUND": {harmful, "a TCP-AO key that the socket does not have",
		counts("TcpExt.TCPAOKeyNotFound")},
	"TCP_AOFAILURE": {harmful, "a wrong TCP-AO signature: the ends have different keys",
		counts("TcpExt.TCPAOBad")},

	// CAN.
	"CAN_RX_INVALID_FRAME":   {harmful, "no CAN frame", nil},
	"CANFD_RX_INVALID_FRAME": {harmful, "no CAN FD frame", nil},
	"CANXL_RX_INVALID_FRAME": {harmful, "no CAN XL frame", nil},
}
