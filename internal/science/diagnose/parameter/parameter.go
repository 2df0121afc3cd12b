// Package parameter has the rules about the values of kernel parameters.
package parameter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// parameter is a rule about the value of one kernel parameter that is below or above what the
// mechanism needs.
type parameter struct {
	cause cause.Of[cause.None]
	key   string
	field int // index of the number in the value, from 0
	wrong func(int64) bool
	// unsure reports whether the finding is only possible with this value; nil: with none.
	unsure func(int64) bool
	// confidence of the finding; value is the setting that removes the cause.
	confidence, value string
	explains, atPeers []string
	// carries returns how much a connection has in flight with the host's value; nil: not known.
	carries func(*facts.Host) fact.Window
	// holds is used for rule.Rule.Holds; size is the parameter's value.
	holds func(h *facts.Host, f record.Flow, size float64) bool
}

// autotuned reports whether a buffer has at least half the size that the parameter allows. Then the
// kernel has grown it, and the parameter limits it, not a socket option.
func autotuned(bytes int64, size float64) bool { return 2*float64(bytes) >= size }

// elsewhere reports whether a flow was limited by its link, its pacing or its program, so that a
// larger buffer would not help.
func elsewhere(f record.Flow) bool {
	return slices.Contains([]string{bottleneck.FullLink, bottleneck.RateCap, bottleneck.Application}, f.LimitedBy)
}

// receiveHolds and sendHolds report whether a flow is held back by the largest receive or send
// buffer. At least 0.6 of a send buffer is in flight (docs/limits.md).
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

// received and sent return how many bytes a connection can have in flight (docs/limits.md, "What a
// flow should get"): received by the window that the receive buffer allows, at most 65,535 bytes
// if window scaling is off, and sent by the send buffer.
func received(h *facts.Host) fact.Window {
	most := math.Inf(1)
	if h.Number(windowScaling, 0) == 0 {
		most = 65535
	}
	low, high := most, most
	if bytes := float64(h.Number(receiveBuffer, 2)); bytes >= 0 {
		low, high = min(most, bytes/2), min(most, bytes)
	}
	return fact.Window{LowBytes: low, HighBytes: high}
}

func sent(h *facts.Host) fact.Window {
	bytes := float64(h.Number(sendBuffer, 2))
	return fact.Window{LowBytes: 0.6 * bytes, HighBytes: bytes + 2*64<<10}
}

const (
	windowScaling = "net.ipv4.tcp_window_scaling"
	receiveBuffer = "net.ipv4.tcp_rmem"
	sendBuffer    = "net.ipv4.tcp_wmem"
	portRangeKey  = "net.ipv4.ip_local_port_range"
	flowEntries   = "net.core.rps_sock_flow_entries"
)

// threeSizes are parameters with a smallest, a middle and a largest size.
var threeSizes = []string{receiveBuffer, sendBuffer, "net.ipv4.tcp_mem"}

// Bytes, for a buffer's largest size. The kernel's own is 4 MiB or more, but with less than 512 MiB of
// memory, of which it is a 128th (tcp_init in net/ipv4/tcp.c): then only paths of a long round-trip time need more.
const small, usual = 1 << 20, 4 << 20

func smallOfMemory(n int64) bool { return n >= small }

