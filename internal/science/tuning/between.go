package tuning

import (
	"cmp"
	"math"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// between compares two levels of a run's list, whatever the run compares them with, in
// each of its responses; nil: one of them was not tried. Such a comparison is a
// question of its own, so that its intervals hold by themselves at the run's confidence.
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

// blocks are how much better one level is than another in each block that has both, as a
// share of scale or, where that is 0, of the other: 0.5 is half as good again, and −0.06 is 6 %
// worse. nil: a block has no such share.
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

// typical is the median of the blocks, which a single trial that something else slowed down
// does not move far. On a scale that is not the level's own, a difference that does not matter
// in practice is none.
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

// leans is the verdict on an effect in a response or, where that is inconclusive, what all
// blocks but one of six say by more than the margin.
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

// figure is what a level gives in a response, in the condition that the run is split by.
func figure(run *record.Run, level string, r metric.Metric) record.ResponseEstimate {
	f := factor(run)
	for i := range run.Treatments {
		if t := &run.Treatments[i]; t.Levels[f.Name] == level && here(run, f, t.Levels) {
			return r.Estimate(t)
		}
	}
	return record.ResponseEstimate{Response: r.Name, Unit: r.Unit}
}

// figures are those of levels, as far as they were tried, in all responses.
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

// Relative is an effect as a share of what it is compared with, and better if more:
// 0.5 is half as good again, and −0.06 is 6 % worse. bad is the bad end of its interval,
// good the good one. False: it has no such share.
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
