// Package drop has the rules about packets that the kernel, its queues and its firewall drop, and the table of
// all drops.
package drop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// Table lists the packets that were not delivered: by the kernel's reasons, where it was
// traced, and by counters. Counters that grew between the readings come before those that
// counted since the boot.
func Table(now, boot facts.Trial, others []facts.CounterDrop) (list []record.Drop, by []record.DropSource) {
	for i, h := range now.Hosts {
		source := record.DropSource{Host: h.Name, By: record.ByCounters, Why: h.Missing(record.ByTracepoint)}
		if k := h.State.KernelDrops; k != nil {
			source = record.DropSource{Host: h.Name, By: record.ByTracepoint, Unspecified: k.Unspecified, Lost: k.Lost}
		}
		by = append(by, source)
		for _, d := range h.Traced {
			r := facts.ReasonOf(d)
			if d.Reason == facts.OtherHost {
				r.Verdict, r.Why = forOthers(h, d.Interface, r.Verdict, r.Why)
			}
			if d.Reason == "NETFILTER_DROP" {
				d.Place = cmp.Or(nftPlace(h, d.Direction), d.Place)
			}
			list = append(list, record.Drop{Host: h.Name, Where: cmp.Or(d.Interface, "no interface"), Counter: d.Reason,
				Packets: d.Packets, Verdict: r.Verdict, Why: r.Why,
				By: record.ByTracepoint, Direction: d.Direction, Protocol: d.Protocol, Place: d.Place})
		}
		grew := map[facts.Tally]bool{}
		for _, d := range dropped(h, others) {
			grew[facts.Tally{Name: d.Where, Counter: d.Counter}] = true
			list = append(list, d)
		}
		for _, d := range dropped(boot.Hosts[i], others) { // as well as between the readings
			if d.Boot = true; !grew[facts.Tally{Name: d.Where, Counter: d.Counter}] {
				list = append(list, d)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b record.Drop) int {
		order := func(d record.Drop) int {
			n := slices.Index([]string{facts.Harmful, facts.Unknown, facts.Harmless}, d.Verdict)
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
func forOthers(h *facts.Host, name, verdict, why string) (string, string) {
	if peer := h.Strayed(name); peer != "" {
		return facts.Unknown, "for another MAC address: answers of " + peer +
			", if it or the router has a wrong neighbour entry for this host, or flooded by a switch"
	}
	return verdict, why
}

func dropped(h *facts.Host, others []facts.CounterDrop) (list []record.Drop) {
	add := func(where, counter string, n uint64, of facts.Tally, verdict, why string) {
		if n > 0 {
			list = append(list, record.Drop{Host: h.Name, Where: where, Counter: counter, Packets: int64(n),
				Verdict: verdict, Why: why, Again: !h.Boot && h.Named[of] >= n})
		}
	}
	for _, c := range h.Counted {
		of := func(counter string, n uint64, verdict, why string) {
			add(c.Interface, counter, n, facts.Tally{Name: c.Interface, Counter: counter}, verdict, why)
		}
		of("rx_missed_errors", c.RxMissed, facts.Harmful, "the receive ring was full")
		refused := "damaged or too long"
		if h.Tunnel(c.Interface) != "" {
			refused = "refused by the tunnel"
		}
		counter, n := facts.Damaged(c)
		if c.RxCRC <= c.RxErrors {
			counter, n = "rx_errors", min(c.RxErrors, n+c.RxLength)
		}
		of(counter, n, facts.Harmful, refused)
		verdict, why := forOthers(h, c.Interface, facts.Harmless, "for other MAC addresses")
		of("rx_otherhost_dropped", c.RxOtherhost, verdict, why)
		of("rx_nohandler", c.RxNoHandler, facts.Harmless, "on a standby member")
		of("rx_dropped", c.RxDropped, facts.Unknown,
			"larger than the MTU, of a VLAN or protocol that nothing handles, or for want of room")
		of("tx_dropped", c.TxDropped, facts.Harmful, "not sent")
		of("tx_errors", c.TxErrors, facts.Harmful, "not sent")
	}
	for _, q := range h.Queued {
		switch {
		case !q.Queues():
			add(q.Interface, "qdisc "+q.Kind+" dropped", q.Drops,
				facts.Tally{Name: q.Interface, Counter: facts.FilterDropped}, facts.Unknown,
				"a tc filter drops: tc -s filter show dev "+q.Interface+" ingress, and egress")
		case !q.InnerOf:
			add(q.Interface, "qdisc "+q.Kind+" dropped", q.Drops, facts.Tally{Name: q.Interface, Counter: "qdisc"},
				facts.Harmful,
				"the queue was full, or longer than its target")
		}
	}
	grown, _ := nftDroppers(h)
	for _, r := range grown {
		add(fmt.Sprintf("%s %s %s", r.Family, r.Table, r.Chain),
			strings.TrimPrefix(r.Place(), fmt.Sprintf("%s %s %s ", r.Family, r.Table, r.Chain)), nftGrown(h, r),
			facts.Tally{Name: "", Counter: facts.NftDropped}, facts.Unknown, "a firewall rule: "+r.Text)
	}
	verdict, why := facts.Harmful, "the CPU's backlog was full"
	if h.Shared {
		verdict, why = facts.Unknown,
			why+"; most packets that the CPUs took came by no interface of this host, but in other network namespaces or by the loopback"
	}
	for _, m := range h.Reading.End.Softnet {
		n := m.Dropped
		if i := slices.IndexFunc(h.Reading.Begin.Softnet, func(b record.SoftnetCounters) bool {
			return b.CPU == m.CPU
		}); i >= 0 {
			n -= min(n, h.Reading.Begin.Softnet[i].Dropped)
		}
		add(fmt.Sprintf("CPU %d", m.CPU), "softnet_stat dropped", n,
			facts.Tally{Name: "", Counter: facts.SoftnetDropped}, verdict, why)
	}
	snmp := func(name, verdict, why string) {
		protocol, counter, _ := strings.Cut(name, ".")
		add(protocol, counter, uint64(h.Grown(name)), facts.Tally{Name: "", Counter: name}, verdict, why)
	}
	for _, g := range others {
		var apart *fact.Apart
		if g.Apart != nil {
			if a := g.Apart(h); a.Packets > 0 || h.Grown(g.Counters...) <= a.Packets {
				a.All = a.Packets >= h.Grown(g.Counters...)
				apart = &a
			}
		}
		for _, name := range g.Counters {
			before := len(list)
			if snmp(name, g.Verdict, ""); len(list) > before {
				list[before].Cause, list[before].Apart = g.Cause, apart
			}
		}
	}
	snmp("TcpExt.IPReversePathFilter", facts.Harmful, "the strict reverse-path filter")
	return list
}