var parametersOf = []parameter{
	{cause: cause.WindowScalingOff, key: windowScaling, wrong: is(0), confidence: record.Certain, value: "1",
		atPeers: []string{"window-limited"}, carries: received},
	{cause: cause.SACKOff, key: "net.ipv4.tcp_sack", wrong: is(0), confidence: record.Likely, value: "1"},
	{cause: cause.TimestampsOff, key: "net.ipv4.tcp_timestamps", wrong: is(0), confidence: record.Possible, value: "1"},
	{cause: cause.ReceiveBufferSmall, key: receiveBuffer, field: 2, wrong: below(usual), unsure: smallOfMemory,
		confidence: record.Likely, value: "4096 131072 6291456",
		explains: []string{"receive-queue-pruned"}, atPeers: []string{"window-limited"},
		carries: received, holds: receiveHolds},
	{cause: cause.SendBufferSmall, key: sendBuffer, field: 2, wrong: below(usual), unsure: smallOfMemory,
		confidence: record.Likely, value: "4096 16384 4194304", carries: sent, holds: sendHolds},
	{cause: cause.AutotuningOff, key: "net.ipv4.tcp_moderate_rcvbuf", wrong: is(0), confidence: record.Likely,
		value: "1",
		holds: windowHolds},
	{cause: cause.SomaxconnSmall, key: "net.core.somaxconn", wrong: below(128), confidence: record.Likely,
		value: "4096", explains: []string{"listen-overflow"}},
	{cause: cause.NetdevBacklogSmall, key: "net.core.netdev_max_backlog", wrong: below(300), confidence: record.Likely,
		value:    "1000",
		explains: []string{"softnet-drop"}},
	{cause: cause.SYNBacklogSmall, key: "net.ipv4.tcp_max_syn_backlog", wrong: below(64), confidence: record.Likely,
		value:    "1024",
		explains: []string{"syn-queue-full"}},
	{cause: cause.SYNCookiesOff, key: "net.ipv4.tcp_syncookies", wrong: is(0), confidence: record.Possible, value: "1"},
	{cause: cause.PathMTUDiscoveryOff, key: "net.ipv4.ip_no_pmtu_disc", wrong: func(v int64) bool {
		return v == 1 || v == 2
	}, confidence: record.Likely, value: "0", explains: []string{"fragmentation"}},
	{cause: cause.EchoIgnored, key: "net.ipv4.icmp_echo_ignore_all", wrong: is(1), confidence: record.Possible,
		value: "0"},
	{cause: cause.OptmemSmall, key: "net.core.optmem_max", wrong: below(4096), confidence: record.Possible,
		value: "131072"},
	{cause: cause.UDPBufferDefaultSmall, key: "net.core.rmem_default", wrong: below(65536), confidence: record.Likely,
		value:    "212992",
		explains: []string{"udp-buffer-overflow"}},
	{cause: cause.RetriesFew, key: "net.ipv4.tcp_retries2", wrong: below(5), confidence: record.Likely, value: "15",
		explains: []string{"connections-timed-out"}},
	{cause: cause.SYNRetriesFew, key: "net.ipv4.tcp_syn_retries", wrong: below(2), confidence: record.Possible,
		value: "6"},
	{cause: cause.SYNACKRetriesFew, key: "net.ipv4.tcp_synack_retries", wrong: below(2), confidence: record.Likely,
		value: "5"},
	{cause: cause.TTLSmall, key: "net.ipv4.ip_default_ttl", wrong: below(32), confidence: record.Likely, value: "64"},
	{cause: cause.DSACKOff, key: "net.ipv4.tcp_dsack", wrong: is(0), confidence: record.Likely, value: "1"},
	{cause: cause.RACKOff, key: "net.ipv4.tcp_recovery", wrong: is(0), confidence: record.Likely, value: "1",
		explains: []string{"tcp-timeouts"}},
	{cause: cause.LossProbesOff, key: "net.ipv4.tcp_early_retrans", wrong: is(0), confidence: record.Likely, value: "3",
		explains: []string{"tcp-timeouts"}},
	{cause: cause.AbortOnOverflow, key: "net.ipv4.tcp_abort_on_overflow", wrong: is(1), confidence: record.Likely,
		value: "0"},
	{cause: cause.OutputLimitSmall, key: "net.ipv4.tcp_limit_output_bytes", wrong: below(131072),
		confidence: record.Likely,
		value:      "4194304"},
	{cause: cause.UnsentLimitSmall, key: "net.ipv4.tcp_notsent_lowat", wrong: below(16384), confidence: record.Likely,
		value: "4294967295"},
	{cause: cause.TimeWaitFew, key: "net.ipv4.tcp_max_tw_buckets", wrong: below(256), confidence: record.Likely,
		value: "262144", explains: []string{"time-wait-overflow"}},
	{cause: cause.MSSFloorSmall, key: "net.ipv4.route.min_adv_mss", wrong: below(256), confidence: record.Possible,
		value: "256"},
	{cause: cause.BacklogOfPacketsLong, key: "net.core.netdev_max_backlog", wrong: func(v int64) bool {
		return v > facts.LongBacklog
	}, confidence: record.Possible, value: "10000"},
	{cause: cause.ProxyARP, key: "net.ipv4.conf.all.proxy_arp", wrong: is(1), confidence: record.Possible, value: "0"},
}

