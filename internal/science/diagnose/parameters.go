package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// parameter is a rule about the value of one kernel parameter: a number below or above what the
// mechanism needs.
type parameter struct {
	id, key string
	field   int // of several values, from 0
	wrong   func(int64) bool
	// confidence that it costs something.
	confidence, summary, value, reference string
	explains                              []string
	// cost is a further row with what the value costs; nil: none.
	cost func(int64) string
}

func is(n int64) func(int64) bool    { return func(v int64) bool { return v == n } }
func below(n int64) func(int64) bool { return func(v int64) bool { return v < n } }

// windowCost says what a window of so many bytes carries, half of a buffer being bookkeeping.
func windowCost(bytes int64) string {
	window := float64(bytes) / 2
	return fmt.Sprintf("a connection carries at most a window for each round trip: about %s at 10 ms, %s at 100 ms", unit.FormatRate(window*8/0.01), unit.FormatRate(window*8/0.1))
}

const small = 1 << 20 // of a buffer's largest size; the kernel's own is 4 MiB and more

var parametersOf = []parameter{
	{id: "window-scaling-off", key: "net.ipv4.tcp_window_scaling", wrong: is(0), confidence: record.Certain, value: "1",
		summary: "TCP windows are 64 KiB at most, because window scaling is off", reference: "RFC 7323; " + ipSysctl, explains: []string{"receive-buffer-small"},
		cost: func(int64) string { return windowCost(2 * 65535) }},
	{id: "sack-off", key: "net.ipv4.tcp_sack", wrong: is(0), confidence: record.Likely, value: "1",
		summary: "selective acknowledgements are off: each lost segment costs a round trip", reference: "RFC 2018; " + ipSysctl},
	{id: "timestamps-off", key: "net.ipv4.tcp_timestamps", wrong: is(0), confidence: record.Possible, value: "1",
		summary: "TCP timestamps are off: 12 bytes less for each segment, and no protection against old duplicates above 1 Gbit/s", reference: "RFC 7323; " + ipSysctl},
	{id: "receive-buffer-small", key: "net.ipv4.tcp_rmem", field: 2, wrong: below(small), confidence: record.Likely, value: "4096 131072 6291456",
		summary: "TCP receive buffers cannot grow to the size that paths with delay need", reference: ipSysctl + " (tcp_rmem)", explains: []string{"receive-queue-pruned"}, cost: windowCost},
	{id: "send-buffer-small", key: "net.ipv4.tcp_wmem", field: 2, wrong: below(small), confidence: record.Likely, value: "4096 16384 4194304",
		summary: "TCP send buffers cannot grow to the size that paths with delay need", reference: ipSysctl + " (tcp_wmem)", cost: windowCost},
	{id: "autotuning-off", key: "net.ipv4.tcp_moderate_rcvbuf", wrong: is(0), confidence: record.Likely, value: "1",
		summary: "receive buffers do not grow with the path, because their autotuning is off", reference: ipSysctl},
	{id: "somaxconn-small", key: "net.core.somaxconn", wrong: below(128), confidence: record.Likely, value: "4096",
		summary: "the kernel shortens every listener's queue to a few connections", reference: ipSysctl + " (somaxconn); listen(2)", explains: []string{"listen-overflow"}},
	{id: "netdev-backlog-small", key: "net.core.netdev_max_backlog", wrong: below(300), confidence: record.Likely, value: "1000",
		summary: "a CPU's queue of received packets is short", reference: netSysctl, explains: []string{"softnet-drop"}},
	{id: "syn-backlog-small", key: "net.ipv4.tcp_max_syn_backlog", wrong: below(64), confidence: record.Likely, value: "1024",
		summary: "the queue of half-open connections is short", reference: ipSysctl, explains: []string{"syn-queue-full"}},
	{id: "syn-cookies-off", key: "net.ipv4.tcp_syncookies", wrong: is(0), confidence: record.Possible, value: "1",
		summary: "SYN cookies are off: when the queue of half-open connections is full, SYNs are dropped", reference: ipSysctl},
	{id: "path-mtu-discovery-off", key: "net.ipv4.ip_no_pmtu_disc", wrong: func(v int64) bool { return v == 1 || v == 2 }, confidence: record.Likely, value: "0",
		summary: "path MTU discovery is off: packets are small, or fragmented by routers", reference: "RFC 1191; " + ipSysctl, explains: []string{"fragmentation"}},
	{id: "echo-ignored", key: "net.ipv4.icmp_echo_ignore_all", wrong: is(1), confidence: record.Possible, value: "0",
		summary: "the host answers no ping", reference: ipSysctl},
	{id: "optmem-small", key: "net.core.optmem_max", wrong: below(4096), confidence: record.Possible, value: "131072",
		summary: "sockets have little room for options and zero copy", reference: netSysctl},
	{id: "udp-buffer-default-small", key: "net.core.rmem_default", wrong: below(65536), confidence: record.Likely, value: "212992",
		summary: "UDP sockets have a small receive buffer unless they ask for more", reference: netSysctl, explains: []string{"udp-buffer-overflow"}},
	{id: "retries-few", key: "net.ipv4.tcp_retries2", wrong: below(5), confidence: record.Likely, value: "15",
		summary: "TCP gives connections up after a few unanswered retransmissions", reference: "RFC 1122, section 4.2.3.5; " + ipSysctl, explains: []string{"connections-timed-out"}},
	{id: "syn-retries-few", key: "net.ipv4.tcp_syn_retries", wrong: below(2), confidence: record.Possible, value: "6",
		summary: "connecting is given up after one or two seconds", reference: ipSysctl},
}

