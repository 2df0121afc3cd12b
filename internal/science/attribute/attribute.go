// Package attribute names, for each flow of a trial, what held it back, from what
// the sender's kernel counted in the window (TCP_INFO, linux/tcp.h: the time that
// there was something to send, and the parts of it spent waiting for the
// receiver's window and for room in the send buffer) and from what the ports
// carried. It names one thing only when that held the flow for most of the
// window, and nothing otherwise. Why a network holds flows back is package
// diagnose's question.
package attribute

import (
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
)

// What a flow is limited by.
const (
	Application    = "application"     // the sender had nothing to send
	RateCap        = "rate cap"        // its own pacing
	ReceiverWindow = "receiver window" // what the receiver allowed to be under way
	SendBuffer     = "send buffer"     // room for what is not acknowledged yet
	Network        = "network"         // a full link, or congestion control
)

const (
	// A window says something when it is long beside the kernel's clock, which
	// ticks every 4 or 10 ms, and beside the flow's round trips.
	leastWindowS = 0.5
	leastTrips   = 50
	// idle: a sender that is busy for less of the window had too little to send.
	idle = 0.9
	// most of the busy time is what makes a cause the cause.
	most = 0.5
	// atCap is the share of a rate cap that counts as reaching it: fq counts
	// headers, too.
	atCap = 0.9
	// stalled: so many timeouts in a row have gone unanswered.
	stalled = 2
	// spent is a processor that has nothing left to give.
	spent = 0.95
)

// Flows fills in LimitedBy of a trial's flows.
func Flows(t *record.Trial, over *topology.Topology) {
	for i := range t.Flows {
		t.Flows[i].LimitedBy = Flow(t.Flows[i], *t, over)
	}
}

// Flow names what held one flow back; empty: not attributable.
func Flow(f record.Flow, t record.Trial, over *topology.Topology) string {
	info := f.SenderInfo
	if !f.Connected || info == nil || t.WindowS < max(leastWindowS, leastTrips*float64(info.RTTUs)/1e6) {
		return ""
	}
	waiting := f.RwndLimitedS + f.SndbufLimitedS
	switch {
	case f.AckedBytes <= 0 && info.Backoff >= stalled:
		return Network // nothing comes back
	case f.BusyS == 0 && f.AckedBytes > 0:
		return "" // a kernel before 4.10 does not count it
	case f.BusyS < idle*t.WindowS:
		return Application
	case f.RateCapBps > 0 && f.GoodputBps >= atCap*f.RateCapBps:
		return RateCap
	case f.RwndLimitedS >= most*f.BusyS:
		return ReceiverWindow
	case f.SndbufLimitedS >= most*f.BusyS:
		return SendBuffer
	case waiting > most*f.BusyS:
		return "" // both, and neither for most of the time
	case fullLink(f, t, over) || !busyHost(f, t):
		return Network
	}
	return "" // the network, or a machine that could do no more
}

// fullLink: a link at one of the flow's hosts, or on its way, is full. Frames may
// leave and arrive by another port than they are meant to.
func fullLink(f record.Flow, t record.Trial, over *topology.Topology) bool {
	for _, h := range t.Hosts {
		ends := h.Host == f.From || h.Host == f.To
		for _, d := range h.Deltas() {
			end := topology.End{Node: h.Host, Port: d.Port}
			if !ends && !slices.Contains(f.Path, end.String()) {
				continue
			}
			if l, ok := over.LinkAt(end); ok && limits.Full(*l, end, d) {
				return true
			}
		}
	}
	return false
}

func busyHost(f record.Flow, t record.Trial) bool {
	for _, name := range []string{f.From, f.To} {
		if h, ok := t.Reading(name); ok && (h.CPUBusy >= spent || h.GeneratorCPU >= spent) {
			return true
		}
	}
	return false
}
