package connection

import (
	"math"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// PathRules are about what single connections of a text say of their path: those that a person chose to
// paste, and those of tools that measure rates. Of a host that was read, the counters of TCP cover all connections.
var PathRules = []rule.Rule{
	{ID: cause.ConnectionLosses.Code, Host: true, Parts: []string{facts.Paths}, Find: rule.Each(rule.EveryHost, lossy)},
	{ID: cause.PathQueue.Code, Host: true, Parts: []string{facts.Paths}, Find: rule.Each(rule.EveryHost, queueing)},
}

// lossy finds connections that sent segments again.
func lossy(f facts.Trial, h *facts.Host) *record.Finding {
	const least, share = 3, 5e-4 // segments; one loss of a short connection may be by chance
	return single(f, h, cause.ConnectionLosses, func(c netstate.Connection) bool {
		i := c.Info
		return i.TotalRetrans >= least && float64(i.TotalRetrans) >= share*float64(i.SegsOut)
	}, func(c netstate.Connection) any {
		assumed := 0
		if c.Info.SndMSS == 0 {
			assumed = netstate.EthernetMSS
		}
		return fact.Retransmitted{Local: c.Local, Remote: c.Remote, Segments: int64(c.Info.TotalRetrans),
			Of: int64(c.Info.SegsOut), AssumedMSS: assumed}
	})
}

// queueing finds connections with data in flight whose packets wait for much longer than the path takes. The
// round-trip time of a connection without much in flight has the delay of acknowledgements in it.
func queueing(f facts.Trial, h *facts.Host) *record.Finding {
	const times, leastUs, flight = 4, 1000, 4
	return single(f, h, cause.PathQueue, func(c netstate.Connection) bool {
		i := c.Info
		return i.MinRTTUs > 0 && i.RTTUs >= times*i.MinRTTUs && i.RTTUs-i.MinRTTUs >= leastUs && i.Unacked >= flight
	}, func(c netstate.Connection) any {
		return fact.PathQueue{Local: c.Local, Remote: c.Remote, RTTUs: c.Info.RTTUs, MinRTTUs: c.Info.MinRTTUs}
	})
}

// single finds established connections of a text that meet a condition. Nil: there is none, or the host was
// read.
func single(f facts.Trial, h *facts.Host, of cause.Of[cause.None], where func(netstate.Connection) bool,
	evidence func(netstate.Connection) any) *record.Finding {
	finding := facts.Found(of, h, record.Possible, cause.None{})
	is := func(c netstate.Connection) bool { return c.Info != nil && c.State == "ESTAB" && where(c) }
	list := slices.Clone(h.State.Notable)
	for _, t := range h.State.Transfers {
		list = append(list, connectionOf(t))
	}
	for _, c := range list {
		if len(h.Pasted) > 0 && is(c) && len(finding.Facts) < 6 {
			finding.With(h.Name, evidence(c))
		}
	}
	if finding.Facts == nil {
		return nil
	}
	return onPaths(f, h, finding, is)
}

// connectionOf returns the TCP connection of a transfer with what was printed of it. It has segments in flight all the
// time.
func connectionOf(t netstate.Transfer) netstate.Connection {
	const inFlight = 10
	again, of := t.Segments()
	info := &netstate.TCPInfo{SndMSS: uint32(min(max(t.MSS, 0), math.MaxUint16)), RTTUs: t.MeanRTTUs,
		MinRTTUs: t.MinRTTUs, Unacked: inFlight}
	info.TotalRetrans, info.SegsOut = uint32(min(again, math.MaxUint32)), uint32(min(of, math.MaxUint32))
	return netstate.Connection{Local: t.From, Remote: t.To, State: netstate.TCPStates[netstate.TCPEstablished],
		Info: info}
}
