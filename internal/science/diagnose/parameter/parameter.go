// Package parameter has the rules about the values of kernel parameters.
package parameter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// parameter is a rule about the value of one kernel parameter: a number below or above what the
// mechanism needs.
type parameter struct {
	id, key string
	field   int // of several values, from 0
	wrong   func(int64) bool
	// confidence that it costs something.
	confidence, summary, value, reference string
	explains, atPeers                     []string
	// cost is a further row with what the value of that host costs; nil: none.
	cost func(*facts.Host) string
	// holds is as of rule; size is the parameter's value.
	holds func(h *facts.Host, f record.Flow, size float64) bool
}

// autotuned says that the kernel has enlarged a buffer nearly as far as it may: then the
// parameter bounds it, and no socket option does.
func autotuned(bytes int64, size float64) bool { return 2*float64(bytes) >= size }

// elsewhere reports whether a flow had all of its link or its pacing, which no buffer adds to.
func elsewhere(f record.Flow) bool {
	return slices.Contains([]string{bottleneck.FullLink, bottleneck.RateCap, bottleneck.Application}, f.LimitedBy)
}

// receiveHolds and sendHolds are of the largest receive and send buffers. A send buffer has 0.6
// of its size in flight at least (docs/limits.md).
func receiveHolds(h *facts.Host, f record.Flow, size float64) bool {
	return f.To == h.Name && autotuned(f.RcvbufBytes, size) && !elsewhere(f)
}

func sendHolds(h *facts.Host, f record.Flow, size float64) bool {
	if f.From != h.Name || f.SenderInfo == nil || !autotuned(f.SndbufBytes, size) || elsewhere(f) {
		return false
	}
	return f.LimitedBy == bottleneck.SendBuffer || f.GoodputBps/8*float64(f.SenderInfo.RTTUs)/1e6 >= 0.6*size
}

func windowHolds(h *facts.Host, f record.Flow, _ float64) bool {
	return f.To == h.Name && f.LimitedBy == bottleneck.ReceiverWindow
}

func is(n int64) func(int64) bool { return func(v int64) bool { return v == n } }

func below(n int64) func(int64) bool { return func(v int64) bool { return v < n } }

// windowCost says what a window between two sizes carries, in bytes.
func windowCost(low, high float64) string {
	const rttS = 0.01
	rate := unit.FormatRate(low * 8 / rttS)
	if high > low {
		rate += " to " + unit.FormatRate(high*8/rttS)
	}
	return fmt.Sprintf(
		"a connection carries a window for each round trip: about %s at 10 ms, a tenth of that at 100 ms", rate)
}

// receiveCost and sendCost are of buffers: what is window of the one, unless window scaling is off
// and bounds it, and what the other has in flight (docs/limits.md, "What a flow should get").
func receiveCost(h *facts.Host) string {
	most := math.Inf(1)
	if h.Number(windowScaling, 0) == 0 {
		most = 65535
	}
	low, high := most, most
	if bytes := float64(h.Number(receiveBuffer, 2)); bytes >= 0 {
		low, high = min(most, bytes/2), min(most, bytes)
	}
	return windowCost(low, high)
}

func sendCost(h *facts.Host) string {
	bytes := float64(h.Number(sendBuffer, 2))
	return windowCost(0.6*bytes, bytes+2*64<<10)
}

const (
	windowScaling = "net.ipv4.tcp_window_scaling"
	receiveBuffer = "net.ipv4.tcp_rmem"
	sendBuffer    = "net.ipv4.tcp_wmem"
)

const small = 1 << 20 // of a buffer's largest size; the kernel's own is 4 MiB and more

