// Package drop has the rules about packets that the kernel, its queues and its firewall drop, and
// makes the table of all drops.
package drop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// Table lists the packets that were not delivered, with the kernel's reasons where it was traced,
// and by counters. Counters that grew between the readings come before those that grew only since
// the boot; among each, harmful drops come first. by says for each host whether the kernel was
// traced, and if not, why.
func Table(now, boot facts.Trial, others []facts.CounterDrop) (list []record.Drop, by []record.DropSource) {
	for i, h := range now.Hosts {
		source := record.DropSource{Host: h.Name, By: record.ByCounters}
		if err := h.Missing(record.ByTracepoint); err != nil {
			source.Why = err.Error()
		}
		if k := h.State.KernelDrops; k != nil {
			source = record.DropSource{Host: h.Name, By: record.ByTracepoint, Unspecified: k.Unspecified, Lost: k.Lost}
		}
		by = append(by, source)
		for _, d := range h.Traced {
			row := record.Drop{Host: h.Name, Where: cmp.Or(d.Interface, "no interface"), Counter: d.Reason,
				Packets: d.Packets, Verdict: facts.ReasonOf(d).Verdict, By: record.ByTracepoint, Direction: d.Direction,
				Protocol: d.Protocol, Place: d.Place}
			switch peer := h.SilentPeer(d.Interface); {
			case d.Reason == facts.OtherHost && peer != "":
				row.Verdict, row.Kind, row.Named = facts.Unknown, record.DropOtherAddress, peer
			case d.Reason == "NETFILTER_DROP":
				if rules := nftAt(h, d.Direction); len(rules) > 0 {
					row.Place, row.MoreRules = rules[0].Place(), len(rules)-1
				}
			}
			list = append(list, row)
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

func dropped(h *facts.Host, others []facts.CounterDrop) (list []record.Drop) {
	add := func(n uint64, of facts.Tally, d record.Drop) {
		if n > 0 {
			d.Host, d.Packets, d.Again = h.Name, int64(n), !h.Boot && h.Named[of] >= n
			list = append(list, d)
		}
	}
	for _, c := range h.Counted {
		of := func(counter string, n uint64, verdict, kind, named string) {
			add(n, facts.Tally{Name: c.Interface, Counter: counter},
				record.Drop{Where: c.Interface, Counter: counter, Verdict: verdict, Kind: kind, Named: named})
		}
		of("rx_missed_errors", c.RxMissed, facts.Harmful, record.DropRing, "")
		refused := record.DropDamaged
		if h.Tunnel(c.Interface) != "" {
			refused = record.DropRefused
		}
		counter, n := facts.Damaged(c)
		if c.RxCRC <= c.RxErrors {
			counter, n = "rx_errors", min(c.RxErrors, n+c.RxLength)
		}
		of(counter, n, facts.Harmful, refused, "")
		verdict, peer := facts.Harmless, h.SilentPeer(c.Interface)
		if peer != "" {
			verdict = facts.Unknown
		}
		of("rx_otherhost_dropped", c.RxOtherhost, verdict, record.DropOtherAddress, peer)
		of("rx_nohandler", c.RxNoHandler, facts.Harmless, record.DropStandby, "")
		of("rx_dropped", c.RxDropped, facts.Unknown, record.DropUnhandled, "")
		of("tx_dropped", c.TxDropped, facts.Harmful, record.DropUnsent, "")
		of("tx_errors", c.TxErrors, facts.Harmful, record.DropUnsent, "")
	}
	for _, q := range h.Queued {
		row := record.Drop{Where: q.Interface, Counter: "qdisc " + q.Kind + " dropped"}
		switch {
		case !q.Queues():
			row.Verdict, row.Kind, row.Named = facts.Unknown, record.DropFilter, q.Interface
			add(q.Drops, facts.Tally{Name: q.Interface, Counter: facts.FilterDropped}, row)
		case !q.InnerOf:
			row.Verdict, row.Kind = facts.Harmful, record.DropQueue
			if q.Shaped {
				row.Verdict, row.Kind = facts.Harmless, record.DropShaped
			}
			add(q.Drops, facts.Tally{Name: q.Interface, Counter: "qdisc"}, row)
		}
	}
	grown, _ := nftDroppers(h)
	for _, r := range grown {
		chain := strings.Join([]string{r.Family, r.Table, r.Chain}, " ")
		add(nftGrown(h, r), facts.Tally{Name: "", Counter: facts.NftDropped},
			record.Drop{Where: chain, Counter: strings.TrimPrefix(r.Place(), chain+" "), Verdict: facts.Unknown,
				Kind: record.DropRule, Named: r.Text})
	}
	verdict, kind := facts.Harmful, record.DropBacklog
	if h.Shared {
		verdict, kind = facts.Unknown, record.DropSharedBacklog
	}
	for _, m := range h.Reading.End.Softnet {
		n := m.Dropped
		if i := slices.IndexFunc(h.Reading.Begin.Softnet, func(b netstate.SoftnetCounters) bool {
			return b.CPU == m.CPU
		}); i >= 0 {
			n -= min(n, h.Reading.Begin.Softnet[i].Dropped)
		}
		add(n, facts.Tally{Name: "", Counter: facts.SoftnetDropped}, record.Drop{Where: fmt.Sprintf("CPU %d", m.CPU),
			Counter: "softnet_stat dropped", Verdict: verdict, Kind: kind})
	}
	snmp := func(name string, d record.Drop) {
		d.Where, d.Counter, _ = strings.Cut(name, ".")
		add(uint64(h.Grown(name)), facts.Tally{Name: "", Counter: name}, d)
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
			snmp(name, record.Drop{Verdict: g.Verdict, Cause: g.Cause, Apart: apart})
		}
	}
	snmp("TcpExt.IPReversePathFilter", record.Drop{Verdict: facts.Harmful, Kind: record.DropReversePath})
	for i := range list {
		d := &list[i]
		if printed := h.Names[d.Counter]; printed != "" { // of an interface
			d.Counter = printed
		} else if section, printed, is := strings.Cut(h.Names[d.Where+"."+d.Counter], ": "); is {
			d.Where, d.Counter = section, printed
		}
	}
	return list
}
