package mesh

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// packing places items in rounds. An item is placed in the first round that has what it needs. If there is
// none, items are exchanged between two rounds, along the chain of those that are in each other's way:
// without uplinks and shared machines that always succeeds with the least number of rounds (König). If no
// exchange does, there is another round.
type packing struct {
	*resources
	rng    *rand.Rand
	items  []item
	rounds [][]int32 // by round: its items
	at     []int32   // by item: its round. -1: none yet
	place  []int32   // by item: its place in the list of the round
	// open has, by resource, the rounds in which a unit is free, or an uplink has room for the smallest of its
	// tests, as bits.
	open     [][]uint64
	load     [][]int64 // by uplink: what is used of it, by round
	smallest []int64   // by uplink
	chain    chain
}

func newPacking(r *resources, items []item, rounds int, rng *rand.Rand) *packing {
	p := &packing{resources: r, rng: rng, items: items, at: make([]int32, len(items)),
		place: make([]int32, len(items)), load: make([][]int64, len(r.room)), smallest: slices.Clone(r.room)}
	for k := range p.at {
		p.at[k] = -1
		for _, n := range items[k].needs {
			u := int(n.uplink) - r.units
			p.smallest[u] = min(p.smallest[u], n.rate)
		}
	}
	p.open = make([][]uint64, r.units+len(r.room))
	for range rounds {
		p.add()
	}
	p.chain.init(p)
	return p
}

// add adds a round.
func (p *packing) add() {
	k := len(p.rounds)
	p.rounds = append(p.rounds, nil)
	for u := range p.open {
		if k%64 == 0 {
			p.open[u] = append(p.open[u], 0)
		}
		p.open[u][k/64] |= 1 << (k % 64)
	}
	for u := range p.load {
		p.load[u] = append(p.load[u], 0)
	}
}

// put places an item in a round that has what it needs.
func (p *packing) put(item, round int32) {
	it := &p.items[item]
	p.at[item], p.place[item] = round, int32(len(p.rounds[round]))
	p.rounds[round] = append(p.rounds[round], item)
	for _, u := range it.units {
		p.open[u][round/64] &^= 1 << (round % 64)
	}
	p.use(it, round, 1)
}

func (p *packing) remove(item int32) {
	round, place := p.at[item], p.place[item]
	list := p.rounds[round]
	last := list[len(list)-1]
	list[place], p.place[last] = last, place
	p.rounds[round] = list[:len(list)-1]
	it := &p.items[item]
	for _, u := range it.units {
		p.open[u][round/64] |= 1 << (round % 64)
	}
	p.use(it, round, -1)
	p.at[item] = -1
}

func (p *packing) use(it *item, round int32, times int64) {
	for _, n := range it.needs {
		u := int(n.uplink) - p.units
		p.load[u][round] += times * n.rate
		if p.load[u][round]+p.smallest[u] > p.room[u] {
			p.open[n.uplink][round/64] &^= 1 << (round % 64)
		} else {
			p.open[n.uplink][round/64] |= 1 << (round % 64)
		}
	}
}

// fits reports whether uplinks have room for an item in a round.
func (p *packing) fits(it *item, round int) bool {
	for _, n := range it.needs {
		u := int(n.uplink) - p.units
		if p.load[u][round]+n.rate > p.room[u] {
			return false
		}
	}
	return true
}

// first returns the first round that has what an item needs, or -1.
func (p *packing) first(it *item) int {
	for w := range p.open[0] {
		free := ^uint64(0)
		for _, u := range it.units {
			free &= p.open[u][w]
		}
		for _, n := range it.needs {
			free &= p.open[n.uplink][w]
		}
		for ; free != 0; free &= free - 1 {
			if round := 64*w + bits.TrailingZeros64(free); p.fits(it, round) {
				return round
			}
		}
	}
	return -1
}

// anyOpen returns a random round in which the resources are open, or any round if there is none.
func (p *packing) anyOpen(of []int32) int32 {
	if len(of) == 0 {
		return int32(p.rng.IntN(len(p.rounds)))
	}
	words := len(p.open[0])
	from := p.rng.IntN(words)
	for k := range words {
		w := (from + k) % words
		free := ^uint64(0)
		for _, u := range of {
			free &= p.open[u][w]
		}
		if n := bits.OnesCount64(free); n > 0 {
			for range p.rng.IntN(n) {
				free &= free - 1
			}
			if free != 0 {
				return int32(64*w + bits.TrailingZeros64(free))
			}
		}
	}
	return int32(p.rng.IntN(len(p.rounds)))
}

// tries is how many exchanges are tried for an item.
const tries = 24

// pack places all items in their order. It stops, and returns false, when it needs more than most rounds.
func (p *packing) pack(order []int32, most int) bool {
	var from, to []int32
	for _, k := range order {
		it := &p.items[k]
		if round := p.first(it); round >= 0 {
			p.put(k, int32(round))
			continue
		}
		from, to = p.sides(it, from[:0], to[:0])
		done := false
		for t := 0; t < tries && !done; t++ {
			a, b := p.anyOpen(from), p.anyOpen(to)
			if t%2 == 1 {
				a, b = b, a
			}
			done = a != b && p.chain.exchange(k, a, b)
		}
		if !done {
			if len(p.rounds) >= most {
				return false
			}
			p.add()
			p.put(k, int32(len(p.rounds)-1))
		}
	}
	return true
}

// sides divides what an item needs: what is at one of its hosts, and what is at the other.
func (p *packing) sides(it *item, from, to []int32) (a, b []int32) {
	i := it.pair[0]
	at := []int32{p.sends[i], p.receives[i]}
	if p.ends != nil {
		at = append(at, p.ends[p.rack[i]], p.ends[p.rack[i]]+1)
	}
	for _, u := range it.units {
		if slices.Contains(at, u) {
			from = append(from, u)
		} else {
			to = append(to, u)
		}
	}
	for _, n := range it.needs {
		if up := p.up[p.rack[i]]; n.uplink == up || n.uplink == up+1 {
			from = append(from, n.uplink)
		} else {
			to = append(to, n.uplink)
		}
	}
	return from, to
}
