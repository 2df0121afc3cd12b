package mesh

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Options are what a plan depends on.
type Options struct {
	Hosts   []Host
	Pattern Pattern
	// Rounds is for Triage how many permutations there are (0: 10; at most one less than there are hosts), for
	// Halves how many halvings (0: 30), and for Incast how many hosts receive (0: all). Other patterns have
	// as many rounds as they need.
	Rounds  int
	Seed    uint64
	Share   float64            // as in Plan
	Uplinks map[string]float64 // as in Plan
	Hours   Hours              // as in Plan
	// Senders is how many hosts send to the one that receives, in pattern Incast. 0: 8, or all others.
	Senders int
}

// Make returns the plan of a pattern. The same options give the same plan on every machine.
func Make(o Options) (*Plan, error) {
	p := &Plan{Schema: Schema, Pattern: o.Pattern, Seed: o.Seed, Hosts: slices.Clone(o.Hosts), Share: o.Share,
		Uplinks: o.Uplinks, Hours: o.Hours}
	if err := p.checkHosts(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	switch o.Pattern {
	case Halves:
		for range cmp.Or(o.Rounds, 30) {
			rounds, least := p.schedule(halves(len(o.Hosts), rng))
			p.Rounds, p.AtLeast = append(p.Rounds, rounds...), p.AtLeast+least
		}
	case Incast:
		p.Rounds = p.incast(cmp.Or(o.Rounds, len(o.Hosts)), cmp.Or(o.Senders, 8), rng)
		p.AtLeast = len(p.Rounds)
	default:
		p.Rounds, p.AtLeast = p.schedule(p.wanted(o.Rounds, rng))
	}
	if pairs := p.pairs(); pairs > maxPairs {
		return nil, fmt.Errorf("the plan has %d tests, of at most %d", pairs, maxPairs)
	}
	return p, nil
}

// check returns what is wrong with the options beside the plan's own parts.
func (o *Options) check() error {
	n := len(o.Hosts)
	switch {
	case o.Rounds < 0 || o.Rounds > maxRounds:
		return fmt.Errorf("rounds: expected 0 to %d, not %d", maxRounds, o.Rounds)
	case o.Rounds > 0 && o.Pattern != Triage && o.Pattern != Halves && o.Pattern != Incast:
		return fmt.Errorf("rounds: pattern %s has as many as it needs", o.Pattern)
	case o.Rounds > n && o.Pattern == Incast:
		return fmt.Errorf("rounds: each of %d hosts receives at most once, not %d rounds", n, o.Rounds)
	case o.Senders != 0 && o.Pattern != Incast:
		return fmt.Errorf("senders: pattern %s has none; %s has", o.Pattern, Incast)
	case o.Senders < 0 || o.Senders >= n && o.Senders != 0:
		return fmt.Errorf("senders: expected 1 to %d, not %d", n-1, o.Senders)
	}
	return nil
}

// wanted returns the tests of a pattern.
func (p *Plan) wanted(rounds int, rng *rand.Rand) []Pair {
	n := len(p.Hosts)
	switch p.Pattern {
	case Triage:
		// Shifts of hosts in random order are permutations without fixed points that have no pair in common.
		order, shifts := rng.Perm(n), rng.Perm(n-1)
		var pairs []Pair
		for _, d := range shifts[:min(cmp.Or(rounds, 10), n-1)] {
			for k, i := range order {
				pairs = append(pairs, Pair{i, order[(k+d+1)%n]})
			}
		}
		return pairs
	case Ring:
		pairs := make([]Pair, 0, 2*n)
		for i := range n {
			pairs = append(pairs, Pair{i, (i + 1) % n})
		}
		for i := range n {
			if n > 2 {
				pairs = append(pairs, Pair{(i + 1) % n, i})
			}
		}
		return pairs
	case Leaf:
		return p.leaf(rng)
	}
	return all(n)
}

// all returns each ordered pair of n hosts.
func all(n int) []Pair {
	pairs := make([]Pair, 0, n*(n-1))
	for d := 1; d < n; d++ {
		for i := range n {
			pairs = append(pairs, Pair{i, (i + d) % n})
		}
	}
	return pairs
}

// halves returns the tests across a random cut into two halves, in both directions. Of an odd number of hosts,
// one has none.
func halves(n int, rng *rand.Rand) []Pair {
	order := rng.Perm(n)
	var pairs []Pair
	for k := range n / 2 {
		i, j := order[k], order[n/2+k]
		pairs = append(pairs, Pair{i, j}, Pair{j, i})
	}
	return pairs
}

// leaf returns a test for each ordered pair of racks, of hosts that are drawn from each.
func (p *Plan) leaf(rng *rand.Rand) []Pair {
	in, racks := map[string][]int{}, []string(nil)
	for i, h := range p.Hosts {
		if in[h.Rack] == nil {
			racks = append(racks, h.Rack)
		}
		in[h.Rack] = append(in[h.Rack], i)
	}
	var pairs []Pair
	for _, r := range all(len(racks)) {
		from, to := in[racks[r[0]]], in[racks[r[1]]]
		pairs = append(pairs, Pair{from[rng.IntN(len(from))], to[rng.IntN(len(to))]})
	}
	return pairs
}

// incast returns rounds in which hosts of different machines send to one.
func (p *Plan) incast(rounds, senders int, rng *rand.Rand) [][]Pair {
	n := len(p.Hosts)
	var list [][]Pair
	for _, to := range rng.Perm(n)[:rounds] {
		var round []Pair
		on := map[string]bool{}
		if m := p.Hosts[to].Machine; m != "" {
			on[m] = true
		}
		for _, from := range rng.Perm(n) {
			m := p.Hosts[from].Machine
			if len(round) < senders && from != to && !on[m] {
				on[m] = m != ""
				round = append(round, Pair{from, to})
			}
		}
		if len(round) > 0 {
			list = append(list, round)
		}
	}
	return list
}

// Schedule returns rounds for any tests under the resources of the plan, such as for pairs that are tested
// again or that are left, and a lower bound of the number of rounds. The plan's own rounds are not regarded. A
// pair that is wanted twice is an error.
func (p *Plan) Schedule(wanted []Pair) (rounds [][]Pair, atLeast int, err error) {
	if err := p.checkHosts(); err != nil {
		return nil, 0, err
	}
	if len(wanted) > maxPairs {
		return nil, 0, fmt.Errorf("%d tests are wanted, of at most %d", len(wanted), maxPairs)
	}
	seen := make(map[Pair]bool, len(wanted))
	for _, pair := range wanted {
		if err := p.checkPair(pair); err != nil {
			return nil, 0, err
		}
		if seen[pair] {
			return nil, 0, errors.New(p.name(pair) + " is wanted twice")
		}
		seen[pair] = true
	}
	rounds, atLeast = p.schedule(wanted)
	return rounds, atLeast, nil
}

// Work that is spent on finding fewer rounds: so many items are placed again, in other orders.
const effort = 100_000

// schedule is Schedule of pairs that are valid.
func (p *Plan) schedule(wanted []Pair) (rounds [][]Pair, atLeast int) {
	if len(wanted) == 0 {
		return nil, 0
	}
	if p.Pattern == AllToAll || p.Pattern == Incast {
		return p.loads(wanted)
	}
	r := resourcesOf(p)
	items := r.items(wanted)
	least := r.atLeast(items)
	var best *packing
	for attempt := range uint64(1 + effort/len(items)) {
		rng := rand.New(rand.NewPCG(p.Seed, attempt+1))
		if next := newPacking(r, items, least, rng); next.pack(r.order(items, attempt, rng), most(best)) {
			best = next
		}
		if best != nil && len(best.rounds) == least {
			break
		}
	}
	for _, list := range best.rounds {
		var round []Pair
		for _, k := range list {
			it := &items[k]
			round = append(round, it.pair)
			if it.both {
				round = append(round, Pair{it.pair[1], it.pair[0]})
			}
		}
		slices.SortFunc(round, func(a, b Pair) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
		rounds = append(rounds, round)
	}
	return rounds, least
}

// most is how many rounds are better than a packing.
func most(best *packing) int {
	if best == nil {
		return maxRounds
	}
	return len(best.rounds) - 1
}

// order returns an order of the items, which differs by attempt. Items that fit into a round together follow
// each other: hosts are numbered at random, then tests are sorted by the difference of their numbers (each
// class is a permutation), and those of both directions by their sum (the circle method). Every other time,
// those come first that need what is needed most.
func (r *resources) order(items []item, attempt uint64, rng *rand.Rand) []int32 {
	number := make([]int, r.units) // by unit that stands for a host: those of a machine are one
	members := make([]int32, 0, r.units)
	tested := make([]bool, len(r.hosts))
	for _, it := range items {
		tested[it.pair[0]], tested[it.pair[1]] = true, true
	}
	for i := range r.hosts {
		if tested[i] && !slices.Contains(members, r.sends[i]) {
			members = append(members, r.sends[i])
		}
	}
	for k, place := range rng.Perm(len(members)) {
		number[members[k]] = place
	}
	n := len(members)
	odd := n - 1 + n%2
	class := make([]int, len(items))
	for k, it := range items {
		a, b := number[r.sends[it.pair[0]]], number[r.sends[it.pair[1]]]
		switch {
		case !it.both:
			class[k] = (b - a + n) % n
		case max(a, b) == odd: // the last of an even number
			class[k] = 2 * min(a, b) % odd
		default:
			class[k] = (a + b) % odd
		}
	}
	urgent := r.urgency(items)
	order := make([]int32, len(items))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if attempt%2 == 1 {
			if c := cmp.Compare(urgent[b], urgent[a]); c != 0 {
				return c
			}
		}
		return cmp.Compare(class[a], class[b])
	})
	return order
}

// urgency returns by item the most rounds that one of its resources alone needs.
func (r *resources) urgency(items []item) []float64 {
	rounds := make([]float64, r.units+len(r.room))
	for _, it := range items {
		for _, u := range it.units {
			rounds[u]++
		}
		for _, n := range it.needs {
			rounds[n.uplink] += float64(n.rate) / float64(r.room[int(n.uplink)-r.units])
		}
	}
	urgent := make([]float64, len(items))
	for k, it := range items {
		for _, u := range it.units {
			urgent[k] = max(urgent[k], rounds[u])
		}
		for _, n := range it.needs {
			urgent[k] = max(urgent[k], rounds[n.uplink])
		}
	}
	return urgent
}
