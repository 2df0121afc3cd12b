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

// These constants bound a simulation's memory, some tens of bytes for each flow and link on its
// path, and keep indexes within 31 bits.
const (
	mostHosts = 1_000_000
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
func (f Fabric) hostLink(host int, down bool) int32 {
	if down {
		host += f.Hosts
	}
	return int32(host)
}

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

// stride returns the number of links on the longest path.
func (f Fabric) stride() int {
	if len(f.Core) > 0 {
		return 6
	}
	return 4
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

// path fills to with the links from one host to another by the chosen spine and core, and with none
// in the places that the path does not need.
func (f Fabric) path(to []int32, from, dest, spine, core int) {
	for i := range to {
		to[i] = none
	}
	a, b := f.leaf(from), f.leaf(dest)
	to[0], to[1] = f.hostLink(from, false), f.hostLink(dest, true)
	if a == b {
		return
	}
	to[2], to[3] = f.leafLink(a, spine, false), f.leafLink(b, spine, true)
	if p, q := f.pod(a), f.pod(b); p != q {
		to[4], to[5] = f.spineLink(p, spine, core, false), f.spineLink(q, spine, core, true)
	}
}
