package tuning

import (
	"cmp"
	"math"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// between compares two levels of a run's list in each of its responses, regardless of what
// the run compares them with. Nil: one of them was not tried. It is a single comparison:
// its intervals hold individually at the run's confidence, without correction for others.
func between(run *record.Run, from, to string) *record.Effect {
	f := factor(run)
	one := *run
	one.Factors = []record.Factor{{Name: f.Name, Role: f.Role, Baseline: from, Levels: []record.Level{{Name: from},
		{Name: to}}}}
	effects, _ := stats.Of(&one).Effects()
	if len(effects) == 0 {
		return nil
	}
	return &effects[0]
}

// blocks returns how much better level to is than level from in each block that has both, as a
// share of scale or, if that is 0, of the value of from: 0.5 is 50 % better, −0.06 is 6 % worse.
// Nil: in a block this share is undefined.
func blocks(run *record.Run, from, to string, r metric.Metric, scale float64) (list []float64) {
	f := factor(run)
	base := map[int]float64{}
	for _, level := range []string{from, to} {
		for i := range run.Trials {
			t := &run.Trials[i]
			if t.Levels[f.Name] != level {
				continue
			}
			v, known := r.Value(t)
			b, both := base[t.Block]
			switch {
			case !known:
			case level == from:
				base[t.Block] = v
			case both && scale == 0 && b <= 0:
				return nil
			case both && r.Lower:
				list = append(list, (b-v)/cmp.Or(scale, b))
			case both:
				list = append(list, (v-b)/cmp.Or(scale, b))
			}
		}
	}
	return list
}

// typical returns the median of blocks, which a single disturbed trial hardly changes. With a
// scale, it returns 0 for a difference below the response's Floor. Ok is false if the share is
// unknown.
func typical(run *record.Run, from, to string, r metric.Metric, scale float64) (better float64, ok bool) {
	if list := blocks(run, from, to, r, scale); len(list) > 0 {
		if better = stats.Median(list); scale > 0 && math.Abs(better)*scale < r.Floor {
			better = 0
		}
		return better, true
	}
	better, _, _, ok = Relative(r, r.Effect(between(run, from, to)), figure(run, from, r).Mean)
	return better, ok
}

// leans returns the verdict on an effect in a response. If that is inconclusive, it returns the
// direction in which the levels differ by more than the margin in at least five of six blocks.
// Empty: the effect is unknown.
func leans(run *record.Run, e *record.Effect, r metric.Metric) string {
	of := r.Effect(e)
	switch {
	case of == nil:
		return ""
	case of.Verdict != record.Inconclusive:
		return of.Verdict
	}
	list := blocks(run, e.From, e.To, r, 0)
	up, down := 0, 0
	for _, better := range list {
		if better > run.Margin {
			up++
		} else if better < -run.Margin {
			down++
		}
	}
	most := len(list) - len(list)/6
	switch {
	case len(list) < stats.LeastBlocks:
	case up >= most:
		return record.Improves
	case down >= most:
		return record.Worsens
	}
	return record.Inconclusive
}

// figure returns a level's estimate of a response in the condition of the run's effects.
func figure(run *record.Run, level string, r metric.Metric) record.ResponseEstimate {
	f := factor(run)
	for i := range run.Treatments {
		if t := &run.Treatments[i]; t.Levels[f.Name] == level && here(run, f, t.Levels) {
			return r.Estimate(t)
		}
	}
	return record.ResponseEstimate{Response: r.Name, Unit: r.Unit}
}

// figures returns the estimates of the given levels in all responses, for levels that were tried.
func figures(run *record.Run, levels ...string) (list []record.TuneFigure) {
	for _, level := range levels {
		made := record.TuneFigure{Run: run.ID, Name: level}
		for _, r := range metric.Of(run) {
			if e := figure(run, level, r); e.Trials > 0 {
				made.Responses = append(made.Responses, e)
			}
		}
		if len(made.Responses) > 0 {
			list = append(list, made)
		}
	}
	return list
}

// Relative returns an effect as a share of what it is compared with, positive if it is an
// improvement: 0.5 is 50 % better, −0.06 is 6 % worse. Bad is the unfavourable end of its
// interval and good the favourable one. Ok is false if the effect has no such share.
func Relative(r metric.Metric, e *record.Effect, from float64) (mean, bad, good float64, ok bool) {
	switch {
	case e == nil:
		return 0, 0, 0, false
	case e.Difference != nil:
		if from <= 0 {
			return 0, 0, 0, false
		}
		d := e.Difference
		mean, bad, good = d.Mean/from, d.Low/from, d.High/from
	case e.Ratio.None || e.Ratio.High == 0:
		return 0, 0, 0, false
	default:
		mean, bad, good = e.Ratio.Mean-1, e.Ratio.Low-1, e.Ratio.High-1
	}
	if r.Lower {
		mean, bad, good = -mean, -good, -bad
	}
	return mean, bad, good, true
}
