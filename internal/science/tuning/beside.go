package tuning

import (
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// A setting that improves goodput may worsen latency. The verdict on a setting is based on
// the first response. The other responses can change it: a setting that helps there and
// worsens another response is a trade, and one that only improves another response helps.

// others returns the responses except the first.
func others(responses []string) (list []metric.Metric) {
	for i, name := range responses {
		if r, known := metric.Find(name); known && i > 0 {
			list = append(list, r)
		}
	}
	return list
}

// weigh changes a setting's verdict if its effects in the other responses require it.
func weigh(s *record.TuneSetting, responses []string, accept Accepted) {
	var gains, costs, depends []record.Statement
	accepted, helps := true, s.Verdict == record.Helps
	for _, r := range others(responses) {
		alone, removed := r.Effect(s.Alone), r.Effect(s.Removed)
		verdict, why, _ := verdict(alone, removed)
		place := record.PlaceAlone
		if alone == nil || alone.Verdict != record.Improves && alone.Verdict != record.Worsens {
			place = record.PlaceWithout
		}
		switch shown := statement(record.WhyResponse, r.Name, place); verdict {
		case record.Helps:
			gains = append(gains, shown)
		case record.Harms:
			costs = append(costs, shown)
			accepted = accepted && !accept.harmed(r, alone) && !accept.harmed(r, inverse(removed))
		case record.Mixed: // neither a gain nor a cost: it is which by what else is set
			depends = append(depends, statement(record.WhyDepends, r.Name, why.Code))
		}
	}
	turn := func(verdict string, keep bool, reasons ...[]record.Statement) {
		s.Verdict, s.Keep, s.Reasons = verdict, keep, slices.Concat(reasons...)
	}
	switch {
	case s.Verdict == record.Together || len(gains)+len(costs) == 0:
	case s.Verdict == record.Helps && len(costs) > 0, s.Verdict == record.Harms && len(gains) > 0:
		turn(record.Trades, helps && accepted, s.Reasons, costs, gains)
	case s.Verdict == record.Helps, s.Verdict == record.Harms, s.Verdict == record.Mixed:
		turn(s.Verdict, s.Keep, s.Reasons, gains, costs)
	case len(gains) > 0 && len(costs) > 0:
		turn(record.Trades, false, costs, gains)
	case len(costs) > 0:
		turn(record.Harms, false, costs)
	case s.Verdict == record.NoDifference:
		turn(record.Helps, true, gains)
	default: // whether it costs what counts is not known
		turn(s.Verdict, false, s.Reasons, gains)
	}
	if s.Verdict == record.Together || len(depends) == 0 {
		return
	}
	if s.Verdict != record.Harms && s.Verdict != record.Trades {
		s.Verdict, s.Keep = record.Mixed, false
	}
	s.Reasons = append(s.Reasons, depends...)
}

func statement(code string, args ...string) record.Statement {
	return record.Statement{Code: code, Args: args}
}

// inverse returns the effect of adding a setting to the rest of a list, from the effect of
// removing it. An effect without a ratio stays without one.
func inverse(e *record.Effect) *record.Effect {
	if e == nil {
		return nil
	}
	made := *e
	if d := e.Difference; d != nil {
		made.Difference = &record.EffectSize{Mean: -d.Mean, Low: -d.High, High: -d.Low, Half: d.Half}
	}
	if e.Ratio.None || e.Ratio.Low <= 0 {
		made.Ratio = record.EffectSize{None: true}
	} else {
		made.Ratio = record.EffectSize{Mean: 1 / e.Ratio.Mean, Low: 1 / e.Ratio.High, High: 1 / e.Ratio.Low}
	}
	switch e.Verdict {
	case record.Improves:
		made.Verdict = record.Worsens
	case record.Worsens:
		made.Verdict = record.Improves
	}
	return &made
}
