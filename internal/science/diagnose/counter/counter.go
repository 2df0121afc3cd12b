// Package counter has the rules that go by counters of /proc/net/snmp and /proc/net/netstat which grew.
package counter

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
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
	fixes func(*facts.Host) ([]string, []setting.Setting)
	// paths are the connections of now that it is about; nil: any.
	paths func(record.Connection) bool
	// says is what the rule's explanation has as well.
	says string
	// apart is how much of the growth has another cause, and which; nil: none has. That part is
	// no evidence for the finding.
	apart func(*facts.Host) (n int64, why string)
	// more is further evidence; nil: none. false: nothing is found after all.
	more              func(*facts.Host) ([]string, bool)
	explains, atPeers []string // as of rule
	// Verdict of the drop table on packets that are counted: empty, if the counters are no
	// packets.
	verdict string
}

// rule is the growth as a rule of a host.
func (g growth) rule() rule.Rule {
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
	return rule.Rule{ID: g.id, About: about, Host: true, Own: g.own, Load: g.load, Growth: true,
		Find: rule.Each(rule.EveryHost, g.find), Parts: []string{"snmp"}, Explains: g.explains, AtPeers: g.atPeers}
}

func (g growth) find(_ facts.Trial, h *facts.Host) *record.Finding {
	grown, of := h.Grown(g.counters...), h.Grown(g.of...)
	other, why := int64(0), ""
	if g.apart != nil {
		other, why = g.apart(h)
	}
	if grown-other < max(g.least, 1) || float64(grown) < g.share*float64(of) {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: g.confidence, Summary: g.summary, Reference: g.reference,
		Fix: said.On(h.Name, h.Alone, g.fix...)}
	if float64(grown-other) < g.perS*h.OverS {
		finding.Confidence = record.Possible
	}
	for _, name := range g.counters {
		if n := h.Grown(name); n > 0 {
			finding.Evidence = append(finding.Evidence, said.GrewRow(h, name, n))
		}
	}
	if other > 0 {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("up to %d of them are of another cause: %s",
			other, why))
	}
	if g.share > 0 && of > 0 {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("that is %s %s, %d", said.PartOf(grown, of),
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
		finding.Settings = fix.Parameters(h.Name, g.settings...)
		finding.Fix = append(finding.Fix, fix.Commands(h, finding.Settings)...)
	}
	if g.fixes != nil {
		finding.Fix, finding.Settings = g.fixes(h)
	}
	if g.paths != nil && !h.Boot {
		finding.Places = h.Paths(g.paths)
	}
	return finding
}

// largerUDPBuffer is the fix for UDP sockets whose receive buffers were full. net.core.rmem_max
// bounds what SO_RCVBUF sets, and the kernel counts twice of it (socket(7)); a program with
// CAP_NET_ADMIN can set more (SO_RCVBUFFORCE), and no parameter helps then.
func largerUDPBuffer(h *facts.Host) ([]string, []setting.Setting) {
	const key, larger = "net.core.rmem_max", 26214400
	most, buffer := h.Number(key, 0), int64(0) // the smallest of those that dropped
	for _, bytes := range fullUDPBuffers(h) {
		if buffer == 0 || bytes < buffer {
			buffer = bytes
		}
	}
	const lower = "have the program read faster, or send to it at a lower rate"
	switch {
	case most > 0 && buffer > 2*most:
		return said.On(h.Name, h.Alone,
			fmt.Sprintf("%s; its buffer is %s, and %s, %d, which bounds only SO_RCVBUF, does not bound it", lower,
				unit.FormatBytes(float64(buffer)), key, most),
			"against bursts a larger buffer by the program's own option (linerate: --window)"), nil
	case most >= larger, buffer > 0 && buffer <= most/2: // up to which SO_RCVBUF makes it four times as large, or more
		return said.On(h.Name, h.Alone, fmt.Sprintf("%s, or set a larger SO_RCVBUF (linerate: --window), up to %s, %d",
			lower, key, most)), nil
	}
	return fix.Fixed(h, []string{
		lower + ", or set a larger SO_RCVBUF (linerate: --window); the largest that it can set:"},
		key, fmt.Sprint(larger))
}

// fullUDPBuffers are the receive buffers of UDP sockets that dropped datagrams, as far as they
// are known: of flows of a run, and otherwise of the host's sockets.
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

// growths are by protocol: tcp.go and ip.go have them.
var growths = slices.Concat(tcpGrowths, ipGrowths)

// Drops are the counters of packets that were dropped.
var Drops = func() (list []facts.CounterDrop) {
	for _, g := range growths {
		if g.verdict != "" {
			list = append(list, facts.CounterDrop{Counters: g.counters, Verdict: g.verdict, Why: g.summary,
				Apart: g.apart})
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
	rules := map[string][]string{facts.FilterCounter: {"strict-rp-filter", "loose-rp-filter"}}
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

// retransmitting are the connections that wait for an acknowledgement. Nothing is found where TCP
// took only one or two packets for lost, which count as up to 64 segments each (GSO): a busy CPU
// can do that.
func retransmitting(h *facts.Host) (rows []string, found bool) {
	// 0: not known
	losses := h.Grown("TcpExt.TCPTimeouts", "TcpExt.TCPLossProbes", "TcpExt.TCPSackRecovery", "TcpExt.TCPRenoRecovery")
	if losses > 0 && losses < 3 && h.Grown("Tcp.RetransSegs") <= 64*losses {
		return nil, false
	}
	for _, c := range h.State.Notable {
		if i := c.Info; i != nil && i.TotalRetrans > 0 && len(rows) < 4 {
			rows = append(rows, fmt.Sprintf("%s to %s: %d of %d segments were sent again", c.Local, c.Remote,
				i.TotalRetrans, i.SegsOut))
		}
	}
	return rows, true
}

// Rules are about counters that grew: Counters lists them.
var Rules = func() (list []rule.Rule) {
	for _, g := range growths {
		list = append(list, g.rule())
	}
	return list
}()
