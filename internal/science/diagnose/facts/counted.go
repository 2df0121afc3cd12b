package facts

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/index"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
)

// DriverCounters is the name of the part of a snapshot with the drivers' own counters.
const DriverCounters = "driver counters"

// Grown returns by how much a driver's counter grew between its two readings or, since the boot,
// its value at the first one.
func (p Port) Grown(name string) int64 {
	return Between(p.Host, p.NIC.Before[name], p.NIC.Counters[name], p.NIC.CountedS)
}

// Between returns by how much a counter of h grew that was read twice, with seconds between; 0
// seconds: it was read once. If h.Boot is set, it returns the value of the first reading instead. A
// counter that ran backwards grew by 0.
func Between[N int64 | uint64](h *Host, before, now N, seconds float64) N {
	switch {
	case h.Boot && seconds > 0:
		return before
	case h.Boot:
		return now
	case seconds <= 0:
		return 0 // as far as is known
	}
	return now - min(now, before)
}

// Counted returns by how much the counters of the interface grew between the readings; zero if that
// is not known.
func (p Port) Counted() netstate.InterfaceCounters {
	c, _ := p.Host.Growth(p.Interface.Interface)
	return c
}

// CountedOrEver is Counted or, of a host that was read once, what the interface counted since boot.
func (p Port) CountedOrEver() (c netstate.InterfaceCounters, boot bool) {
	if p.Host.OverS > 0 || p.Host.Boot {
		return p.Counted(), p.Host.Boot
	}
	c, _ = p.Host.Totals(p.Interface.Interface)
	return c, true
}

// countersKnown reports whether a pasted text has the counters of a driver whose names linerate knows:
// those with one of the meanings, as far as the driver counts them.
func (h *Host) countersKnown(meanings []string) bool {
	return slices.ContainsFunc(h.State.NICs, func(n netstate.NIC) bool {
		if n.Meanings == nil && len(n.Counters) == 0 || !netstate.KnowsCounters(n.CounterDriver()) {
			return false
		}
		sums := n.Meanings
		if sums == nil {
			sums = netstate.MeaningsOf(n.CounterDriver(), n.Counters)
		}
		counts, has := false, false
		for _, meaning := range meanings {
			_, read := sums[meaning]
			counts, has = counts || netstate.Counts(n.CounterDriver(), meaning), has || read
		}
		return has || !counts
	})
}

// countersUnread returns the reason why the counters of drivers that a pasted text has are not used. Nil:
// there are none, or their names are known.
func (h *Host) countersUnread() error {
	for _, n := range h.State.NICs {
		if len(n.Counters) > 0 && !netstate.KnowsCounters(n.CounterDriver()) {
			return fmt.Errorf("the names of the counters of %s are not known", cmp.Or(n.Driver, "its driver"))
		}
	}
	return nil
}

