package stats

import (
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Pairs are the values of an effect's two sides in its response, in each block that has
// both, in their order.
func Pairs(run *record.Run, e *record.Effect) []Pair {
	r, known := metric.Find(e.Response)
	if !known {
		return nil
	}
	c := comparison{effect: *e}
	if e.Factor == "" {
		c.base, c.level = run.TrialsOf(e.From), run.TrialsOf(e.To)
	} else {
		c.base, c.level = having(run.Trials, e.Factor, e.From, e.At), having(run.Trials, e.Factor, e.To, e.At)
	}
	pairs, _ := c.pairs(r)
	return pairs
}
