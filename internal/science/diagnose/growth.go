package diagnose

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// growth is a rule that goes by counters of /proc/net/snmp and /proc/net/netstat
// (Documentation/networking/snmp_counter.rst) which grew between two readings.
type growth struct {
	id        string
	own, load bool     // as of rule
	counters  []string // whose sum has to grow
	least     int64    // by so many
	of        []string // and by this share of the growth of others, if there are any
	share     float64
	// confidence that the cause is the one that the summary names; possible below perS of them a
	// second.
	confidence, summary, reference string
	perS                           float64
	fix                            []string
	settings                       []string // keys and values, by turns, as in parameters
	// fixes is the fix where it depends on the host; nil: fix and settings are.
	fixes func(*host) ([]string, []setting.Setting)
	// paths are the connections of now that it is about; nil: any.
	paths func(record.Connection) bool
	// says is what the rule's explanation has as well.
	says string
	// apart is how much of the growth has another cause, and which; nil: none has. That part is
	// no evidence for the finding.
	apart func(*host) (n int64, why string)
	// more is further evidence; nil: none. false: nothing is found after all.
	more              func(*host) ([]string, bool)
	explains, atPeers []string // as of rule
	// Verdict of the drop table on packets that are counted: empty, if the counters are no
	// packets.
	verdict string
}

// rule is the growth as a rule of a host.
func (g growth) rule() rule {
	about := strings.Join(g.counters, " + ") + " grew"
	if g.least > 1 {
		about += fmt.Sprintf(" by at least %d", g.least)
	}
	if g.share > 0 {
		about += fmt.Sprintf(", and %g %% of %s", 100*g.share, strings.Join(g.of, " + "))
	}
	if g.perS > 0 {
		about += fmt.Sprintf(", possible below %g a second", g.perS)
	}
	about = strings.TrimSpace(about + ": " + g.summary + ". " + g.says)
	return rule{id: g.id, about: about, host: true, own: g.own, load: g.load, growth: true,
		find: each(everyHost, g.find), parts: []string{"snmp"}, explains: g.explains, atPeers: g.atPeers}
}

func (g growth) find(_ observed, h *host) *record.Finding {
	grown, of := h.grown(g.counters...), h.grown(g.of...)
	other, why := int64(0), ""
	if g.apart != nil {
		other, why = g.apart(h)
	}
	if grown-other < max(g.least, 1) || float64(grown) < g.share*float64(of) {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: g.confidence, Summary: g.summary, Reference: g.reference,
		Fix: on(h.name, h.alone, g.fix...)}
	if float64(grown-other) < g.perS*h.overS {
		finding.Confidence = record.Possible
	}
	for _, name := range g.counters {
		if n := h.grown(name); n > 0 {
			finding.Evidence = append(finding.Evidence, h.grewRow(name, n))
		}
	}
	if other > 0 {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("up to %d of them are of another cause: %s",
			other, why))
	}
	if g.share > 0 && of > 0 {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("that is %s %s, %d", partOf(grown, of),
			strings.Join(g.of, " + "), of))
	}
	if g.more != nil {
		rows, found := g.more(h)
		if !found {
			return nil
		}
		finding.Evidence = append(finding.Evidence, rows...)
	}
	if len(g.settings) > 0 {
		finding.Settings = parameters(h.name, g.settings...)
		finding.Fix = append(finding.Fix, h.commands(finding.Settings)...)
	}
	if g.fixes != nil {
		finding.Fix, finding.Settings = g.fixes(h)
	}
	if g.paths != nil && !h.boot {
		finding.Places = h.paths(g.paths)
	}
	return finding
}

// partOf is a count beside another one, of which it need not be a part: TCP's timer also runs out
// where nothing is sent.
func partOf(n, of int64) string {
	if n > of {
		return fmt.Sprintf("%.4g for each of", float64(n)/float64(of))
	}
	return unit.FormatPercent(float64(n)/float64(of)) + " of"
}

// grown is by how much counters grew, together.
func (h *host) grown(names ...string) (sum int64) {
	for _, name := range names {
		sum += max(0, h.reading.SNMPDelta(name))
	}
	return sum
}

// grewRow is the growth of a counter as evidence. All rules spell it by this, so that two
// findings which rest on the same growth have the same row (restates).
func (h *host) grewRow(counter string, n int64) string {
	return fmt.Sprintf("%s grew by %d%s", counter, n, h.within())
}

// within says over which time counters grew: " in 3.0 s", " since boot".
func (h *host) within() string {
	switch {
	case h.boot:
		return " since boot"
	case h.overS == 0: // of a trial
		return " in the window"
	}
	return " in " + unit.FormatSeconds(h.overS)
}

