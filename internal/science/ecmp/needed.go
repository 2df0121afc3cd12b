package ecmp

import "sort"

// mostNeeded is where the search for enough flows ends.
const mostNeeded = 1 << 30

// FlowsNeeded is the least number of flows, each of which asks for bps (0: for as
// much as it gets), that carries a share such as 0.95 of all links' rates on
// average. false: more than anybody has.
func (l Links) FlowsNeeded(share, bps float64) (int, bool) {
	want := share * l.RateBps() * (1 - 1e-12)
	most := 1
	enough := func(flows int) bool {
		carried, ok := l.ExpectedBps([]Kind{{Count: flows, Bps: bps}})
		return ok && carried >= want
	}
	for !enough(most) {
		if most *= 2; most > mostNeeded {
			return 0, false
		}
	}
	return 1 + sort.Search(most-1, func(i int) bool { return enough(i + 1) }), true
}

// Distinct is how many hashes there are to place: what flows have in common
// under a policy of fib_multipath_hash_policy goes one way together.
//
// Policy 0 hashes addresses, 1 ports as well, 2 the inner addresses of a tunnel,
// 3 the fields of fib_multipath_hash_fields (Documentation/networking/
// ip-sysctl.rst).
func Distinct(policy int, fields uint32, flows, pairs int) int {
	const source, destination, sourcePort = 0x1, 0x2, 0x10
	pairs = min(pairs, flows)
	switch policy {
	case 1:
		return flows
	case 3:
		if fields&sourcePort != 0 {
			return flows
		}
		if fields&(source|destination) == 0 {
			return min(1, flows)
		}
	}
	return pairs
}
