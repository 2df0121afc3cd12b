package diagnose

import (
	"fmt"
	"maps"
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
	// confidence that the cause is the one that the summary names.
	confidence, summary, reference string
	fix                            []string
	settings                       []string // keys and values, by turns, as in parameters
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
	return rule{id: g.id, about: about + ": " + g.summary + ".", host: true, own: g.own, load: g.load, growth: true, find: each(everyHost, g.find), parts: []string{"snmp"}, explains: g.explains, atPeers: g.atPeers}
}

func (g growth) find(_ observed, h *host) *record.Finding {
	grown, of := h.grown(g.counters...), h.grown(g.of...)
	if grown < max(g.least, 1) || float64(grown) < g.share*float64(of) {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: g.confidence, Summary: g.summary, Reference: g.reference, Fix: on(h.name, h.alone, g.fix...)}
	for _, name := range g.counters {
		if n := h.grown(name); n > 0 {
			finding.Evidence = append(finding.Evidence, h.grewRow(name, n))
		}
	}
	if g.share > 0 && of > 0 {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("that is %s of %s, %d", unit.FormatPercent(float64(grown)/float64(of)), strings.Join(g.of, " + "), of))
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
	return finding
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
	return fmt.Sprintf(" in %.3g s", h.overS)
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
	return h.listenersWhere(func(l record.Listener) bool { return l.Protocol == "tcp" && l.Queued > 0 && l.Queued >= l.Backlog },
		func(l record.Listener) string {
			return fmt.Sprintf("%s: %d connections wait for accept(2), its backlog is %d", l.Local, l.Queued, l.Backlog)
		}), true
}

func droppingSockets(h *host) ([]string, bool) {
	return h.listenersWhere(func(l record.Listener) bool { return l.Drops > 0 },
		func(l record.Listener) string {
			return fmt.Sprintf("udp %s: %d datagrams dropped since it was opened, %d bytes wait to be read", l.Local, l.Drops, l.Queued)
		}), true
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

// routeless: of IPv6 some packets for all hosts of the link come before an interface has its routes.
func routeless(h *host) ([]string, bool) {
	return nil, h.grown("Ip.OutNoRoutes", "IpExt.InNoRoutes") > 0 || h.grown("Ip6.InNoRoutes") >= 10
}

// retransmitting are the connections that wait for an acknowledgement. Nothing is found where TCP
// took only one or two packets for lost, which count as up to 64 segments each (GSO): a busy CPU
// can do that.
func retransmitting(h *host) (rows []string, found bool) {
	losses := h.grown("TcpExt.TCPTimeouts", "TcpExt.TCPLossProbes", "TcpExt.TCPSackRecovery", "TcpExt.TCPRenoRecovery") // 0: not known
	if losses > 0 && losses < 3 && h.grown("Tcp.RetransSegs") <= 64*losses {
		return nil, false
	}
	for _, c := range h.state.Notable {
		if i := c.Info; i != nil && i.TotalRetrans > 0 && len(rows) < 4 {
			rows = append(rows, fmt.Sprintf("%s to %s: %d of %d segments were sent again", c.Local, c.Remote, i.TotalRetrans, i.SegsOut))
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

// fixed is a fix by kernel parameters: lines before them, the commands, and the settings.
func (h *host) fixed(lines []string, pairs ...string) ([]string, []setting.Setting) {
	return h.fixedBy(lines, parameters(h.name, pairs...)...)
}
