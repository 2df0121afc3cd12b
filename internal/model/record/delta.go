package record

import (
	"net/netip"
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
	// bytes are with the Ethernet header and without frame check sequences. Otherwise the refresh interval is what the host's
	// series shows.
	Counting Counting
	Known    bool
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
			if d.Counting, d.Known = h.Snapshot.counting(d.Interface); !d.Known {
				d.Counting.RefreshS = h.refreshS(d)
			}
			if d.Counting.FCS {
				d.RxBytes = max(0, d.RxBytes-fcsBytes*d.RxPackets)
				d.TxBytes = max(0, d.TxBytes-fcsBytes*d.TxPackets)
			}
			if d.Counting.Headerless {
				d.RxBytes += headerBytes * d.RxPackets
			}
			list = append(list, d)
		}
	}
	return list
}

// Grown is the growth of a counter between two readings; 0: it ran backwards.
func Grown(begin, end uint64) float64 {
	if end < begin {
		return 0
	}
	return float64(end - begin)
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

// Over is the topology that the trial was made over: its own, or the run's.
func (t Trial) Over(run *topology.Topology) *topology.Topology {
	if t.Topology != nil {
		return t.Topology
	}
	return run
}
