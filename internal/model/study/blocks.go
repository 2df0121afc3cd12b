package study

import (
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
)

// Confidence is the confidence level of a run's intervals.
const Confidence = 0.95

// LeastUntil is the minimum number of blocks of a plan with until. A few trials can agree by
// chance, and a run that stops as soon as its intervals are narrow enough stops more often in such
// cases. Its intervals then contain the true value less often than Confidence says, and the earlier
// the run first checks, the less often (Starr 1966).
const LeastUntil = 8

// Comparisons returns the number of comparisons that a run of the plan makes for each response.
func (p *Plan) Comparisons() int {
	tried := lists.Map(p.Treatments, func(t Treatment) map[string]string { return t.Levels })
	levels, treatments := record.Contrasts(p.Factors(), tried, len(p.Study.Design.Parts) > 0)
	return len(levels) + len(treatments)
}

// Blocks returns the minimum number of blocks: that of the design, or the number that the
// comparisons require, since intervals become wider the more comparisons must hold simultaneously.
func (p *Plan) Blocks() int {
	switch d := p.Study.Design; {
	case d.Until > 0:
		return max(d.Replicates, LeastUntil) // more than any number of comparisons requires
	case d.Replicates > 0:
		return d.Replicates
	}
	switch n := p.Comparisons(); {
	case n <= 1:
		return 4
	case n <= 4:
		return 6
	}
	return 8
}
