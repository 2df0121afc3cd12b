package audit

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"linerate/internal/model/flow"
)

// rate is what one link can carry, and link what it does carry, in bit/s, as of
// sciencetest.Hashed.
const (
	rate = 992e6
	link = 0.995 * rate
)

// mode is one of the values that a trial can have, in links' worth, and how often.
type mode struct{ share, value float64 }

// outcome is a trial's value in links' worth, and where its flows went, if it has any.
type outcome struct {
	value float64
	on    []int // links, from 0
}

// law is how the trials of a treatment come out.
type law struct {
	draw  func(*rand.Rand) outcome
	modes []mode // a single one: the values scatter around their mean
	// links are the equal-cost links that flows are hashed on, by their weights; ports is
	// how their source ports were chosen. None: theory knows nothing of the modes.
	links []int
	ports string
}

// mixture draws one of several modes and scatters by so much of it (standard deviation).
func mixture(scatter float64, modes ...mode) law {
	return law{modes: modes, draw: func(r *rand.Rand) outcome {
		at, p := 0, r.Float64()
		for p >= modes[at].share && at < len(modes)-1 {
			p -= modes[at].share
			at++
		}
		return outcome{value: modes[at].value * (1 + scatter*r.NormFloat64())}
	}}
}

// steady scatters around a value.
func steady(value, scatter float64) law { return mixture(scatter, mode{1, value}) }

// lognormal has the mean 1 and so much scatter of its logarithm.
func lognormal(sigma float64) law {
	return law{modes: []mode{{1, 1}}, draw: func(r *rand.Rand) outcome {
		return outcome{value: math.Exp(sigma*r.NormFloat64() - sigma*sigma/2)}
	}}
}

// hashed are flows that a hash of drawn ports places on links of such weights. What used
// links carry scatters by so much.
func hashed(scatter float64, flows int, weights ...int) law {
	total := 0
	for _, w := range weights {
		total += w
	}
	pick := func(at int) int {
		link := 0
		for at >= weights[link] {
			at -= weights[link]
			link++
		}
		return link
	}
	l := law{links: weights, ports: "drawn", draw: func(r *rand.Rand) outcome {
		on := make([]int, flows)
		for i := range on {
			on[i] = pick(r.IntN(total))
		}
		return outcome{float64(used(on)) * (1 + scatter*r.NormFloat64()), on}
	}}
	// The chance of a set of links being the used ones, by inclusion and exclusion.
	chances := make([]float64, len(weights)+1)
	for set := 1; set < 1<<len(weights); set++ {
		n, chance := bits.OnesCount(uint(set)), 0.0
		for part := set; part > 0; part = (part - 1) & set {
			share := 0.0
			for i, w := range weights {
				share += float64(part>>i&1*w) / float64(total)
			}
			sign := 1 - 2*float64((n-bits.OnesCount(uint(part)))%2)
			chance += sign * math.Pow(share, float64(flows))
		}
		chances[n] += chance
	}
	for n, chance := range chances {
		if n > 0 && chance > 1e-9 {
			l.modes = append(l.modes, mode{chance, float64(n)})
		}
	}
	return l
}

// spread are flows whose ports were chosen to use every link.
func spread(scatter float64, flows, links int) law {
	l := hashed(scatter, flows, slices.Repeat([]int{1}, links)...)
	on := make([]int, flows)
	for i := range on {
		on[i] = i % links
	}
	l.ports, l.modes = flow.PortsEven, []mode{{1, float64(min(flows, links))}}
	l.draw = func(r *rand.Rand) outcome {
		return outcome{l.modes[0].value * (1 + scatter*r.NormFloat64()), on}
	}
	return l
}

// used is how many links flows are on.
func used(on []int) int {
	seen := map[int]bool{}
	for _, link := range on {
		seen[link] = true
	}
	return len(seen)
}

func (l law) mean() float64 { return meanOf(l.modes) }

// meanOf is the mean of the trials that fall into these modes.
func meanOf(modes []mode) float64 {
	sum, share := 0.0, 0.0
	for _, m := range modes {
		sum, share = sum+m.share*m.value, share+m.share
	}
	return sum / share
}

// shown are the means that trials can show which miss events rarer than a share: the mean
// of all, and of what is left when modes of together less than that never occur.
func (l law) shown(missed float64) []float64 {
	means := []float64{l.mean()}
	for set := 1; set < 1<<len(l.modes)-1; set++ { // the modes that occur
		var left []mode
		gone := 0.0
		for i, m := range l.modes {
			if set>>i&1 == 1 {
				left = append(left, m)
			} else {
				gone += m.share
			}
		}
		if gone < missed {
			means = append(means, meanOf(left))
		}
	}
	return means
}

// network is a set of treatments in blocks: what is simulated.
type network struct {
	name  string
	laws  []law // of the baseline and the levels, which take turns at the laws but the first
	limit float64
	// blocks is what each block multiplies its trials by; nil: nothing. The truth is the
	// mean over the blocks of the run.
	blocks func(r *rand.Rand, n int) []float64
	// outlier: one trial of the run has 30 % less.
	outlier bool
	// requests are what is timed; nil: trials have values and no distributions.
	requests *requests
}

// alike is a network whose levels change nothing.
func alike(name string, l law) network {
	most := 0.0
	for _, m := range l.modes {
		most = max(most, m.value)
	}
	return network{name: name, laws: []law{l, l}, limit: most}
}

// law is that of a treatment; 0 is the baseline.
func (w network) law(treatment int) law {
	if treatment == 0 {
		return w.laws[0]
	}
	return w.laws[1+(treatment-1)%(len(w.laws)-1)]
}

// walk is an AR(1) process around 1, with this correlation of neighbours and scatter.
func walk(correlation, scatter float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		values, at := make([]float64, n), r.NormFloat64()
		for i := range values {
			values[i] = 1 + scatter*at
			at = correlation*at + math.Sqrt(1-correlation*correlation)*r.NormFloat64()
		}
		return values
	}
}

// drift rises by so much from the first block to the last, around 1.
func drift(by float64) func(*rand.Rand, int) []float64 {
	return func(_ *rand.Rand, n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = 1 + by*(float64(i)/float64(max(1, n-1))-0.5)
		}
		return values
	}
}

// disturbed is a run with so much less in its second block, whatever is tried in it.
func disturbed(by float64) func(*rand.Rand, int) []float64 {
	return func(_ *rand.Rand, n int) []float64 {
		values := slices.Repeat([]float64{1}, n)
		values[1] -= by
		return values
	}
}

// values are the trials of a run, by treatment and block, and each treatment's mean over
// the blocks of the run.
func (w network) values(r *rand.Rand, treatments, blocks int) (values [][]outcome, means []float64) {
	factor := slices.Repeat([]float64{1}, blocks)
	if w.blocks != nil {
		factor = w.blocks(r, blocks)
	}
	over := 0.0
	for _, f := range factor {
		over += f / float64(blocks)
	}
	for t := range treatments {
		l, row := w.law(t), make([]outcome, blocks)
		for b := range row {
			row[b] = l.draw(r)
			row[b].value *= factor[b]
		}
		values, means = append(values, row), append(means, l.mean()*over)
	}
	if w.outlier {
		values[r.IntN(treatments)][r.IntN(blocks)].value *= 0.7
	}
	return values, means
}
