package wording

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// parameter adds the text of a cause that is the value of a kernel parameter.
func parameter(c cause.Of[cause.None], key, summary, reference string) {
	say(c, words[cause.None]{text: summary, read: reference, found: key + ": " + summary + "."})
}

var _ = later(func() {
	parameter(cause.WindowScalingOff, "net.ipv4.tcp_window_scaling",
		"TCP windows are 64 KiB at most, because window scaling is off", "RFC 7323; "+ipSysctl)
	parameter(cause.SACKOff, "net.ipv4.tcp_sack",
		"selective acknowledgements are off: each lost segment costs a round trip", "RFC 2018; "+ipSysctl)
	parameter(cause.TimestampsOff, "net.ipv4.tcp_timestamps",
		"TCP timestamps are off: 12 bytes less for each segment, and no protection against old duplicates above 1 "+
			"Gbit/s", "RFC 7323; "+ipSysctl)
	parameter(cause.ReceiveBufferSmall, "net.ipv4.tcp_rmem",
		"TCP receive buffers cannot grow to the size that paths with delay need", ipSysctl+" (tcp_rmem)")
	parameter(cause.SendBufferSmall, "net.ipv4.tcp_wmem",
		"TCP send buffers cannot grow to the size that paths with delay need", ipSysctl+" (tcp_wmem)")
	parameter(cause.AutotuningOff, "net.ipv4.tcp_moderate_rcvbuf",
		"receive buffers do not grow with the path, because their autotuning is off", ipSysctl)
	parameter(cause.SomaxconnSmall, "net.core.somaxconn",
		"the kernel shortens every listener's queue to a few connections", ipSysctl+" (somaxconn); listen(2)")
	parameter(cause.NetdevBacklogSmall, "net.core.netdev_max_backlog",
		"a CPU's queue of received packets is short", netSysctl)
	parameter(cause.SYNBacklogSmall, "net.ipv4.tcp_max_syn_backlog",
		"the queue of half-open connections is short", ipSysctl)
	parameter(cause.SYNCookiesOff, "net.ipv4.tcp_syncookies",
		"SYN cookies are off: when the queue of half-open connections is full, SYNs are dropped", ipSysctl)
	parameter(cause.PathMTUDiscoveryOff, "net.ipv4.ip_no_pmtu_disc",
		"path MTU discovery is off: packets are small, or fragmented by routers", "RFC 1191; "+ipSysctl)
	parameter(cause.EchoIgnored, "net.ipv4.icmp_echo_ignore_all",
		"the host answers no ping", ipSysctl)
	parameter(cause.OptmemSmall, "net.core.optmem_max",
		"sockets have little room for options and zero copy", netSysctl)
	parameter(cause.UDPBufferDefaultSmall, "net.core.rmem_default",
		"UDP sockets have a small receive buffer unless they ask for more", netSysctl)
	parameter(cause.RetriesFew, "net.ipv4.tcp_retries2",
		"TCP gives connections up after a few unanswered retransmissions", "RFC 1122, section 4.2.3.5; "+ipSysctl)
	parameter(cause.SYNRetriesFew, "net.ipv4.tcp_syn_retries",
		"connecting is given up after one or two seconds", ipSysctl)
	parameter(cause.SYNACKRetriesFew, "net.ipv4.tcp_synack_retries",
		"a lost answer to a SYN ends the connection before it is open", "RFC 9293, section 3.8.1; "+ipSysctl)
	parameter(cause.TTLSmall, "net.ipv4.ip_default_ttl",
		"packets do not reach hosts that are many routers away", "RFC 1700 (IP time to live parameter); "+ipSysctl)
	parameter(cause.DSACKOff, "net.ipv4.tcp_dsack",
		"duplicate selective acknowledgements are off: senders do not learn that they took late packets for lost",
		"RFC 2883; "+ipSysctl)
	parameter(cause.RACKOff, "net.ipv4.tcp_recovery",
		"loss detection by time (RACK) is off: lost retransmissions and tails wait for the timer", "RFC 8985; "+
			ipSysctl+" (tcp_recovery)")
	parameter(cause.LossProbesOff, "net.ipv4.tcp_early_retrans",
		"tail loss probes are off: a lost last segment waits for the timer", "RFC 8985, section 7; "+ipSysctl+
			" (tcp_early_retrans)")
	parameter(cause.AbortOnOverflow, "net.ipv4.tcp_abort_on_overflow",
		"a full accept queue resets connections instead of letting their peers try again", ipSysctl)
	parameter(cause.OutputLimitSmall, "net.ipv4.tcp_limit_output_bytes",
		"each connection may have little in the queues of the host, so that fast NICs run empty", ipSysctl+
			" (tcp_limit_output_bytes)")
	parameter(cause.UnsentLimitSmall, "net.ipv4.tcp_notsent_lowat",
		"programs are woken for each few kilobytes that leave, and connections run empty between", ipSysctl+
			" (tcp_notsent_lowat)")
	parameter(cause.TimeWaitFew, "net.ipv4.tcp_max_tw_buckets",
		"connections in TIME-WAIT are destroyed early, so that late segments reach new ones",
		"RFC 9293, section 3.4.2; "+ipSysctl)
	parameter(cause.MSSFloorSmall, "net.ipv4.route.min_adv_mss",
		"segments may be very small: a low MTU in a route is taken as it is", "RFC 9293, section 3.7.1; "+ipSysctl+
			" (min_adv_mss)")
	parameter(cause.BacklogOfPacketsLong, "net.core.netdev_max_backlog",
		"a CPU's queue of received packets can hold them for longer than connections wait", netSysctl+
			" (netdev_max_backlog)")
	parameter(cause.ProxyARP, "net.ipv4.conf.all.proxy_arp",
		"the host answers ARP for addresses that it can route to (proxy ARP): peers that have a wrong prefix "+
			"length work, and others send it what it only forwards",
		"RFC 1027; "+ipSysctl+" (proxy_arp)")

	say(cause.BufferSizesDisordered, words[cause.Key]{read: ipSysctl,
		found: "Of the three sizes in tcp_rmem, tcp_wmem or tcp_mem one is larger than the next.",
		summary: func(_ record.Finding, a cause.Key) string {
			return "the three sizes of " + a.Key + " are not in order: least, default or pressure, most"
		}})
	say(cause.RFSIncomplete, words[cause.None]{text: "receive flow steering is half configured, and off",
		found: "Receive flow steering has rps_flow_cnt of a queue and no rps_sock_flow_entries, or the reverse.",
		read:  "Linux Documentation/networking/scaling.rst (RFS)",
		fixed: func(f record.Finding, _ cause.None) []string {
			if len(f.Steps) > 0 {
				return nil
			}
			return []string{"echo 2048 > /sys/class/net/DEV/queues/rx-0/rps_flow_cnt for each queue"}
		}})
	say(cause.PortRangeSmall, words[cause.None]{text: "there are few ports for outgoing connections",
		found: "ip_local_port_range has fewer than 10,000 ports.", read: "ip(7); " + ipSysctl})
	say(cause.ParameterNotApplied, words[cause.AtRunTime]{
		text: "kernel parameters differ from the files that are to set them", read: "sysctl.d(5)",
		found: "The last line for a kernel parameter in the files of sysctl.d(5) has another value than the " +
			"kernel. For the machine's first network namespace.",
		fixed: func(_ record.Finding, a cause.AtRunTime) []string { return applied(a.Keys) }})
	say(cause.ParameterSetTwice, words[cause.None]{
		text:  "files set a kernel parameter twice, to different values: the later one holds",
		found: "Two lines in the files of sysctl.d(5) give a kernel parameter different values.", read: "sysctl.d(5)",
		fix: []string{"remove one, unless the later file is to override the earlier"}})

	spell(func(_ string, w fact.Window) string {
		const rttS = 0.01
		rate := unit.FormatRate(w.LowBytes * 8 / rttS)
		if w.HighBytes > w.LowBytes {
			rate += " to " + unit.FormatRate(w.HighBytes*8/rttS)
		}
		return fmt.Sprintf(
			"a connection carries a window for each round trip: about %s at 10 ms, a tenth of that at 100 ms", rate)
	})
	spell(func(_ string, f fact.FlowSteering) string {
		queue := "rps_flow_cnt of every queue is 0"
		if f.Queue != "" {
			queue = fmt.Sprintf("%s %s: rps_flow_cnt is %d", f.Interface, f.Queue, f.Flows)
		}
		return fmt.Sprintf("net.core.rps_sock_flow_entries = %d; %s", f.Entries, queue)
	})
	spell(func(_ string, r fact.PortRange) string {
		return fmt.Sprintf("net.ipv4.ip_local_port_range = %d %d, which is %d ports for each pair of addresses",
			r.First,
			r.Last, r.Last-r.First+1)
	})
	spell(func(_ string, l fact.ParameterLine) string {
		return fmt.Sprintf("%s: %s = %s, and the kernel has %s", lineOf(l.File, l.Line), l.Key, l.Value, l.Kernel)
	})
	spell(func(_ string, l fact.ParameterLines) string {
		return fmt.Sprintf("%s = %s in %s, then %s in %s", l.Key, l.First.Value, lineOf(l.First.File, l.First.Line),
			l.Then.Value, lineOf(l.Then.File, l.Then.Line))
	})
})

// lineOf returns the place of a line: "/etc/sysctl.conf:7", without a number that is not known.
func lineOf(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// applied returns what to do about parameters that differ from the files. keys are those among them
// that programs set at run time.
func applied(keys []string) []string {
	if len(keys) == 0 {
		return []string{
			"sysctl --system applies the files; or find what has changed the values since, and correct the files"}
	}
	apply := "sysctl --system applies the files, if nothing needs those values"
	if slices.ContainsFunc(keys, func(key string) bool {
		return strings.HasSuffix(key, "forward") || strings.HasSuffix(key, "forwarding")
	}) {
		apply += ": without forwarding, containers and virtual machines are cut off"
	}
	return []string{"find what has changed " + some(keys) +
		", such as docker, libvirt, kube-proxy or NetworkManager, and correct the files", apply}
}
