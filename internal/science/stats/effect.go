package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
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
// baseline level, or with the one that it is against, all other factors equal, over the blocks that have both, in the
// first of the responses (none: goodput); the others are beside. Unknown
// intervals have Low and High zero. The effects in one response are a family of
// their own: asking for another one takes nothing from the first.
func Effects(factors []record.Factor, trials []record.Trial, confidence, margin float64, responses ...metric.Metric) []record.Effect {
	return inAll(comparisons(factors, trials), confidence, margin, responses)
}

// Between is Effects of a design that has not every combination of levels: where
// one of the two was not tried there is nothing to compare, and nothing is missing.
func Between(factors []record.Factor, trials []record.Trial, confidence, margin float64, responses ...metric.Metric) []record.Effect {
	list := slices.DeleteFunc(comparisons(factors, trials), func(c comparison) bool { return len(c.base) == 0 || len(c.level) == 0 })
	return inAll(list, confidence, margin, responses)
}

func inAll(list []comparison, confidence, margin float64, responses []metric.Metric) []record.Effect {
	if len(responses) == 0 {
		responses = []metric.Metric{metric.Goodput}
	}
	effects := judge(list, responses[0], confidence, margin)
	for _, r := range responses[1:] {
		for i, e := range judge(list, r, confidence, margin) {
			effects[i].Beside = append(effects[i].Beside, e)
		}
	}
	return effects
}

// comparison is a level and its baseline, all else equal, with their trials.
type comparison struct {
	effect      record.Effect // what is compared
	base, level []*record.Trial
}

func comparisons(factors []record.Factor, trials []record.Trial) []comparison {
	var list []comparison
	for _, f := range factors {
		if f.Role == "condition" {
			continue
		}
		for _, at := range settled(factors, trials, f.Name) {
			for _, level := range f.Levels {
				if level.Name == f.Baseline {
					continue
				}
				from := cmp.Or(level.Against, f.Baseline)
				base, mine := having(trials, f.Name, from, at), having(trials, f.Name, level.Name, at)
				if len(mine) == 0 && len(base) == 0 {
					continue // not part of this run
				}
				list = append(list, comparison{record.Effect{Factor: f.Name, From: from, To: level.Name, At: at}, base, mine})
			}
		}
	}
	return list
}

// judge makes the effects of comparisons in one response.
func judge(list []comparison, r metric.Metric, confidence, margin float64) []record.Effect {
	each := Sidak(confidence, len(list))
	effects, ps := make([]record.Effect, len(list)), make([]float64, len(list))
	for i, c := range list {
		if r.Name == metric.Goodput.Name {
			effects[i], ps[i] = c.goodput(each, margin)
		} else {
			effects[i], ps[i] = c.in(r, each, margin)
		}
	}
	for i, p := range Holm(ps) {
		effects[i].P = p
	}
	return effects
}

// goodput judges the comparison by goodput.
func (c comparison) goodput(confidence, margin float64) (record.Effect, float64) {
	e := c.effect
	pairs, _ := c.pairs(metric.Goodput)
	ratio, p, why := Ratio(pairs, confidence)
	e.Ratio = record.RatioEstimate{Mean: ratio.Mean, Low: ratio.Low, High: ratio.High}
	e.Blocks, e.Verdict, e.Why = ratio.N, Verdict(ratio, margin), why
	if e.Why == Nothing {
		most := 0.0 // the level's limit
		for _, t := range c.level {
			most = max(most, t.LimitBps)
		}
		e.Ratio, p = record.RatioEstimate{None: true}, signTest(pairs)
		e.Verdict, e.Why = overNothing(pairs, most, margin)
	}
	if e.Why == "" && e.Verdict == record.Inconclusive {
		e.Why = fmt.Sprintf(Spans+"%.2f× to %.2f×", ratio.Low, ratio.High)
	}
	return e, p
}

// pairs are the values of the blocks that have both; missing is how many blocks
// have both trials and not both values. A block tried twice, as after a resumed
// run, counts with its latest trial.
func (c comparison) pairs(r metric.Metric) (pairs []Pair, missing int) {
	base, level := map[int]*record.Trial{}, map[int]*record.Trial{}
	for _, t := range c.base {
		base[t.Block] = t
	}
	for _, t := range c.level {
		level[t.Block] = t
	}
	for _, block := range slices.Sorted(maps.Keys(base)) {
		if level[block] == nil {
			continue
		}
		b, hasBase := r.Value(base[block])
		l, hasLevel := r.Value(level[block])
		if hasBase && hasLevel {
			pairs = append(pairs, Pair{b, l})
		} else {
			missing++
		}
	}
	return pairs, missing
}

// Narrow reports whether every effect is known as narrowly as asked: half its
// interval, relative to its size. What may be below zero has no size to go by, and its
// interval is held against what was asked itself, or what does not matter. Without
// effects the treatments' own estimates are held to it.
func Narrow(effects []record.Effect, treatments []record.Treatment, until float64) bool {
	narrow := func(of string, mean, low, high float64, known bool) bool {
		most := until * math.Abs(mean)
		if r, ok := metric.Find(of); ok && r.Signed {
			most = max(r.Floor, until)
		}
		return known && (high-low)/2 <= most
	}
	if len(effects) == 0 {
		for _, t := range treatments {
			e := metric.Goodput.Estimate(&t)
			if len(t.Responses) > 0 {
				e = t.Responses[0]
			}
			if !narrow(e.Response, e.Mean, e.Low, e.High, e.Confidence > 0) {
				return false
			}
		}
		return len(treatments) > 0
	}
	for _, e := range effects {
		mean, low, high := e.Ratio.Mean, e.Ratio.Low, e.Ratio.High
		known := e.Blocks > 1 && (high > 0 || mean == 0) // more blocks would make no ratio of None, either
		if r, ok := metric.Find(e.Response); ok && r.Signed && e.Difference != nil {
			mean, low, high, known = e.Difference.Mean, e.Difference.Low, e.Difference.High, e.Blocks > 1
		}
		if !narrow(e.Response, mean, low, high, known) {
			return false
		}
	}
	return true
}

// settled lists the combinations of the levels of all factors but one that trials
// have, in the order of the levels.
func settled(factors []record.Factor, trials []record.Trial, except string) []map[string]string {
	found := map[string][]int{} // places of the levels, by their spelling
	for _, t := range trials {
		var places []int
		for _, f := range factors {
			if f.Name == except {
				continue
			}
			at := slices.IndexFunc(f.Levels, func(l record.Level) bool { return l.Name == t.Levels[f.Name] })
			places = append(places, at)
		}
		if !slices.Contains(places, -1) {
			found[fmt.Sprint(places)] = places
		}
	}
	var list []map[string]string
	for _, places := range slices.SortedFunc(maps.Values(found), slices.Compare) {
		var at map[string]string
		i := 0
		for _, f := range factors {
			if f.Name == except {
				continue
			}
			if at == nil {
				at = map[string]string{}
			}
			at[f.Name] = f.Levels[places[i]].Name
			i++
		}
		list = append(list, at)
	}
	return list
}

// having lists the trials of one treatment.
func having(trials []record.Trial, factor, level string, at map[string]string) []*record.Trial {
	var list []*record.Trial
	for i := range trials {
		if with(trials[i], factor, level, at) {
			list = append(list, &trials[i])
		}
	}
	return list
}

func with(t record.Trial, factor, level string, at map[string]string) bool {
	for f, l := range at {
		if t.Levels[f] != l {
			return false
		}
	}
	return t.Levels[factor] == level
}

func sortBy(order []int, key []float64) {
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
}
