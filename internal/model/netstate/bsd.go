package netstate

import (
	"slices"
	"sync"

	"linerate/internal/model/opsystem"
)

// BSDCounters maps sentences of netstat -s of FreeBSD, OpenBSD and macOS (usr.bin/netstat/inet.c and
// inet6.c) to counters of Linux with the same meaning. N is the number; nouns are in the singular.
// Others, such as "retransmit timeouts", count something else than Linux does and are not used.
var BSDCounters = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"tcp": {
			"packet sent": "Tcp.OutSegs", "data packet (N byte) retransmitted": "Tcp.RetransSegs",
			"packet received": "Tcp.InSegs", "discarded for bad checksum": "Tcp.InCsumErrors",
			"connection request": "Tcp.ActiveOpens", "connection accept": "Tcp.PassiveOpens",
			"listen queue overflow":                    "TcpExt.ListenOverflows",
			"connection dropped by rexmit timeout":     "TcpExt.TCPAbortOnTimeout",
			"SACK recovery episode":                    "TcpExt.TCPSackRecovery",
			"packet with bad signature received":       "TcpExt.TCPMD5Failure",
			"time unexpected signature received":       "TcpExt.TCPMD5Unexpected",
			"time no signature provided by segment":    "TcpExt.TCPMD5NotFound",
			"bad signature":                            "TcpExt.TCPMD5Failure",
			"connection in ESTABLISHED state":          "Tcp.CurrEstab",
			"connections in ESTABLISHED state":         "Tcp.CurrEstab",
			"connection in ESTABLISHED state (native)": "Tcp.CurrEstab",
		},
		"udp": {
			"delivered": "Udp.InDatagrams", "with bad checksum": "Udp.InCsumErrors", "dropped due to no " +
				"socket": "Udp.NoPorts",
			"dropped due to full socket buffers": "Udp.RcvbufErrors", "datagram output": "Udp.OutDatagrams",
		},
		"ip": {
			"total packet received": "Ip.InReceives", "bad header checksum": "IpExt.InCsumErrors",
			"fragment received": "Ip.ReasmReqds", "packet reassembled ok": "Ip.ReasmOKs",
			"packet for this host": "Ip.InDelivers", "packet for unknown/unsupported protocol": "Ip.InUnknownProtos",
			"redirect sent": "Icmp.OutRedirects", "packet sent from this host": "Ip.OutRequests",
			"output packet dropped due to no bufs, etc.": "Ip.OutDiscards",
			"output packet discarded due to no route":    "Ip.OutNoRoutes",
			"output datagram fragmented":                 "Ip.FragOKs", "fragment created": "Ip.FragCreates",
			"datagram that can't be fragmented": "Ip.FragFails",
		},
		"ip6": {
			"total packet received": "Ip6.InReceives", "fragment received": "Ip6.ReasmReqds",
			"packet reassembled ok": "Ip6.ReasmOKs", "packet for this host": "Ip6.InDelivers",
			"packet sent from this host":                 "Ip6.OutRequests",
			"output packet dropped due to no bufs, etc.": "Ip6.OutDiscards",
			"output packet discarded due to no route":    "Ip6.OutNoRoutes",
			"output datagram fragmented":                 "Ip6.FragOKs", "fragment created": "Ip6.FragCreates",
			"datagram that can't be fragmented": "Ip6.FragFails",
		},
		"icmp": {"bad checksum": "Icmp.InCsumErrors"}, "icmp6": {"bad checksum": "Icmp6.InCsumErrors"},
	}
})

// BSDTypes maps types of ICMP messages in histograms to the end of the names of counters.
var BSDTypes = map[string]string{"destination unreachable": "DestUnreachs", "routing redirect": "Redirects",
	"time exceeded": "TimeExcds", "parameter problem": "ParmProbs", "unreach": "DestUnreachs", "redirect": "Redirects",
	"time exceed": "TimeExcds"}

