package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/bottleneck"
)

// Rules about what the kernel drops for reasons that no counter tells apart (kfree_skb).
var dropRules = []rule{
	filterDrop("netfilter-drop", []string{"NETFILTER_DROP"}, "a firewall rule (netfilter)", "nft(8); iptables(8)",
		"nft list ruleset, or iptables-save -c and ip6tables-save -c: a rule with a counter, or with log, shows which one; accept what is to pass before it"),
	filterDrop("tc-drop", []string{"TC_INGRESS", "TC_EGRESS", "TC_COOKIE_ERROR", "TC_CHAIN_NOTFOUND",
		"TC_RECLASSIFY_LOOP"}, "a tc filter", "tc(8)",
		"tc -s filter show dev DEV ingress, and egress or parent of its qdisc: change the filter that drops, or remove it"),
}

// filterDrop is the rule for packets that this host's own configuration drops, on purpose or not.
func filterDrop(id string, reasons []string, by, reference, fix string) rule {
	return rule{
		id: id, host: true, parts: []string{record.ByTracepoint}, sameCause: sameSummary,
		about: fmt.Sprintf(
			"The kernel dropped packets of an interface by %s (%s); likely from ten on that are to be sent, or that are at least a hundredth of those received.",
			by, strings.Join(reasons, ", ")),
		find: func(f observed) (findings []record.Finding) {
			for _, h := range f.hosts {
				findings = append(findings, h.filtered(reasons, by, reference, fix)...)
			}
			return findings
		},
		explains: filterExplains, atPeers: filterAtPeers,
	}
}

// filterAtPeers and filterExplains are the rules whose findings follow from packets that are
// dropped by a filter: on the hosts whose connections lead there, and on the filter's own.
var filterAtPeers = []string{"syn-unanswered", "unacknowledged"}

var filterExplains = []string{"syn-unanswered", "connect-fails", "tcp-retransmissions", "ip-discards",
	"udp-send-buffer", "rx-dropped", "tx-dropped", "unacknowledged"}

func (h *host) filtered(names []string, by, reference, fix string) (findings []record.Finding) {
	type side struct{ name, direction string } // of an interface: rx or tx
	var sides []side
	packets, received := map[side]int64{}, map[string]uint64{}
	for _, d := range h.traced {
		if !slices.Contains(names, d.Reason) {
			continue
		}
		s := side{d.Interface, d.Direction}
		if packets[s] == 0 {
			sides = append(sides, s)
		}
		packets[s] += d.Packets
	}
	for _, c := range h.counted {
		received[c.Interface] = c.RxPackets
	}
	for _, s := range sides[:min(len(sides), mostFindings)] {
		confidence := record.Possible
		if n := packets[s]; n >= 10 && (s.direction == "tx" || float64(n) >= 0.01*float64(received[s.name])) {
			confidence = record.Likely
		}
		what := map[string]string{"rx": " that arrive by ", "tx": " that are to leave by "}[s.direction]
		name := cmp.Or(s.name, "this host")
		if what == "" || s.name == "" {
			what = " of "
		}
		evidence := h.tracedRows(func(d record.KernelDrop) bool {
			return slices.Contains(names, d.Reason) && d.Interface == s.name && d.Direction == s.direction
		})
		if slices.Contains(names, "NETFILTER_DROP") {
			evidence = append(evidence, h.nftUncounted(s.direction)...)
		}
		var places [][]string
		if s.direction == "tx" && s.name != "" { // what arrives may be answers to what left by another
			places = onePlace(h.device(s.name)...)
		}
		findings = append(findings, record.Finding{
			Host: h.name, Places: places, Confidence: confidence, Summary: by + " drops packets" + what + name,
			Evidence: evidence,
			Fix:      on(h.name, h.alone, strings.ReplaceAll(fix, "DEV", cmp.Or(s.name, "DEV"))), Reference: reference +
				"; " + dropReasons,
		})
	}
	return findings
}

const dropReasons = "Linux include/net/dropreason-core.h"

// tracedRow is one kind of drops as evidence.
func (h *host) tracedRow(d record.KernelDrop) string {
	row := strings.Join(strings.Fields(fmt.Sprintf("%s %s: %d %s packets", cmp.Or(d.Interface, "no interface"),
		d.Direction, d.Packets, d.Protocol)), " ")
	// also of counters since the boot: it is traced between the readings
	row += " dropped in " + unit.FormatSeconds(h.overS) + " for " + d.Reason
	if d.Place != "" {
		row += " in " + d.Place
	}
	return strings.Replace(row, " :", ":", 1)
}

// A tally is a counter of an interface ("rx_dropped", or "qdisc" of its queues), or without a
// name one of the host ("Udp.NoPorts").
type tally struct{ name, counter string }

const softnetDropped = "softnet_stat"

// filterDropped is the tally of packets that the tc filters of ingress and clsact drop.
const filterDropped = "tc filters"

