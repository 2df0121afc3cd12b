package rfc2544

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/apart"
	"linerate/internal/science/hostload"
)

// Outcome returns the result of a trial of a rate. requested is the rate that was to be sent, in
// bit/s (0: as fast as possible), allowed the share of datagrams that may be lost. confirms says
// that the trial is one of the longer ones that confirm a result.
func Outcome(t *record.Trial, requested, allowed float64, confirms bool) record.LossTrial {
	l := record.LossTrial{AskedBps: requested, WindowS: t.WindowS, Confirms: confirms}
	var arrived int64
	buffered := map[string]int64{} // by receiving host
	together := false              // packets of several datagrams (UDP_SEGMENT)
	for _, f := range t.Flows {
		d := f.Datagrams
		if d == nil {
			continue
		}
		l.ReceivedBps += f.GoodputBps
		together = together || f.CallBytes > int64(d.Bytes)
		l.Sent += d.Sent
		arrived += d.Received
		buffered[f.To] += d.LostInBuffer
		if l.Lost += d.Lost; d.Received+d.Lost == 0 {
			l.Lost += d.Sent // the receiver cannot know
		}
		if t.WindowS > 0 {
			l.OfferedBps += float64(d.Sent) * float64(d.Bytes) * 8 / t.WindowS
		}
	}
	if all := arrived + l.Lost; all > 0 {
		l.LostShare = float64(l.Lost) / float64(all)
	}
	l.Pass = arrived > 0 && l.LostShare <= allowed
	if l.Lost > 0 {
		l.Places = places(t, l.Lost, float64(l.Sent), buffered, together)
	}
	return l
}

// places returns where packets were dropped in the window: what the hosts count, the most first,
// and then the rest, which no counter has; sent is the
// number of datagrams sent. Counters do not know flows, so packets of other programs
// count as well. If together is true, a packet can hold several datagrams but counts once.
func places(t *record.Trial, lost int64, sent float64, buffered map[string]int64, together bool) (
	list []record.LossPlace) {
	known := int64(0)
	add := func(host, what string, packets int64) {
		if packets > 0 {
			list = append(list, record.LossPlace{Host: host, What: what, Packets: packets})
			known += packets
		}
	}
	for _, h := range t.Hosts {
		receives := false
		if n, ok := buffered[h.Host]; ok {
			receives = true
			add(h.Host, "the receive buffer", n)
		}
		queues := map[string]int64{}
		kinds := map[string][]string{}
		begins := h.QdiscsAtBegin()
		for _, q := range h.End.Qdiscs {
			begin, ok := begins[q.Key()]
			if !ok || q.Drops <= begin.Drops {
				continue
			}
			if !q.Queues() {
				add(h.Host, "the tc filters of "+q.Interface+" ("+q.Kind+")", int64(q.Drops-begin.Drops))
				continue
			}
			// A qdisc also counts what the qdiscs inside it lost.
			queues[q.Interface] = max(queues[q.Interface], int64(q.Drops-begin.Drops))
			kinds[q.Interface] = append(kinds[q.Interface], q.Kind)
		}
		for _, p := range h.End.Interfaces {
			add(h.Host, fmt.Sprintf("the queue of %s (%s)", p.Interface, strings.Join(kinds[p.Interface], ", ")),
				queues[p.Interface])
		}
		for _, d := range h.Deltas() {
			add(h.Host, d.Interface+" (receiving)", int64(d.RxLost))
			add(h.Host, d.Interface+" (receive ring)", int64(d.RxMissed))
			add(h.Host, d.Interface+" (sending)", int64(d.TxLost))
		}
		if receives { // the counter is that of the whole machine
			n := backlog(h.End) - backlog(h.Begin)
			if !hostload.ForeignAt(t.Hosts, h.Host) {
				add(h.Host, "the processors' backlog (softnet)", n)
			} else if n > 0 { // it is not known whose packets these are
				list = append(list, record.LossPlace{Host: h.Host,
					What: "the processors' backlog, mostly of other network namespaces (softnet)", Packets: n})
			}
		}
	}
	// What was dropped between the readings of an edge by different hosts is in one count only.
	if beyond := float64(lost - known); known > 0 && beyond <= sent/t.WindowS*slices.Max(slices.Collect(maps.Values(
		apart.Skew(*t)))) {
		known = lost
	}
	slices.SortStableFunc(list, func(a, b record.LossPlace) int { return cmp.Compare(b.Packets, a.Packets) })
	switch {
	case known < lost && known > 0 && together:
		list = append(list, record.LossPlace{
			What:    "in the same packets, of several datagrams each, or where no host counts them",
			Packets: lost - known})
	case known < lost:
		list = append(list, record.LossPlace{What: "where no host counts them", Packets: lost - known})
	}
	return list
}

func backlog(r netstate.Reading) (dropped int64) {
	return lists.Sum(r.Softnet, func(s netstate.SoftnetCounters) int64 { return int64(s.Dropped) })
}
