package stats

import (
	"fmt"
	"math"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
)

// in judges the comparison by a response other than goodput. As long as every
// baseline is above zero there is a ratio, otherwise, and for what may be below
// zero, a difference; a block without a value says nothing, and often because things
// were too bad for one, so that the blocks that are left decide nothing either.
func (c comparison) in(r metric.Metric, confidence, margin float64) (record.Effect, float64) {
	e := c.effect
	e.Response = r.Name
	pairs, missing := c.pairs(r)
	e.Blocks = len(pairs)
	differences := make([]float64, len(pairs))
	least := math.Inf(1)
	for i, pair := range pairs {
		differences[i], least = pair.Level-pair.Base, min(least, pair.Base)
	}
	apart := Mean(differences, confidence)
	var p float64
	switch {
	case len(pairs) == 0:
		e.Ratio.None, p = true, 1
		e.Verdict, e.Why = record.Inconclusive, "no block has both"
		if missing > 0 {
			e.Why = "in no block have both a value: " + r.Absent
		}
		return e, p
	case least > 0 && !r.Signed:
		ratio, chance, why := Ratio(pairs, confidence)
		p = chance
		byRatio(&e, ratio, why, margin)
	default:
		p = pValue(differences, 0)
		e.Ratio.None = true
		e.Difference = &record.EffectSize{Mean: apart.Mean, Low: apart.Low, High: apart.High}
		if e.Verdict, e.Why = overZero(pairs, apart); r.Signed {
			e.Verdict, e.Why = differ(r, apart)
		}
	}
	switch {
	case missing > 0:
		e.Verdict, p = record.Inconclusive, 1
		e.Why = fmt.Sprintf("in %d of %d blocks not both have a value: %s", missing, missing+len(pairs), r.Absent)
	case verdict(apart, 0, r.Floor) == record.NoDifference && e.Verdict != record.NoDifference:
		e.Verdict, e.Why = record.NoDifference, trifle(r)
	}
	e.Verdict = better(r, e.Verdict)
	return e, p
}

// overZero judges by the difference to a baseline that was zero in some block: as
// if more were better.
func overZero(pairs []Pair, apart Interval) (judged, why string) {
	zero := 0
	for _, pair := range pairs {
		if pair.Base <= 0 {
			zero++
		}
	}
	where := fmt.Sprintf("in %d of %d blocks", zero, len(pairs))
	if zero == len(pairs) {
		where = "in every block"
	}
	why = "the baseline is zero " + where + ": there is no ratio, only a difference"
	judged = verdict(apart, 0, 0)
	switch {
	case !apart.Known:
		why += " of unknown interval"
	case judged == record.NoDifference:
		why = "both are zero " + where
	}
	return judged, why
}

func trifle(r metric.Metric) string {
	if r.Unit == metric.Lost.Unit {
		return fmt.Sprintf("the two differ by less than %.3g points, which does not matter", 100*r.Floor)
	}
	return fmt.Sprintf("the two differ by less than %.3g, which does not matter", r.Floor)
}

// differ judges a difference of what may be below zero, as if more were better.
func differ(r metric.Metric, apart Interval) (judged, why string) {
	judged = verdict(apart, 0, r.Floor)
	switch {
	case !apart.Known:
		why = "a single block: the interval is unknown"
	case judged == record.NoDifference:
		why = trifle(r)
	case judged == record.Inconclusive:
		why = Spans + points(apart.Low) + " to " + points(apart.High) + " points"
	}
	return judged, why
}

func points(share float64) string {
	return strings.Replace(fmt.Sprintf("%+.2g", 100*share), "-", "−", 1)
}

// better is a verdict as if more were better for a response, of which less may be.
func better(r metric.Metric, verdict string) string {
	switch {
	case r.Lower && verdict == record.Improves:
		return record.Worsens
	case r.Lower && verdict == record.Worsens:
		return record.Improves
	}
	return verdict
}

// VerdictOn judges a ratio of a response against the practical margin.
func VerdictOn(r metric.Metric, ratio Interval, margin float64) string {
	return better(r, verdict(ratio, 1, margin))
}

// VerdictApart judges a difference, for what may be below zero.
func VerdictApart(r metric.Metric, apart Interval) (verdict, why string) {
	verdict, why = differ(r, apart)
	return better(r, verdict), why
}
