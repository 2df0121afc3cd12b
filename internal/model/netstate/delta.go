package netstate

import (
	"math"

	"linerate/internal/model/index"
)

// InterfaceDelta is the traffic of an interface between the readings at the edges of the window.
type InterfaceDelta struct {
	Interface            string
	Seconds              float64 // between the interface's own two readings
	RxBytes, TxBytes     float64
	RxPackets, TxPackets float64
	RxMissed             float64
	RxLost, TxLost       float64 // packets, dropped or with an error
	// Counting describes how the interface counts. Known reports whether that is known for its
	// driver or kind; bytes then include the Ethernet header and exclude frame check sequences.
	// Otherwise Counting.RefreshS is the interval seen in the samples of the host; for a bond it is
	// at least that of the known members.
	Counting Counting
	Known    bool
	// RxDoubt and TxDoubt are the possible errors in bytes of the counts that Between interpolates. 0: the
	// interface was read at both instants, or its rate did not change around them.
	RxDoubt, TxDoubt float64
}

// RxBps and TxBps return the mean rates in bit/s, headers included.
func (d InterfaceDelta) RxBps() float64 { return d.rate(d.RxBytes) }
func (d InterfaceDelta) TxBps() float64 { return d.rate(d.TxBytes) }

func (d InterfaceDelta) rate(bytes float64) float64 {
	if d.Seconds <= 0 {
		return 0
	}
	return bytes * 8 / d.Seconds
}

// Deltas lists the interfaces that have readings at both edges. A counter that decreased, because
// its driver was reloaded, counts as 0.
func (h HostReading) Deltas() []InterfaceDelta {
	begins := index.First(h.Begin.Interfaces, nameOf)
	countings := h.Snapshot.countings()
	var samples map[string][]sampled // of all interfaces, read when it is needed
	var list []InterfaceDelta
	for _, end := range h.End.Interfaces {
		i, has := begins[end.Interface]
		if !has {
			continue
		}
		begin := h.Begin.Interfaces[i]
		d := InterfaceDelta{
			Interface: end.Interface,
			Seconds:   float64(end.AtNs-begin.AtNs) / 1e9,
			RxBytes:   Grown(begin.RxBytes, end.RxBytes),
			TxBytes:   Grown(begin.TxBytes, end.TxBytes),
			RxPackets: Grown(begin.RxPackets, end.RxPackets),
			TxPackets: Grown(begin.TxPackets, end.TxPackets),
			RxMissed:  Grown(begin.RxMissed, end.RxMissed),
			RxLost:    Grown(begin.RxDropped, end.RxDropped) + Grown(begin.RxErrors, end.RxErrors),
			TxLost:    Grown(begin.TxDropped, end.TxDropped) + Grown(begin.TxErrors, end.TxErrors),
		}
		counting := countings[end.Interface]
		if !counting.known && samples == nil {
			samples = h.sampled("")
		}
		list = append(list, d.alike(counting, samples[end.Interface]))
	}
	return list
}

func nameOf(c InterfaceCounters) string { return c.Interface }

// alike converts a delta to bytes with Ethernet headers and without frame check sequences, and sets
// Counting and Known. samples are those of the interface if its counting is not known.
func (d InterfaceDelta) alike(c counting, samples []sampled) InterfaceDelta {
	if d.Counting, d.Known = c.Counting, c.known; !d.Known {
		d.Counting.RefreshS = max(d.Counting.RefreshS, refreshS(samples, d.RxBytes+d.TxBytes))
	}
	if d.Counting.FCS {
		d.RxBytes = max(0, d.RxBytes-fcsBytes*d.RxPackets)
		d.TxBytes = max(0, d.TxBytes-fcsBytes*d.TxPackets)
	}
	if d.Counting.Headerless {
		d.RxBytes += headerBytes * d.RxPackets
	}
	return d
}

// beyondEdges is how far the times given to Between may lie outside the readings, in ns.
const beyondEdges = 50e6