func (p parameter) rule() rule.Rule {
	var holds func(*facts.Host, record.Flow) bool
	if p.holds != nil {
		holds = func(h *facts.Host, f record.Flow) bool { return p.holds(h, f, float64(h.Number(p.key, p.field))) }
	}
	return rule.Rule{ID: p.cause.Code, Holds: holds, Host: true, Own: true, Parts: []string{facts.Parameters(p.key)},
		Explains: p.explains, AtPeers: p.atPeers,
		Find: rule.Each(rule.EveryHost, func(_ facts.Trial, h *facts.Host) *record.Finding {
			n := h.Number(p.key, p.field)
			if n < 0 || !p.wrong(n) {
				return nil
			}
			finding := facts.Found(p.cause, h, p.confidence, cause.None{}).With(h.Name, h.Parameter(p.key))
			if p.unsure != nil && p.unsure(n) {
				finding.Confidence = record.Possible
			}
			if p.carries != nil {
				finding.With(h.Name, p.carries(h))
			}
			return finding.Fixed(fix.Parameter(h, p.key, p.value)...)
		})}
}

// Rules returns the rules about the values of kernel parameters.
func Rules() []rule.Rule {
	rules := []rule.Rule{
		{ID: cause.BufferSizesDisordered.Code, Host: true, Own: true, Parts: []string{facts.Parameters(threeSizes...)},
			Find: rule.Each(rule.EveryHost, disordered)},
		{ID: cause.RFSIncomplete.Code, Host: true, Own: true, Parts: []string{facts.Parameters(flowEntries),
			"receive queues"},
			Find: rule.Each(rule.EveryHost, rfsIncomplete)},
		{ID: cause.PortRangeSmall.Code, Host: true, Own: true, Parts: []string{facts.Parameters(portRangeKey)},
			Find: rule.Each(rule.EveryHost, portRange), Explains: []string{"ports-in-time-wait"}},
		{ID: cause.ParameterNotApplied.Code, Host: true, Own: true, Parts: []string{"parameters", "parameter files"},
			Find: rule.Each(rule.EveryHost, notApplied)},
		{ID: cause.ParameterSetTwice.Code, Host: true, Own: true, Parts: []string{"parameter files"},
			Find: rule.Each(rule.EveryHost, setTwice)},
	}
	for _, p := range parametersOf {
		rules = append(rules, p.rule())
	}
	return rules
}

// disordered finds parameters with three sizes that are not in ascending order. The kernel takes
// the smallest as the limit.
func disordered(_ facts.Trial, h *facts.Host) *record.Finding {
	for _, key := range threeSizes {
		low, middle, high := h.Number(key, 0), h.Number(key, 1), h.Number(key, 2)
		if low < 0 || middle < 0 || high < 0 || low <= middle && middle <= high {
			continue
		}
		sizes := []int64{low, middle, high}
		slices.Sort(sizes)
		return facts.Found(cause.BufferSizesDisordered, h, record.Likely, cause.Key{Key: key}).
			With(h.Name, h.Parameter(key)).
			Fixed(fix.Parameter(h, key, fmt.Sprintf("%d %d %d", sizes[0], sizes[1], sizes[2]))...)
	}
	return nil
}

