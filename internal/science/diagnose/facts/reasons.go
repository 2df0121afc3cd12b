package facts

import (
	"slices"
	"strings"
	"sync"

	"linerate/internal/model/netstate"
)

// reason is what linerate knows about one of the kernel's reasons for a drop (enum skb_drop_reason,
// include/net/dropreason-core.h of Linux 6.18): whether it does harm, and which counters include
// such packets. Counters of an interface or its qdisc have their own names, those of the host names
// such as "Udp.NoPorts".
type reason struct {
	Verdict  string
	Counters []string
}

// ReasonOf returns what is known of the reason for a drop. Its verdict is Unknown for reasons that
// are not in the table, such as those of later kernels.
func ReasonOf(d netstate.KernelDrop) reason {
	r, is := Reasons()[d.Reason]
	if !is {
		r = reason{Verdict: Unknown}
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

// ofIPv6 replaces the groups of IPv4 counters by those of IPv6.
var ofIPv6 = strings.NewReplacer("IpExt.", "Ip6.", "Ip.", "Ip6.", "Icmp.", "Icmp6.", "Udp.", "Udp6.")

func counts(names ...string) []string { return names }

// Reasons returns the kernel's reasons for drops, by name without SKB_DROP_REASON_. Package wording has
// their descriptions.
var Reasons = sync.OnceValue(func() map[string]reason {
	return map[string]reason{
		// The link and what is below IP.
		"OTHERHOST":                {Harmless, counts("rx_otherhost_dropped")},
		"UNHANDLED_PROTO":          {Harmless, counts("rx_dropped", "rx_nohandler")},
		"UNICAST_IN_L2_MULTICAST":  {Harmless, nil},
		"LOCAL_MAC":                {Unknown, nil},
		"MAC_INVALID_SOURCE":       {Harmful, nil},
		"MAC_IEEE_MAC_CONTROL":     {Harmless, nil},
		"BRIDGE_INGRESS_STP_STATE": {Unknown, nil},
		"NO_TX_TARGET":             {Unknown, nil},
		"ARP_PVLAN_DISABLE":        {Harmless, nil},
		"PKT_TOO_SMALL":            {Harmful, nil},
		"PKT_TOO_BIG":              {Harmful, counts("Ip.FragFails")},
		"HDR_TRUNC":                {Harmful, nil},
		"DEV_HDR":                  {Harmful, nil},
		"DEV_READY":                {Unknown, counts("rx_dropped", "tx_dropped")},
		"FULL_RING":                {Harmful, counts("tx_dropped", "rx_dropped")},
		"CPU_BACKLOG":              {Harmful, counts(SoftnetDropped, "rx_dropped")},
		"NOMEM":                    {Harmful, counts("rx_dropped", "tx_dropped")},
		"PFMEMALLOC":               {Harmful, nil},
		"RECURSION_LIMIT":          {Harmful, counts("tx_dropped")},
		"SKB_CSUM":                 {Harmful, counts("tx_dropped")},
		"SKB_GSO_SEG":              {Harmful, counts("tx_dropped")},
		"SKB_UCOPY_FAULT":          {Harmful, nil},

		// Filters and programs.
		"NETFILTER_DROP":     {Unknown, counts(NftDropped)},
		"XDP":                {Unknown, nil},
		"TC_INGRESS":         {Unknown, counts(FilterDropped)},
		"TC_EGRESS":          {Unknown, counts(FilterDropped)},
		"TC_COOKIE_ERROR":    {Harmful, nil},
		"TC_CHAIN_NOTFOUND":  {Harmful, nil},
		"TC_RECLASSIFY_LOOP": {Harmful, nil},
		"BPF_CGROUP_EGRESS":  {Unknown, nil},
		"SECURITY_HOOK":      {Unknown, nil},
		"XFRM_POLICY":        {Unknown, counts("Ip.InDiscards")},
		"SOCKET_FILTER":      {Harmless, nil},
		"TAP_FILTER":         {Unknown, nil},
		"TAP_TXFILTER":       {Harmless, nil},
		"PSP_INPUT":          {Harmful, nil},
		"PSP_OUTPUT":         {Harmful, nil},
		"OVS_DROP_EXPLICIT":  {Unknown, nil},
		"OVS_DROP_IP_TTL":    {Harmful, nil},
		"OVS_DROP_METER":     {Harmful, nil},

		// Queues to the link.
		"QDISC_DROP":          {Harmful, counts("qdisc")},
		"QDISC_OVERLIMIT":     {Harmful, counts("qdisc")},
		"QDISC_CONGESTED":     {Harmful, counts("qdisc")},
		"CAKE_FLOOD":          {Harmful, counts("qdisc")},
		"FQ_BAND_LIMIT":       {Harmful, counts("qdisc")},
		"FQ_HORIZON_LIMIT":    {Harmful, counts("qdisc")},
		"FQ_FLOW_LIMIT":       {Harmful, counts("qdisc")},
		"DUALPI2_STEP_DROP":   {Harmful, counts("qdisc")},
		"NEIGH_CREATEFAIL":    {Harmful, nil},
		"NEIGH_FAILED":        {Harmful, nil},
		"NEIGH_QUEUEFULL":     {Harmful, nil},
		"NEIGH_DEAD":          {Harmful, nil},
		"NEIGH_HH_FILLFAIL":   {Harmful, nil},
		"VXLAN_INVALID_HDR":   {Harmful, counts("rx_dropped")},
		"VXLAN_VNI_NOT_FOUND": {Harmful, nil},
		"VXLAN_ENTRY_EXISTS":  {Harmful, nil},
		"IP_TUNNEL_ECN":       {Harmful, nil},
		"TUNNEL_TXINFO":       {Harmful, counts("tx_dropped")},

		// IP.
		"IP_CSUM":                 {Harmful, counts("IpExt.InCsumErrors")},
		"IP_INHDR":                {Unknown, counts("Ip.InHdrErrors")},
		"IP_RPFILTER":             {Harmful, counts("TcpExt.IPReversePathFilter")},
		"IP_NOPROTO":              {Unknown, nil},
		"IP_OUTNOROUTES":          {Harmful, counts("Ip.OutNoRoutes")},
		"IP_INNOROUTES":           {Unknown, counts("IpExt.InNoRoutes")},
		"IP_INADDRERRORS":         {Unknown, counts("Ip.InAddrErrors")},
		"IP_LOCAL_SOURCE":         {Unknown, nil},
		"IP_INVALID_SOURCE":       {Unknown, nil},
		"IP_LOCALNET":             {Unknown, nil},
		"IP_INVALID_DEST":         {Unknown, nil},
		"INVALID_PROTO":           {Harmless, nil},
		"ICMP_CSUM":               {Harmful, counts("Icmp.InCsumErrors")},
		"DUP_FRAG":                {Harmless, nil},
		"FRAG_REASM_TIMEOUT":      {Harmful, counts("Ip.ReasmFails")},
		"FRAG_TOO_FAR":            {Harmful, counts("Ip.ReasmFails")},
		"IPV6DISABLED":            {Harmless, nil},
		"IPV6_BAD_EXTHDR":         {Harmful, nil},
		"IPV6_NDISC_FRAG":         {Harmful, nil},
		"IPV6_NDISC_HOP_LIMIT":    {Harmful, nil},
		"IPV6_NDISC_BAD_CODE":     {Harmful, nil},
		"IPV6_NDISC_BAD_OPTIONS":  {Harmful, nil},
		"IPV6_NDISC_NS_OTHERHOST": {Harmless, nil},

		// Sockets.
		"NO_SOCKET":         {Unknown, counts("Udp.NoPorts")},
		"SOCKET_RCVBUFF":    {Harmful, counts("Udp.RcvbufErrors", "TcpExt.TCPRcvQDrop", "TcpExt.RcvPruned")},
		"SOCKET_BACKLOG":    {Harmful, counts("TcpExt.TCPBacklogDrop")},
		"SOCKET_CLOSE":      {Harmless, nil},
		"PROTO_MEM":         {Harmful, counts("Udp.MemErrors", "TcpExt.TCPRcvQDrop")},
		"QUEUE_PURGE":       {Harmless, nil},
		"PACKET_SOCK_ERROR": {Unknown, nil},
		"UNIX_DISCONNECT":   {Harmless, nil},
		"UNIX_SKIP_OOB":     {Harmless, nil},
		"UDP_CSUM":          {Harmful, counts("Udp.InCsumErrors")},

		// TCP.
		"TCP_CSUM":                 {Harmful, counts("Tcp.InCsumErrors")},
		"TCP_FLAGS":                {Unknown, nil},
		"TCP_LISTEN_OVERFLOW":      {Harmful, counts("TcpExt.ListenOverflows")},
		"TCP_ZEROWINDOW":           {Harmful, nil},
		"TCP_OVERWINDOW":           {Harmful, nil},
		"TCP_OFO_QUEUE_PRUNE":      {Harmful, counts("TcpExt.OfoPruned")},
		"TCP_OFO_DROP":             {Harmful, counts("TcpExt.TCPOFODrop")},
		"TCP_OLD_DATA":             {Harmless, nil},
		"TCP_OFOMERGE":             {Harmless, nil},
		"TCP_OLD_SEQUENCE":         {Harmless, nil},
		"TCP_OLD_ACK":              {Harmless, nil},
		"TCP_TOO_OLD_ACK":          {Unknown, nil},
		"TCP_ACK_UNSENT_DATA":      {Unknown, nil},
		"TCP_INVALID_SEQUENCE":     {Unknown, nil},
		"TCP_INVALID_END_SEQUENCE": {Unknown, nil},
		"TCP_INVALID_ACK_SEQUENCE": {Unknown, nil},
		"TCP_INVALID_SYN":          {Unknown, nil},
		"TCP_RFC7323_PAWS":         {Unknown, counts("TcpExt.PAWSEstab")},
		"TCP_RFC7323_PAWS_ACK":     {Harmless, counts("TcpExt.PAWSEstab")},
		"TCP_RFC7323_TW_PAWS":      {Unknown, nil},
		"TCP_RFC7323_TSECR":        {Unknown, nil},
		"TCP_RESET":                {Unknown, nil},
		"TCP_ABORT_ON_DATA":        {Unknown, nil},
		"TCP_CLOSE":                {Harmless, nil},
		"TCP_FASTOPEN":             {Unknown, nil},
		"TCP_MINTTL":               {Unknown, nil},
		"TCP_AUTH_HDR":             {Harmful, nil},
		"TCP_MD5NOTFOUND":          {Harmful, counts("TcpExt.TCPMD5NotFound")},
		"TCP_MD5UNEXPECTED":        {Harmful, counts("TcpExt.TCPMD5Unexpected")},
		"TCP_MD5FAILURE":           {Harmful, counts("TcpExt.TCPMD5Failure")},
		"TCP_AONOTFOUND":           {Harmful, nil},
		"TCP_AOUNEXPECTED":         {Harmful, counts("TcpExt.TCPAOKeyNotFound")},
		"TCP_AOKEYNOTFOUND":        {Harmful, counts("TcpExt.TCPAOKeyNotFound")},
		"TCP_AOFAILURE":            {Harmful, counts("TcpExt.TCPAOBad")},

		// CAN.
		"CAN_RX_INVALID_FRAME":   {Harmful, nil},
		"CANFD_RX_INVALID_FRAME": {Harmful, nil},
		"CANXL_RX_INVALID_FRAME": {Harmful, nil},
	}
})
