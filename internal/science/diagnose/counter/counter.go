// Package counter has the rules about counters of /proc/net/snmp and /proc/net/netstat that grew.
package counter

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// growth is a rule about counters of /proc/net/snmp and /proc/net/netstat
// (Documentation/networking/snmp_counter.rst) that grew between two readings.
type growth struct {
	cause cause.Of[cause.None]
	// own, load and foreign are as in rule.Rule.
	own, load, foreign bool

	counters []string // whose sum must grow
	least    int64    // by at least this; 0: 1
	of       []string // and by at least share of the growth of these, if it is not 0
	share    float64
	// confidence of the finding; possible if the counters grew by less than perS a second.
	confidence string
	perS       float64
	steps      func(*facts.Host) []record.Step // nil: none
	// paths selects connections of the snapshot that the finding is about; nil: it is about all.
	paths func(netstate.Connection) bool
	// apart returns the part of the growth that has another cause, and that cause. The part is no
	// evidence for the finding; nil: there is none.
	apart func(*facts.Host) fact.Apart
	// more returns further evidence, and false if there is no finding after all; nil: none is needed.
	more              func(*facts.Host) (list []any, found bool)
	explains, atPeers []string // as in rule.Rule
	// verdict in the table of drops on the packets that the counters count; empty: they do not count
	// dropped packets.
	verdict string
}

// rule returns g as a rule for hosts. The names of counters that Linux does not have are linerate's own, so that the
// rule does not describe itself by them.
func (g growth) rule() rule.Rule {
	r := rule.Rule{ID: g.cause.Code, Host: true, Own: g.own, Load: g.load, Growth: true,
		Find: rule.Each(rule.EveryHost, g.find), Parts: []string{facts.SNMP(g.counters...)}, Explains: g.explains,
		AtPeers: g.atPeers}
	if g.share > 0 && len(g.of) > 0 { // without them, the share is not known
		r.Parts = append(r.Parts, facts.SNMP(g.of...))
	}
	if g.foreign {
		r.If = rule.OtherSystem
	} else {
		r.When = &rule.Growing{Counters: g.counters, Least: g.least, Of: g.of, Share: g.share, PerS: g.perS}
	}
	return r
}

func (g growth) find(_ facts.Trial, h *facts.Host) *record.Finding {
	grown, of, other := h.Grown(g.counters...), h.Grown(g.of...), fact.Apart{}
	if g.apart != nil {
		other = g.apart(h)
	}
	if grown-other.Packets < max(g.least, 1) || float64(grown) < g.share*float64(of) {
		return nil
	}
	if g.share > 0 && len(g.of) > 0 && h.Missing(facts.SNMP(g.of...)) != nil { // it is not known of how many
		return nil
	}
	finding := facts.Found(g.cause, h, g.confidence, cause.None{})
	if float64(grown-other.Packets) < g.perS*h.OverS {
		finding.Confidence = record.Possible
	}
	for _, name := range g.counters {
		if n := h.Grown(name); n > 0 {
			finding.With(h.Name, h.Counter(name, n))
		}
	}
	if other.Packets > 0 {
		finding.With(h.Name, other)
	}
	if g.share > 0 && of > 0 {
		finding.With(h.Name, fact.Part{Grew: grown, Counters: h.Called(g.of), Of: of})
	}
	if g.more != nil {
		list, found := g.more(h)
		if !found {
			return nil
		}
		finding.With(h.Name, list...)
	}
	if g.steps != nil {
		finding.Fixed(g.steps(h)...)
	}
	if g.paths != nil && !h.Boot {
		finding.Touches = h.Paths(g.paths)
	}
	return finding
}

// always returns a function for growth.more that adds evidence and never rejects the finding.
func always(list func(*facts.Host) []any) func(*facts.Host) ([]any, bool) {
	return func(h *facts.Host) ([]any, bool) { return list(h), true }
}

// largerUDPBuffer returns the steps against full receive buffers of UDP sockets. net.core.rmem_max
// limits what a program may set by SO_RCVBUF, and the kernel doubles that value (socket(7)). A
// program with CAP_NET_ADMIN can exceed it by SO_RCVBUFFORCE; then no parameter helps.
func largerUDPBuffer(h *facts.Host) []record.Step {
	const key, larger = "net.core.rmem_max", 26214400
	most, buffer := h.Number(key, 0), int64(0) // the smallest of those that dropped
	for _, bytes := range fullUDPBuffers(h) {
		if buffer == 0 || bytes < buffer {
			buffer = bytes
		}
	}
	advice := func(is any) record.Step { return record.Advice(h.Name, is) }
	switch {
	case most > 0 && buffer > 2*most:
		return []record.Step{advice(hint.ForcedBuffer{Bytes: buffer, Most: most}), advice(hint.OwnBuffer{})}
	case most >= larger, buffer > 0 && buffer <= most/2: // up to which SO_RCVBUF makes it four times as large, or more
		return []record.Step{advice(hint.BufferUpTo{Most: most})}
	}
	return append([]record.Step{advice(hint.LargerBuffer{})}, fix.Parameter(h, key, fmt.Sprint(larger))...)
}

