package trust

import (
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/science/limits"
)

const (
	// fcsBytes is the length of Ethernet's frame check sequence, which a driver that is not known may
	// count.
	fcsBytes = 4
	// snmpEdgesS is how many seconds the interval of the protocols' counters is longer than the window
	// (docs/counters.md).
	snmpEdgesS = 0.065
	// coarse is the largest share of the window that the refresh interval of counters may take. Above
	// it, they say little about the window.
	coarse = 0.1
)

// addCounting adds what an interface may count besides the flows. packets is their number in the
// account's direction.
func (a *account) addCounting(v view, h netstate.HostReading, d netstate.InterfaceDelta, packets float64) {
	a.besides += a.more * packets
	if !d.Known || d.Counting.RefreshS > 0 { // whether the NIC counts them is not known
		a.besides += fcsBytes * packets
	}
	// The kernel keeps a tag apart from the frame, and a driver counts it or does not; a bond
	// counts as its members' drivers do.
	if kind := snapshotOf(h, d.Interface).Kind; kind == "" || kind == "bond" {
		a.besides += a.tag * packets
	}
	refresh := d.Counting.RefreshS
	a.refreshS = max(a.refreshS, refresh)
	if refresh > coarse*v.WindowS && a.unevaluated == nil {
		a.unevaluated = fact.RareCounters{Interface: d.Interface, Driver: snapshotOf(h, d.Interface).Driver,
			RefreshS: refresh, WindowS: v.WindowS}
	}
}

func snapshotOf(h netstate.HostReading, port string) netstate.InterfaceSnapshot {
	for _, i := range h.Snapshot.Interfaces {
		if i.Interface == port {
			return i
		}
	}
	return netstate.InterfaceSnapshot{}
}

// addFragments corrects the headers of packets that arrived as IPv4 fragments: only one fragment of
// each packet has the TCP header. TCP avoids fragments, but devices on the path may make them. The
// counters are those of the host, over an interval longer than the window.
func (a *account) addFragments(v view, h netstate.HostReading) {
	without := float64(h.SNMPDelta("Ip.ReasmReqds") - h.SNMPDelta("Ip.ReasmOKs"))
	if without <= 0 {
		return
	}
	transport := 0.0
	for _, f := range v.Flows {
		if f.To != h.Host || !f.Connected {
			continue
		}
		if f.Datagrams != nil || f.DestinationAddr().Is6() {
			return // whose fragments they are is not known
		}
		transport = headers(f) - (limits.Frame{UDP: true}).Headers() + udpHeader
	}
	a.wired += without * transport
	a.slack += without * transport * min(1, snmpEdgesS/v.WindowS)
}

const udpHeader = 8
