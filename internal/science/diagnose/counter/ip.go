package counter

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

var (
	udpIn = []string{"Udp.InDatagrams", "Udp.InErrors", "Udp6.InDatagrams", "Udp6.InErrors"}
	ipIn  = []string{"Ip.InReceives", "Ip6.InReceives"}
)

// ipGrowths are the rules about counters of UDP, IP, ICMP and ARP. Counters of TCP are common to
// IPv4 and IPv6; of the others both families are added. Two counters of IPv6 are left out because
// they grow on healthy hosts. Ip6.OutNoRoutes: a host without IPv6 counts each name that it looks
// up (getaddrinfo(3) asks for a route, RFC 6724). Ip6.InDiscards: an interface with disable_ipv6
// counts the multicasts of other hosts. Where harm depends on how the host is used, the confidence
// is possible.
var ipGrowths = []growth{
	{cause: cause.UDPBufferOverflow, own: true, counters: []string{"Udp.RcvbufErrors", "Udp6.RcvbufErrors"}, least: 1,
		of: udpIn, share: 1e-4, confidence: record.Certain, verdict: facts.Harmful, steps: largerUDPBuffer,
		more: always((*facts.Host).DroppingSockets), explains: []string{"udp-socket-dropped"}},
	{cause: cause.UDPSendBuffer, load: true, counters: []string{"Udp.SndbufErrors", "Udp6.SndbufErrors"}, least: 1,
		confidence: record.Likely, verdict: facts.Harmful},
	{cause: cause.UDPMemory, own: true, counters: []string{"Udp.MemErrors", "Udp6.MemErrors"}, least: 1,
		confidence: record.Certain, verdict: facts.Harmful},
	{cause: cause.UDPNoListener, counters: []string{"Udp.NoPorts", "Udp6.NoPorts"}, least: 10, of: udpIn, share: 0.01,
		confidence: record.Likely, verdict: facts.Unknown, explains: []string{"unreachable-sent"}},
	{cause: cause.NoRoute, counters: []string{"Ip.OutNoRoutes", "IpExt.InNoRoutes", "Ip6.InNoRoutes"}, least: 1,
		apart: facts.Routeless, confidence: record.Likely, verdict: facts.Unknown},
	{cause: cause.FragmentationNeeded, counters: []string{"Ip.FragFails", "Ip6.FragFails"}, least: 1,
		confidence: record.Likely, verdict: facts.Harmful, apart: facts.RefusedFragments,
		explains: []string{"unreachable-sent"}},
	{cause: cause.Fragmentation, counters: []string{"Ip.FragCreates", "Ip6.FragCreates"}, least: 10,
		confidence: record.Likely},
	{cause: cause.ReassemblyFailed, counters: []string{"Ip.ReasmFails", "Ip6.ReasmFails"}, least: 1,
		confidence: record.Certain, verdict: facts.Harmful},
	{cause: cause.NotForUs, counters: []string{"Ip.InAddrErrors", "Ip6.InAddrErrors"}, least: 10,
		confidence: record.Likely, verdict: facts.Unknown},
	{cause: cause.TTLExceeded, counters: []string{"Ip.InHdrErrors", "Ip6.InHdrErrors"}, least: 10,
		confidence: record.Likely, perS: 5, verdict: facts.Unknown},
	{cause: cause.IPDiscards, load: true, counters: []string{"Ip.InDiscards", "Ip.OutDiscards", "Ip6.OutDiscards"},
		least: 10, confidence: record.Likely, verdict: facts.Harmful},
	{cause: cause.EchoUnreplied, counters: []string{"Icmp.OutEchos", "Icmp6.OutEchos"}, least: 20,
		of: []string{"Icmp.InEchoReps", "Icmp6.InEchoReplies"}, confidence: record.Possible, more: unreplied},
	{cause: cause.ICMPRateLimited, counters: []string{"Icmp.OutRateLimitGlobal", "Icmp.OutRateLimitHost",
		"Icmp6.OutRateLimitHost"}, least: 10, confidence: record.Possible},
	{cause: cause.ECNMarked, counters: []string{"IpExt.InCEPkts", "Ip6.InCEPkts"}, least: 100, of: ipIn, share: 0.01,
		confidence: record.Possible},
	{cause: cause.PacketsTruncated, counters: []string{"IpExt.InTruncatedPkts", "Ip6.InTruncatedPkts"}, least: 1,
		confidence: record.Likely, verdict: facts.Harmful},
	{cause: cause.BroadcastsMany, counters: []string{"IpExt.InBcastPkts"}, least: 5000, of: []string{"Ip.InReceives"},
		share: 0.1, confidence: record.Likely},
	{cause: cause.ProtocolUnknown, counters: []string{"Ip.InUnknownProtos", "Ip6.InUnknownProtos"}, least: 10,
		confidence: record.Likely, verdict: facts.Unknown},
	{cause: cause.FragmentsOverlap, counters: []string{"IpExt.ReasmOverlaps"}, least: 1, confidence: record.Possible,
		verdict: facts.Harmful},
	{cause: cause.RedirectsReceived, counters: []string{"Icmp.InRedirects", "Icmp6.InRedirects"}, least: 3,
		confidence: record.Likely},
	{cause: cause.RedirectsSent, counters: []string{"Icmp.OutRedirects", "Icmp6.OutRedirects"}, least: 3,
		confidence: record.Likely},
	{cause: cause.TimeExceededReceived, counters: []string{"Icmp.InTimeExcds", "Icmp6.InTimeExcds"}, least: 10,
		confidence: record.Likely},
	{cause: cause.UnreachableReceived, counters: []string{"Icmp.InDestUnreachs", "Icmp6.InDestUnreachs"}, least: 20,
		confidence: record.Possible},
	{cause: cause.UnreachableSent, counters: []string{"Icmp.OutDestUnreachs", "Icmp6.OutDestUnreachs"}, least: 20,
		confidence: record.Possible},
	{cause: cause.ParameterProblem, counters: []string{"Icmp.InParmProbs", "Icmp6.InParmProblems"}, least: 1,
		confidence: record.Possible},
	{cause: cause.ARPFiltered, counters: []string{"TcpExt.ArpFilter"}, least: 10, confidence: record.Possible},
}

// unreplied returns how many echo requests got a reply. found is false if it is at least 19 of 20, or not known.
func unreplied(h *facts.Host) (list []any, found bool) {
	const most = 0.95
	var sent, replied int64
	for _, c := range [][2]string{{"Icmp.OutEchos", "Icmp.InEchoReps"}, {"Icmp6.OutEchos", "Icmp6.InEchoReplies"}} {
		if _, known := h.Reading.End.SNMP[c[1]]; known && h.Grown(c[0]) > 0 {
			sent, replied = sent+h.Grown(c[0]), replied+h.Grown(c[1])
			list = append(list, h.Counter(c[1], h.Grown(c[1])))
		}
	}
	return list, float64(replied) < most*float64(sent)
}
