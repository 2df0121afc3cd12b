package counters

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// Which path flows take where a route has several next hops: what the kernel predicts,
// and by which interfaces their packets arrive.

// Lookups asks the kernel to resolve route lookups, and sets Unsure where packets may take another next hop
// than the answer.
func (r *Reader) Lookups(questions []netstate.RouteLookup) []netstate.RouteLookup {
	r.mu.Lock()
	defer r.mu.Unlock()
	answers := r.lookups(questions)
	var unsure func(netstate.RouteLookup) string
	for i := range answers {
		if answers[i].Nexthops > 1 {
			if unsure == nil {
				unsure = r.unsure()
			}
			answers[i].Unsure = unsure(answers[i])
		}
	}
	return answers
}

// unsure returns a function that says why packets may take another next hop than the kernel's answer to a
// lookup; empty if they do not. The kernel hashes a flow's description for what the host sends, and the packet
// for what it forwards. It answers a lookup for a packet built from it (IPv4), or from the description (IPv6);
// under some policies the hashes differ (fib_multipath_hash in net/ipv4/route.c, rt6_multipath_hash in
// net/ipv6/route.c).
func (r *Reader) unsure() func(netstate.RouteLookup) string {
	read := func(family string) string {
		policy, err := proc.Sysctls{}.Read("net." + family + ".fib_multipath_hash_policy")
		if err != nil {
			return ""
		}
		return strings.TrimSpace(policy)
	}
	four, six := read("ipv4"), read("ipv6")
	return func(q netstate.RouteLookup) string {
		isSix := strings.Contains(q.Destination, ":")
		policy := four
		if isSix {
			policy = six
		}
		forwarded := q.In != ""
		switch {
		case policy == "3" && forwarded == isSix:
			return "with policy 3 the kernel hashes such packets differently from its route lookup"
		case !forwarded:
		case policy == "1":
			return "by policy 1 a router takes the hash that a packet has from the sender's socket or the network " +
				"card, which a lookup does not have"
		case policy == "0" && isSix:
			return "by policy 0 a router looks at the flow label of IPv6, which the sender draws " +
				"(net.ipv6.auto_flowlabels)"
		}
		return ""
	}
}

// Arrivals counts at which interfaces packets of flows arrive and, on request, when. A nil Arrivals counts
// nothing.
type Arrivals struct {
	reader   *Reader
	watch    *netlink.PacketCapture
	flows    map[packets]string
	counts   map[arrival]seen
	begin    int64   // of the window
	marks    []int64 // times that divide the window
	latest   map[string]int64
	silences map[silent]netstate.Gap
}

// packets describes the packets of one flow.
type packets struct {
	protocol            string
	source, destination netip.AddrPort
}

type arrival struct {
	flow  string
	index int
	after int // how many marks they came after
}

type seen struct{ packets, last int64 }

type silent struct {
	flow  string
	after int
}

// WatchArrivals starts counting. With marks, it counts packets before and after each mark separately, and
// records the gaps without packets from begin on.
func (r *Reader) WatchArrivals(flows []message.WatchedFlow, begin int64, marks []int64) (*Arrivals, error) {
	a := &Arrivals{
		reader: r, flows: map[packets]string{}, counts: map[arrival]seen{}, begin: begin, marks: marks,
		latest: map[string]int64{}, silences: map[silent]netstate.Gap{},
	}
	for _, f := range flows {
		a.flows[packets{f.Protocol, plain(f.Source), plain(f.Destination)}] = f.ID
	}
	var err error
	if a.watch, err = netlink.OpenPacketCapture(); err != nil {
		return nil, err
	}
	return a, nil
}

// plain returns an address as it appears in packets.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// Timed reports whether arrival times matter: then Look has to be called often.
func (a *Arrivals) Timed() bool { return a != nil && len(a.marks) > 0 }

// Look reads the packets received since the last call. Call it regularly: packets beyond some thousands are
// lost.
func (a *Arrivals) Look() {
	if a == nil {
		return
	}
	a.watch.Read(func(p netlink.CapturedPacket) {
		if flow, ours := a.flows[packets{p.Protocol, p.Source, p.Destination}]; ours {
			a.count(flow, p.Index, p.AtNs)
		}
	})
}

func (a *Arrivals) count(flow string, index int, at int64) {
	after := 0
	for after < len(a.marks) && a.marks[after] <= at {
		after++
	}
	count := a.counts[arrival{flow, index, after}]
	count.packets, count.last = count.packets+1, max(count.last, at)
	a.counts[arrival{flow, index, after}] = count
	if !a.Timed() {
		return
	}
	last, before := a.latest[flow]
	if before && at > last && at > a.begin {
		key := silent{flow, after}
		if longest := a.silences[key]; at-last > longest.ToNs-longest.FromNs {
			a.silences[key] = netstate.Gap{Flow: flow, Events: after, FromNs: last, ToNs: at}
		}
	}
	a.latest[flow] = max(last, at)
}

// Close ends the watch.
func (a *Arrivals) Close() error {
	if a == nil {
		return nil
	}
	return a.watch.Close()
}

// Enter writes the arrivals into a reading.
func (a *Arrivals) Enter(h *netstate.HostReading) {
	if a == nil {
		return
	}
	a.Look()
	h.ArrivalsMissed = a.watch.Dropped()
	a.reader.mu.Lock()
	defer a.reader.mu.Unlock()
	for at, count := range a.counts {
		port := a.reader.names[at.index]
		if a.reader.skip[port] {
			continue
		}
		one := netstate.Arrival{Flow: at.flow, Interface: port, Packets: count.packets, Events: at.after}
		if a.Timed() {
			one.LastNs = count.last
		}
		h.Arrivals = append(h.Arrivals, one)
	}
	slices.SortFunc(h.Arrivals, func(x, y netstate.Arrival) int {
		return cmp.Or(strings.Compare(x.Flow, y.Flow), strings.Compare(x.Interface, y.Interface), x.Events-y.Events)
	})
	for _, s := range a.silences {
		h.Gaps = append(h.Gaps, s)
	}
	slices.SortFunc(h.Gaps, func(x, y netstate.Gap) int {
		return cmp.Or(strings.Compare(x.Flow, y.Flow), x.Events-y.Events)
	})
}
