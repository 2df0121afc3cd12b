package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/model/metric"
)

// unboundedRatio stands for "no upper bound worth a number": four replicates
// that differ by chance can have an interval beyond what floats or readers hold.
const unboundedRatio = 1e6

// Pair is a level's value and the baseline's in the same block.
type Pair struct{ Base, Level float64 }

// Ratio estimates level over baseline from pairs: geometric mean and t interval
// of the log-ratios when all values are positive, plain ratios otherwise. why
// explains an unknown interval, also that some baselines carried nothing: the ratio is
// then that of the other blocks.
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
		return Interval{N: len(pairs)}, 1, nothing
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

// nothing is the Why of a ratio that does not exist.
const nothing = "the baseline carried nothing"

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
	why = fmt.Sprintf("%s %s, this level %s: there is no ratio", nothing, blocks, unit.FormatRate(mean))
	if len(pairs) > 1 && least > margin*limit {
		return record.Improves, why
	}
	return record.Inconclusive, why
}

// verdict judges an interval, as if more were better: none is the value of no difference,
// and what is within the margin of it does not matter.
func verdict(i Interval, none, margin float64) string {
	switch {
	case !i.Known:
		return record.Inconclusive
	case i.Low >= none-margin && i.High <= none+margin:
		return record.NoDifference
	case i.Low > none:
		return record.Improves
	case i.High < none:
		return record.Worsens
	}
	return record.Inconclusive
}

// Spans begins the Why of an effect that nothing but its interval keeps from
// being known.
const Spans = "the interval spans "

// Effects makes a run's comparisons over the blocks that have both sides: levels has
// each level of every compared factor against the factor's baseline level, or against
// the one that it names, all other factors equal; treatments has each treatment that
// differs from the baseline in several factors against the baseline of its conditions.
// Each is judged by the run's first response and has the others beside it. Unknown
// intervals have Low and High zero. All comparisons in one response are a family, whose
// intervals hold together at the run's confidence; another response is another family
// and takes nothing from the first.
func Effects(run *record.Run) (levels, treatments []record.Effect) {
	list := levelComparisons(run)
	n := len(list)
	list = append(list, treatmentComparisons(run)...)
	responses := metric.Of(run)
	effects := judge(list, responses[0], run.Confidence, run.Margin)
	for _, r := range responses[1:] {
		for i, e := range judge(list, r, run.Confidence, run.Margin) {
			effects[i].Beside = append(effects[i].Beside, e)
		}
	}
	return effects[:n], effects[n:]
}

// comparison is two treatments with their trials.
type comparison struct {
	effect      record.Effect // what is compared
	base, level []*record.Trial
}

// levelComparisons differ in one factor. In a partial design, which does not have every
// combination of levels, there is none where one side was not tried.
func levelComparisons(run *record.Run) (list []comparison) {
	for _, f := range run.Factors {
		if f.Role == "condition" {
			continue
		}
		for _, at := range settled(run.Factors, run.Trials, f.Name) {
			for _, level := range f.Levels {
				if level.Name == f.Baseline {
					continue
				}
				from := cmp.Or(level.Against, f.Baseline)
				base, mine := having(run.Trials, f.Name, from, at), having(run.Trials, f.Name, level.Name, at)
				if len(mine) == 0 && (len(base) == 0 || run.Design.Partial) || len(base) == 0 && run.Design.Partial {
					continue
				}
				list = append(list, comparison{record.Effect{Factor: f.Name, From: from, To: level.Name, At: at}, base, mine})
			}
		}
	}
	return list
}

// treatmentComparisons differ in several factors. A level that is compared with
// another one than the baseline is not compared with the baseline here either.
func treatmentComparisons(run *record.Run) (list []comparison) {
	seen := map[string]bool{}
	for i := range run.Trials {
		t := &run.Trials[i]
		if seen[t.Treatment] {
			continue
		}
		seen[t.Treatment] = true
		changed, conditions, baseline := 0, map[string]string(nil), map[string]string{}
		for _, f := range run.Factors {
			name := t.Levels[f.Name]
			baseline[f.Name] = f.Baseline
			switch at := slices.IndexFunc(f.Levels, func(l record.Level) bool { return l.Name == name }); {
			case f.Role == "condition":
				if conditions == nil {
					conditions = map[string]string{}
				}
				conditions[f.Name], baseline[f.Name] = name, name
			case name == f.Baseline:
			case at >= 0 && cmp.Or(f.Levels[at].Against, f.Baseline) != f.Baseline:
				changed = -len(run.Factors)
			default:
				changed++
			}
		}
		if base := having(run.Trials, "", "", baseline); changed > 1 && len(base) > 0 {
			e := record.Effect{From: base[0].Treatment, To: t.Treatment, At: conditions}
			list = append(list, comparison{e, base, having(run.Trials, "", "", t.Levels)})
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
	e.Blocks = ratio.N
	byRatio(&e, ratio, why, margin)
	if e.Why == nothing {
		most := 0.0 // the level's limit
		for _, t := range c.level {
			most = max(most, t.LimitBps)
		}
		e.Ratio, p = record.EffectSize{None: true}, signTest(pairs)
		e.Verdict, e.Why = overNothing(pairs, most, margin)
	}
	return e, p
}

// byRatio makes a ratio the size of an effect, and judges it.
func byRatio(e *record.Effect, ratio Interval, why string, margin float64) {
	e.Ratio = record.EffectSize{Mean: ratio.Mean, Low: ratio.Low, High: ratio.High}
	e.Verdict, e.Why = verdict(ratio, 1, margin), why
	if why == "" && e.Verdict == record.Inconclusive {
		e.Why = fmt.Sprintf(Spans+"%.2f× to %.2f×", ratio.Low, ratio.High)
	}
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

// having lists the trials at one level of a factor (empty: of none) and at others.
func having(trials []record.Trial, factor, level string, at map[string]string) []*record.Trial {
	var list []*record.Trial
	for i := range trials {
		fits := trials[i].Levels[factor] == level
		for f, l := range at {
			fits = fits && trials[i].Levels[f] == l
		}
		if fits {
			list = append(list, &trials[i])
		}
	}
	return list
}
