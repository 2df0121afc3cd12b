// Package meshtest simulates measurements between many hosts, with faults that are planted, so that what package
// suspects concludes can be counted as right or wrong.
package meshtest

import (
	"fmt"
	"math"
	"math/rand/v2"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
	"linerate/internal/science/suspects"
)

// Mesh is a network of many hosts in racks, whose uplinks are several links on which a hash places
// flows. All rates are in relation to that of a host's interface.
type Mesh struct {
	Hosts, PerRack int // PerRack 0: all hosts are in one rack, which has no name
	// Flows is how many flows a pair has, Links how many uplinks a rack has, which together carry
	// Headroom times what its hosts do.
	Flows, Links int
	Headroom     float64
	// Noise is the standard deviation of each observation, and HostNoise that of hosts.
	Noise, HostNoise float64
	// Load is how often a pair meets other traffic, which takes 5 to 40 % of it. Missing is how many
	// pairs are not measured, Failing how many fail, and BadRounds how many rounds are 30 % slower.
	Load, Missing, Failing, BadRounds float64
	// Rates has the rates of the last hosts, if they differ by design. The limit of pairs is known.
	Rates []float64
	// Faults are planted.
	Faults []MeshFault
	// Latency: values are times in µs, of which faults and loads make more.
	Latency bool
}

// MeshFault makes the pairs of a suspect carry at most Share of what they do or, if Cap, of the rate
// of an interface. Noisy: it is as often between 40 % and 160 % of that, as by loss. Failing pairs
// have Share 0.
type MeshFault struct {
	record.MeshSuspect
	Share      float64
	Cap, Noisy bool
}

const hostBps = 10e9

// List returns the hosts.
func (m Mesh) List() (hosts []plan.Host) {
	for i := range m.Hosts {
		h := plan.Host{Name: fmt.Sprintf("h%d", i+1), RateBps: hostBps * m.rate(i)}
		if m.PerRack > 0 {
			h.Rack = fmt.Sprintf("r%d", i/m.PerRack+1)
		}
		hosts = append(hosts, h)
	}
	return hosts
}

func (m Mesh) rate(host int) float64 {
	if at := host - (m.Hosts - len(m.Rates)); at >= 0 {
		return m.Rates[at]
	}
	return 1
}

// Triage returns rounds of random permutations, and Shifts rounds with each pair once.
func (m Mesh) Triage(random *rand.Rand, rounds int) (all [][]plan.Pair) {
	for range rounds {
		order := random.Perm(m.Hosts)
		var round []plan.Pair
		for i, from := range order {
			round = append(round, plan.Pair{from, order[(i+1)%m.Hosts]})
		}
		all = append(all, round)
	}
	return all
}

// Shifts returns rounds in which each host sends to the one so much further, times over.
func (m Mesh) Shifts(times int) (all [][]plan.Pair) {
	for range times {
		for shift := 1; shift < m.Hosts; shift++ {
			var round []plan.Pair
			for i := range m.Hosts {
				round = append(round, plan.Pair{i, (i + shift) % m.Hosts})
			}
			all = append(all, round)
		}
	}
	return all
}

// Pack puts pairs into rounds in which a host sends to one and receives from one.
func Pack(pairs []plan.Pair) (rounds [][]plan.Pair) {
	for len(pairs) > 0 {
		sends, receives := map[int]bool{}, map[int]bool{}
		var round, rest []plan.Pair
		for _, p := range pairs {
			if sends[p[0]] || receives[p[1]] {
				rest = append(rest, p)
				continue
			}
			sends[p[0]], receives[p[1]] = true, true
			round = append(round, p)
		}
		rounds, pairs = append(rounds, round), rest
	}
	return rounds
}

// Character is what does not change between the rounds of a mesh.
type Character struct{ tx, rx []float64 }

// Draw draws the hosts of a mesh.
func (m Mesh) Draw(random *rand.Rand) (c Character) {
	for range m.Hosts {
		c.tx = append(c.tx, math.Exp(-math.Abs(m.HostNoise*random.NormFloat64())))
		c.rx = append(c.rx, math.Exp(-math.Abs(m.HostNoise*random.NormFloat64())))
	}
	return c
}

// Measure measures rounds.
func (m Mesh) Measure(random *rand.Rand, c Character, rounds [][]plan.Pair) suspects.Input {
	in := suspects.Input{Hosts: m.List(), Latency: m.Latency}
	for r, round := range rounds {
		bad := 1.0
		if random.Float64() < m.BadRounds {
			bad = 0.7
		}
		shared := m.shared(random, round)
		for i, p := range round {
			in.Wanted = append(in.Wanted, p)
			if random.Float64() < m.Missing {
				continue
			}
			carried := c.tx[p[0]] * c.rx[p[1]] * bad
			if random.Float64() < m.Load {
				carried *= 0.6 + 0.35*random.Float64()
			}
			rate := min(m.rate(p[0]), m.rate(p[1]))
			x := min(carried, shared[i]/rate)
			failed := random.Float64() < m.Failing
			for _, f := range m.Faults {
				if !concerns(in.Hosts, f.MeshSuspect, p) {
					continue
				}
				share := f.Share
				if f.Noisy {
					share *= math.Pow(1.6/0.4, random.Float64()) * 0.4
				}
				if f.Cap {
					x = min(x, share)
				} else {
					x *= share
				}
				failed = failed || f.Share == 0
			}
			x *= math.Exp(m.Noise * random.NormFloat64())
			o := suspects.Observation{Round: r, From: p[0], To: p[1], Value: 0.94 * hostBps * rate * min(1.002, x),
				Limit: 0.942 * hostBps * rate, Failed: failed}
			if m.Latency {
				o.Value, o.Limit = 40/max(x, 1e-3), 0
			}
			in.Observations = append(in.Observations, o)
		}
	}
	return in
}

// shared returns the rate of each pair of a round by the links that its flows share.
func (m Mesh) shared(random *rand.Rand, round []plan.Pair) []float64 {
	all := make([]float64, len(round))
	if m.PerRack == 0 || m.Links == 0 {
		for i := range all {
			all[i] = 1
		}
		return all
	}
	up, down := map[[2]int]int{}, map[[2]int]int{}
	links := make([][]int, len(round))
	for i, p := range round {
		a, b := p[0]/m.PerRack, p[1]/m.PerRack
		for range m.Flows {
			if link := random.IntN(m.Links); a != b {
				links[i] = append(links[i], link)
				up[[2]int{a, link}]++
				down[[2]int{b, link}]++
			}
		}
	}
	each := m.Headroom * float64(m.PerRack) / float64(m.Links)
	for i, p := range round {
		a, b := p[0]/m.PerRack, p[1]/m.PerRack
		for _, link := range links[i] {
			all[i] += each / float64(max(up[[2]int{a, link}], down[[2]int{b, link}]))
		}
		if a == b {
			all[i] = 1
		}
		all[i] = min(all[i], 1)
	}
	return all
}

// concerns reports whether a pair is one of a suspect.
func concerns(hosts []plan.Host, what record.MeshSuspect, p plan.Pair) bool {
	from, to := hosts[p[0]], hosts[p[1]]
	switch what.Kind {
	case record.MeshSends:
		return from.Name == what.Host
	case record.MeshReceives:
		return to.Name == what.Host
	case record.MeshHost:
		return from.Name == what.Host || to.Name == what.Host
	case record.MeshPair:
		return from.Name == what.From && to.Name == what.To
	case record.MeshRacks:
		return from.Rack == what.From && to.Rack == what.To
	}
	return from.Rack != to.Rack && (from.Rack == what.From || to.Rack == what.To)
}
