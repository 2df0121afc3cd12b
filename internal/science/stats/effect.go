package stats

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Effects returns the comparisons of the run, over the blocks that have both sides. The effects in
// levels compare each level of every compared factor with the factor's baseline level, or with the
// level that Level.Against names, at equal levels of all other factors. Those in treatments compare
// each treatment that differs from the baseline in several factors with the baseline under the same
// conditions. Each effect is judged by the run's first response and has the others in Beside. Unknown
// intervals have Low and High 0. All comparisons in all responses are one family: their intervals
// hold simultaneously at the run's confidence.
func (in *Inference) Effects() (levels, treatments []record.Effect) {
	one, several := comparisons(in.run)
	list, n := slices.Concat(one, several), len(one)
	responses := metric.Of(in.run)
	each := Sidak(in.run.Confidence, len(list)*len(responses))
	effects := in.judge(list, responses[0], each)
	for _, r := range responses[1:] {
		for i, e := range in.judge(list, r, each) {
			effects[i].Beside = append(effects[i].Beside, e)
		}
	}
	correct(effects)
	return effects[:n], effects[n:]
}

// correct replaces the p-values of all comparisons, including those beside them, by Holm's.
func correct(effects []record.Effect) {
	var all []*record.Effect
	for i := range effects {
		all = append(all, &effects[i])
		for k := range effects[i].Beside {
			all = append(all, &effects[i].Beside[k])
		}
	}
	ps := lists.Map(all, func(e *record.Effect) float64 { return e.P })
	for i, p := range Holm(ps) {
		all[i].P = p
	}
}

// comparison is two treatments that are compared, with their trials.
type comparison struct {
	effect      record.Effect // names what is compared
	base, level []*record.Trial
}

// comparisons returns the contrasts of a run with their trials.
func comparisons(run *record.Run) (levels, treatments []comparison) {
	tried := lists.Map(run.Trials, func(t record.Trial) map[string]string { return t.Levels })
	of := func(contrasts []record.Contrast) (list []comparison) {
		for _, c := range contrasts {
			made := comparison{
				effect: record.Effect{Factor: c.Factor, From: c.Base[c.Factor], To: c.Level[c.Factor], At: c.At},
				base:   having(run.Trials, c.Factor, c.Base[c.Factor], c.Base), level: having(run.Trials, c.Factor,
					c.Level[c.Factor], c.Level),
			}
			if c.Factor == "" {
				made.effect.From, made.effect.To = made.base[0].Treatment, made.level[0].Treatment
			}
			list = append(list, made)
		}
		return list
	}
	one, several := record.Contrasts(run.Factors, tried, run.Design.Partial)
	return of(one), of(several)
}

// judge returns the effects of comparisons in one response.
func (in *Inference) judge(list []comparison, r metric.Metric, confidence float64) []record.Effect {
	effects := make([]record.Effect, len(list))
	for i, c := range list {
		effects[i] = in.effect(c, r, confidence)
	}
	return effects
}

// effect judges a comparison by a response. It gives no verdict if a block has trials without a
// value: the value is often missing because the result was too bad, so the remaining blocks do not
// represent all.
func (in *Inference) effect(c comparison, r metric.Metric, confidence float64) record.Effect {
	e := c.effect
	if r.Name != metric.Goodput.Name {
		e.Response = r.Name
	}
	base, level, missing := c.pairs(r)
	j := paired.judge(in.Side(base, r), in.Side(level, r), r, confidence, in.run.Margin, names{"the baseline", "block"})
	if j.Difference == nil && (j.Verdict == record.Improves || j.Verdict == record.Worsens) {
		if why, n := in.few(base, level, r); why != "" {
			j.P, j.Verdict, j.Why = 1, record.Inconclusive, why
			j.Reason = record.Reason{Code: record.ReasonApart, N: int64(n)}
		}
	}
	e.Ratio, e.Difference, e.P, e.Verdict, e.Blocks = j.Ratio, j.Difference, j.P, j.Verdict, len(base)
	e.Reason, e.Why = j.Reason, j.Why
	if missing > 0 {
		e.Verdict, e.P = record.Inconclusive, 1
		e.Reason = record.Reason{Code: record.ReasonNoValue, N: int64(missing), Of: int64(missing + len(base))}
		e.Why = fmt.Sprintf("in %d of %d blocks not both have a value: %s", missing, missing+len(base), r.Absent)
		if len(base) == 0 {
			e.Why = "in no block have both a value: " + r.Absent
		}
	}
	return e
}

