package ecmp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Sizes describes how the sizes of transfers vary around their mean. The zero value: all are equal.
type Sizes struct {
	Law   string // "", Exponential, Pareto or Lognormal
	Shape float64
}

// These are the laws of sizes. Pareto's shape is above 1, because there is no mean otherwise;
// published traffic of data centres has tails of 1.1 to 1.5. The shape of the lognormal is the
// standard deviation of the logarithm.
const (
	exponential = "exponential"
	pareto      = "pareto"
	lognormal   = "lognormal"
)

// Check returns what is wrong with a law and its shape; nil: nothing.
func (s Sizes) Check() error {
	switch s.Law {
	case "", exponential:
		if s.Shape != 0 {
			return fmt.Errorf("%q has no shape", s.Law)
		}
	case pareto:
		if !(s.Shape > 1 && s.Shape <= 100) {
			return fmt.Errorf("shape %g of pareto: expected more than 1, such as 1.2, and at most 100", s.Shape)
		}
	case lognormal:
		if !(s.Shape > 0 && s.Shape <= 10) {
			return fmt.Errorf("shape %g of lognormal: expected more than 0, such as 2, and at most 10", s.Shape)
		}
	default:
		return fmt.Errorf("no law %q: expected %s, %s or %s", s.Law, exponential, pareto, lognormal)
	}
	return nil
}

// draw returns a random size; the mean of sizes is 1.
func (s Sizes) draw(source *rand.Rand) float64 {
	switch s.Law {
	case exponential:
		return source.ExpFloat64()
	case pareto:
		return (s.Shape - 1) / s.Shape * math.Pow(1-source.Float64(), -1/s.Shape)
	case lognormal:
		return math.Exp(s.Shape*source.NormFloat64() - s.Shape*s.Shape/2)
	}
	return 1
}

// Draws holds the results of random placements. Each replicate has new hashes.
type Draws struct {
	CarriedBps  []float64 // what all flows carried in each replicate, sorted
	Busiest     float64   // mean share of the flows on the busiest link of the first tier
	SomeUnused  float64   // share of replicates in which some link of the first tier is unused
	UsedSecond  float64   // mean number of used links of the second tier
	TogetherBps float64   // all transfers divided by the mean time until the last is done; 0: not requested
	MeanBps     float64
	MeanSEBps   float64 // standard error of MeanBps
	Replicates  int
}

// Draw places flows of these kinds at random, in the given number of replicates. If sizes is not nil,
// which requires flows without a demand, it also computes how long transfers of such sizes take that
// begin at the same time (TogetherBps).
func (t Tiers) Draw(kinds []Kind, sizes *Sizes, replicates int, seed uint64) Draws {
	source := rand.New(rand.NewPCG(seed, 0x6c696e6572617465))
	var d Draws
	cells := t.cells()
	demand := make([]float64, len(cells))
	flows := make([]int, len(t.First))
	bytes := make([]float64, len(cells))
	_, total := totals(kinds)
	sent, times := 0.0, 0.0
	scattered := sizes != nil && sizes.Law != "" // each flow has to be drawn alone
	upTo := make([]float64, len(cells))
	for c := range cells {
		upTo[c] = cells[c].chance
	}
	floats.CumSum(upTo, upTo)
	for range replicates {
		clear(demand)
		clear(flows)
		clear(bytes)
		for _, kind := range kinds {
			if scattered {
				for range kind.Count {
					c := pick(upTo, source.Float64())
					cells[c].put(demand, flows, c, 1, kind)
					for range kind.flows() {
						bytes[c] += sizes.draw(source)
					}
				}
				continue
			}
			left, rest := kind.Count, 1.0
			for c, cell := range cells {
				n := draw(source, left, cell.chance/rest)
				if c == len(cells)-1 {
					n = left
				}
				left -= n
				rest -= cell.chance
				cell.put(demand, flows, c, n, kind)
				bytes[c] += float64(n * kind.flows())
			}
		}
		t.count(&d, cells, demand, flows, total)
		if sizes != nil {
			times += t.time(cells, bytes)
			sent += floats.Sum(bytes)
		}
	}
	if times > 0 {
		d.TogetherBps = sent / times
	}
	d.finish(replicates)
	return d
}

