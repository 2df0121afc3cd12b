package facts

import (
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// Tally names a counter: of an interface ("rx_dropped", or "qdisc" for its queues) or, if Name is
// empty, of the host ("Udp.NoPorts").
type Tally struct{ Name, Counter string }

// SoftnetDropped is the counter of packets that the CPUs' backlogs dropped.
const SoftnetDropped = "softnet_stat"

// FilterDropped is the counter of packets that tc filters of ingress and clsact dropped.
const FilterDropped = "tc filters"

// trace adds the packets that the kernel dropped between the readings.
func (h *Host) trace(rows []netstate.KernelDrop) {
	h.Named, h.Benign = map[Tally]uint64{}, map[Tally]uint64{}
	for _, d := range rows {
		if d.Packets <= 0 {
			continue // a file of others
		}
		h.Traced = append(h.Traced, d)
		r := ReasonOf(d)
		for _, counter := range r.Counters {
			t := tallyOf(d, counter)
			h.Named[t] += uint64(d.Packets)
			if r.Verdict == Harmless {
				h.Benign[t] += uint64(d.Packets)
			}
		}
	}
}

// tallyOf returns the counter that includes such packets, for their interface or the host.
func tallyOf(d netstate.KernelDrop, counter string) Tally {
	if counter == SoftnetDropped || strings.Contains(counter, ".") {
		return Tally{"", counter}
	}
	return Tally{d.Interface, counter}
}

// Dropped returns at most four kinds of packets that the kernel dropped between the readings, as
// evidence.
func (h *Host) Dropped(where func(netstate.KernelDrop) bool) (list []any) {
	for _, d := range h.Traced {
		if len(list) < most && where(d) {
			list = append(list, fact.Dropped{Interface: d.Interface, Direction: d.Direction, Packets: d.Packets,
				Protocol: d.Protocol, OverS: h.OverS, Reason: d.Reason, Place: d.Place})
		}
	}
	return list
}

// Harms reports whether a counter includes packets that were dropped for a reason that is not
// harmless.
func Harms(d netstate.KernelDrop, t Tally) bool {
	r := ReasonOf(d)
	return r.Verdict != Harmless && slices.ContainsFunc(r.Counters, func(counter string) bool {
		return tallyOf(d, counter) == t
	})
}

// NftDropped is the counter of packets that rules of nftables dropped.
const NftDropped = "nftables.drop"

// Verdicts on the packets of a drop reason or counter.
const Harmful, Harmless, Unknown = record.Harmful, record.Harmless, record.Unknown