// few explains that two sides differ only because of n trials that stand apart (Apart): without
// these, their medians differ by no more than the margin. Such a trial shows neither how often it
// happens nor that the treatment is its cause, even if the interval also shows a small difference.
// why is empty if the sides also differ without such trials, or have none.
func (in *Inference) few(base, level []*record.Trial, r metric.Metric) (why string, n int) {
	var apart []string
	those := in.Apart(r)
	others := func(trials []*record.Trial) (values []float64) {
		for _, t := range trials {
			if value, _ := r.Value(t); slices.Contains(those, t) {
				apart = append(apart, fmt.Sprintf("trial %d (%s)", t.Order, t.Treatment))
			} else {
				values = append(values, value)
			}
		}
		return values
	}
	b, l := Median(others(base)), Median(others(level))
	if len(apart) == 0 || b <= 0 || math.Abs(l/b-1) > in.run.Margin {
		return "", 0
	}
	return fmt.Sprintf("%.2f× without %s, so far from the others", l/b, strings.Join(apart, ", ")), len(apart)
}

// pairs returns the trials of the blocks in which both sides have a value. missing counts the
// blocks that have both trials but not both values. Of a block that was tried twice, as after a
// resumed run, the latest trial counts.
func (c comparison) pairs(r metric.Metric) (base, level []*record.Trial, missing int) {
	bases, levels := map[int]*record.Trial{}, map[int]*record.Trial{}
	for _, t := range c.base {
		bases[t.Block] = t
	}
	for _, t := range c.level {
		levels[t.Block] = t
	}
	for _, block := range slices.Sorted(maps.Keys(bases)) {
		b, l := bases[block], levels[block]
		if l == nil {
			continue
		}
		_, hasBase := r.Value(b)
		_, hasLevel := r.Value(l)
		if hasBase && hasLevel {
			base, level = append(base, b), append(level, l)
		} else {
			missing++
		}
	}
	return base, level, missing
}

// Narrow reports whether an effect is known as precisely as requested: whether half the width of
// its interval, relative to its size, is at most until. For an effect that has no ratio but only a
// difference, half the width is relative to the largest mean of the treatments. If values may be
// below zero, half the width itself must be at most until. In both cases a width within the
// difference that does not matter (Metric.Floor) is narrow enough.
func Narrow(e *record.Effect, treatments []record.Treatment, until float64) bool {
	r, _ := metric.Find(e.Response)
	size, most := e.Ratio, until*e.Ratio.Mean
	if e.Difference != nil {
		size, most = *e.Difference, max(r.Floor, until)
		if !r.Signed {
			largest := 0.0
			for i := range treatments {
				largest = max(largest, r.Estimate(&treatments[i]).Mean)
			}
			most = max(r.Floor, until*largest)
		}
	}
	return e.Blocks >= LeastBlocks && (e.Difference != nil || !e.Ratio.None) && size.Half <= most
}

// NarrowMean reports whether a treatment's mean of r, the run's first response, is known as precisely
// as requested: whether half its interval, relative to the mean, is at most until.
func NarrowMean(t *record.Treatment, r metric.Metric, until float64) bool {
	e := r.Estimate(t)
	most := until * e.Mean
	if r.Signed {
		most = max(r.Floor, until)
	}
	return e.Trials >= LeastBlocks && e.Confidence > 0 && e.Half <= most
}

// having returns the trials at one level of a factor (empty: no factor) that have the levels at of
// other factors.
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