// trace arranges what the kernel dropped between the readings.
func (h *host) trace(rows []record.KernelDrop) {
	h.named, h.benign = map[tally]uint64{}, map[tally]uint64{}
	for _, d := range rows {
		if d.Packets <= 0 {
			continue // a file of others
		}
		h.traced = append(h.traced, d)
		r := reasonOf(d)
		for _, counter := range r.counters {
			t := tallyOf(d, counter)
			h.named[t] += uint64(d.Packets)
			if r.verdict == harmless {
				h.benign[t] += uint64(d.Packets)
			}
		}
	}
}

// tallyOf is a counter that counts such packets.
func tallyOf(d record.KernelDrop, counter string) tally {
	if counter == softnetDropped || strings.Contains(counter, ".") {
		return tally{"", counter}
	}
	return tally{d.Interface, counter}
}

// tracedRows are at most four kinds of drops as evidence.
func (h *host) tracedRows(where func(record.KernelDrop) bool) (rows []string) {
	for _, d := range h.traced {
		if len(rows) < 4 && where(d) {
			rows = append(rows, h.tracedRow(d))
		}
	}
	return rows
}

// behind are the reasons that are behind the growth of a counter of an interface, harmless ones
// left out.
func (h *host) behind(t tally) []string {
	return h.tracedRows(func(d record.KernelDrop) bool { return harms(d, t) })
}

// harms reports whether a counter counts packets that were dropped for a reason that is not harmless.
func harms(d record.KernelDrop, t tally) bool {
	r := reasonOf(d)
	return r.verdict != harmless && slices.ContainsFunc(r.counters, func(counter string) bool {
		return tallyOf(d, counter) == t
	})
}

