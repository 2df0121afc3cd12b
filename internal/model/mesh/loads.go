package mesh

import "math/bits"

// loads places tests of patterns that load interfaces with several tests at once. Without shared machines all
// are in one round. In a round, one host of a machine takes part, or two that test each other and nothing else
// of the machine.
func (p *Plan) loads(wanted []Pair) (rounds [][]Pair, atLeast int) {
	r := resourcesOf(p)
	// What holds a machine in a round: a host, or a pair of its hosts. Numbers of pairs follow those of hosts.
	n := len(p.Hosts)
	// What is in different rounds: pairs within a machine, hosts of it, and pairs of hosts of two machines.
	within, hosts, across := map[int32]map[int]bool{}, map[int32]map[int]bool{}, map[[2]int32]map[int]bool{}
	by := map[int][]uint64{}    // by holder: the rounds in which it holds its machine, as bits
	any := map[int32][]uint64{} // by machine: the rounds in which any host of it does
	for _, pair := range wanted {
		i, j := pair[0], pair[1]
		a, b := r.sends[i], r.sends[j]
		type hold struct {
			machine int32
			by      int
		}
		var holds []hold
		if r.shared[i] && a == b {
			holds = append(holds, hold{a, n + min(i, j)*n + max(i, j)})
		} else {
			if r.shared[i] {
				holds = append(holds, hold{a, i})
			}
			if r.shared[j] {
				holds = append(holds, hold{b, j})
			}
		}
		round := 0
		for ; ; round++ { // whole words of rounds in which all is possible
			w := round / 64
			free := ^uint64(0)
			for _, h := range holds {
				free &= word(by[h.by], w) | ^word(any[h.machine], w)
			}
			if free != 0 {
				round = 64*w + bits.TrailingZeros64(free)
				break
			}
			round = 64*w + 63
		}
		for len(rounds) <= round {
			rounds = append(rounds, nil)
		}
		rounds[round] = append(rounds[round], pair)
		for _, h := range holds {
			by[h.by], any[h.machine] = with(by[h.by], round), with(any[h.machine], round)
		}
		if r.shared[i] && a == b {
			count(within, a, min(i, j)*n+max(i, j))
			continue
		}
		for _, h := range holds {
			count(hosts, h.machine, h.by)
		}
		if len(holds) == 2 {
			count(across, [2]int32{min(a, b), max(a, b)}, min(i, j)*n+max(i, j))
		}
	}
	atLeast = 1
	for m := range any {
		atLeast = max(atLeast, len(within[m])+len(hosts[m]))
	}
	for ends, of := range across {
		atLeast = max(atLeast, len(of)+max(len(within[ends[0]]), len(within[ends[1]])))
	}
	return rounds, atLeast
}

// count adds a value to the set of a key.
func count[K comparable](sets map[K]map[int]bool, key K, value int) {
	if sets[key] == nil {
		sets[key] = map[int]bool{}
	}
	sets[key][value] = true
}

func word(list []uint64, k int) uint64 {
	if k < len(list) {
		return list[k]
	}
	return 0
}

func with(list []uint64, bit int) []uint64 {
	for len(list) <= bit/64 {
		list = append(list, 0)
	}
	list[bit/64] |= 1 << (bit % 64)
	return list
}
