package limits

import (
	"math"

	"linerate/internal/model/record"
)

// Direct returns the most that flows that are alike carry together in one direction between two
// hosts, if only the ends of their path are known: the slower end's rate, and the flows' own caps.
// 0: no such bound is known.
func Direct(rate float64, frame Frame, flows int, rateCap float64) Limit {
	best := Limit{Bps: math.Inf(1)}
	if rate > 0 && frame.Fraction() > 0 {
		best = made(rate*frame.Fraction(), linkTerm(rate, frame.Fraction(), frame))
	}
	if capped := float64(flows) * rateCap; capped > 0 && capped < best.Bps {
		term := record.LimitTerm{Kind: record.LimitCap, Bps: rateCap}
		if flows > 1 {
			term.N = flows
		}
		best = made(capped, term)
	}
	if math.IsInf(best.Bps, 1) {
		return None(record.NoLimitSpeed)
	}
	return best
}
