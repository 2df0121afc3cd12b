package mesh

import (
	"math"
	"slices"
)

// resources are what tests need, by number. The first units are held by one test at a time: what a
// host sends and what it receives, a machine with several hosts, and in pattern Leaf what a rack
// sends and receives. The others are the uplinks of racks, up and down, which have room for several
// tests.
//
// Share is not here: tests are paced to it and uplinks are used up to it, so it changes both by the
// same factor and the rounds do not depend on it.
type resources struct {
	hosts    []Host
	sends    []int32 // by host: the unit that it holds when it sends, and
	receives []int32 // when it receives: the same for hosts that share a machine
	shared   []bool  // by host: it shares its machine
	both     bool    // the two directions of a pair of hosts are always tested together
	units    int
	// By uplink from units on: how many kbit/s it has room for.
	room []int64
	rack []int32 // by host: the number of its rack
	up   []int32 // by rack: the number of its uplink, and the next is its downlink. -1: it has enough
	ends []int32 // by rack: the unit of what it sends, and the next of what it receives. Nil: none
	most int64   // the highest rate of a host, in kbit/s
}

// resourcesOf returns the resources of a plan's hosts.
func resourcesOf(p *Plan) *resources {
	n := len(p.Hosts)
	r := &resources{hosts: p.Hosts, sends: make([]int32, n), receives: make([]int32, n), shared: make([]bool, n),
		rack: make([]int32, n), both: p.Pattern == Pairs || p.Pattern == Halves}
	on := map[string]int{}
	for _, h := range p.Hosts {
		if h.Machine != "" {
			on[h.Machine]++
		}
		r.most = max(r.most, kbits(h.RateBps))
	}
	machines, racks, names := map[string]int32{}, map[string]int32{}, []string(nil)
	unit := func() int32 { r.units++; return int32(r.units - 1) }
	for i, h := range p.Hosts {
		if _, ok := racks[h.Rack]; !ok {
			racks[h.Rack] = int32(len(racks))
			names = append(names, h.Rack)
		}
		r.rack[i] = racks[h.Rack]
		if on[h.Machine] < 2 {
			r.sends[i], r.receives[i] = unit(), unit()
			continue
		}
		m, ok := machines[h.Machine]
		if !ok {
			m = unit()
			machines[h.Machine] = m
		}
		r.sends[i], r.receives[i], r.shared[i] = m, m, true
	}
	if p.Pattern == Leaf {
		for range names {
			r.ends = append(r.ends, unit())
			unit()
		}
	}
	for k, name := range names {
		r.up = append(r.up, -1)
		room, ok := p.Uplinks[name]
		if ok && name != "" && !r.enough(int32(k), kbits(room)) {
			r.up[k] = int32(r.units + len(r.room))
			r.room = append(r.room, kbits(room), kbits(room))
		}
	}
	return r
}

// enough reports whether uplinks of a rack have room for all its hosts, whatever they do.
func (r *resources) enough(rack int32, room int64) bool {
	var sum int64
	for i := range r.hosts {
		if r.rack[i] == rack {
			sum += r.hostRate(i)
		}
	}
	return sum <= room
}

// hostRate returns the rate of a host's interface. One that is not known is as fast as the fastest.
func (r *resources) hostRate(host int) int64 {
	if rate := kbits(r.hosts[host].RateBps); rate > 0 {
		return rate
	}
	return r.most
}

// kbits returns a rate in kbit/s: sums of whole numbers are the same on every machine.
func kbits(bps float64) int64 { return int64(math.Ceil(bps / 1000)) }

// item is what is placed in a round at once: a test, or the tests of both directions between two
// hosts.
type item struct {
	pair Pair
	both bool
	// units are held, and of uplinks needs a part.
	units []int32
	needs []need
}

type need struct {
	uplink int32
	rate   int64
}

// together reports whether the two directions between hosts are tested together: where they may be,
// it takes no more rounds.
func (r *resources) together(p Pair) bool { return r.both || r.shared[p[0]] || r.shared[p[1]] }

// items returns wanted tests as items, in their order.
func (r *resources) items(wanted []Pair) []item {
	var back map[Pair]bool
	if r.both || slices.Contains(r.shared, true) {
		back = make(map[Pair]bool, len(wanted))
		for _, p := range wanted {
			back[p] = r.together(p)
		}
	}
	items := make([]item, 0, len(wanted))
	units := make([]int32, 0, 2*len(wanted))
	for _, p := range wanted {
		other := Pair{p[1], p[0]}
		if back[p] && back[other] && p[0] > p[1] {
			continue // with the other direction
		}
		it := item{pair: p, both: back[p] && back[other]}
		from := len(units)
		units = r.holds(units, p)
		if it.both {
			units = r.holds(units, other)
		}
		held := units[from:]
		slices.Sort(held)
		it.units = slices.Compact(held)
		if len(r.room) > 0 {
			it.needs = r.needs(nil, p)
			if it.both {
				it.needs = r.needs(it.needs, other)
			}
		}
		items = append(items, it)
	}
	return items
}

// holds appends the units that a test holds.
func (r *resources) holds(units []int32, p Pair) []int32 {
	units = append(units, r.sends[p[0]], r.receives[p[1]])
	if r.ends != nil {
		units = append(units, r.ends[r.rack[p[0]]], r.ends[r.rack[p[1]]]+1)
	}
	return units
}

// needs appends what a test needs of uplinks: the rate of the slower host, or the slowest uplink on its way if that
// is less.
func (r *resources) needs(needs []need, p Pair) []need {
	from, to := r.rack[p[0]], r.rack[p[1]]
	if from == to {
		return needs
	}
	rate, first := min(r.hostRate(p[0]), r.hostRate(p[1])), len(needs)
	for _, u := range [2]int32{r.up[from], r.up[to] + 1} {
		if int(u) >= r.units {
			needs = append(needs, need{uplink: u})
			rate = min(rate, r.room[int(u)-r.units])
		}
	}
	for k := first; k < len(needs); k++ {
		needs[k].rate = rate
	}
	return needs
}

// atLeast returns a number of rounds that no schedule of the items is below.
func (r *resources) atLeast(items []item) int {
	held := make([]int, r.units)
	sizes := make([]map[int64]int, len(r.room))
	for _, it := range items {
		for _, u := range it.units {
			held[u]++
		}
		for _, n := range it.needs {
			k := int(n.uplink) - r.units
			if sizes[k] == nil {
				sizes[k] = map[int64]int{}
			}
			sizes[k][n.rate]++
		}
	}
	least := 0
	for _, h := range held {
		least = max(least, h)
	}
	for k, of := range sizes {
		least = max(least, packed(of, r.room[k]))
	}
	least = max(least, r.oddSets(items, held))
	if !slices.ContainsFunc(items, func(it item) bool { return !it.both }) {
		least = max(least, r.inRacks(items))
	}
	return least
}
