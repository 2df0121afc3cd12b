// Package ecmp is the theory of hashing: flows fall on equal-cost links by
// chance, and this says how many links they use, what they carry together, and
// how sure that is. It is exact where a formula exists, in forms that only add
// and multiply what is positive, so that nothing cancels; beyond, it draws from
// a seed. It knows neither addresses nor the kernel's hash function, which it
// takes for an ideal one: the kernel decides which flow falls on which link.
// Fabrics of many hosts are in clos.go.
//
// The kernel divides the range of its hash among next hops by weight
// (hash-threshold, RFC 2992; net/ipv4/fib_semantics.c).
package ecmp

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Link is one of several that a hash chooses from.
type Link struct {
	RateBps float64
	Weight  float64
}

// Links are what a router, or a host, splits its flows over.
type Links []Link

// Alike are n links of one rate and weight.
func Alike(n int, rateBps float64) Links {
	return slices.Repeat(Links{{RateBps: rateBps, Weight: 1}}, n)
}

// Check says what is wrong with links.
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

// RateBps is that of all links together.
func (l Links) RateBps() float64 { return floats.Sum(l.rates()) }

// Chances are those of one flow to fall on each link.
func (l Links) Chances() []float64 {
	chances := make([]float64, len(l))
	for i, link := range l {
		chances[i] = link.Weight
	}
	floats.Scale(1/floats.Sum(chances), chances)
	return chances
}

// Kind are flows that are alike. What is placed by one hash goes together: under
// a hash of addresses that is a whole bundle of flows.
type Kind struct {
	Count int     // of bundles
	Flows int     // in each bundle; 0 is 1
	Bps   float64 // the most that a bundle asks for; 0: as much as it gets
}

func (k Kind) flows() int { return max(1, k.Flows) }

// bundle puts flows, dealt out in turn, into that many bundles, which are placed
// as wholes: what becomes of flows between so many pairs of addresses when interfaces
// don't count. Demands are those of flows.
func bundle(flows []Kind, bundles int) []Kind {
	sum := make([]Kind, bundles)
	unlimited := make([]bool, bundles)
	at := 0
	for _, kind := range flows {
		// Whole rounds give to every bundle alike, the rest to the next ones.
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

// totals counts bundles and the flows in them.
func totals(kinds []Kind) (bundles, flows int) {
	for _, kind := range kinds {
		bundles += kind.Count
		flows += kind.Count * kind.flows()
	}
	return bundles, flows
}

// allElastic: each takes as much as it gets.
func allElastic(kinds []Kind) bool {
	return !slices.ContainsFunc(kinds, func(k Kind) bool { return k.Bps > 0 })
}

// class are links that are alike, so that only their number counts.
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
	// The larger classes first: their state then changes fastest.
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

// Distinct is how many hashes there are to place: flows with the same hash
// under a policy of fib_multipath_hash_policy have the same next hop.
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
