package study

import "linerate/internal/model/record"

// Confidence of a run's intervals.
const Confidence = 0.95

// LeastUntil is the least number of blocks of a plan with until. A few trials are alike by
// chance, and a run that ends with the first intervals that are narrow enough prefers
// those: they cover less often than the run's confidence says, the more so the sooner the
// first of them is looked at (Starr 1966).
const LeastUntil = 8

// Comparisons is how many comparisons a run of the plan makes in each of its responses.
func (p *Plan) Comparisons() int {
	var tried []map[string]string
	for _, t := range p.Treatments {
		tried = append(tried, t.Levels)
	}
	levels, treatments := record.Contrasts(p.Factors(), tried, len(p.Study.Design.Parts) > 0)
	return len(levels) + len(treatments)
}

// Blocks is how often each treatment is tried at least: as often as the design says, or as
// the number of comparisons needs, whose intervals are wider the more of them hold together.
func (p *Plan) Blocks() int {
	switch d := p.Study.Design; {
	case d.Until > 0:
		return max(d.Replicates, LeastUntil) // more than any number of comparisons needs
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