// listenersWhere are the rows of sockets, at most four.
func (h *host) listenersWhere(where func(record.Listener) bool, spell func(record.Listener) string) (rows []string) {
	for _, l := range h.state.Listeners {
		if where(l) && len(rows) < 4 {
			rows = append(rows, spell(l)+program(l))
		}
	}
	return rows
}

func program(l record.Listener) string {
	if l.Program == "" {
		return ""
	}
	return " (" + l.Program + ")"
}

func fullListeners(h *host) ([]string, bool) {
	return h.listenersWhere(func(l record.Listener) bool {
		return l.Protocol == "tcp" && l.Queued > 0 &&
			l.Queued >= l.Backlog
	}, queueRow), true
}

func droppingSockets(h *host) ([]string, bool) {
	return h.listenersWhere(func(l record.Listener) bool { return l.Drops > 0 },
		func(l record.Listener) string {
			row := fmt.Sprintf("udp %s: %d datagrams dropped since it was opened, %d bytes wait to be read", l.Local,
				l.Drops, l.Queued)
			if l.ReceiveBuffer > 0 {
				row += fmt.Sprintf(" in a buffer of %d", l.ReceiveBuffer)
			}
			return row
		}), true
}

// largerUDPBuffer is the fix for UDP sockets whose receive buffers were full. net.core.rmem_max
// bounds what SO_RCVBUF sets, and the kernel counts twice of it (socket(7)); a program with
// CAP_NET_ADMIN can set more (SO_RCVBUFFORCE), and no parameter helps then.
func largerUDPBuffer(h *host) ([]string, []setting.Setting) {
	const key, larger = "net.core.rmem_max", 26214400
	most, buffer := h.number(key, 0), int64(0) // the smallest of those that dropped
	for _, bytes := range h.fullUDPBuffers() {
		if buffer == 0 || bytes < buffer {
			buffer = bytes
		}
	}
	const lower = "have the program read faster, or send to it at a lower rate"
	switch {
	case most > 0 && buffer > 2*most:
		return on(h.name, h.alone,
			fmt.Sprintf("%s; its buffer is %s, and %s, %d, which bounds only SO_RCVBUF, does not bound it", lower,
				unit.FormatBytes(float64(buffer)), key, most),
			"against bursts a larger buffer by the program's own option (linerate: --window)"), nil
	case most >= larger, buffer > 0 && buffer <= most/2: // up to which SO_RCVBUF makes it four times as large, or more
		return on(h.name, h.alone, fmt.Sprintf("%s, or set a larger SO_RCVBUF (linerate: --window), up to %s, %d",
			lower, key, most)), nil
	}
	return h.fixed([]string{lower + ", or set a larger SO_RCVBUF (linerate: --window); the largest that it can set:"},
		key, fmt.Sprint(larger))
}

// fullUDPBuffers are the receive buffers of UDP sockets that dropped datagrams, as far as they
// are known: of flows of a run, and otherwise of the host's sockets.
func (h *host) fullUDPBuffers() (list []int64) {
	for _, f := range h.flows {
		if d := f.Datagrams; f.To == h.name && d != nil && d.LostInBuffer > 0 && d.BufferBytes > 0 {
			list = append(list, d.BufferBytes)
		}
	}
	for _, l := range h.state.Listeners {
		if len(h.flows) == 0 && l.Protocol == "udp" && l.Drops > 0 && l.ReceiveBuffer > 0 {
			list = append(list, l.ReceiveBuffer)
		}
	}
	return list
}

func unread(h *host) (rows []string, found bool) {
	for _, c := range h.state.Notable {
		if c.State == "ESTAB" && c.ReceiveQueue > 0 && len(rows) < 4 {
			rows = append(rows, fmt.Sprintf("%s from %s: %d bytes wait to be read", c.Local, c.Remote, c.ReceiveQueue))
		}
	}
	return rows, true
}

const (
	snmpCounters = "Linux Documentation/networking/snmp_counter.rst"
	ipSysctl     = "Linux Documentation/networking/ip-sysctl.rst"
	netSysctl    = "Linux Documentation/admin-guide/sysctl/net.rst"
)

// The verdicts of the drop table are written often.
const harmful, harmless, unknown = record.Harmful, record.Harmless, record.Unknown

// growths are by protocol: growth_tcp.go and growth_ip.go have them.
var growths = slices.Concat(tcpGrowths, ipGrowths)

// growthDrops are the counters of packets that were dropped.
var growthDrops = func() (list []counterDrop) {
	for _, g := range growths {
		if g.verdict != "" {
			list = append(list, counterDrop{g.counters, g.verdict, g.summary, g.apart})
		}
	}
	return list
}()

// Counter is a counter of /proc/net/snmp or /proc/net/netstat that rules go by.
type Counter struct {
	Name  string   // "TcpExt.ListenOverflows"
	Rules []string // in the order of Rules
}