var parametersOf = []parameter{
	{id: "window-scaling-off", key: windowScaling, wrong: is(0), confidence: record.Certain, value: "1",
		summary: "TCP windows are 64 KiB at most, because window scaling is off", reference: "RFC 7323; " +
			said.IPSysctl,
		atPeers: []string{"window-limited"}, cost: receiveCost},
	{id: "sack-off", key: "net.ipv4.tcp_sack", wrong: is(0), confidence: record.Likely, value: "1",
		summary:   "selective acknowledgements are off: each lost segment costs a round trip",
		reference: "RFC 2018; " + said.IPSysctl},
	{id: "timestamps-off", key: "net.ipv4.tcp_timestamps", wrong: is(0), confidence: record.Possible, value: "1",
		summary:   "TCP timestamps are off: 12 bytes less for each segment, and no protection against old duplicates above 1 Gbit/s",
		reference: "RFC 7323; " + said.IPSysctl},
	{id: "receive-buffer-small", key: receiveBuffer, field: 2, wrong: below(small), confidence: record.Likely,
		value:   "4096 131072 6291456",
		summary: "TCP receive buffers cannot grow to the size that paths with delay need", reference: said.IPSysctl +
			" (tcp_rmem)", explains: []string{"receive-queue-pruned"}, atPeers: []string{"window-limited"},
		cost: receiveCost, holds: receiveHolds},
	{id: "send-buffer-small", key: sendBuffer, field: 2, wrong: below(small), confidence: record.Likely,
		value:   "4096 16384 4194304",
		summary: "TCP send buffers cannot grow to the size that paths with delay need", reference: said.IPSysctl +
			" (tcp_wmem)", cost: sendCost, holds: sendHolds},
	{id: "autotuning-off", key: "net.ipv4.tcp_moderate_rcvbuf", wrong: is(0), confidence: record.Likely, value: "1",
		summary: "receive buffers do not grow with the path, because their autotuning is off", reference: said.IPSysctl,
		holds: windowHolds},
	{id: "somaxconn-small", key: "net.core.somaxconn", wrong: below(128), confidence: record.Likely, value: "4096",
		summary: "the kernel shortens every listener's queue to a few connections", reference: said.IPSysctl +
			" (somaxconn); listen(2)", explains: []string{"listen-overflow"}},
	{id: "netdev-backlog-small", key: "net.core.netdev_max_backlog", wrong: below(300), confidence: record.Likely,
		value:   "1000",
		summary: "a CPU's queue of received packets is short", reference: said.NetSysctl,
		explains: []string{"softnet-drop"}},
	{id: "syn-backlog-small", key: "net.ipv4.tcp_max_syn_backlog", wrong: below(64), confidence: record.Likely,
		value:   "1024",
		summary: "the queue of half-open connections is short", reference: said.IPSysctl,
		explains: []string{"syn-queue-full"}},
	{id: "syn-cookies-off", key: "net.ipv4.tcp_syncookies", wrong: is(0), confidence: record.Possible, value: "1",
		summary:   "SYN cookies are off: when the queue of half-open connections is full, SYNs are dropped",
		reference: said.IPSysctl},
	{id: "path-mtu-discovery-off", key: "net.ipv4.ip_no_pmtu_disc", wrong: func(v int64) bool {
		return v == 1 || v == 2
	}, confidence: record.Likely, value: "0",
		summary: "path MTU discovery is off: packets are small, or fragmented by routers", reference: "RFC 1191; " +
			said.IPSysctl, explains: []string{"fragmentation"}},
	{id: "echo-ignored", key: "net.ipv4.icmp_echo_ignore_all", wrong: is(1), confidence: record.Possible, value: "0",
		summary: "the host answers no ping", reference: said.IPSysctl},
	{id: "optmem-small", key: "net.core.optmem_max", wrong: below(4096), confidence: record.Possible, value: "131072",
		summary: "sockets have little room for options and zero copy", reference: said.NetSysctl},
	{id: "udp-buffer-default-small", key: "net.core.rmem_default", wrong: below(65536), confidence: record.Likely,
		value:   "212992",
		summary: "UDP sockets have a small receive buffer unless they ask for more", reference: said.NetSysctl,
		explains: []string{"udp-buffer-overflow"}},
	{id: "retries-few", key: "net.ipv4.tcp_retries2", wrong: below(5), confidence: record.Likely, value: "15",
		summary:   "TCP gives connections up after a few unanswered retransmissions",
		reference: "RFC 1122, section 4.2.3.5; " + said.IPSysctl, explains: []string{"connections-timed-out"}},
	{id: "syn-retries-few", key: "net.ipv4.tcp_syn_retries", wrong: below(2), confidence: record.Possible, value: "6",
		summary: "connecting is given up after one or two seconds", reference: said.IPSysctl},
	{id: "synack-retries-few", key: "net.ipv4.tcp_synack_retries", wrong: below(2), confidence: record.Likely,
		value:     "5",
		summary:   "a lost answer to a SYN ends the connection before it is open",
		reference: "RFC 9293, section 3.8.1; " + said.IPSysctl},
	{id: "ttl-small", key: "net.ipv4.ip_default_ttl", wrong: below(32), confidence: record.Likely, value: "64",
		summary:   "packets do not reach hosts that are many routers away",
		reference: "RFC 1700 (IP time to live parameter); " + said.IPSysctl},
	{id: "dsack-off", key: "net.ipv4.tcp_dsack", wrong: is(0), confidence: record.Likely, value: "1",
		summary:   "duplicate selective acknowledgements are off: senders do not learn that they took late packets for lost",
		reference: "RFC 2883; " + said.IPSysctl},
	{id: "rack-off", key: "net.ipv4.tcp_recovery", wrong: is(0), confidence: record.Likely, value: "1",
		summary:   "loss detection by time (RACK) is off: lost retransmissions and tails wait for the timer",
		reference: "RFC 8985; " + said.IPSysctl + " (tcp_recovery)", explains: []string{"tcp-timeouts"}},
	{id: "loss-probes-off", key: "net.ipv4.tcp_early_retrans", wrong: is(0), confidence: record.Likely, value: "3",
		summary:   "tail loss probes are off: a lost last segment waits for the timer",
		reference: "RFC 8985, section 7; " + said.IPSysctl + " (tcp_early_retrans)",
		explains:  []string{"tcp-timeouts"}},
	{id: "abort-on-overflow", key: "net.ipv4.tcp_abort_on_overflow", wrong: is(1), confidence: record.Likely,
		value:     "0",
		summary:   "a full accept queue resets connections instead of letting their peers try again",
		reference: said.IPSysctl},
	{id: "output-limit-small", key: "net.ipv4.tcp_limit_output_bytes", wrong: below(131072), confidence: record.Likely,
		value:     "4194304",
		summary:   "each connection may have little in the queues of the host, so that fast NICs run empty",
		reference: said.IPSysctl + " (tcp_limit_output_bytes)"},
	{id: "unsent-limit-small", key: "net.ipv4.tcp_notsent_lowat", wrong: below(16384), confidence: record.Likely,
		value:     "4294967295",
		summary:   "programs are woken for each few kilobytes that leave, and connections run empty between",
		reference: said.IPSysctl + " (tcp_notsent_lowat)"},
	{id: "time-wait-few", key: "net.ipv4.tcp_max_tw_buckets", wrong: below(256), confidence: record.Likely,
		value:     "262144",
		summary:   "connections in TIME-WAIT are destroyed early, so that late segments reach new ones",
		reference: "RFC 9293, section 3.4.2; " + said.IPSysctl, explains: []string{"time-wait-overflow"}},
	{id: "mss-floor-small", key: "net.ipv4.route.min_adv_mss", wrong: below(256), confidence: record.Possible,
		value:     "256",
		summary:   "segments may be very small: a low MTU in a route is taken as it is",
		reference: "RFC 9293, section 3.7.1; " + said.IPSysctl + " (min_adv_mss)"},
	{id: "backlog-of-packets-long", key: "net.core.netdev_max_backlog", wrong: func(v int64) bool {
		return v > facts.LongBacklog
	}, confidence: record.Possible, value: "10000",
		summary:   "a CPU's queue of received packets can hold them for longer than connections wait",
		reference: said.NetSysctl + " (netdev_max_backlog)"},
	{id: "proxy-arp", key: "net.ipv4.conf.all.proxy_arp", wrong: is(1), confidence: record.Possible, value: "0",
		summary:   "the host answers ARP for addresses that it can route to (proxy ARP): peers that have a wrong prefix length work, and others send it what it only forwards",
		reference: "RFC 1027; " + said.IPSysctl + " (proxy_arp)"},
}

