package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"linerate/internal/model/record"
)

// unboundedRatio stands for "no upper bound worth a number": four replicates
// that differ by chance can have an interval beyond what floats or readers hold.
const unboundedRatio = 1e6

// Pair is a level's value and the baseline's in the same block.
type Pair struct{ Base, Level float64 }

// Ratio estimates level over baseline from pairs: geometric mean and t interval
// of the log-ratios when all values are positive, plain ratios otherwise. why
// says what stands in the way when the interval is unknown: also that some
// baselines carried nothing, since the ratio is then that of the other blocks.
func Ratio(pairs []Pair, confidence float64) (ratio Interval, p float64, why string) {
	var logs, plain []float64
	for _, pair := range pairs {
		if pair.Base <= 0 {
			continue
		}
		plain = append(plain, pair.Level/pair.Base)
		if pair.Level > 0 {
			logs = append(logs, math.Log(pair.Level/pair.Base))
		}
	}
	switch {
	case len(pairs) == 0:
		return Interval{}, 1, "no block has both"
	case len(plain) == 0:
		return Interval{N: len(pairs)}, 1, Nothing
	case len(logs) == len(plain):
		ratio, p = Mean(logs, confidence), pValue(logs, 0)
		ratio.Mean = math.Exp(ratio.Mean)
		if ratio.Known {
			ratio.Low, ratio.High = math.Exp(ratio.Low), min(math.Exp(ratio.High), unboundedRatio)
		}
	default:
		ratio, p = Mean(plain, confidence), pValue(plain, 1)
		ratio.Low = max(0, ratio.Low)
	}
	if n := len(pairs) - len(plain); n > 0 {
		ratio.Known, ratio.Low, ratio.High = false, 0, 0
		return ratio, 1, fmt.Sprintf("the baseline carried nothing in %d of %d blocks", n, len(pairs))
	}
	if !ratio.Known {
		return ratio, 1, "a single block: the interval is unknown"
	}
	return ratio, p, ""
}

// Nothing is the Why of a ratio that does not exist.
const Nothing = "the baseline carried nothing"

// signTest is the p-value of how many pairs carry more than a baseline of
// nothing: all that can be said without a ratio.
func signTest(pairs []Pair) float64 {
	more := 0
	for _, pair := range pairs {
		if pair.Level > 0 {
			more++
		}
	}
	return min(1, 2*math.Pow(0.5, float64(more)))
}

// overNothing judges a level against a baseline that carried nothing in any
// block. There is no ratio and no interval; but a level that carries more than
// the margin of its limit in each of several blocks is no chance hit: nothing
// has no noise.
func overNothing(pairs []Pair, limit, margin float64) (verdict, why string) {
	mean, least := 0.0, math.Inf(1)
	for _, pair := range pairs {
		mean += pair.Level / float64(len(pairs))
		least = min(least, pair.Level)
	}
	blocks := "in the only block"
	if len(pairs) > 1 {
		blocks = fmt.Sprintf("in all %d blocks", len(pairs))
	}
	switch {
	case mean == 0 && len(pairs) > 1:
		return record.NoDifference, "both carried nothing " + blocks
	case mean == 0:
		return record.Inconclusive, "both carried nothing " + blocks
	}
	why = fmt.Sprintf("%s %s, this level %s: there is no ratio", Nothing, blocks, rate(mean))
	if len(pairs) > 1 && least > margin*limit {
		return record.Improves, why
	}
	return record.Inconclusive, why
}

