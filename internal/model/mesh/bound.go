package mesh

import (
	"cmp"
	"slices"
)

// packed returns a lower bound of the bins of size room that hold things of the sizes, each as often
// as of says. It is the highest of dual feasible functions (Fekete and Schepers, Mathematical
// Programming 91, 2001): a thing above 1 - e counts as a whole bin if those below e are left out, and
// one of x as floor((k+1)x)/k.
func packed(of map[int64]int, room int64) int {
	list := make([]int64, 0, len(of))
	for size := range of {
		list = append(list, size)
	}
	slices.Sort(list)
	least := 0
	for _, e := range append([]int64{0}, list...) {
		if 2*e > room {
			break
		}
		for k := int64(0); k <= 50; k++ { // 0: the sizes as they are
			var sum, whole int64
			whole = room
			if k > 0 {
				whole = k * (k + 1)
			}
			for _, size := range list {
				n := int64(of[size])
				switch {
				case size < e:
				case size > room-e:
					sum += n * whole
				case k == 0:
					sum += n * size
				case (k+1)*size%room == 0: // then x counts as it is
					sum += n * ((k + 1) * size / room) * k
				default:
					sum += n * ((k + 1) * size / room) * (k + 1)
				}
			}
			least = max(least, int((sum+whole-1)/whole))
		}
	}
	return least
}

// inRacks returns a lower bound for tests of both directions from what the hosts of a rack can do at the same
// time: with c of its h hosts at tests over the uplinks, of which there is room for u, (h-c)/2 tests are within
// the rack, rounded down.
func (r *resources) inRacks(items []item) int {
	type rack struct {
		hosts          map[int32]bool
		across, within int
		smallest       int64
	}
	racks := make([]rack, len(r.up))
	for _, it := range items {
		a, b := r.rack[it.pair[0]], r.rack[it.pair[1]]
		for k, i := range it.pair {
			of := &racks[r.rack[i]]
			if of.hosts == nil {
				of.hosts = map[int32]bool{}
			}
			of.hosts[r.sends[i]] = true
			if a != b {
				of.across++
				for _, n := range it.needs {
					if n.uplink == r.up[r.rack[i]] && (of.smallest == 0 || n.rate < of.smallest) {
						of.smallest = n.rate
					}
				}
			} else if k == 0 && r.sends[it.pair[0]] != r.sends[it.pair[1]] {
				of.within++
			}
		}
	}
	room, all := make([]int, len(racks)), 0
	for k, of := range racks {
		room[k] = len(of.hosts)
		if r.up[k] >= 0 && of.smallest > 0 {
			room[k] = min(room[k], int(r.room[int(r.up[k])-r.units]/of.smallest))
		}
		all += room[k]
	}
	least := r.oddRacks(items, room)
	for k, of := range racks {
		for !possible(least, len(of.hosts), min(room[k], all-room[k]), of.across, of.within) {
			least++
		}
	}
	return least
}

// oddRacks is oddSets of racks that have room for so many tests each: two of a test's places are in the set.
func (r *resources) oddRacks(items []item, room []int) int {
	across := make([]int, len(room))
	for _, it := range items {
		if a, b := r.rack[it.pair[0]], r.rack[it.pair[1]]; a != b {
			across[a]++
			across[b]++
		}
	}
	order, place := make([]int, len(room)), make([]int, len(room))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(across[b]*room[a], across[a]*room[b]) })
	for k, rack := range order {
		place[rack] = k
	}
	within := make([]int, len(room)) // tests of which both racks are among the first so many
	for _, it := range items {
		if a, b := r.rack[it.pair[0]], r.rack[it.pair[1]]; a != b {
			within[max(place[a], place[b])]++
		}
	}
	least, tests, places := 0, 0, 0
	for k, rack := range order {
		tests += within[k]
		if places += room[rack]; places > 1 {
			least = max(least, (tests+places/2-1)/(places/2))
		}
	}
	return least
}

// possible reports whether a rack of h hosts can make so many tests in a number of rounds, with at most u across
// its uplinks in each.
func possible(rounds, h, u, across, within int) bool {
	even := u - (h-u)%2 // with so many across, no host is without a test
	if even < 0 || across <= even*rounds {
		spare := 0
		if even >= 0 {
			spare = (even*rounds - across) / 2
		}
		return across <= u*rounds && within <= min(rounds*(h/2), rounds*((h-even)/2)+spare)
	}
	more := across - even*rounds // rounds with u across: each has one test less within
	return even < u && more <= rounds && within <= rounds*((h-even)/2)-more
}

// oddSets returns a lower bound from sets of an odd number of units: in a round, at most half of them
// less one have an item with another of the set. It tries the sets of those with most items.
func (r *resources) oddSets(items []item, held []int) int {
	if !slices.ContainsFunc(items, func(it item) bool { return it.both }) {
		return 0
	}
	// What stands for a host is its machine, or what it sends: an item of both directions holds one of
	// each host.
	order := make([]int32, 0, r.units)
	for u := range held {
		if held[u] > 0 {
			order = append(order, int32(u))
		}
	}
	receives := make([]bool, r.units)
	for i := range r.hosts {
		if !r.shared[i] {
			receives[r.receives[i]] = true
		}
	}
	order = slices.DeleteFunc(order, func(u int32) bool { return receives[u] || r.ends != nil })
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(held[b], held[a]) })
	place := make([]int, r.units)
	for k, u := range order {
		place[u] = k
	}
	within := make([]int, len(order)+1) // items of which both ends are among the first so many
	for _, it := range items {
		a, b := r.sends[it.pair[0]], r.sends[it.pair[1]]
		if a != b && (it.both || r.shared[it.pair[0]] && r.shared[it.pair[1]]) {
			within[max(place[a], place[b])+1]++
		}
	}
	least, sum := 0, 0
	for k := 1; k <= len(order); k++ {
		sum += within[k]
		if k >= 3 && k%2 == 1 {
			least = max(least, (sum+k/2-1)/(k/2))
		}
	}
	return least
}
