package ecmp

import (
	"errors"
	"fmt"
	"slices"
)

// This file simulates many flows in a Clos network (C. Clos, 1953): hosts connect to leaves, leaves
// to every spine and, if Core is set, the spines of several pods to cores. Every leaf and every
// spine on the way up chooses among equal-cost links by hash. Then links are shared max-min fairly,
// which is close to how TCP flows of one round-trip time share them.
//
// The simulation computes the resulting rates, not how flows reach them: it has no packets, queues
// or time. The same seed gives the same result. What the links of a single sender carry is computed
// exactly, in spread.go.

// Fabric describes a Clos network.
type Fabric struct {
	Hosts, HostsPerLeaf int
	HostBps             float64
	// Up are the links of each leaf, one to each spine. Core are the links of each spine, one to
	// each of its cores. Without Core every leaf connects to every spine; with Core a leaf connects
	// to the spines of its pod, which has LeavesPerPod leaves. Links are as fast down as up.
	Up, Core     Links
	LeavesPerPod int
}

// Key says which fields routers hash, and thus which flows have the same hash.
type Key int

const (
	PerFlow Key = iota // addresses and ports are hashed: each flow has its own hash
	PerPair            // addresses are hashed: one hash for each pair of hosts
	One                // everything has the same hash
)

// FabricLoad describes the flows in a fabric. Their hosts are random.
type FabricLoad struct {
	Kinds []Kind // single flows; Key decides how they are bundled
	// Pairs is the number of pairs of hosts that the flows are between; 0: each flow has its own.
	Pairs int
	Key   Key
	// SameSeed reports whether all routers hash with the same seed.
	SameSeed bool
}

// These constants bound a simulation's memory, 12 bytes for each flow and 4 for each link on its path, and keep
// indexes within 31 bits, and a route within 64.
const (
	mostHosts = 1_000_000 // below 1<<hostBits
	mostFlows = 10_000_000
	mostLinks = 50_000_000
)

// Check returns an error that joins all mistakes in a fabric and its load. Nil: there are none.
func (f Fabric) Check(load FabricLoad) error {
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if f.Hosts < 2 || f.Hosts > mostHosts {
		say("%d hosts: expected 2 to %d", f.Hosts, mostHosts)
	}
	if f.HostsPerLeaf < 1 {
		say("%d hosts per leaf: expected at least one", f.HostsPerLeaf)
	}
	if !(f.HostBps > 0) {
		say("hosts' links of %g bit/s: expected more than 0", f.HostBps)
	}
	if len(f.Core) > 0 && f.LeavesPerPod < 1 {
		say("%d leaves per pod: expected at least one", f.LeavesPerPod)
	}
	if err := f.Up.Check(); err != nil {
		wrong = append(wrong, err)
	}
	if _, flows := totals(load.Kinds); flows < 1 || flows > mostFlows {
		say("%d flows: expected 1 to %d", flows, mostFlows)
	}
	if load.Pairs < 0 || load.Pairs > mostFlows {
		say("%d pairs of hosts: expected 0 to %d", load.Pairs, mostFlows)
	}
	if most := 1 << choiceBits; len(f.Up) > most || len(f.Core) > most {
		say("%d links of a leaf and %d of a spine: expected at most %d each", len(f.Up), len(f.Core), most)
	}
	if len(wrong) == 0 && f.links() > mostLinks {
		say("%d links: expected at most %d", f.links(), mostLinks)
	}
	return errors.Join(wrong...)
}

// Leaves returns the number of leaves, of HostsPerLeaf hosts each, that the hosts need.
func (f Fabric) Leaves() int { return (f.Hosts + f.HostsPerLeaf - 1) / f.HostsPerLeaf }

// Pods returns the number of pods that the leaves need; 1 without Core.
func (f Fabric) Pods() int {
	if len(f.Core) == 0 {
		return 1
	}
	return (f.Leaves() + f.LeavesPerPod - 1) / f.LeavesPerPod
}

// Spines returns the number of spines in all pods, and Cores that of the cores behind them: core c
// of spine s is the same in every pod.
func (f Fabric) Spines() int { return f.Pods() * len(f.Up) }
func (f Fabric) Cores() int  { return len(f.Up) * len(f.Core) }