// rate spells a bit rate with four digits.
func rate(bps float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if bps >= u.size {
			return fmt.Sprintf("%.4g %s", bps/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.4g bit/s", bps)
}

// Verdict judges a ratio's interval against the practical margin.
func Verdict(ratio Interval, margin float64) string {
	switch {
	case !ratio.Known:
		return record.Inconclusive
	case ratio.Low >= 1-margin && ratio.High <= 1+margin:
		return record.NoDifference
	case ratio.Low > 1:
		return record.Improves
	case ratio.High < 1:
		return record.Worsens
	}
	return record.Inconclusive
}

// Spans begins the Why of an effect that nothing but its interval keeps from
// being known.
const Spans = "the interval spans "

// Effects compares each level of every compared factor with the factor's
// baseline level, all other factors equal, over the blocks that have both.
// Unknown intervals have Low and High zero.
func Effects(factors []record.Factor, trials []record.Trial, confidence, margin float64) []record.Effect {
	var effects []record.Effect
	var pairs [][]Pair
	var most []float64 // the levels' limits
	for _, f := range factors {
		if f.Role == "condition" {
			continue
		}
		for _, at := range combinations(factors, f.Name) {
			base := byBlock(trials, f.Name, f.Baseline, at)
			for _, level := range f.Levels {
				if level.Name == f.Baseline {
					continue
				}
				mine := byBlock(trials, f.Name, level.Name, at)
				if len(mine) == 0 && len(base) == 0 {
					continue // not part of this run
				}
				effects = append(effects, record.Effect{Factor: f.Name, From: f.Baseline, To: level.Name, At: at})
				pairs = append(pairs, paired(base, mine))
				most = append(most, limitOf(trials, f.Name, level.Name, at))
			}
		}
	}
	each := Sidak(confidence, len(effects))
	ps := make([]float64, len(effects))
	for i := range effects {
		e := &effects[i]
		var ratio Interval
		ratio, ps[i], e.Why = Ratio(pairs[i], each)
		e.Ratio = record.RatioEstimate{Mean: ratio.Mean, Low: ratio.Low, High: ratio.High}
		e.Blocks = ratio.N
		e.Verdict = Verdict(ratio, margin)
		if e.Why == Nothing {
			e.Ratio, ps[i] = record.RatioEstimate{None: true}, signTest(pairs[i])
			e.Verdict, e.Why = overNothing(pairs[i], most[i], margin)
		}
		if e.Why == "" && e.Verdict == record.Inconclusive {
			e.Why = fmt.Sprintf(Spans+"%.2f× to %.2f×", ratio.Low, ratio.High)
		}
	}
	for i, p := range Holm(ps) {
		effects[i].P = p
	}
	return effects
}

// Narrow reports whether every effect is known as narrowly as asked: half its
// interval, relative to its size. Without effects the treatments' own estimates
// are held to it.
func Narrow(effects []record.Effect, treatments []record.Treatment, until float64) bool {
	narrow := func(mean, low, high float64, known bool) bool {
		return known && (high-low)/2 <= until*math.Abs(mean)
	}
	if len(effects) == 0 {
		for _, t := range treatments {
			g := t.Goodput
			if !narrow(g.MeanBps, g.LowBps, g.HighBps, g.Confidence > 0) {
				return false
			}
		}
		return len(treatments) > 0
	}
	for _, e := range effects {
		known := e.Blocks > 1 && (e.Ratio.High > 0 || e.Ratio.Mean == 0) // more blocks would make no ratio of None, either
		if !narrow(e.Ratio.Mean, e.Ratio.Low, e.Ratio.High, known) {
			return false
		}
	}
	return true
}

// combinations lists every combination of the levels of all factors but one.
func combinations(factors []record.Factor, except string) []map[string]string {
	list := []map[string]string{nil}
	for _, f := range factors {
		if f.Name == except {
			continue
		}
		var longer []map[string]string
		for _, base := range list {
			for _, level := range f.Levels {
				one := map[string]string{f.Name: level.Name}
				maps.Copy(one, base)
				longer = append(longer, one)
			}
		}
		list = longer
	}
	return list
}

// byBlock finds the goodput of one treatment in each block. A block tried twice,
// as after a resumed run, counts with its latest trial.
func byBlock(trials []record.Trial, factor, level string, at map[string]string) map[int]float64 {
	found := map[int]float64{}
	for _, t := range trials {
		if with(t, factor, level, at) {
			found[t.Block] = t.GoodputBps
		}
	}
	return found
}

// limitOf is the largest limit of one treatment's trials; 0: unknown.
func limitOf(trials []record.Trial, factor, level string, at map[string]string) float64 {
	most := 0.0
	for _, t := range trials {
		if with(t, factor, level, at) {
			most = max(most, t.LimitBps)
		}
	}
	return most
}

func with(t record.Trial, factor, level string, at map[string]string) bool {
	for f, l := range at {
		if t.Levels[f] != l {
			return false
		}
	}
	return t.Levels[factor] == level
}

func paired(base, level map[int]float64) []Pair {
	var pairs []Pair
	for _, block := range slices.Sorted(maps.Keys(base)) {
		if value, ok := level[block]; ok {
			pairs = append(pairs, Pair{base[block], value})
		}
	}
	return pairs
}

func sortBy(order []int, key []float64) {
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
}