// cell is a pair of links, one of each tier, that a flow can take.
type cell struct {
	i, j   int
	chance float64
}

func (t Tiers) cells() []cell {
	var cells []cell
	for i, row := range t.chances() {
		for j, p := range row {
			if p > 0 {
				cells = append(cells, cell{i, j, p})
			}
		}
	}
	return cells
}

func (c cell) put(demand []float64, flows []int, at, n int, kind Kind) {
	flows[c.i] += n * kind.flows()
	demand[at] += float64(n) * kind.Bps
	if n > 0 && kind.Bps == 0 {
		demand[at] = math.Inf(1)
	}
}

// draw returns a binomial random number.
func draw(source *rand.Rand, n int, p float64) int {
	if n == 0 || p <= 0 {
		return 0
	}
	if p >= 1 {
		return n
	}
	return int(distuv.Binomial{N: float64(n), P: p, Src: source}.Rand())
}

// pick returns the cell in which a number from 0 to 1 lies. It searches by bisection, because a
// large fabric has thousands of cells.
func pick(upTo []float64, at float64) int {
	return sort.Search(len(upTo)-1, func(c int) bool { return at < upTo[c] })
}

// count adds one replicate.
func (t Tiers) count(d *Draws, cells []cell, demand []float64, flows []int, total int) {
	behind := make([]float64, len(t.First))
	for c, cell := range cells {
		carried := demand[c]
		if len(t.Second) > 0 {
			carried = min(carried, t.Second[cell.j].RateBps)
			if demand[c] > 0 {
				d.UsedSecond++
			}
		}
		behind[cell.i] += carried
	}
	carried := 0.0
	for i, link := range t.First {
		carried += min(link.RateBps, behind[i])
	}
	d.CarriedBps = append(d.CarriedBps, carried)
	if total > 0 {
		d.Busiest += float64(slices.Max(flows)) / float64(total)
	}
	if slices.Min(flows) == 0 {
		d.SomeUnused++
	}
}

// time returns how long transfers take that begin together: as long as the link that has the most
// bytes for its rate, which is never idle before.
func (t Tiers) time(cells []cell, bytes []float64) float64 {
	behind := make([]float64, len(t.First))
	longest := 0.0
	for c, cell := range cells {
		behind[cell.i] += bytes[c]
		if len(t.Second) > 0 {
			longest = max(longest, bytes[c]/t.Second[cell.j].RateBps)
		}
	}
	for i, link := range t.First {
		longest = max(longest, behind[i]/link.RateBps)
	}
	return longest
}

func (d *Draws) finish(replicates int) {
	n := float64(replicates)
	d.Replicates = replicates
	d.Busiest /= n
	d.SomeUnused /= n
	d.UsedSecond /= n
	slices.Sort(d.CarriedBps)
	d.MeanBps = stat.Mean(d.CarriedBps, nil)
	if replicates > 1 {
		d.MeanSEBps = stat.StdErr(stat.StdDev(d.CarriedBps, nil), n)
	}
}

// Distribution returns the distribution of CarriedBps.
func (d Draws) Distribution() Distribution {
	points := make([]Point, len(d.CarriedBps))
	for i, v := range d.CarriedBps {
		points[i] = Point{v, 1 / float64(len(d.CarriedBps))}
	}
	return collect(points)
}

// Replicates returns a useful number of replicates for these flows that is still quick to draw. It is
// the smaller the more steps a replicate takes.
func (t Tiers) Replicates(kinds []Kind, sizes *Sizes) int {
	const numbers, single, fewest, most = 1 << 21, 1 << 24, 4, 20_000
	draws := numbers / (len(t.cells()) * max(1, len(kinds)))
	if sizes != nil && sizes.Law != "" {
		_, flows := totals(kinds)
		draws = single / max(1, flows)
	}
	return min(max(draws, fewest), most)
}
