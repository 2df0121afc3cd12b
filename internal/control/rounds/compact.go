package rounds

import (
	"cmp"

	"linerate/internal/model/lists"
	"linerate/internal/model/mesh"
	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/science/limits"
	"linerate/internal/science/stacked"
	"linerate/internal/science/trust"
)

// compact returns a round as it is kept: a flow for each pair, with what pairs are judged by, and
// whether they can be. rates has for each the rate that it may have at most (shares). What hosts read,
// some kilobytes each, is left out.
func (c *conductor) compact(t record.Trial, pairs []mesh.Pair, rates []float64) record.Trial {
	streams := max(1, c.options.Flows.Streams)
	of := func(k int) []record.Flow { return t.Flows[k*streams : (k+1)*streams] }
	doubts := c.doubts(t, pairs, of)
	kept := record.Trial{Treatment: t.Treatment, Levels: t.Levels, Started: t.Started, WindowS: t.WindowS,
		WarmupS: t.WarmupS, GoodputBps: t.GoodputBps, TransactionsPerS: t.TransactionsPerS}
	for k, p := range pairs {
		f := together(of(k))
		f.From, f.To, f.OpenedBy = c.hosts[p[0]].Name, c.hosts[p[1]].Name, c.hosts[p[0]].Name
		if f.Connected {
			f.Doubt = doubts[k]
		}
		if !c.options.latency() && rates[k] > 0 {
			f.LimitBps = limits.Direct(rates[k], limits.FrameOf(of(k)[0]), streams, f.RateCapBps/float64(streams)).Bps
		}
		kept.Flows = append(kept.Flows, f)
	}
	return kept
}

// together is a pair as one flow of the record.
func together(flows []record.Flow) record.Flow {
	first := flows[0]
	one := record.Flow{ID: first.ID[:len(first.ID)-2], Protocol: first.Protocol, Source: first.Source,
		Destination: first.Destination, Connected: true, Alive: true}
	for _, f := range flows {
		one.ReceivedBytes += f.ReceivedBytes
		one.GoodputBps += f.GoodputBps
		one.RetransBytes += f.RetransBytes
		one.RetransSegments += f.RetransSegments
		one.RateCapBps += f.RateCapBps
		one.TransactionsPerS += f.TransactionsPerS
		one.Connected, one.Alive = one.Connected && f.Connected, one.Alive && f.Alive
		if f.Error != "" {
			one.Error = plain.Short(plain.Line(f.Error), mostError)
		}
		if d := f.Datagrams; d != nil {
			if one.Datagrams == nil {
				one.Datagrams = &record.Datagrams{Bytes: d.Bytes, MTU: d.MTU}
			}
			one.Datagrams.Sent += d.Sent
			one.Datagrams.Received += d.Received
			one.Datagrams.Lost += d.Lost
			one.Datagrams.Reordered += d.Reordered
			one.Datagrams.Duplicates += d.Duplicates
			one.Datagrams.JitterUs = max(one.Datagrams.JitterUs, d.JitterUs)
		}
	}
	if x := first.Transactions; x != nil { // of which there is one
		one.Transactions = &record.Transactions{Done: x.Done, Failed: x.Failed, Unanswered: x.Unanswered,
			Connections: x.Connections}
		if l := x.Latency; l != nil {
			brief := *l
			brief.Histogram = nil
			one.Transactions.Latency = &brief
		}
	}
	return one
}

// doubts returns for each pair the trust check that failed; empty: none did. Each host is checked by
// itself with all of its flows, and each pair with its own.
func (c *conductor) doubts(t record.Trial, pairs []mesh.Pair, of func(int) []record.Flow) []string {
	touching := map[int][]record.Flow{}
	for k, p := range pairs {
		for _, i := range p {
			touching[i] = append(touching[i], of(k)...)
		}
	}
	failed := map[int]string{}
	at := map[string]int{}
	for k, h := range t.Hosts {
		at[h.Host] = k
	}
	for i, flows := range touching {
		k := at[node(i)]
		h := c.measuring(i, t.Hosts[k])
		failed[i] = doubt(record.Trial{WindowS: t.WindowS, Flows: flows, Hosts: []netstate.HostReading{h},
			Clocks: t.Clocks[k : k+1]}, trust.Foreign, trust.Clock, trust.Steal)
	}
	list := make([]string, len(pairs))
	for k, p := range pairs {
		own := record.Trial{WindowS: t.WindowS, Flows: of(k), Clocks: t.Clocks}
		list[k] = cmp.Or(failed[p[0]], failed[p[1]], doubt(own, trust.Conservation))
	}
	return list
}

// doubt returns the first of some checks that a trial fails; empty: it passes them.
func doubt(t record.Trial, checks ...string) string {
	results := trust.Trial(t, nil)
	for _, name := range checks {
		for _, c := range results {
			if c.Check == name && !c.Pass {
				return name
			}
		}
	}
	return ""
}

// measuring returns the reading of a host with the counters of the interface that it is measured on
// alone, where these are all there is to count: what others carry is not beside its flows.
func (c *conductor) measuring(i int, h netstate.HostReading) netstate.HostReading {
	port := c.places[i].port
	if port == "" || stacked.Interface(h, port, nil) {
		return h
	}
	own := func(list []netstate.InterfaceCounters) []netstate.InterfaceCounters {
		return lists.Where(list, func(p netstate.InterfaceCounters) bool { return p.Interface == port })
	}
	h.Begin.Interfaces, h.End.Interfaces = own(h.Begin.Interfaces), own(h.End.Interfaces)
	return h
}