func (f Fabric) links() int {
	return 2 * (f.Hosts + f.Leaves()*len(f.Up) + f.Spines()*len(f.Core))
}

func (f Fabric) leaf(host int) int { return host / f.HostsPerLeaf }

func (f Fabric) pod(leaf int) int {
	if len(f.Core) == 0 {
		return 0
	}
	return leaf / f.LeavesPerPod
}

// Links are numbered by tier: hosts, leaves to spines, spines to cores. In each tier all links that
// lead up precede those that lead down.
func (f Fabric) leafLink(leaf, spine int, down bool) int32 {
	at := leaf*len(f.Up) + spine
	if down {
		at += f.Leaves() * len(f.Up)
	}
	return int32(2*f.Hosts + at)
}

func (f Fabric) spineLink(pod, spine, core int, down bool) int32 {
	at := (pod*len(f.Up)+spine)*len(f.Core) + core
	if down {
		at += f.Spines() * len(f.Core)
	}
	return int32(2*(f.Hosts+f.Leaves()*len(f.Up)) + at)
}

// tiers returns the number of the first link of each tier, and the number of links.
func (f Fabric) tiers() []int {
	all := []int{0, 2 * f.Hosts, 2 * (f.Hosts + f.Leaves()*len(f.Up))}
	if len(f.Core) > 0 {
		all = append(all, f.links())
	}
	return all
}

// rates appends the rates of all links. If traffic is spread evenly, the links of a leaf, and all
// links from the spines of a pod to cores, act as one: the first has the sum of their rates.
func (f Fabric) rates(rates []float64, even bool) []float64 {
	rates = slices.Grow(rates[:0], f.links())
	for range 2 * f.Hosts {
		rates = append(rates, f.HostBps)
	}
	for _, group := range []struct {
		links Links
		n     int
	}{{f.Up, 2 * f.Leaves()}, {slices.Repeat(f.Core, len(f.Up)), 2 * f.Pods()}} {
		one := group.links.rates()
		if even && len(one) > 0 {
			one[0] = group.links.RateBps()
		}
		for range group.n {
			rates = append(rates, one...)
		}
	}
	return rates
}

// routes are the paths of flows in a fabric, by their hosts and the spine and core that were chosen.
type routes struct {
	hosts, cores int32
	behind       []behind // each host
	// leafDown and spineDown are what the numbers of links that lead down exceed those of the links up by.
	leafDown, spineDown int32
	chosen              []route
}

// behind has the first links up of a host's leaf and pod.
type behind struct{ leaf, pod int32 }

// route has the two hosts, a spine and a core in hostBits and choiceBits each.
type route uint64

const hostBits, choiceBits = 20, 12

func routeOf(from, to, spine, core int) route {
	return ((route(from)<<hostBits|route(to))<<choiceBits|route(spine))<<choiceBits | route(core)
}

// begin makes room for the routes of flows.
func (r *routes) begin(f Fabric, flows int) {
	r.chosen, r.behind = sized(r.chosen, flows), sized(r.behind, f.Hosts)
	r.hosts, r.cores = int32(f.Hosts), int32(len(f.Core))
	for host := range r.behind {
		leaf := f.leaf(host)
		r.behind[host] = behind{f.leafLink(leaf, 0, false), f.spineLink(f.pod(leaf), 0, 0, false)}
	}
	r.leafDown = f.leafLink(0, 0, true) - f.leafLink(0, 0, false)
	r.spineDown = f.spineLink(0, 0, 0, true) - f.spineLink(0, 0, 0, false)
}

func (r *routes) Flows() int { return len(r.chosen) }

func (r *routes) Links(list []int32, flow int32) []int32 {
	const host, choice = 1<<hostBits - 1, 1<<choiceBits - 1
	c := r.chosen[flow]
	from, to := int32(c>>(hostBits+2*choiceBits)), int32(c>>(2*choiceBits)&host)
	list = append(list, from, r.hosts+to)
	a, b := r.behind[from], r.behind[to]
	if a.leaf == b.leaf {
		return list
	}
	spine := int32(c >> choiceBits & choice)
	list = append(list, a.leaf+spine, b.leaf+r.leafDown+spine)
	if a.pod == b.pod {
		return list
	}
	core := spine*r.cores + int32(c&choice)
	return append(list, a.pod+core, b.pod+r.spineDown+core)
}