// fullUDPBuffers returns the sizes of receive buffers of UDP sockets that dropped datagrams: of the
// flows of a run, otherwise of the sockets of the host. Unknown sizes are left out.
func fullUDPBuffers(h *facts.Host) (list []int64) {
	for _, f := range h.Flows {
		if d := f.Datagrams; f.To == h.Name && d != nil && d.LostInBuffer > 0 && d.BufferBytes > 0 {
			list = append(list, d.BufferBytes)
		}
	}
	for _, l := range h.State.Listeners {
		if len(h.Flows) == 0 && l.Protocol == "udp" && l.Drops > 0 && l.ReceiveBuffer > 0 {
			list = append(list, l.ReceiveBuffer)
		}
	}
	return list
}

// growths are the rules of tcp.go, ip.go and foreign.go.
var growths = sync.OnceValue(func() []growth { return slices.Concat(tcpGrowths, ipGrowths, foreignGrowths) })

// Drops returns the counters that count dropped packets.
var Drops = sync.OnceValue(func() (list []facts.CounterDrop) {
	for _, g := range growths() {
		if g.verdict != "" {
			list = append(list, facts.CounterDrop{Cause: g.cause.Code, Counters: g.counters, Verdict: g.verdict,
				Apart: g.apart})
		}
	}
	return list
})

// Counter is a counter of /proc/net/snmp or /proc/net/netstat that rules use.
type Counter struct {
	Name  string   // "TcpExt.ListenOverflows"
	Rules []string // codes of their causes, in the order of the rules
}

// Counters returns the counters of Linux that the rules for hosts use, sorted by name.
func Counters() (list []Counter) {
	rules := map[string][]string{facts.FilterCounter: {"strict-rp-filter", "loose-rp-filter"}}
	for _, g := range growths() {
		for _, name := range slices.Concat(g.counters, g.of) {
			if g.foreign {
				continue
			}
			if !slices.Contains(rules[name], g.cause.Code) {
				rules[name] = append(rules[name], g.cause.Code)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		list = append(list, Counter{name, rules[name]})
	}
	return list
}

// retransmitting returns connections with retransmissions as evidence. found is false if TCP
// detected only one or two losses: each counts as up to 64 segments (GSO), and a busy CPU can cause
// it.
func retransmitting(h *facts.Host) (list []any, found bool) {
	// 0: not known
	losses := h.Grown("TcpExt.TCPTimeouts", "TcpExt.TCPLossProbes", "TcpExt.TCPSackRecovery", "TcpExt.TCPRenoRecovery")
	if losses > 0 && losses < 3 && h.Grown("Tcp.RetransSegs") <= 64*losses {
		return nil, false
	}
	for _, c := range h.State.Notable {
		if i := c.Info; i != nil && i.TotalRetrans > 0 && len(list) < 4 {
			list = append(list, fact.Retransmitted{Local: c.Local, Remote: c.Remote, Segments: int64(i.TotalRetrans),
				Of: int64(i.SegsOut)})
		}
	}
	return list, true
}

// recycled reports whether connections were refused while sockets in TIME-WAIT were recycled: SYNs with
// an older timestamp (PAWSPassive, only with tcp_tw_recycle before Linux 4.12), or segments. A client with
// tcp_tw_reuse recycles sockets as well, and refuses nothing.
func recycled(h *facts.Host) (list []any, found bool) {
	if n := h.Grown("TcpExt.PAWSEstab"); n >= 10 {
		list = append(list, h.Counter("TcpExt.PAWSEstab", n))
	}
	const key = "net.ipv4.tcp_tw_recycle"
	on := h.Number(key, 0)
	if on > 0 {
		list = append(list, h.Parameter(key))
	}
	return list, on != 0 && (on > 0 || len(list) > 0 || h.Grown("TcpExt.PAWSPassive") > 0)
}

// Rules returns the rules about counters that grew; Counters lists the counters.
func Rules() (list []rule.Rule) {
	return lists.Map(growths(), growth.rule)
}