// countersUnknown returns the reason why no driver's counters can be used. It is nil if there is a
// NIC whose counters are known, or no NIC at all.
func (h *Host) countersUnknown() error {
	var unknown []string
	for _, n := range h.State.NICs {
		if netstate.KnowsCounters(n.CounterDriver()) {
			return nil
		}
		if n.Bus != "" && !slices.Contains(unknown, n.Driver) {
			unknown = append(unknown, n.Driver)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("the names of the counters of %s are not known", strings.Join(unknown, ", "))
}

// CounterDrop is a group of counters of dropped packets.
type CounterDrop struct {
	Cause    cause.Code
	Counters []string
	Verdict  string
	// Apart returns the part of the growth that has another cause, and that cause; nil: there is none.
	Apart func(*Host) fact.Apart
}

// Grown returns the sum of the growth of counters, without what linerate itself caused.
func (h *Host) Grown(names ...string) (sum int64) {
	return lists.Sum(names, func(name string) int64 { return h.Reading.OthersDelta(name) })
}

// RefusedFragments returns at most how many fragments a queue of the host dropped. The kernel also
// counts a fragment in FragFails that cannot be passed on (ip_do_fragment in net/ipv4/ip_output.c).
// For UDP sockets without error reports, SndbufErrors counts the same failures.
func RefusedFragments(h *Host) fact.Apart {
	n := int64(0)
	for _, q := range h.Queued {
		if !q.InnerOf && q.Queues() {
			n += int64(q.Drops)
		}
	}
	n = max(n, h.Grown("Udp.SndbufErrors", "Udp6.SndbufErrors"))
	if !h.Boot { // of the others the reason was traced
		n = min(n, h.Grown("Ip.FragFails", "Ip6.FragFails")-int64(h.Named[Tally{"", "Ip.FragFails"}]))
	}
	return fact.Apart{Packets: max(n, 0), Cause: fact.FragmentsRefused}
}

// Routeless returns the packets without a route that are no sign of a fault. With IPv6, a few
// packets to all hosts of the link arrive before an interface has its routes. With IPv4, a host
// that reaches others by IPv6 alone counts each IPv4 address of a name that it looks up:
// getaddrinfo(3) connects a UDP socket to it (RFC 6724), and connect(2) fails with ENETUNREACH,
// which is counted (__ip4_datagram_connect and tcp_v4_connect in net/ipv4).
func Routeless(h *Host) (a fact.Apart) {
	if few := h.Grown("Ip6.InNoRoutes"); few > 0 && few < 10 {
		a.Packets, a.Cause = few, fact.BeforeRoutes
	}
	if tried := h.Grown("Ip.OutNoRoutes"); tried > 0 && h.onlyIPv6() {
		a.Packets, a.Cause = a.Packets+tried, fact.NamesLookedUp
	}
	return a
}

// onlyIPv6 reports whether a host reaches other networks by IPv6 alone: it has no IPv4 default
// route, and either an IPv6 one or no global IPv4 address. A host with an IPv4 address and no
// default route at all may simply lack the route.
func (h *Host) onlyIPv6() bool {
	if h.Missing("interfaces") != nil || h.Missing("routes") != nil {
		return false
	}
	routed := func(v4 bool) bool {
		return slices.ContainsFunc(h.Reading.Snapshot.Routes, func(r netstate.RouteEntry) bool {
			to, is := destination(r, v4)
			return is && to.Bits() == 0 && !IsDiscard(r)
		})
	}
	return !routed(true) && (routed(false) || !slices.ContainsFunc(h.Interfaces, func(p *Interface) bool {
		return slices.ContainsFunc(p.V4(), func(x netip.Prefix) bool { return x.Addr().IsGlobalUnicast() })
	}))
}

// queue is a queueing discipline with what it counted between two readings.
type queue struct {
	netstate.QdiscCounters
	// InnerOf reports whether the counts are also part of another qdisc of the same interface.
	InnerOf bool
	// Shaped reports whether the drops are those by which a queue makes TCP keep to the rate of a shaper: at
	// most one packet in 20 was dropped by active queue management (RFC 7567) while the shaper held packets back.
	Shaped bool
}

// Shapers are the kinds of queueing disciplines that hold packets back to keep a rate, and managed those that
// drop packets before their queue is full.
var (
	shapers = []string{"cake", "hfsc", "htb", "tbf"}
	managed = []string{"cake", "choke", "codel", "fq_codel", "fq_pie", "pie", "red", "sfb"}
)

// Counted returns by how much the counters of each interface grew between the two readings.
func Counted(r netstate.HostReading) (list []netstate.InterfaceCounters) {
	grown := func(before, after uint64) uint64 { return after - min(after, before) }
	begins := index.First(r.Begin.Interfaces, counterName)
	for _, end := range r.End.Interfaces {
		i, is := begins[end.Interface]
		if !is {
			continue
		}
		b := r.Begin.Interfaces[i]
		list = append(list, netstate.InterfaceCounters{
			Interface: end.Interface, RxPackets: grown(b.RxPackets, end.RxPackets),
			TxPackets: grown(b.TxPackets, end.TxPackets),
			RxDropped: grown(b.RxDropped, end.RxDropped), TxDropped: grown(b.TxDropped, end.TxDropped),
			RxErrors: grown(b.RxErrors, end.RxErrors), TxErrors: grown(b.TxErrors, end.TxErrors),
			RxMissed: grown(b.RxMissed, end.RxMissed), RxOtherhost: grown(b.RxOtherhost, end.RxOtherhost),
			RxCRC: grown(b.RxCRC, end.RxCRC), RxLength: grown(b.RxLength, end.RxLength),
			TxCarrier: grown(b.TxCarrier, end.TxCarrier), Collisions: grown(b.Collisions, end.Collisions),
			RxNoHandler:    grown(b.RxNoHandler, end.RxNoHandler),
			LateCollisions: grown(b.LateCollisions, end.LateCollisions),
		})
	}
	return list
}

// queued returns what each queueing discipline counted between the two readings.
func queued(r netstate.HostReading) (list []queue) {
	begins := r.QdiscsAtBegin()
	most := map[string]uint64{}  // drops by one that queues, of each interface, so far
	drops := map[string]uint64{} // by managed queues of each interface
	for _, end := range r.End.Qdiscs {
		q := queue{QdiscCounters: end}
		if b, ok := begins[end.Key()]; ok {
			q.Drops, q.Packets, q.Overlimits = end.Drops-min(end.Drops, b.Drops),
				end.Packets-min(end.Packets, b.Packets), end.Overlimits-min(end.Overlimits, b.Overlimits)
		} else if len(r.Begin.Qdiscs) > 0 {
			continue // it was made between the readings
		}
		if q.Queues() {
			q.InnerOf = most[q.Interface] > 0 && most[q.Interface] >= q.Drops
			most[q.Interface] = max(most[q.Interface], q.Drops)
		}
		if slices.Contains(managed, q.Kind) {
			drops[q.Interface] += q.Drops
		}
		list = append(list, q)
	}
	for i, q := range list {
		list[i].Shaped = slices.Contains(shapers, q.Kind) && q.Overlimits > 0 && q.Drops > 0 &&
			q.Drops <= min(drops[q.Interface], q.Packets/20)
	}
	return list
}

// Damaged returns the number of frames that were damaged on the link, and the counter that shows
// it: rx_errors without the frames of wrong length and those that were missed, which some drivers
// include (linux/if_link.h), or rx_crc_errors if that is larger, because some drivers count it
// separately.
func Damaged(c netstate.InterfaceCounters) (counter string, n uint64) {
	n = c.RxErrors - min(c.RxErrors, c.RxLength+c.RxMissed)
	if c.RxCRC > n {
		return "rx_crc_errors", c.RxCRC
	}
	return "rx_errors", n
}

// Missed is the counter of packets that a NIC dropped because its receive ring was full.
const Missed = "rx_missed_errors"

// Share returns the interface's share of a total over the interfaces in among; 0 if the total is 0.
func (h *Host) Share(p *Interface, among []*Interface, of func(netstate.InterfaceDelta) float64) float64 {
	total := lists.Sum(among, func(o *Interface) float64 { return of(h.Deltas[o.Name]) })
	if total == 0 {
		return 0
	}
	return of(h.Deltas[p.Name]) / total
}
