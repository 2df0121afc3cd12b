package tuning

import (
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
	one.Factors = []record.Factor{{Name: f.Name, Role: f.Role, Baseline: from, Levels: []record.Level{{Name: from}, {Name: to}}}}
	effects, _ := stats.Of(&one).Effects()
	if len(effects) == 0 {
		return nil
	}
	return &effects[0]
}

// figure is what a level gives in a response.
func figure(run *record.Run, level string, r metric.Metric) record.ResponseEstimate {
	f := factor(run)
	for i := range run.Treatments {
		if t := &run.Treatments[i]; t.Levels[f.Name] == level {
			return r.Estimate(t)
		}
	}
	return record.ResponseEstimate{Response: r.Name, Unit: r.Unit}
}

// figures are those of levels, as far as they were tried, in all responses.
func figures(run *record.Run, levels ...string) (list []record.TuneFigure) {
	for _, level := range levels {
		made := record.TuneFigure{Name: level}
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

// relative is an effect as a share of what it is compared with, and better if more:
// 0.5 is half as good again, and −0.06 is 6 % worse. bad is the bad end of its interval,
// good the good one. False: it has no such share.
func relative(r metric.Metric, e *record.Effect, from float64) (mean, bad, good float64, ok bool) {
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