// Counters that only the BSDs and macOS have, in Reading.SNMP: of netstat(1) -m (usr.bin/netstat/mbuf.c),
// netstat -Q (netisr.c), and of sysctl(8).
const (
	MbufsDenied        = "Mbuf.MbufsDenied"
	ClustersDenied     = "Mbuf.ClustersDenied"
	PacketsDenied      = "Mbuf.PacketsDenied" // mbufs that have a cluster
	PageClustersDenied = "Mbuf.PageClustersDenied"
	Clusters9kDenied   = "Mbuf.Clusters9kDenied"
	Clusters16kDenied  = "Mbuf.Clusters16kDenied"
	MemoryDenied       = "Mbuf.MemoryDenied" // of OpenBSD, NetBSD and macOS, which do not tell them apart

	MbufsDelayed        = "Mbuf.MbufsDelayed"
	ClustersDelayed     = "Mbuf.ClustersDelayed"
	PacketsDelayed      = "Mbuf.PacketsDelayed"
	PageClustersDelayed = "Mbuf.PageClustersDelayed"
	Clusters9kDelayed   = "Mbuf.Clusters9kDelayed"
	Clusters16kDelayed  = "Mbuf.Clusters16kDelayed"
	MemoryDelayed       = "Mbuf.MemoryDelayed"

	NetisrDrops      = "Netisr.QDrops"       // of all protocols and CPUs (netstat -Q)
	InputQueueDrops  = "Ip.InputQueueDrops"  // net.inet.ip.ifq.drops, net.inet.ip.intr_queue_drops
	InputQueueDrops6 = "Ip6.InputQueueDrops" // net.inet6.ip6.ifq.drops, net.inet6.ip6.intr_queue_drops
)

// DeniedCounters and DelayedCounters are the counters of requests for memory of packets that were denied,
// and that had to wait; InputQueueCounters those of received packets for which a protocol's queue had no room.
var (
	DeniedCounters = []string{MbufsDenied, ClustersDenied, PacketsDenied, PageClustersDenied, Clusters9kDenied,
		Clusters16kDenied, MemoryDenied}
	DelayedCounters = []string{MbufsDelayed, ClustersDelayed, PacketsDelayed, PageClustersDelayed, Clusters9kDelayed,
		Clusters16kDelayed, MemoryDelayed}
	InputQueueCounters = []string{NetisrDrops, InputQueueDrops, InputQueueDrops6}
)

// bsdInterfaceCounters are counters of interfaces that commands of the BSDs and macOS print, by their names in
// linux/if_link.h, with the systems that have them; nil: all do.
var bsdInterfaceCounters = map[string][]string{"rx_errors": nil, "tx_errors": nil, "tx_dropped": nil,
	"collisions": nil, "rx_dropped": {opsystem.FreeBSD, opsystem.OpenBSD, opsystem.NetBSD, opsystem.DragonFly},
	"rx_missed_errors": {opsystem.FreeBSD}, "rx_crc_errors": {opsystem.FreeBSD}}

// PrintedBy reports whether a command of a system other than Linux prints a counter: of Reading.SNMP, or of
// interfaces by its name in linux/if_link.h. Of OtherBSD, one of the systems may.
func PrintedBy(system, name string) bool {
	systems, is := bsdInterfaceCounters[name]
	if !is {
		systems, is = protocolCounters()[name]
	}
	return is && (systems == nil || system == opsystem.OtherBSD || slices.Contains(systems, system))
}

var protocolCounters = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, section := range BSDCounters() {
		for _, name := range section {
			all[name] = nil
		}
	}
	for _, end := range BSDTypes {
		for _, direction := range []string{"In", "Out"} {
			all["Icmp."+direction+end], all["Icmp6."+direction+end] = nil, nil
		}
	}
	for _, name := range slices.Concat(DeniedCounters, DelayedCounters) {
		all[name] = nil
	}
	all[NetisrDrops] = []string{opsystem.FreeBSD}
	for _, name := range []string{InputQueueDrops, InputQueueDrops6} {
		all[name] = []string{opsystem.FreeBSD, opsystem.OpenBSD, opsystem.NetBSD}
	}
	return all
})
