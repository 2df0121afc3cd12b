package rates

import (
	"cmp"
	"net/netip"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/limits"
)

// These constants say how long a connection must be observed to tell what held it back: long in
// comparison with its round trips and the kernel's clock (package bottleneck), and therefore over
// several readings if necessary.
const (
	leastWindowS = 0.5
	leastTrips   = 50
)

// flows returns the connections of the last table that have the highest rates.
func flows(tables []Table, host netstate.HostReading, interfaces []record.InterfaceRates) []record.FlowRates {
	before, now := tables[len(tables)-2], tables[len(tables)-1]
	over := seconds(before.AtNs, now.AtNs)
	all := make([]record.FlowRates, 0, len(now.Connections))
	for key, c := range now.Connections {
		f := record.FlowRates{Local: c.Local, Remote: c.Remote, State: c.State, Program: c.Program,
			ReceiveQueue: c.ReceiveQueue, SendQueue: c.SendQueue, CongestionControl: c.CongestionControl}
		if i := c.Info; i != nil {
			f.RTTUs, f.MinRTTUs, f.CwndBytes = i.RTTUs, i.MinRTTUs, uint64(i.SndCwnd)*uint64(i.SndMSS)
			b := earlier(before.Connections[key], i)
			f.TxBps = per(8*netstate.Grown(b.BytesAcked, i.BytesAcked), over)
			f.RxBps = per(8*netstate.Grown(b.BytesReceived, i.BytesReceived), over)
			f.SegmentsPerS = per(grown32(b.SegsIn, i.SegsIn)+grown32(b.SegsOut, i.SegsOut), over)
			f.RetransmitPerS = per(grown32(b.TotalRetrans, i.TotalRetrans), over)
		}
		all = append(all, f)
	}
	order := make([]*record.FlowRates, len(all)) // pointers are quicker to sort
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortFunc(order, byRate)
	list := make([]record.FlowRates, min(len(all), record.MostFlows))
	for i := range list {
		list[i] = *order[i]
	}
	attribute(list, tables, host, interfaces)
	return list
}

// byRate orders connections: the highest rates first, then those with the most retransmissions and
// queued bytes.
func byRate(a, b *record.FlowRates) int {
	return cmp.Or(cmp.Compare(b.TxBps+b.RxBps, a.TxBps+a.RxBps), cmp.Compare(b.RetransmitPerS, a.RetransmitPerS),
		cmp.Compare(b.SendQueue+b.ReceiveQueue, a.SendQueue+a.ReceiveQueue), cmp.Compare(a.Remote, b.Remote),
		cmp.Compare(a.Local, b.Local))
}

// earlier returns the TCP_INFO of an earlier reading, or the zero value, as for a new connection,
// if there was none or it belonged to another connection with the same ends.
func earlier(c netstate.Connection, now *netstate.TCPInfo) *netstate.TCPInfo {
	if c.Info == nil || c.Info.BytesAcked > now.BytesAcked || c.Info.BytesReceived > now.BytesReceived ||
		c.Info.BusyUs > now.BusyUs {
		return &netstate.TCPInfo{}
	}
	return c.Info
}

// grown32 returns the growth of a counter that wraps at 32 bits.
func grown32(before, now uint32) float64 { return float64(now - before) }

// attribute names what held back the sending of connections, with package bottleneck. It judges
// together those that leave by one interface and were observed over the same time.
func attribute(list []record.FlowRates, tables []Table, host netstate.HostReading, interfaces []record.InterfaceRates) {
	type group struct {
		name string
		from int
	}
	leaves, groups := map[netip.Addr]string{}, map[group][]int{}
	for _, i := range host.Snapshot.Interfaces {
		for _, text := range i.Addresses {
			if p, err := netip.ParsePrefix(text); err == nil {
				leaves[p.Addr()] = i.Interface
			}
		}
	}
	for i, f := range list {
		if f.TxBps == 0 && f.SendQueue == 0 {
			continue
		}
		if from := long(tables, Ends{f.Local, f.Remote}); from >= 0 {
			at, _ := netip.ParseAddrPort(f.Local)
			g := group{leaves[at.Addr()], from}
			groups[g] = append(groups[g], i)
		}
	}
	for g, members := range groups {
		one := of(host, g.name)
		before, now := tables[g.from], tables[len(tables)-1]
		windowS := seconds(before.AtNs, now.AtNs)
		var trial []record.Flow
		for _, i := range members {
			key := Ends{list[i].Local, list[i].Remote}
			info := now.Connections[key].Info
			one := asFlow(host.Host, list[i], earlier(before.Connections[key], info), info, windowS)
			one.RwndFullShare, one.ClosingShare = windows(tables[g.from:], key)
			trial = append(trial, one)
		}
		verdicts := bottleneck.Attribute(record.Trial{Flows: trial, Hosts: []netstate.HostReading{one},
			WindowS: windowS}, nil, false)
		for at, i := range members {
			list[i].LimitedBy, list[i].LimitedFacts = verdicts[at].By, verdicts[at].Facts
			if busy := per(trial[at].BusyS, windowS); verdicts[at].By == bottleneck.FullLink && busy < 0.5 {
				list[i].LimitedBy = bottleneck.Application
				list[i].LimitedFacts = []fact.Fact{{Is: fact.BusyFor{Share: busy}}}
				continue // other traffic fills the link
			}
			byLink(&list[i], interfaces, g.name)
		}
	}
}