// rfsIncomplete finds receive flow steering of which only one half is set.
func rfsIncomplete(_ facts.Trial, h *facts.Host) *record.Finding {
	is := fact.FlowSteering{Entries: h.Number(flowEntries, 0)}
	for _, nic := range h.State.NICs {
		for _, q := range nic.Queues {
			if q.Flows > 0 && is.Queue == "" {
				is.Interface, is.Queue, is.Flows = nic.Interface, q.Queue, int64(q.Flows)
			}
		}
	}
	if is.Entries < 0 || (is.Entries > 0) == (is.Queue != "") {
		return nil
	}
	finding := facts.Found(cause.RFSIncomplete, h, record.Possible, cause.None{}).With(h.Name, is)
	if is.Entries == 0 {
		finding.Confidence = record.Likely
		finding.Fixed(fix.Parameter(h, flowEntries, "32768")...)
	}
	return finding
}

func portRange(_ facts.Trial, h *facts.Host) *record.Finding {
	first, last := h.Number(portRangeKey, 0), h.Number(portRangeKey, 1)
	if first < 0 || last < first || last-first+1 >= 10000 {
		return nil
	}
	return facts.Found(cause.PortRangeSmall, h, record.Likely, cause.None{}).
		With(h.Name, fact.PortRange{First: first, Last: last}).Fixed(fix.Parameter(h, portRangeKey, "32768 60999")...)
}

// notApplied finds parameters whose value in the kernel differs from the last line that sets them
// in the files. It checks the first network namespace of a host only: the files are not applied to
// others. Of a pasted text the namespace is not known.
func notApplied(_ facts.Trial, h *facts.Host) *record.Finding {
	if !h.State.FirstNamespace && len(h.Pasted) == 0 {
		return nil
	}
	last := map[string]netstate.ParameterLine{}
	for _, l := range h.State.Files {
		last[l.Key] = l
	}
	others := cause.AtRunTime{}
	finding := facts.Found(cause.ParameterNotApplied, h, record.Likely, others)
	if !h.State.FirstNamespace {
		finding.Confidence = record.Possible
	}
	for _, l := range h.State.Files {
		live, has := h.State.Parameters[l.Key]
		if last[l.Key] != l || !has || sameNumbers(live, l.Value) {
			continue
		}
		if slices.Contains(atRunTime, l.Key[strings.LastIndexByte(l.Key, '.')+1:]) {
			others.Keys = append(others.Keys, l.Key)
		}
		if len(finding.Facts) < 6 {
			finding.With(h.Name, fact.ParameterLine{File: l.File, Line: l.Line, Key: l.Key, Value: l.Value,
				Kernel: live})
		}
	}
	if len(finding.Facts) == 0 {
		return nil
	}
	if others.Keys != nil {
		finding.Args = others
	}
	return finding
}

// atRunTime are the last parts of the names of parameters that programs set at run time.
var atRunTime = []string{"ip_forward", "forwarding", "route_localnet", "rp_filter", "bridge-nf-call-iptables",
	"bridge-nf-call-ip6tables", "nf_conntrack_max", "accept_ra", "use_tempaddr", "disable_ipv6"}

// sameNumbers reports whether two values are equal apart from spaces.
func sameNumbers(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

func setTwice(_ facts.Trial, h *facts.Host) *record.Finding {
	first := map[string]netstate.ParameterLine{}
	finding := facts.Found(cause.ParameterSetTwice, h, record.Possible, cause.None{})
	for _, l := range h.State.Files {
		earlier, seen := first[l.Key]
		if first[l.Key] = l; seen && !sameNumbers(earlier.Value, l.Value) && len(finding.Facts) < 6 {
			finding.With(h.Name, fact.ParameterLines{Key: l.Key,
				First: fact.Line{File: earlier.File, Line: earlier.Line, Value: earlier.Value},
				Then:  fact.Line{File: l.File, Line: l.Line, Value: l.Value}})
		}
	}
	if len(finding.Facts) == 0 {
		return nil
	}
	return finding
}