// Counters are those of all rules of hosts, by name.
func Counters() (list []Counter) {
	rules := map[string][]string{filterCounter: {"strict-rp-filter", "loose-rp-filter"}}
	for _, g := range growths {
		for _, name := range slices.Concat(g.counters, g.of) {
			if !slices.Contains(rules[name], g.id) {
				rules[name] = append(rules[name], g.id)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		list = append(list, Counter{name, rules[name]})
	}
	return list
}

// refusedFragments are the fragments that a queue of the host dropped, at most: the kernel counts
// a fragment that cannot be handed on in FragFails as well (ip_do_fragment in
// net/ipv4/ip_output.c). Where UDP asks for no errors, it counts the same failures in
// SndbufErrors.
func refusedFragments(h *host) (n int64, why string) {
	for _, q := range h.queued {
		if !q.innerOf && q.Queues() {
			n += int64(q.Drops)
		}
	}
	n = max(n, h.grown("Udp.SndbufErrors", "Udp6.SndbufErrors"))
	if !h.boot { // of the others the reason was traced
		n = min(n, h.grown("Ip.FragFails", "Ip6.FragFails")-int64(h.named[tally{"", "Ip.FragFails"}]))
	}
	return max(n, 0), "a queue of this host was full and dropped fragments, which FragFails counts as well"
}

// routeless are the packets without a route that no fault makes. Of IPv6 a few for all hosts of
// the link come before an interface has its routes. Of IPv4 a host that reaches others by IPv6
// alone counts each address of a name that it looks up: getaddrinfo(3) connects a UDP socket to it
// (RFC 6724), and a connect(2) that fails with ENETUNREACH is counted (__ip4_datagram_connect and
// tcp_v4_connect in net/ipv4).
func routeless(h *host) (n int64, why string) {
	if few := h.grown("Ip6.InNoRoutes"); few > 0 && few < 10 {
		n, why = few, "a few packets of IPv6 come before an interface has its routes"
	}
	if tried := h.grown("Ip.OutNoRoutes"); tried > 0 && h.onlyIPv6() {
		n, why = n+tried, "a host that reaches others by IPv6 alone counts each IPv4 address of a name that it looks up"
	}
	return n, why
}

// onlyIPv6 reports whether a host reaches other networks by IPv6 alone: it has no default route of
// IPv4, and has one of IPv6 or no IPv4 address. A host with neither default route and an IPv4
// address may lack one.
func (h *host) onlyIPv6() bool {
	if h.missing("interfaces") != "" || h.missing("routes") != "" {
		return false
	}
	routed := func(v4 bool) bool {
		return slices.ContainsFunc(h.reading.Snapshot.Routes, func(r record.RouteEntry) bool {
			to, is := destination(r, v4)
			return is && to.Bits() == 0 && !isDiscard(r)
		})
	}
	return !routed(true) && (routed(false) || !slices.ContainsFunc(h.netifs, func(p *netif) bool {
		return slices.ContainsFunc(p.v4(), func(x netip.Prefix) bool { return x.Addr().IsGlobalUnicast() })
	}))
}

// retransmitting are the connections that wait for an acknowledgement. Nothing is found where TCP
// took only one or two packets for lost, which count as up to 64 segments each (GSO): a busy CPU
// can do that.
func retransmitting(h *host) (rows []string, found bool) {
	// 0: not known
	losses := h.grown("TcpExt.TCPTimeouts", "TcpExt.TCPLossProbes", "TcpExt.TCPSackRecovery", "TcpExt.TCPRenoRecovery")
	if losses > 0 && losses < 3 && h.grown("Tcp.RetransSegs") <= 64*losses {
		return nil, false
	}
	for _, c := range h.state.Notable {
		if i := c.Info; i != nil && i.TotalRetrans > 0 && len(rows) < 4 {
			rows = append(rows, fmt.Sprintf("%s to %s: %d of %d segments were sent again", c.Local, c.Remote,
				i.TotalRetrans, i.SegsOut))
		}
	}
	return rows, true
}

var growthRules = func() (list []rule) {
	for _, g := range growths {
		list = append(list, g.rule())
	}
	return list
}()

// raised is a fix by a larger value of a kernel parameter: least or, where the host has that already,
// twice its value. Where that is above most, the advice alone.
func (h *host) raised(advice, key string, least, most int64) ([]string, []setting.Setting) {
	value := max(least, 2*h.number(key, 0))
	if value > most {
		return on(h.name, h.alone, fmt.Sprintf("%s; %s is %d already", advice, key, h.number(key, 0))), nil
	}
	return h.fixed([]string{advice + "; or:"}, key, fmt.Sprint(value))
}

// fixed is a fix by kernel parameters: lines before them, the commands, and the settings.
func (h *host) fixed(lines []string, pairs ...string) ([]string, []setting.Setting) {
	return h.fixedBy(lines, parameters(h.name, pairs...)...)
}
