package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// LeastBlocks is the least number of blocks for a verdict. Fewer agree too often by chance.
const LeastBlocks = 4

// Judgement is the result of comparing a level with a base. P is the two-sided p-value, not yet
// corrected for multiple comparisons.
type Judgement struct {
	Ratio      record.EffectSize // None is set if there is only a difference
	Difference *record.EffectSize
	P          float64
	Verdict    string
	Reason     record.Reason
	Why        string // Reason in words
}

// names are words for a comparison: what the base is called, and what n counts.
type names struct{ base, of string }

// Unpaired compares sides whose trials were not made in the same blocks, such as those of two runs.
func Unpaired(base, level Side, r metric.Metric, confidence, margin float64) Judgement {
	return unpaired.judge(base, level, r, confidence, margin, names{"the first", "trial"})
}

// judge compares sides in a response: by their ratio if every base is above zero, otherwise, or if
// values may be below zero, by their difference.
func (c estimators) judge(base, level Side, r metric.Metric, confidence, margin float64, by names) Judgement {
	out := Judgement{P: 1, Verdict: record.Inconclusive}
	n := min(len(base.Values), len(level.Values))
	if n == 0 {
		out.Ratio.None, out.Reason.Code, out.Why = true, record.ReasonNotMeasured, "no "+by.of+" has both"
		if by.of == "block" {
			out.Why = "not yet measured beside " + by.base
		}
		return out
	}
	zeros := lists.Count(base.Values, func(v float64) bool { return v <= 0 })
	var size Interval
	none, matters := 1.0, margin
	if r.Signed || zeros > 0 {
		none, matters = 0, r.Floor
		if !r.Signed {
			matters = max(matters, margin*scale(base, level, r))
		}
		size, out.P = c.difference(base, level, confidence)
		out.Ratio.None = true
		difference := size.size()
		out.Difference = &difference
	} else {
		size, out.P = c.ratio(base, level, confidence)
		out.Ratio = size.size()
	}
	switch judged := verdict(size, none, matters); {
	case n < LeastBlocks:
		each := ""
		if by.of == "trial" {
			each = " on each side"
		}
		out.P, out.Reason = 1, record.Reason{Code: record.ReasonFewBlocks, N: int64(n), Of: LeastBlocks}
		out.Why = fmt.Sprintf("a verdict takes %d %ss%s, and there %s", LeastBlocks, by.of, each, isOrAre(n))
		return out
	case tooFew(base, level, r) != "":
		out.P, out.Reason = 1, record.Reason{Code: record.ReasonFewRequests, N: min(base.fewest, level.fewest)}
		out.Why = tooFew(base, level, r)
		return out
	case r.Floor > 0 && c.trifle(base, level, r, confidence):
		out.Verdict, out.Reason.Code = record.NoDifference, record.ReasonTrifle
		out.Why = "the two differ by less than " + amount(r, r.Floor) +
			", which does not matter"
	default:
		out.Verdict = judged
		out.Reason.Code, out.Why = why(judged, size, out.Difference != nil, r)
		unequal, decides := uneven(base, level, size, confidence)
		reason := record.Reason{Code: record.ReasonUnequal, N: level.requests, Of: base.requests}
		if decides && judged != record.NoDifference {
			out.Verdict, out.Reason, out.Why = record.Inconclusive, reason, unequal+
				": of so much fewer a percentile may differ so much by chance"
		} else if out.Why == "" && unequal != "" {
			out.Reason, out.Why = reason, unequal
		}
	}
	if zeros > 0 && !r.Signed {
		out.Reason = record.Reason{Code: record.ReasonZeroBase, N: int64(zeros), Of: int64(len(base.Values))}
		if bothZero(base, level, zeros) {
			out.Reason.Code = record.ReasonBothZero
		}
		out.Why = zeroBase(base, level, zeros, by)
	}
	out.Verdict = better(r, out.Verdict)
	return out
}

// scale returns what a difference is relative to if there is no ratio: the limit of goodput or,
// without a limit, the larger mean.
func scale(base, level Side, r metric.Metric) float64 {
	if most := max(base.possible, level.possible); most > 0 && r.Unit == metric.Goodput.Unit {
		return most
	}
	return max(stat.Mean(base.Values, nil), stat.Mean(level.Values, nil))
}

// trifle reports whether the sides differ by less than what matters in practice, whatever their
// ratio.
func (c estimators) trifle(base, level Side, r metric.Metric, confidence float64) bool {
	apart, _ := c.difference(base, level, confidence)
	return verdict(apart, 0, r.Floor) == record.NoDifference
}

func isOrAre(n int) string {
	if n == 1 {
		return "is 1"
	}
	return fmt.Sprintf("are %d", n)
}

// zeroBase explains why there is no ratio.
func zeroBase(base, level Side, zeros int, by names) string {
	where := fmt.Sprintf("in %d of %d %ss", zeros, len(base.Values), by.of)
	if zeros == len(base.Values) {
		where = "in every " + by.of
		if bothZero(base, level, zeros) {
			return "both are zero " + where
		}
	}
	return by.base + " is zero " + where + ": there is no ratio, only a difference"
}

// bothZero reports whether all values of both sides are zero.
func bothZero(base, level Side, zeros int) bool {
	return zeros == len(base.Values) && !slices.ContainsFunc(level.Values, func(v float64) bool { return v != 0 })
}

// why explains what an interval leaves open. Empty: the comparison is decided.
func why(judged string, size Interval, difference bool, r metric.Metric) (code, text string) {
	switch {
	case judged != record.Inconclusive:
		return "", ""
	case difference:
		return record.ReasonSpans, "the interval spans " + signed(amount(r, size.Low), size.Low) + " to " +
			signed(amount(r, size.High), size.High)
	case size.High >= 1000*size.Mean:
		return record.ReasonNoInterval, "too few trials for an interval"
	}
	return record.ReasonSpans, fmt.Sprintf("the interval spans %.2f× to %.2f×", size.Low, size.High)
}

// amount formats the size of a difference of a response.
func amount(r metric.Metric, v float64) string {
	if r.Unit == metric.Lost.Unit {
		return fmt.Sprintf("%.2g points", 100*math.Abs(v))
	}
	s := r.Scale("", math.Abs(v))
	return fmt.Sprintf("%.3g %s", math.Abs(v)*s.Per, s.Unit)
}

func signed(amount string, v float64) string {
	switch {
	case v < 0:
		return "−" + amount
	case v > 0:
		return "+" + amount
	}
	return amount
}

// verdict judges an interval as if more were better. none is the value of no difference; a
// difference within the margin does not matter.
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

// better swaps the verdict for responses of which less is better.
func better(r metric.Metric, verdict string) string {
	switch {
	case r.Lower && verdict == record.Improves:
		return record.Worsens
	case r.Lower && verdict == record.Worsens:
		return record.Improves
	}
	return verdict
}