// long returns the index of the earlier table to compare the last one with, so that the connection
// is observed for long enough: the latest table that is old enough or, if none is, the oldest back
// to which every table has the connection. It returns -1 if only the last table has it.
func long(tables []Table, of Ends) (first int) {
	first = -1
	now := tables[len(tables)-1]
	info := now.Connections[of].Info
	for i := len(tables) - 2; i >= 0 && info != nil && tables[i].Connections[of].Info != nil; i-- {
		first = i
		if seconds(tables[i].AtNs, now.AtNs) >= max(leastWindowS, leastTrips*float64(info.RTTUs)/1e6) {
			break
		}
	}
	return first
}

// windows returns the shares of readings at which the window of a connection's peer was full, and
// at which it was closing.
func windows(tables []Table, of Ends) (full, closing float64) {
	widest := uint32(0)
	for _, t := range tables {
		i := t.Connections[of].Info
		if i == nil {
			continue
		}
		if i.RwndFull() {
			full++
		}
		if i.Closing(widest) {
			closing++
		}
		widest = max(widest, i.SndWnd)
	}
	return full / float64(len(tables)), closing / float64(len(tables))
}

// asFlow converts a connection to a flow of a trial.
func asFlow(host string, f record.FlowRates, b, i *netstate.TCPInfo, windowS float64) record.Flow {
	micro := func(before, now uint64) float64 { return netstate.Grown(before, now) / 1e6 }
	return record.Flow{
		ID: f.Local, From: host, To: f.Remote, Protocol: flow.TCP, Source: f.Local, Destination: f.Remote,
		Connected: true, Alive: true,
		AckedBytes:      int64(netstate.Grown(b.BytesAcked, i.BytesAcked)),
		SentBytes:       int64(netstate.Grown(b.BytesSent, i.BytesSent)),
		RetransBytes:    int64(netstate.Grown(b.BytesRetrans, i.BytesRetrans)),
		RetransSegments: int64(grown32(b.TotalRetrans, i.TotalRetrans)),
		GoodputBps:      per(8*netstate.Grown(b.BytesAcked, i.BytesAcked), windowS),
		BusyS:           micro(b.BusyUs, i.BusyUs), RwndLimitedS: micro(b.RwndLimitedUs, i.RwndLimitedUs),
		SndbufLimitedS: micro(b.SndbufLimited, i.SndbufLimited),
		SenderInfo:     i, CongestionControl: f.CongestionControl,
	}
}

// byLink names the interface's link as the cause if it is full and nothing else held the connection
// back than what a full link causes: losses and a queue.
func byLink(f *record.FlowRates, interfaces []record.InterfaceRates, name string) {
	i := slices.IndexFunc(interfaces, func(r record.InterfaceRates) bool { return r.Interface == name })
	if i < 0 || f.LimitedBy != "" && f.LimitedBy != bottleneck.CongestionWindow &&
		f.LimitedBy != bottleneck.InterfaceQueue {
		return
	}
	r := interfaces[i]
	load := limits.Load{Out: true, Bps: r.TxBps, Shape: topology.Impairment{Rate: unit.BitRate(r.TxLimitBps)}}
	if load.Full() {
		f.LimitedBy = bottleneck.FullLink
		f.LimitedFacts = []fact.Fact{{Is: fact.LinkShare{Interface: name, Out: true, RateBps: r.TxLimitBps,
			Share: r.TxShare}}}
	}
}
