package record

import (
	"math"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/topology"
)

// InterfaceDelta is what one interface carried between the two edge readings.
type InterfaceDelta struct {
	Interface            string
	Seconds              float64 // between the interface's own two readings
	RxBytes, TxBytes     float64
	RxPackets, TxPackets float64
	RxMissed             float64
	RxLost, TxLost       float64 // packets, dropped or with an error
	// Counting is how the interface counts. Known: that is known of its driver or kind, and
	// bytes are with the Ethernet header and without frame check sequences. Otherwise the
	// refresh interval is what the host's series shows, of a bond at least that of the
	// members that are known.
	Counting Counting
	Known    bool
	// RxDoubt and TxDoubt are by how many bytes the counts of Between may be wrong because the interface was
	// not read at the instants themselves; 0: it was, or its rate did not change around them.
	RxDoubt, TxDoubt float64
}

// RxBps and TxBps are rates on the interface, headers included.
func (d InterfaceDelta) RxBps() float64 { return d.rate(d.RxBytes) }
func (d InterfaceDelta) TxBps() float64 { return d.rate(d.TxBytes) }

func (d InterfaceDelta) rate(bytes float64) float64 {
	if d.Seconds <= 0 {
		return 0
	}
	return bytes * 8 / d.Seconds
}

// Deltas lists the interfaces that were there at both edges. A counter that ran
// backwards (a driver was reloaded) counts as nothing.
func (h HostReading) Deltas() []InterfaceDelta {
	var list []InterfaceDelta
	for _, end := range h.End.Interfaces {
		for _, begin := range h.Begin.Interfaces {
			if begin.Interface != end.Interface {
				continue
			}
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
			list = append(list, h.alike(d))
		}
	}
	return list
}

// alike is a delta as all interfaces count, with how its own does.
func (h HostReading) alike(d InterfaceDelta) InterfaceDelta {
	if d.Counting, d.Known = h.Snapshot.counting(d.Interface); !d.Known {
		d.Counting.RefreshS = max(d.Counting.RefreshS, h.refreshS(d))
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

// beyondEdges is by how much a time of Between may be outside of the readings, in ns.
const beyondEdges = 50e6

// Between is what an interface carried from one instant to another on the conductor's clock,
// as the readings and samples around them have it. false: they are not of that time.
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
	return h.alike(InterfaceDelta{
		Interface: name, Seconds: float64(to-from) / 1e9,
		RxBytes: grown(rx), TxBytes: grown(tx),
		RxDoubt:   doubtAt(at, from, rx) + doubtAt(at, to, rx),
		TxDoubt:   doubtAt(at, from, tx) + doubtAt(at, to, tx),
		RxPackets: grown(func(c InterfaceCounters) uint64 { return c.RxPackets }),
		TxPackets: grown(func(c InterfaceCounters) uint64 { return c.TxPackets }),
		RxMissed:  grown(func(c InterfaceCounters) uint64 { return c.RxMissed }),
		RxLost:    grown(func(c InterfaceCounters) uint64 { return c.RxDropped + c.RxErrors }),
		TxLost:    grown(func(c InterfaceCounters) uint64 { return c.TxDropped + c.TxErrors }),
	}), true
}

// grownTo is the growth of a counter from the first of its readings to an instant, along the
// line between those around it.
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

// doubtAt is by how much grownTo may be wrong at an instant: by as much as the rate differs between the
// readings around it and those next to them, for the time to the nearer one.
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

// Grown is the growth of a counter between two readings; 0: it ran backwards.
func Grown(begin, end uint64) float64 {
	if end < begin {
		return 0
	}
	return float64(end - begin)
}

// Key is what tells a qdisc from the others of its host: all but its counts. The parent is
// part of it, as the kernel gives no handle to the qdiscs that it makes itself: the children of
// mq, one for each transmit queue, are of one kind and all have handle 0:.
func (q QdiscCounters) Key() QdiscCounters {
	return QdiscCounters{Interface: q.Interface, Kind: q.Kind, Handle: q.Handle, Parent: q.Parent}
}

// AtBegin is what a qdisc had counted at the first reading; false: it was not there.
func (h HostReading) AtBegin(q QdiscCounters) (QdiscCounters, bool) {
	for _, b := range h.Begin.Qdiscs {
		if b.Key() == q.Key() {
			return b, true
		}
	}
	return QdiscCounters{}, false
}

// SNMPDelta is the growth of one counter of /proc/net/snmp or netstat.
func (h HostReading) SNMPDelta(name string) int64 {
	return h.End.SNMP[name] - h.Begin.SNMP[name]
}

// Unconnected is how many flows of the trial have no connection.
func (t *Trial) Unconnected() (n int) {
	for _, f := range t.Flows {
		if !f.Connected {
			n++
		}
	}
	return n
}

// Reading finds a host's reading.
func (t Trial) Reading(host string) (HostReading, bool) {
	for _, h := range t.Hosts {
		if h.Host == host {
			return h, true
		}
	}
	return HostReading{}, false
}

// SourceAddr and DestinationAddr are the flow's addresses without the
// ports; invalid when the record has none, as for a flow that never connected.
func (f Flow) SourceAddr() netip.Addr      { return addrOf(f.Source) }
func (f Flow) DestinationAddr() netip.Addr { return addrOf(f.Destination) }

func addrOf(text string) netip.Addr {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap()
	}
	alone, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return alone.Unmap()
}

// BinEnds are the instants at which a flow's bins end, in seconds since the window began: those of
// the samples that count it, of its receiver or else of its sender. Sampled is false if there are
// none; then they are evenly spread.
func (t Trial) BinEnds(f Flow) (ends []float64, sampled bool) {
	for _, host := range []string{f.To, f.From} {
		h, ok := t.Reading(host)
		if !ok {
			continue
		}
		ends = nil
		at := 0 // samples mostly have the flows in one order
		for _, s := range h.Series {
			if at >= len(s.Flows) || s.Flows[at].ID != f.ID {
				at = max(0, slices.IndexFunc(s.Flows, func(one FlowSample) bool { return one.ID == f.ID }))
			}
			if at < len(s.Flows) && s.Flows[at].ID == f.ID {
				ends = append(ends, float64(s.AtNs-h.Begin.ScheduledNs)/1e9)
			}
		}
		if len(ends) == len(f.Bins) && h.Begin.ScheduledNs > 0 {
			return ends, true
		}
	}
	var sum int64
	for _, bytes := range f.Bins {
		sum += bytes
	}
	parts := len(f.Bins) // the last ends with the window
	if f.ReceivedBytes-sum > sum/int64(2*max(parts, 1)) {
		parts++
	}
	ends = make([]float64, len(f.Bins))
	for i := range ends {
		ends[i] = t.WindowS * float64(i+1) / float64(parts)
	}
	return ends, false
}

// Over is the topology that the trial was made over: its own, or the run's.
func (t Trial) Over(run *topology.Topology) *topology.Topology {
	if t.Topology != nil {
		return t.Topology
	}
	return run
}
