package stats

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Trials of one treatment scatter around one value, or they jump: some carry everything and some
// half, or nothing. Student's t does not account for a jump that a few trials happened to miss. But
// a run has other treatments, and what happens there more than once may happen here too. (What only
// one trial shows may be an accident.)

// A treatment jumps if a gap between its sorted values is wider than noise makes it: more than
// jumpNoise times the run's noise, and so large a part of their range that equally likely gaps have
// one with probability jumpChance (R. A. Fisher, 1929). Of a hundred runs with normal noise, equal
// or not, one or two jump (TestJumps).
const (
	jumpNoise  = 4
	jumpChance = 0.01
)

// jumps describes the jumps of a run in one response. noise is the median of the distances of
// values to their nearest neighbour among the n of their treatment, times n + 1, because more
// values are closer.
type jumps struct {
	noise  float64 // relative to a treatment's largest value; of a Signed response, in its unit
	margin float64 // the difference that does not matter, in the unit of noise
	size   float64 // how far at least two trials jump, in the unit of noise; 0: fewer do
	most   float64 // largest value of the run
	// shift is what a block did to all treatments alike, relative to their values. Paired
	// comparisons are not affected by it, and it is not a jump. Blocks without a shift have no
	// entry.
	shift map[int]float64
}

// jumpsOf finds the jumps of a run in a response. It leaves out trials that theory leaves to
// chance, because what they do is explained. A gap within the margin does not matter and is no
// jump.
func jumpsOf(run *record.Run, r metric.Metric) jumps {
	j := jumps{margin: run.Margin, shift: shifts(run, r)}
	groups := map[string][]float64{}
	for i := range run.Trials {
		t := &run.Trials[i]
		value, ok := r.Value(t)
		if !ok {
			continue
		}
		j.most = max(j.most, value)
		if chance(t, r) == nil {
			key := treatmentOf(run, t)
			groups[key] = append(groups[key], j.level(t, value))
		}
	}
	var nearest []float64
	for key, values := range groups {
		values = relative(values, r)
		groups[key] = values
		for i := range values {
			if len(values) > 1 {
				nearest = append(nearest, neighbour(values, i)*float64(len(values)+1))
			}
		}
	}
	if len(nearest) == 0 {
		return j
	}
	slices.Sort(nearest)
	j.noise = nearest[len(nearest)/2]
	var sizes []float64 // of each trial on the smaller side of a jump
	for _, values := range groups {
		at := j.in(values)
		for range min(at, len(values)-at) {
			sizes = append(sizes, values[len(values)-1]-values[0])
		}
	}
	if slices.Sort(sizes); len(sizes) > 1 {
		j.size = sizes[len(sizes)-2]
	}
	return j
}

// shifts finds the blocks that changed at least four of five treatments alike, by more than the
// margin.
func shifts(run *record.Run, r metric.Metric) map[int]float64 {
	values, moves := map[string][]float64{}, map[int][]float64{}
	each := func(do func(key string, block int, value float64)) {
		for i := range run.Trials {
			t := &run.Trials[i]
			if value, ok := r.Value(t); ok && !r.Signed && chance(t, r) == nil {
				do(treatmentOf(run, t), t.Block, value)
			}
		}
	}
	each(func(key string, _ int, value float64) { values[key] = append(values[key], value) })
	medians := map[string]float64{}
	for key, list := range values {
		medians[key] = Median(list)
	}
	each(func(key string, block int, value float64) {
		if medians[key] > 0 {
			moves[block] = append(moves[block], value/medians[key]-1)
		}
	})
	shift := map[int]float64{}
	for block, list := range moves {
		by := Median(list)
		alike := slices.DeleteFunc(list, func(move float64) bool { return math.Abs(move-by) > math.Abs(by)/4 })
		if math.Abs(by) > run.Margin && by > -0.9 && len(alike) >= max(4, (4*len(list)+4)/5) {
			shift[block] = by
		}
	}
	return shift
}

// level returns a trial's value without its block's shift.
func (j jumps) level(t *record.Trial, value float64) float64 { return value / (1 + j.shift[t.Block]) }

// in returns how many of sorted relative values are below their jump; 0: they do not jump.
func (j jumps) in(values []float64) int {
	n, at, gap := len(values), 0, 0.0
	for i := 1; i < n; i++ {
		if d := values[i] - values[i-1]; d > gap {
			at, gap = i, d
		}
	}
	if n < LeastBlocks || gap <= max(jumpNoise*j.noise, j.margin) {
		return 0
	}
	rest := 1 - gap/(values[n-1]-values[0])
	if float64(n-1)*math.Pow(rest, float64(n-2)) > jumpChance {
		return 0
	}
	return at
}

// relative returns the values sorted and divided by the largest; values that may be below zero are
// only sorted.
func relative(values []float64, r metric.Metric) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if most := floats.Norm(sorted, math.Inf(1)); most > 0 && !r.Signed {
		floats.Scale(1/most, sorted)
	}
	return sorted
}

// neighbour returns the distance of the i-th of sorted values to its nearest neighbour.
func neighbour(sorted []float64, i int) float64 {
	d := math.Inf(1)
	if i > 0 {
		d = sorted[i] - sorted[i-1]
	}
	if i < len(sorted)-1 {
		d = min(d, sorted[i+1]-sorted[i])
	}
	return d
}

// chance returns what theory leaves to chance of a trial's value; nil: nothing.
func chance(t *record.Trial, r metric.Metric) *record.Chance {
	if r.Name != metric.Goodput.Name {
		return nil
	}
	return t.Chance
}

// treatmentOf returns a key that identifies a trial's treatment by its levels.
func treatmentOf(run *record.Run, t *record.Trial) string {
	var key strings.Builder
	for _, f := range run.Factors {
		key.WriteString(t.Levels[f.Name] + "\x00")
	}
	return key.String()
}