// Between returns the traffic of the named interface between two instants on the conductor's clock,
// in nanoseconds. It interpolates linearly between the readings and samples, and returns false if
// they do not cover that time.
func (h HostReading) Between(name string, from, to int64) (InterfaceDelta, bool) {
	var at []InterfaceCounters
	keep := func(list []InterfaceCounters) {
		for _, c := range list {
			if c.Interface == name && (len(at) == 0 || c.AtNs > at[len(at)-1].AtNs) {
				at = append(at, c)
			}
		}
	}
	keep(h.Begin.Interfaces)
	for _, s := range h.Series {
		keep(s.Interfaces)
	}
	keep(h.End.Interfaces)
	n := len(at)
	if n < 2 || to <= from || from < at[0].AtNs-beyondEdges || to > at[n-1].AtNs+beyondEdges {
		return InterfaceDelta{}, false
	}
	grown := func(counter func(InterfaceCounters) uint64) float64 {
		return grownTo(at, to, counter) - grownTo(at, from, counter)
	}
	rx := func(c InterfaceCounters) uint64 { return c.RxBytes }
	tx := func(c InterfaceCounters) uint64 { return c.TxBytes }
	return InterfaceDelta{
		Interface: name, Seconds: float64(to-from) / 1e9,
		RxBytes: grown(rx), TxBytes: grown(tx),
		RxDoubt:   doubtAt(at, from, rx) + doubtAt(at, to, rx),
		TxDoubt:   doubtAt(at, from, tx) + doubtAt(at, to, tx),
		RxPackets: grown(func(c InterfaceCounters) uint64 { return c.RxPackets }),
		TxPackets: grown(func(c InterfaceCounters) uint64 { return c.TxPackets }),
		RxMissed:  grown(func(c InterfaceCounters) uint64 { return c.RxMissed }),
		RxLost:    grown(func(c InterfaceCounters) uint64 { return c.RxDropped + c.RxErrors }),
		TxLost:    grown(func(c InterfaceCounters) uint64 { return c.TxDropped + c.TxErrors }),
	}.alike(h.Snapshot.countings()[name], h.sampled(name)[name]), true
}

// grownTo returns the growth of a counter from the first of its readings to an instant, by linear
// interpolation.
func grownTo(at []InterfaceCounters, ns int64, counter func(InterfaceCounters) uint64) (sum float64) {
	for i := 1; i < len(at); i++ {
		a, b := at[i-1], at[i]
		step := Grown(counter(a), counter(b))
		if ns <= b.AtNs || i == len(at)-1 {
			return sum + step*float64(ns-a.AtNs)/float64(b.AtNs-a.AtNs)
		}
		sum += step
	}
	return sum
}

// doubtAt returns the possible error of grownTo at an instant: the time to the nearer reading, times
// the largest difference between the rate in the interval that contains the instant and the rates in
// the adjacent intervals.
func doubtAt(at []InterfaceCounters, ns int64, counter func(InterfaceCounters) uint64) (doubt float64) {
	rate := func(i int) float64 { // per ns, between the readings before i and at i
		return Grown(counter(at[i-1]), counter(at[i])) / float64(at[i].AtNs-at[i-1].AtNs)
	}
	i := 1
	for i < len(at)-1 && ns > at[i].AtNs {
		i++
	}
	away := float64(min(max(ns-at[i-1].AtNs, at[i-1].AtNs-ns), max(ns-at[i].AtNs, at[i].AtNs-ns)))
	for _, k := range []int{i - 1, i + 1} {
		if k > 0 && k < len(at) {
			doubt = max(doubt, away*math.Abs(rate(k)-rate(i)))
		}
	}
	return doubt
}

// Grown returns the growth of a counter between two readings, or 0 if it decreased.
func Grown(begin, end uint64) float64 {
	if end < begin {
		return 0
	}
	return float64(end - begin)
}

// Key returns the fields that identify a qdisc on its host, without its counters. The parent is one
// of them because the kernel gives no handle to qdiscs that it creates itself: the children of mq,
// one for each transmit queue, have the same kind and the handle 0:.
func (q QdiscCounters) Key() QdiscCounters {
	return QdiscCounters{Interface: q.Interface, Kind: q.Kind, Handle: q.Handle, Parent: q.Parent}
}

// QdiscsAtBegin returns the counters of each qdisc at the first reading, by its Key.
func (h HostReading) QdiscsAtBegin() map[QdiscCounters]QdiscCounters {
	all := make(map[QdiscCounters]QdiscCounters, len(h.Begin.Qdiscs))
	for _, q := range h.Begin.Qdiscs {
		all[q.Key()] = q
	}
	return all
}

// OthersDelta returns the growth of such a counter without what linerate itself caused of it.
func (h HostReading) OthersDelta(name string) int64 {
	return max(0, h.SNMPDelta(name)-max(0, h.End.Own[name]-h.Begin.Own[name]))
}

// SNMPDelta returns the growth of a counter of /proc/net/snmp or /proc/net/netstat.
func (h HostReading) SNMPDelta(name string) int64 {
	return h.End.SNMP[name] - h.Begin.SNMP[name]
}