// meanings say what those reasons mean, of at most four.
func (h *host) meanings(t tally) (lines []string) {
	for _, d := range h.traced {
		if line := d.Reason + ": " + reasonOf(d).why; harms(d, t) && len(lines) < 4 && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// drops lists the packets that were not delivered: by the kernel's reasons, where it was
// traced, and by counters. Counters that grew between the readings come before those that
// counted since the boot.
func drops(now, boot observed, others []counterDrop) (list []record.Drop, by []record.DropSource) {
	for i, h := range now.hosts {
		source := record.DropSource{Host: h.name, By: record.ByCounters, Why: h.missing(record.ByTracepoint)}
		if k := h.state.KernelDrops; k != nil {
			source = record.DropSource{Host: h.name, By: record.ByTracepoint, Unspecified: k.Unspecified, Lost: k.Lost}
		}
		by = append(by, source)
		for _, d := range h.traced {
			r := reasonOf(d)
			if d.Reason == otherHost {
				r.verdict, r.why = h.forOthers(d.Interface, r.verdict, r.why)
			}
			if d.Reason == "NETFILTER_DROP" {
				d.Place = cmp.Or(h.nftPlace(d.Direction), d.Place)
			}
			list = append(list, record.Drop{Host: h.name, Where: cmp.Or(d.Interface, "no interface"), Counter: d.Reason,
				Packets: d.Packets, Verdict: r.verdict, Why: r.why,
				By: record.ByTracepoint, Direction: d.Direction, Protocol: d.Protocol, Place: d.Place})
		}
		grew := map[tally]bool{}
		for _, d := range dropped(h, others) {
			grew[tally{d.Where, d.Counter}] = true
			list = append(list, d)
		}
		for _, d := range dropped(boot.hosts[i], others) { // as well as between the readings
			if d.Boot = true; !grew[tally{d.Where, d.Counter}] {
				list = append(list, d)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b record.Drop) int {
		order := func(d record.Drop) int {
			n := slices.Index([]string{harmful, unknown, harmless}, d.Verdict)
			if d.Boot {
				n += 10
			}
			return n
		}
		return cmp.Or(order(a)-order(b), cmp.Compare(b.Packets, a.Packets))
	})
	return list, by
}

// forOthers judges packets for other MAC addresses, which may be a peer's answers to a probe.
func (h *host) forOthers(name, verdict, why string) (string, string) {
	if peer := h.strayed(name); peer != "" {
		return unknown, "for another MAC address: answers of " + peer +
			", if it or the router has a wrong neighbour entry for this host, or flooded by a switch"
	}
	return verdict, why
}

// counterDrop says of counters of a host which packets they count.
type counterDrop struct {
	counters     []string
	verdict, why string
	// apart is how much of the growth has another cause, and which; nil: none has.
	apart func(*host) (n int64, why string)
}

func dropped(h *host, others []counterDrop) (list []record.Drop) {
	add := func(where, counter string, n uint64, of tally, verdict, why string) {
		if n > 0 {
			list = append(list, record.Drop{Host: h.name, Where: where, Counter: counter, Packets: int64(n),
				Verdict: verdict, Why: why, Again: !h.boot && h.named[of] >= n})
		}
	}
	for _, c := range h.counted {
		of := func(counter string, n uint64, verdict, why string) {
			add(c.Interface, counter, n, tally{c.Interface, counter}, verdict, why)
		}
		of("rx_missed_errors", c.RxMissed, harmful, "the receive ring was full")
		refused := "damaged or too long"
		if h.tunnel(c.Interface) != "" {
			refused = "refused by the tunnel"
		}
		counter, n := damaged(c)
		if c.RxCRC <= c.RxErrors {
			counter, n = "rx_errors", min(c.RxErrors, n+c.RxLength)
		}
		of(counter, n, harmful, refused)
		verdict, why := h.forOthers(c.Interface, harmless, "for other MAC addresses")
		of("rx_otherhost_dropped", c.RxOtherhost, verdict, why)
		of("rx_nohandler", c.RxNoHandler, harmless, "on a standby member")
		of("rx_dropped", c.RxDropped, unknown,
			"larger than the MTU, of a VLAN or protocol that nothing handles, or for want of room")
		of("tx_dropped", c.TxDropped, harmful, "not sent")
		of("tx_errors", c.TxErrors, harmful, "not sent")
	}
	for _, q := range h.queued {
		switch {
		case !q.Queues():
			add(q.Interface, "qdisc "+q.Kind+" dropped", q.Drops, tally{q.Interface, filterDropped}, unknown,
				"a tc filter drops: tc -s filter show dev "+q.Interface+" ingress, and egress")
		case !q.innerOf:
			add(q.Interface, "qdisc "+q.Kind+" dropped", q.Drops, tally{q.Interface, "qdisc"}, harmful,
				"the queue was full, or longer than its target")
		}
	}
	grown, _ := h.nftDroppers()
	for _, r := range grown {
		add(fmt.Sprintf("%s %s %s", r.Family, r.Table, r.Chain),
			strings.TrimPrefix(r.Place(), fmt.Sprintf("%s %s %s ", r.Family, r.Table, r.Chain)), h.nftGrown(r),
			tally{"", nftDropped}, unknown, "a firewall rule: "+r.Text)
	}
	verdict, why := harmful, "the CPU's backlog was full"
	if h.shared {
		verdict, why = unknown,
			why+"; most packets that the CPUs took came by no interface of this host, but in other network namespaces or by the loopback"
	}
	for _, m := range h.reading.End.Softnet {
		n := m.Dropped
		if i := slices.IndexFunc(h.reading.Begin.Softnet, func(b record.SoftnetCounters) bool {
			return b.CPU == m.CPU
		}); i >= 0 {
			n -= min(n, h.reading.Begin.Softnet[i].Dropped)
		}
		add(fmt.Sprintf("CPU %d", m.CPU), "softnet_stat dropped", n, tally{"", softnetDropped}, verdict, why)
	}
	snmp := func(name, verdict, why string) {
		protocol, counter, _ := strings.Cut(name, ".")
		add(protocol, counter, uint64(h.grown(name)), tally{"", name}, verdict, why)
	}
	for _, g := range others {
		why := g.why
		if g.apart != nil {
			if n, other := g.apart(h); n >= h.grown(g.counters...) {
				why = other
			} else if n > 0 {
				why += fmt.Sprintf("; up to %d: %s", n, other)
			}
		}
		for _, name := range g.counters {
			snmp(name, g.verdict, why)
		}
	}
	snmp("TcpExt.IPReversePathFilter", harmful, "the strict reverse-path filter")
	return list
}

// queueHolds: the queue of the sending host drops much of what a flow sends, on a link that is
// not full.
func queueHolds(h *host, f record.Flow) bool {
	return f.From == h.name && f.LimitedBy == bottleneck.InterfaceQueue
}

// eachQdisc finds queueing disciplines that drop.
func eachQdisc(f observed) (findings []record.Finding) {
	for _, h := range f.hosts {
		for _, q := range h.queued {
			if q.Drops < 1 || float64(q.Drops) < 1e-5*float64(q.Packets) || q.innerOf || !q.Queues() {
				continue
			}
			summary := fmt.Sprintf("the queue of %s (%s) drops packets", q.Interface, q.Kind)
			evidence := []string{fmt.Sprintf("%s %s on %s: %d dropped%s, %d sent, %d over the limit; %s wait now",
				q.Kind, q.Handle, q.Interface, q.Drops, h.within(), q.Packets, q.Overlimits,
				unit.FormatBytes(float64(q.Backlog)))}
			confidence := record.Likely
			if q.Drops >= 10 {
				confidence = record.Certain
			}
			findings = append(findings, record.Finding{
				Host: h.name, Confidence: confidence, Summary: summary, Evidence: evidence, Reference: "tc(8); tc-" +
					q.Kind + "(8)", Places: onePlace(h.device(q.Interface)...),
				Fix: on(h.name, h.alone,
					"a full link drops by design: then none; otherwise a longer queue (limit) or a higher rate of the shaper: tc -s qdisc show dev "+q.Interface),
			})
		}
	}
	return findings
}