func (p parameter) rule() rule {
	return rule{id: p.id, about: p.key + " is set so: " + p.summary + ".", host: true, own: true, parts: []string{"parameters"}, explains: p.explains, find: each(everyHost, func(_ observed, h *host) *record.Finding {
		n := h.number(p.key, p.field)
		if n < 0 || !p.wrong(n) {
			return nil
		}
		finding := &record.Finding{Host: h.name, Confidence: p.confidence, Summary: p.summary, Reference: p.reference,
			Evidence: []string{p.key + " = " + h.state.Parameters[p.key]}}
		if p.cost != nil {
			finding.Evidence = append(finding.Evidence, p.cost(n))
		}
		finding.Fix, finding.Settings = h.fixed(nil, p.key, p.value)
		return finding
	})}
}

// number is one number of a parameter's value, -1 where it is not known.
func (h *host) number(key string, field int) int64 {
	fields := strings.Fields(h.state.Parameters[key])
	if field >= len(fields) {
		return -1
	}
	n, err := strconv.ParseInt(fields[field], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

var parameterRules = func() []rule {
	rules := []rule{
		{id: "port-range-small", host: true, own: true, about: "ip_local_port_range has fewer than 10,000 ports.", parts: []string{"parameters"}, find: each(everyHost, portRange), explains: []string{"ports-in-time-wait"}},
		{id: "parameter-not-applied", host: true, own: true, about: "The last line for a kernel parameter in the files of sysctl.d(5) has another value than the kernel. For the machine's first network namespace.", parts: []string{"parameters", "parameter files"}, find: each(everyHost, notApplied)},
		{id: "parameter-set-twice", host: true, own: true, about: "Two lines in the files of sysctl.d(5) give a kernel parameter different values.", parts: []string{"parameter files"}, find: each(everyHost, setTwice)},
	}
	for _, p := range parametersOf {
		rules = append(rules, p.rule())
	}
	return rules
}()

func portRange(_ observed, h *host) *record.Finding {
	const key = "net.ipv4.ip_local_port_range"
	first, last := h.number(key, 0), h.number(key, 1)
	if first < 0 || last < first || last-first+1 >= 10000 {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: record.Likely, Summary: "there are few ports for outgoing connections", Reference: "ip(7); " + ipSysctl,
		Evidence: []string{fmt.Sprintf("%s = %d %d, which is %d ports for each pair of addresses", key, first, last, last-first+1)}}
	finding.Fix, finding.Settings = h.fixed(nil, key, "32768 60999")
	return finding
}

// notApplied finds parameters whose last line in the files says another value than the kernel
// has. It is for a host's first network namespace: the files are not applied to others.
func notApplied(_ observed, h *host) *record.Finding {
	if !h.state.FirstNamespace {
		return nil
	}
	last := map[string]record.ParameterLine{}
	for _, l := range h.state.Files {
		last[l.Key] = l
	}
	var rows []string
	for _, l := range h.state.Files {
		live, has := h.state.Parameters[l.Key]
		if last[l.Key] != l || !has || sameNumbers(live, l.Value) || len(rows) == 6 {
			continue
		}
		rows = append(rows, fmt.Sprintf("%s:%d: %s = %s, and the kernel has %s", l.File, l.Line, l.Key, l.Value, live))
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely, Summary: "kernel parameters differ from the files that are to set them", Evidence: rows,
		Fix: on(h.name, h.alone, "sysctl --system applies the files; or find what has changed the values since, and correct the files"), Reference: "sysctl.d(5)"}
}

// sameNumbers compares values without regard to the space between their parts.
func sameNumbers(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

func setTwice(_ observed, h *host) *record.Finding {
	first := map[string]record.ParameterLine{}
	var rows []string
	for _, l := range h.state.Files {
		earlier, seen := first[l.Key]
		if first[l.Key] = l; seen && !sameNumbers(earlier.Value, l.Value) && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("%s = %s in %s:%d, then %s in %s:%d", l.Key, earlier.Value, earlier.File, earlier.Line, l.Value, l.File, l.Line))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Possible, Summary: "files set a kernel parameter twice, to different values: the later one holds", Evidence: rows,
		Fix: on(h.name, h.alone, "remove one, unless the later file is to override the earlier"), Reference: "sysctl.d(5)"}
}