func (p parameter) rule() rule.Rule {
	var holds func(*facts.Host, record.Flow) bool
	if p.holds != nil {
		holds = func(h *facts.Host, f record.Flow) bool { return p.holds(h, f, float64(h.Number(p.key, p.field))) }
	}
	return rule.Rule{ID: p.id, Holds: holds, About: p.key + ": " + p.summary + ".", Host: true, Own: true,
		Parts: []string{"parameters"}, Explains: p.explains, AtPeers: p.atPeers,
		Find: rule.Each(rule.EveryHost, func(_ facts.Trial, h *facts.Host) *record.Finding {
			n := h.Number(p.key, p.field)
			if n < 0 || !p.wrong(n) {
				return nil
			}
			finding := &record.Finding{Host: h.Name, Confidence: p.confidence, Summary: p.summary,
				Reference: p.reference,
				Evidence:  []string{p.key + " = " + h.State.Parameters[p.key]}}
			if p.cost != nil {
				finding.Evidence = append(finding.Evidence, p.cost(h))
			}
			finding.Fix, finding.Settings = fix.Fixed(h, nil, p.key, p.value)
			return finding
		})}
}

// Rules are about the values of kernel parameters.
var Rules = func() []rule.Rule {
	rules := []rule.Rule{
		{ID: "buffer-sizes-disordered", Host: true, Own: true,
			About: "Of the three sizes in tcp_rmem, tcp_wmem or tcp_mem one is larger than the next.",
			Parts: []string{"parameters"}, Find: rule.Each(rule.EveryHost, disordered)},
		{ID: "rfs-incomplete", Host: true, Own: true,
			About: "Receive flow steering has rps_flow_cnt of a queue and no rps_sock_flow_entries, or the reverse.",
			Parts: []string{"parameters", "nics"}, Find: rule.Each(rule.EveryHost, rfsIncomplete)},
		{ID: "port-range-small", Host: true, Own: true, About: "ip_local_port_range has fewer than 10,000 ports.",
			Parts: []string{"parameters"}, Find: rule.Each(rule.EveryHost, portRange),
			Explains: []string{"ports-in-time-wait"}},
		{ID: "parameter-not-applied", Host: true, Own: true,
			About: "The last line for a kernel parameter in the files of sysctl.d(5) has another value than the kernel. For the machine's first network namespace.",
			Parts: []string{"parameters", "parameter files"}, Find: rule.Each(rule.EveryHost, notApplied)},
		{ID: "parameter-set-twice", Host: true, Own: true,
			About: "Two lines in the files of sysctl.d(5) give a kernel parameter different values.",
			Parts: []string{"parameter files"}, Find: rule.Each(rule.EveryHost, setTwice)},
	}
	for _, p := range parametersOf {
		rules = append(rules, p.rule())
	}
	return rules
}()

