package stats

import (
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Pair is a level's value and the baseline's value in the same block.
type Pair struct{ Base, Level float64 }

// Pairs returns the values of an effect's two sides in its response, in the order of the blocks
// that have both.
func Pairs(run *record.Run, e *record.Effect) (pairs []Pair) {
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
	base, level, _ := c.pairs(r)
	for i := range base {
		b, _ := r.Value(base[i])
		l, _ := r.Value(level[i])
		pairs = append(pairs, Pair{b, l})
	}
	return pairs
}
