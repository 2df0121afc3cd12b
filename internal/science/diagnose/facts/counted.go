package facts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

// DriverCounters is the part of a snapshot that has the counters of drivers.
const DriverCounters = "driver counters"

// Grown is by how much a driver's counter grew between its readings, or had before them.
func (p Port) Grown(name string) int64 {
	return Between(p.Host, p.NIC.Before[name], p.NIC.Counters[name], p.NIC.CountedS)
}

// Between is by how much a counter grew that was read twice, so many seconds apart (0: once), or
// what it was before. One that ran backwards grew by nothing.
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

// Counted is what the interface counted meanwhile; zero: nothing, as far as is known.
func (p Port) Counted() record.InterfaceCounters {
	i := slices.IndexFunc(p.Host.Counted, func(c record.InterfaceCounters) bool {
		return c.Interface == p.Interface.Interface
	})
	if i < 0 {
		return record.InterfaceCounters{}
	}
	return p.Host.Counted[i]
}

// countersKnown reports whether there are counters of a driver whose names are known.
func (h *Host) countersKnown() bool {
	return slices.ContainsFunc(h.State.NICs, func(n record.NIC) bool {
		return len(n.Counters) > 0 && record.KnowsCounters(n.Driver)
	})
}

// countersUnknown is why there are no driver's counters; nil: there is a NIC whose counters
// are known, or none at all.
func (h *Host) countersUnknown() error {
	var unknown []string
	for _, n := range h.State.NICs {
		if record.KnowsCounters(n.Driver) {
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

// CounterDrop says of counters of a host which packets they count.
type CounterDrop struct {
	Cause    cause.Code
	Counters []string
	Verdict  string
	// Apart is how much of the growth has another cause, and which; nil: none has.
	Apart func(*Host) fact.Apart
}

// Grown is by how much counters grew, together.
func (h *Host) Grown(names ...string) (sum int64) {
	for _, name := range names {
		sum += max(0, h.Reading.SNMPDelta(name))
	}
	return sum
}

// RefusedFragments are the fragments that a queue of the host dropped, at most: the kernel counts
// a fragment that cannot be handed on in FragFails as well (ip_do_fragment in
// net/ipv4/ip_output.c). Where UDP asks for no errors, it counts the same failures in
// SndbufErrors.
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

// Routeless are the packets without a route that no fault makes. Of IPv6 a few for all hosts of
// the link come before an interface has its routes. Of IPv4 a host that reaches others by IPv6
// alone counts each address of a name that it looks up: getaddrinfo(3) connects a UDP socket to it
// (RFC 6724), and a connect(2) that fails with ENETUNREACH is counted (__ip4_datagram_connect and
// tcp_v4_connect in net/ipv4).
func Routeless(h *Host) (a fact.Apart) {
	if few := h.Grown("Ip6.InNoRoutes"); few > 0 && few < 10 {
		a.Packets, a.Cause = few, fact.BeforeRoutes
	}
	if tried := h.Grown("Ip.OutNoRoutes"); tried > 0 && h.onlyIPv6() {
		a.Packets, a.Cause = a.Packets+tried, fact.NamesLookedUp
	}
	return a
}

// onlyIPv6 reports whether a host reaches other networks by IPv6 alone: it has no default route of
// IPv4, and has one of IPv6 or no IPv4 address. A host with neither default route and an IPv4
// address may lack one.
func (h *Host) onlyIPv6() bool {
	if h.Missing("interfaces") != nil || h.Missing("routes") != nil {
		return false
	}
	routed := func(v4 bool) bool {
		return slices.ContainsFunc(h.Reading.Snapshot.Routes, func(r record.RouteEntry) bool {
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
	record.QdiscCounters
	// InnerOf: it counts what a qdisc around it counts as well.
	InnerOf bool
}

// Counted is what each interface counted between two readings.
func Counted(r record.HostReading) (list []record.InterfaceCounters) {
	grown := func(before, after uint64) uint64 { return after - min(after, before) }
	for _, end := range r.End.Interfaces {
		i := slices.IndexFunc(r.Begin.Interfaces, func(b record.InterfaceCounters) bool {
			return b.Interface == end.Interface
		})
		if i < 0 {
			continue
		}
		b := r.Begin.Interfaces[i]
		list = append(list, record.InterfaceCounters{
			Interface: end.Interface, RxPackets: grown(b.RxPackets, end.RxPackets),
			TxPackets: grown(b.TxPackets, end.TxPackets),
			RxDropped: grown(b.RxDropped, end.RxDropped), TxDropped: grown(b.TxDropped, end.TxDropped),
			RxErrors: grown(b.RxErrors, end.RxErrors), TxErrors: grown(b.TxErrors, end.TxErrors),
			RxMissed: grown(b.RxMissed, end.RxMissed), RxOtherhost: grown(b.RxOtherhost, end.RxOtherhost),
			RxCRC: grown(b.RxCRC, end.RxCRC), RxLength: grown(b.RxLength, end.RxLength),
			TxCarrier: grown(b.TxCarrier, end.TxCarrier), Collisions: grown(b.Collisions, end.Collisions),
			RxNoHandler: grown(b.RxNoHandler, end.RxNoHandler),
		})
	}
	return list
}

// queued is what each queueing discipline counted between two readings.
func queued(r record.HostReading) (list []queue) {
	for _, end := range r.End.Qdiscs {
		q := queue{QdiscCounters: end}
		if b, ok := r.AtBegin(end); ok {
			q.Drops, q.Packets, q.Overlimits = end.Drops-min(end.Drops, b.Drops),
				end.Packets-min(end.Packets, b.Packets), end.Overlimits-min(end.Overlimits, b.Overlimits)
		} else if len(r.Begin.Qdiscs) > 0 {
			continue // it was made between the readings
		}
		q.InnerOf = q.Queues() && slices.ContainsFunc(list, func(o queue) bool {
			return o.Queues() && o.Interface == q.Interface && o.Drops >= q.Drops && o.Drops > 0
		})
		list = append(list, q)
	}
	return list
}

// Damaged are the frames that a link damaged, and the counter that has them: rx_errors without those
// of length and those that were missed, which some drivers count there and most do not
// (linux/if_link.h); or rx_crc_errors where that is more, as some drivers count it apart.
func Damaged(c record.InterfaceCounters) (counter string, n uint64) {
	n = c.RxErrors - min(c.RxErrors, c.RxLength+c.RxMissed)
	if c.RxCRC > n {
		return "rx_crc_errors", c.RxCRC
	}
	return "rx_errors", n
}

// Missed is the counter of packets that a NIC had no room for.
const Missed = "rx_missed_errors"

// Share is an interface's part of a total over some of its host's interfaces.
func (h *Host) Share(p *Interface, among []*Interface, of func(record.InterfaceDelta) float64) float64 {
	total := 0.0
	for _, o := range among {
		total += of(h.Deltas[o.Name])
	}
	if total == 0 {
		return 0
	}
	return of(h.Deltas[p.Name]) / total
}