// disordered finds three sizes that are not in order: the kernel takes the smallest for a bound.
func disordered(_ facts.Trial, h *facts.Host) *record.Finding {
	for _, key := range []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mem"} {
		low, middle, high := h.Number(key, 0), h.Number(key, 1), h.Number(key, 2)
		if low < 0 || middle < 0 || high < 0 || low <= middle && middle <= high {
			continue
		}
		sizes := []int64{low, middle, high}
		slices.Sort(sizes)
		finding := &record.Finding{Host: h.Name, Confidence: record.Likely, Summary: "the three sizes of " + key +
			" are not in order: least, default or pressure, most", Reference: said.IPSysctl,
			Evidence: []string{key + " = " + h.State.Parameters[key]}}
		finding.Fix, finding.Settings = fix.Fixed(h, nil, key, fmt.Sprintf("%d %d %d", sizes[0], sizes[1], sizes[2]))
		return finding
	}
	return nil
}

// rfsIncomplete finds receive flow steering of which one half is set.
func rfsIncomplete(_ facts.Trial, h *facts.Host) *record.Finding {
	const key = "net.core.rps_sock_flow_entries"
	all, queue := h.Number(key, 0), ""
	for _, nic := range h.State.NICs {
		for _, q := range nic.Queues {
			if q.Flows > 0 && queue == "" {
				queue = fmt.Sprintf("%s %s: rps_flow_cnt is %d", nic.Interface, q.Queue, q.Flows)
			}
		}
	}
	if all < 0 || (all > 0) == (queue != "") {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary:   "receive flow steering is half configured, and off",
		Reference: "Linux Documentation/networking/scaling.rst (RFS)",
		Evidence:  []string{fmt.Sprintf("%s = %d; %s", key, all, cmp.Or(queue, "rps_flow_cnt of every queue is 0"))},
		Fix:       said.On(h.Name, h.Alone, "echo 2048 > /sys/class/net/DEV/queues/rx-0/rps_flow_cnt for each queue")}
	if all == 0 {
		finding.Confidence = record.Likely
		finding.Fix, finding.Settings = fix.Fixed(h, nil, key, "32768")
	}
	return finding
}

