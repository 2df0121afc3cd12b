package conclude

import (
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/science/toolreport"
)

// toolReport concludes a run that is also judged by how much another program reports beyond what
// was received; nil if the run is not about that.
func toolReport(run *record.Run) *record.ToolReportResult {
	if !onGoodput(run) || !slices.ContainsFunc(metric.Of(run), func(r metric.Metric) bool {
		return r.Name == metric.Surplus.Name
	}) {
		return nil
	}
	f, top := settledSubject(run)
	settled := top != nil
	if !settled {
		along := false
		if f, along = Subject(run); !along {
			return nil
		}
		if top = last(run, f); top == nil || top.ToolReported == nil {
			return nil
		}
	}
	r := &record.ToolReportResult{
		Factor: f.Name, Level: top.Levels[f.Name], GoodputBps: top.Goodput.MeanBps, LimitBps: top.LimitBps,
		Report: top.ToolReported, Over: metric.Surplus.Estimate(top), Cost: leading(run, top, f.Name),
	}
	for _, f := range run.Factors {
		if e := metric.Surplus.Effect(leading(run, top, f.Name)); e != nil {
			r.Surplus = append(r.Surplus, *e)
		}
	}
	for i := range run.Effects {
		if e := &run.Effects[i]; settled && e.From == top.Levels[e.Factor] && at(top.Levels, e) {
			if of := metric.Surplus.Effect(e); of != nil {
				r.Elsewhere = append(r.Elsewhere, *of)
			}
		}
	}
	if settled {
		return r
	}
	parts := toolreport.PredictedParts(run.Trials)
	predicted := stats.Mean(parts, run.Confidence)
	r.Predicted, r.PredictedLow, r.PredictedHigh, r.PredictedTrials = predicted.Mean, predicted.Low,
		predicted.High, len(parts)
	first := Rows(run, f)[0]
	if first.ToolReported != nil && first.Levels[f.Name] == f.Baseline {
		r.FirstSumBps = first.ToolReported.SumBps
	}
	if r.Cost != nil {
		r.Flat = r.Cost.Verdict == record.NoDifference || r.Cost.Verdict == record.Worsens
	} else {
		r.Flat = min(top.Trials, first.Trials) >= stats.LeastBlocks &&
			top.Goodput.HighBps < (1+run.Margin)*first.Goodput.LowBps
	}
	r.Rises = slices.ContainsFunc(r.Surplus, func(e record.Effect) bool { return e.Verdict == record.Worsens })
	for _, p := range run.Published {
		for _, s := range p.Series[:min(1, len(p.Series))] {
			if n := len(s.Points); n > 1 {
				r.Published = append(r.Published, [2]float64{s.Points[0].Bps, s.Points[n-1].Bps})
			}
		}
	}
	return r
}

// settledSubject handles runs that have the factor of the published tables at a single level and
// ask what else changes the sum there. It returns that factor and the treatment that all others are
// compared with; top is nil for other runs.
func settledSubject(run *record.Run) (f record.Factor, top *record.Treatment) {
	if len(run.Published) == 0 {
		return f, nil
	}
	i := slices.IndexFunc(run.Factors, func(f record.Factor) bool { return f.Name == run.Published[0].Factor })
	if i < 0 || len(run.Factors[i].Levels) != 1 {
		return f, nil
	}
	at := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool {
		return !slices.ContainsFunc(run.Factors, func(f record.Factor) bool {
			return compared(f) && len(f.Levels) > 1 && t.Levels[f.Name] != f.Baseline
		})
	})
	if at < 0 || run.Treatments[at].ToolReported == nil {
		return f, nil
	}
	return run.Factors[i], &run.Treatments[at]
}

// Subject returns the factor that the question is about: the one along which a published table
// goes, or the last one that is compared. false: no factor is compared.
func Subject(run *record.Run) (record.Factor, bool) {
	if len(run.Published) > 0 {
		i := slices.IndexFunc(run.Factors, func(f record.Factor) bool {
			return f.Name == run.Published[0].Factor &&
				compared(f)
		})
		if i >= 0 && len(run.Factors[i].Levels) > 1 {
			return run.Factors[i], true
		}
	}
	for _, f := range slices.Backward(run.Factors) {
		if compared(f) && len(f.Levels) > 1 {
			return f, true
		}
	}
	return record.Factor{}, false
}

// standsFor reports whether a treatment is a row of a table along factor f: each other compared
// factor is at its baseline, has the level of the same name as f, or has a single level in the run.
func standsFor(run *record.Run, t record.Treatment, f record.Factor) bool {
	for _, other := range run.Factors {
		level := t.Levels[other.Name]
		if compared(other) && len(other.Levels) > 1 && level != other.Baseline && level != t.Levels[f.Name] {
			return false
		}
	}
	return true
}

// Rows returns the rows of a table along factor f: one treatment for each level of f, in the order
// of the levels. Levels without a fitting treatment (standsFor) have no row. If several treatments
// fit, the row is the one in which most factors have a level with the name of the level of f.
func Rows(run *record.Run, f record.Factor) []record.Treatment {
	var rows []record.Treatment
	for _, l := range f.Levels {
		best, most := -1, -1
		for i, t := range run.Treatments {
			if t.Levels[f.Name] != l.Name || !standsFor(run, t, f) {
				continue
			}
			same := 0
			for _, level := range t.Levels {
				if level == l.Name {
					same++
				}
			}
			if same > most {
				best, most = i, same
			}
		}
		if best >= 0 {
			rows = append(rows, run.Treatments[best])
		}
	}
	return rows
}

func last(run *record.Run, f record.Factor) *record.Treatment {
	rows := Rows(run, f)
	if len(rows) == 0 || rows[len(rows)-1].Levels[f.Name] == f.Baseline {
		return nil
	}
	return &rows[len(rows)-1]
}

// leading returns the effect that leads to a treatment by changing one factor; nil if it was not
// compared.
func leading(run *record.Run, t *record.Treatment, factor string) *record.Effect {
	for i := range run.Effects {
		e := &run.Effects[i]
		if e.Factor == factor && e.To == t.Levels[factor] && at(t.Levels, e) {
			return e
		}
	}
	return nil
}
