package mesh

// chain exchanges items between two rounds. Its lists are kept from call to call.
type chain struct {
	*packing
	held  [2][]int32 // by side and unit: the item that holds it, plus one
	used  [2][]int64 // by side and uplink
	side  []int8     // by item that has been moved in this exchange: the side that it is at, plus one
	moved []int32
	queue []int32 // items that were moved, and may keep others from their rounds
	round [2]int32
}

func (c *chain) init(p *packing) {
	c.packing = p
	c.side = make([]int8, len(p.items))
	for s := range c.held {
		c.held[s], c.used[s] = make([]int32, p.units), make([]int64, len(p.room))
	}
}

// exchange places an item in round a, moves what is in its way there to round b, what is in the way of that
// to round a, and so on. It returns false, and changes nothing, if that does not end.
func (c *chain) exchange(item, a, b int32) bool {
	c.round = [2]int32{a, b}
	c.moved = c.moved[:0]
	c.queue = c.queue[:0]
	for s, round := range c.round {
		for _, k := range c.rounds[round] {
			for _, u := range c.items[k].units {
				c.held[s][u] = k + 1
			}
		}
		for u := range c.used[s] {
			c.used[s][u] = c.load[u][round]
		}
	}
	c.move(item, 0)
	done := c.settle()
	for s, round := range c.round { // what was moved holds units at either side
		for _, k := range c.rounds[round] {
			for _, u := range c.items[k].units {
				c.held[s][u], c.held[1-s][u] = 0, 0
			}
		}
	}
	for _, u := range c.items[item].units {
		c.held[0][u], c.held[1][u] = 0, 0
	}
	if done {
		for _, k := range c.moved {
			if c.at[k] >= 0 {
				c.remove(k)
			}
		}
		for _, k := range c.moved {
			c.put(k, c.round[c.side[k]-1])
		}
	}
	for _, k := range c.moved {
		c.side[k] = 0
	}
	return done
}

// move notes that an item is at a side, and no longer at the other.
func (c *chain) move(item int32, side int8) {
	c.moved = append(c.moved, item)
	c.queue = append(c.queue, item)
	c.side[item] = side + 1
	it := &c.items[item]
	if c.at[item] >= 0 {
		for _, u := range it.units {
			if c.held[1-side][u] == item+1 {
				c.held[1-side][u] = 0
			}
		}
		for _, n := range it.needs {
			c.used[1-side][int(n.uplink)-c.units] -= n.rate
		}
	}
	for _, n := range it.needs {
		c.used[side][int(n.uplink)-c.units] += n.rate
	}
}

// settle moves what is in the way of what was moved, until nothing is.
func (c *chain) settle() bool {
	for {
		for len(c.queue) > 0 {
			item := c.queue[len(c.queue)-1]
			c.queue = c.queue[:len(c.queue)-1]
			side := c.side[item] - 1
			for _, u := range c.items[item].units {
				other := c.held[side][u]
				c.held[side][u] = item + 1
				if other == 0 || other == item+1 {
					continue
				}
				if c.side[other-1] != 0 {
					return false // moved before
				}
				c.move(other-1, 1-side)
				c.held[side][u] = item + 1
			}
		}
		if !c.relieve() {
			return len(c.queue) == 0 && c.within()
		}
	}
}

// relieve moves an item off an uplink that has more than its room. It returns false if there is no such
// uplink, or nothing to move.
func (c *chain) relieve() bool {
	for m := len(c.moved) - 1; m >= 0; m-- {
		k := c.moved[m]
		side := c.side[k] - 1
		for _, n := range c.items[k].needs {
			u := int(n.uplink) - c.units
			if c.used[side][u] <= c.room[u] {
				continue
			}
			best := c.least(n.uplink, side)
			if best < 0 {
				return false
			}
			c.move(best, 1-side)
			return true
		}
	}
	return false
}

// least returns the item on an uplink at a side which is least in the way of others at the other side. -1: all
// have been moved.
func (c *chain) least(uplink int32, side int8) int32 {
	best, fewest := int32(-1), 1<<30
	list := c.rounds[c.round[side]]
	from := 0
	if len(list) > 0 {
		from = c.rng.IntN(len(list))
	}
	for k := range list {
		item := list[(from+k)%len(list)]
		it := &c.items[item]
		if c.side[item] != 0 || !it.uses(uplink) {
			continue
		}
		conflicts := 0
		for _, u := range it.units {
			if h := c.held[1-side][u]; h != 0 {
				if conflicts++; c.side[h-1] != 0 {
					conflicts += 100 // it cannot move again
				}
			}
		}
		for _, n := range it.needs {
			if u := int(n.uplink) - c.units; n.uplink != uplink && c.used[1-side][u]+n.rate > c.room[u] {
				conflicts++
			}
		}
		if conflicts < fewest {
			best, fewest = item, conflicts
		}
		if conflicts == 0 {
			break
		}
	}
	if fewest >= 100 {
		return -1
	}
	return best
}

func (it *item) uses(uplink int32) bool {
	for _, n := range it.needs {
		if n.uplink == uplink {
			return true
		}
	}
	return false
}

// within reports whether no uplink of what was moved has more than its room.
func (c *chain) within() bool {
	for _, k := range c.moved {
		for _, n := range c.items[k].needs {
			u := int(n.uplink) - c.units
			if c.used[0][u] > c.room[u] || c.used[1][u] > c.room[u] {
				return false
			}
		}
	}
	return true
}
