// Package ecmp implements the theory of hashing: flows fall on equal-cost links by chance, and the
// package computes how many links they use, what they carry together, and how certain that is. The
// results are exact where a formula exists, in forms that only add and multiply positive terms, so
// that nothing cancels; otherwise the package makes draws from a seed. It knows neither addresses
// nor the kernel's hash function, which decides which flow falls on which link, and treats that
// function as ideal. Fabrics of many hosts are in clos.go.
//
// The kernel divides the range of its hash among next hops by weight (hash-threshold, RFC 2992;
// net/ipv4/fib_semantics.c).
package ecmp

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Link is one of several links that a hash chooses from.
type Link struct {
	RateBps float64
	Weight  float64
}

// Links are the equal-cost links over which a router or host splits its flows.
type Links []Link

// Alike returns n links of one rate and weight 1.
func Alike(n int, rateBps float64) Links {
	return slices.Repeat(Links{{RateBps: rateBps, Weight: 1}}, n)
}

// Check returns what is wrong with links; nil: nothing.
func (l Links) Check() error {
	if len(l) == 0 {
		return fmt.Errorf("no links: expected at least one")
	}
	for i, link := range l {
		if !(link.RateBps > 0) || math.IsInf(link.RateBps, 1) {
			return fmt.Errorf("link %d has the rate %g bit/s: expected more than 0", i+1, link.RateBps)
		}
		if !(link.Weight > 0) || math.IsInf(link.Weight, 1) {
			return fmt.Errorf("link %d has the weight %g: expected more than 0", i+1, link.Weight)
		}
	}
	return nil
}

// RateBps returns the sum of the links' rates.
func (l Links) RateBps() float64 { return floats.Sum(l.rates()) }

// Chances returns the probability of each link to be chosen for a flow.
func (l Links) Chances() []float64 {
	chances := make([]float64, len(l))
	for i, link := range l {
		chances[i] = link.Weight
	}
	floats.Scale(1/floats.Sum(chances), chances)
	return chances
}

// Kind is a number of equal bundles of flows. A bundle consists of the flows with one hash, which
// are placed together: under a hash of addresses, all flows between two addresses.
type Kind struct {
	Count int     // of bundles
	Flows int     // in each bundle; 0 is 1
	Bps   float64 // demand of a bundle; 0: as much as it gets
}

func (k Kind) flows() int { return max(1, k.Flows) }

// bundle deals out flows in turn into this many bundles, each of which is placed as a whole: the
// flows between one pair of addresses, if ports are not hashed. Bps of flows is the demand of each
// flow.
func bundle(flows []Kind, bundles int) []Kind {
	sum := make([]Kind, bundles)
	unlimited := make([]bool, bundles)
	at := 0
	for _, kind := range flows {
		// Whole rounds give equally to every bundle; the rest goes to the next bundles in turn.
		whole, rest := kind.Count/bundles, kind.Count%bundles
		for i := range sum {
			n := whole
			if (i-at+bundles)%bundles < rest {
				n++
			}
			sum[i].Flows += n
			sum[i].Bps += float64(n) * kind.Bps
			unlimited[i] = unlimited[i] || n > 0 && kind.Bps == 0
		}
		at = (at + rest) % bundles
	}
	var kinds []Kind
	for i, bundle := range sum {
		if bundle.Flows == 0 {
			continue
		}
		if unlimited[i] {
			bundle.Bps = 0
		}
		same := slices.IndexFunc(kinds, func(k Kind) bool { return k.Flows == bundle.Flows && k.Bps == bundle.Bps })
		if same < 0 {
			same, kinds = len(kinds), append(kinds, bundle)
		}
		kinds[same].Count++
	}
	return kinds
}

// totals returns the numbers of bundles and of the flows in them.
func totals(kinds []Kind) (bundles, flows int) {
	for _, kind := range kinds {
		bundles += kind.Count
		flows += kind.Count * kind.flows()
	}
	return bundles, flows
}

// allElastic reports whether no kind has a demand.
func allElastic(kinds []Kind) bool {
	return !slices.ContainsFunc(kinds, func(k Kind) bool { return k.Bps > 0 })
}

// class is a number of links that are alike.
type class struct {
	chance, rateBps float64 // of each
	n               int
}

func classes(chances, rates []float64) []class {
	var all []class
	for i, chance := range chances {
		if chance == 0 {
			continue // no flow ever falls there
		}
		same := slices.IndexFunc(all, func(c class) bool { return c.chance == chance && c.rateBps == rates[i] })
		if same < 0 {
			same, all = len(all), append(all, class{chance, rates[i], 0})
		}
		all[same].n++
	}
	// The largest class comes first, because its number in a state then changes fastest.
	slices.SortStableFunc(all, func(a, b class) int { return cmp.Compare(b.n, a.n) })
	return all
}

func (l Links) rates() []float64 {
	rates := make([]float64, len(l))
	for i, link := range l {
		rates[i] = link.RateBps
	}
	return rates
}

// Distinct returns the number of different hashes of the given number of flows between the given
// number of pairs of addresses, under a value of fib_multipath_hash_policy. Flows with the same hash
// have the same next hop. Fields is fib_multipath_hash_fields, for policy 3.
//
// Policy 0 hashes addresses, 1 also ports, 2 the inner addresses of a tunnel, 3 the fields of
// fib_multipath_hash_fields (Documentation/networking/ip-sysctl.rst).
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
