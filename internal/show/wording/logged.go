package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

// fault is a kind of fault that the kernel logs.
type fault struct{ code, name, summary, reference, fix string }

var faults = []fault{
	{cause.TransmitTimedOut, "a transmit queue that timed out",
		"a NIC did not send for seconds, and its driver was to reset it",
		"Linux net/sched/sch_generic.c (dev_watchdog)",
		"a newer driver or firmware; ethtool -a DEV: pause frames of the other end stop a queue as well"},
	{cause.ConntrackOverflow, "a full connection tracking table",
		"the connection tracking table was full: packets of further connections were dropped", conntrackSysctl,
		"no tracking for what needs none (nft notrack), or a larger net.netfilter.nf_conntrack_max"},
	{cause.NeighbourOverflow, "a full neighbour table",
		"the neighbour table was full: addresses could not be resolved", ipSysctl + " (neigh/default/gc_thresh3)",
		"a larger net.ipv4.neigh.default.gc_thresh3 (net.ipv6 for IPv6), or smaller subnets"},
	{cause.SYNFlood, "a full queue of half-open connections",
		"the queue of half-open connections of a listener was full", ipSysctl + " (tcp_syncookies)",
		"a larger backlog in listen(2) and net.core.somaxconn, unless it is an attack: ss -tn state syn-recv"},
	{cause.OutOfTCPMemory, "TCP out of memory",
		"TCP had no memory for its sockets", ipSysctl + " (tcp_mem, tcp_max_orphans)",
		"raise net.ipv4.tcp_mem (in pages), or have fewer or smaller buffers"},
	{cause.AddressTaken, "an address that another host has",
		"another host of the link has an IPv6 address of this one, which does not use it", "RFC 4862, section 5.4",
		"another address for one of the two"},
	{cause.CameUpHalfDuplex, "a link that is half duplex",
		"a link came up half duplex", clause28,
		"autonegotiation at both ends: ethtool DEV"},
	{cause.AllocationFailed, "memory for packets that could not be allocated",
		"the kernel could not allocate memory at once, as a driver does for received packets",
		"Linux Documentation/admin-guide/sysctl/vm.rst (min_free_kbytes)",
		"a larger vm.min_free_kbytes"},
}

// faultOf returns the text for a fault. Of a fault that this version does not know, only the code
// is returned.
func faultOf(a cause.Logged) fault {
	for _, f := range faults {
		if f.code == a.Fault {
			return f
		}
	}
	return fault{summary: a.Fault, reference: "dmesg(1)", fix: "see the log: dmesg"}
}

var (
	_ = say(cause.FaultLogged, words[cause.Logged]{
		summary: func(_ record.Finding, a cause.Logged) string { return faultOf(a).summary },
		fixed:   func(_ record.Finding, a cause.Logged) []string { return []string{faultOf(a).fix} },
		readFor: func(a cause.Logged) string { return faultOf(a).reference },
		found:   "The kernel's log has a line about a fault of the network: " + strings.Join(faultNames(), ", ") + ".",
	})

	_ = spell(func(_ string, l fact.LoggedLines) string { return fmt.Sprintf("%d such lines", l.Lines) })
	_ = spell(func(string, fact.MachineLog) string {
		return "the kernel's log is of the whole machine, and this is another network namespace than its first " +
			"one: the lines may be of others"
	})
)

func faultNames() (names []string) {
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}
