package stats

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Effects makes the run's comparisons over the blocks that have both sides: levels has
// each level of every compared factor against the factor's baseline level, or against
// the one that it names, all other factors equal; treatments has each treatment that
// differs from the baseline in several factors against the baseline of its conditions.
// Each is judged by the run's first response and has the others beside it. Unknown
// intervals have Low and High zero. All comparisons in all responses are one family, whose
// intervals hold together at the run's confidence.
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

// correct makes the p-values of all comparisons, with those beside them, Holm's.
func correct(effects []record.Effect) {
	var all []*record.Effect
	for i := range effects {
		all = append(all, &effects[i])
		for k := range effects[i].Beside {
			all = append(all, &effects[i].Beside[k])
		}
	}
	ps := make([]float64, len(all))
	for i, e := range all {
		ps[i] = e.P
	}
	for i, p := range Holm(ps) {
		all[i].P = p
	}
}

// comparison is two treatments with their trials.
type comparison struct {
	effect      record.Effect // what is compared
	base, level []*record.Trial
}

// comparisons are the contrasts of a run with their trials.
func comparisons(run *record.Run) (levels, treatments []comparison) {
	var tried []map[string]string
	for _, t := range run.Trials {
		tried = append(tried, t.Levels)
	}
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

// judge makes the effects of comparisons in one response.
func (in *Inference) judge(list []comparison, r metric.Metric, confidence float64) []record.Effect {
	effects := make([]record.Effect, len(list))
	for i, c := range list {
		effects[i] = in.effect(c, r, confidence)
	}
	return effects
}

// effect judges a comparison by a response. A block without a value says nothing, and
// often because things were too bad for one, so that the blocks that are left decide
// nothing either.
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

// few says that two sides differ by the trials that stand apart, and by the others less than
// the margin. One such trial does not tell how often there is one, nor that the treatment is
// its cause, whatever small difference the interval shows beside it. It is empty otherwise; n is
// how many stand apart.
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

// pairs are the trials of the blocks that have both, with values; missing is how many
// blocks have both trials and not both values. A block tried twice, as after a resumed
// run, counts with its latest trial.
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

// Narrow reports whether an effect is known as narrowly as requested: half its interval,
// relative to its size. Where there is only a difference, that is held against the largest
// mean of the treatments or, of what may be below zero, against the request itself or what
// does not matter.
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

// NarrowMean reports the same of a treatment's mean in the response that the run is judged
// by, which is r.
func NarrowMean(t *record.Treatment, r metric.Metric, until float64) bool {
	e := r.Estimate(t)
	most := until * e.Mean
	if r.Signed {
		most = max(r.Floor, until)
	}
	return e.Trials >= LeastBlocks && e.Confidence > 0 && e.Half <= most
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