func portRange(_ facts.Trial, h *facts.Host) *record.Finding {
	const key = "net.ipv4.ip_local_port_range"
	first, last := h.Number(key, 0), h.Number(key, 1)
	if first < 0 || last < first || last-first+1 >= 10000 {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: "there are few ports for outgoing connections", Reference: "ip(7); " + said.IPSysctl,
		Evidence: []string{fmt.Sprintf("%s = %d %d, which is %d ports for each pair of addresses", key, first, last,
			last-first+1)}}
	finding.Fix, finding.Settings = fix.Fixed(h, nil, key, "32768 60999")
	return finding
}

// notApplied finds parameters whose last line in the files says another value than the kernel
// has. It is for a host's first network namespace: the files are not applied to others.
func notApplied(_ facts.Trial, h *facts.Host) *record.Finding {
	if !h.State.FirstNamespace {
		return nil
	}
	last := map[string]record.ParameterLine{}
	for _, l := range h.State.Files {
		last[l.Key] = l
	}
	var rows, others []string
	for _, l := range h.State.Files {
		live, has := h.State.Parameters[l.Key]
		if last[l.Key] != l || !has || sameNumbers(live, l.Value) {
			continue
		}
		if slices.Contains(atRunTime, l.Key[strings.LastIndexByte(l.Key, '.')+1:]) {
			others = append(others, l.Key)
		}
		if len(rows) == 6 {
			continue
		}
		rows = append(rows, fmt.Sprintf("%s:%d: %s = %s, and the kernel has %s", l.File, l.Line, l.Key, l.Value, live))
	}
	if len(rows) == 0 {
		return nil
	}
	fix := []string{
		"sysctl --system applies the files; or find what has changed the values since, and correct the files"}
	if len(others) > 0 {
		apply := "sysctl --system applies the files, if nothing needs those values"
		if slices.ContainsFunc(others, func(key string) bool {
			return strings.HasSuffix(key, "forward") || strings.HasSuffix(key, "forwarding")
		}) {
			apply += ": without forwarding, containers and virtual machines are cut off"
		}
		fix = []string{"find what has changed " + facts.Join(others) +
			", such as docker, libvirt, kube-proxy or NetworkManager, and correct the files", apply}
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: "kernel parameters differ from the files that are to set them", Evidence: rows,
		Fix: said.On(h.Name, h.Alone, fix...), Reference: "sysctl.d(5)"}
}

// atRunTime are the last words of parameters that programs set while they run.
var atRunTime = []string{"ip_forward", "forwarding", "route_localnet", "rp_filter", "bridge-nf-call-iptables",
	"bridge-nf-call-ip6tables", "nf_conntrack_max", "accept_ra", "use_tempaddr", "disable_ipv6"}

// sameNumbers compares values without regard to the space between their parts.
func sameNumbers(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

func setTwice(_ facts.Trial, h *facts.Host) *record.Finding {
	first := map[string]record.ParameterLine{}
	var rows []string
	for _, l := range h.State.Files {
		earlier, seen := first[l.Key]
		if first[l.Key] = l; seen && !sameNumbers(earlier.Value, l.Value) && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("%s = %s in %s:%d, then %s in %s:%d", l.Key, earlier.Value, earlier.File,
				earlier.Line, l.Value, l.File, l.Line))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary: "files set a kernel parameter twice, to different values: the later one holds", Evidence: rows,
		Fix:       said.On(h.Name, h.Alone, "remove one, unless the later file is to override the earlier"),
		Reference: "sysctl.d(5)"}
}
