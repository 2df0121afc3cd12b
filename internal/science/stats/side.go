package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Side holds the values of a treatment's trials in one response, and what is known about outcomes
// that these trials may have missed. It is one side of a comparison.
type Side struct {
	Values []float64
	// least and most are the outcomes between which trials jump. known: they come from theory;
	// jumps: they are the least and the largest of the values.
	least, most  float64
	known, jumps bool
	// up and down are how far the mean would move if every trial jumped as trials of the run's
	// other treatments do. Zero: no other treatment jumps, or the jumps of these trials are known
	// themselves.
	up, down float64
	// possible is the largest possible value; 0: any. The least is 0, unless values are signed.
	possible float64
	signed   bool
	// These fields are set for a percentile: the quantile, the trials' latencies, their total
	// number of transactions and that of the trial with the fewest. rank says what the figure is if
	// the transactions are too few even together; empty: they are enough.
	quantile         float64
	latencies        []times
	requests, fewest int64
	rank             string
}

// Inference computes the intervals and verdicts of a run from its trials and from the jumps that the
// values of its treatments show.
type Inference struct {
	run     *record.Run
	jumps   map[string]jumps // by response
	decoded map[*record.Distribution]times
}

// Of returns the Inference of a run. Trial.Chance of its trials must be set before.
func Of(run *record.Run) *Inference {
	return &Inference{run, map[string]jumps{}, map[*record.Distribution]times{}}
}

func (in *Inference) jumpsIn(r metric.Metric) jumps {
	j, known := in.jumps[r.Name]
	if !known {
		j = jumpsOf(in.run, r)
		in.jumps[r.Name] = j
	}
	return j
}

// Side returns the side of a comparison that consists of the trials with a value in the response.
func (in *Inference) Side(trials []*record.Trial, r metric.Metric) Side {
	s := Side{known: true, least: math.Inf(1), signed: r.Signed, quantile: r.Quantile}
	j, limit := in.jumpsIn(r), 0.0
	var levels []float64
	for _, t := range trials {
		value, ok := r.Value(t)
		if !ok {
			continue
		}
		s.Values, levels = append(s.Values, value), append(levels, j.level(t, value))
		if r.Quantile > 0 {
			if s.requests += t.Latency.Count; s.fewest == 0 || t.Latency.Count < s.fewest {
				s.fewest = t.Latency.Count
			}
		}
		limit = max(limit, t.LimitBps)
		if c := chance(t, r); c == nil {
			s.known = false
		} else {
			s.least, s.most = min(s.least, c.LeastBps), max(s.most, c.MostBps)
		}
	}
	if len(s.Values) == 0 {
		return Side{}
	}
	largest := floats.Max(s.Values)
	s.least, s.most = min(s.least, floats.Min(s.Values)), max(s.most, largest)
	s.known = s.known && s.most > s.least
	switch {
	case r.Unit == metric.Goodput.Unit && limit > 0:
		s.possible = max(limit, largest)
	case r.Unit == metric.Lost.Unit && !r.Signed:
		s.possible = 1
	}
	if r.Quantile > 0 {
		s.latencies, s.rank = in.latencies(trials), r.Rank(s.requests)
	}
	if s.jumps = !s.known && j.in(relative(levels, r)) > 0; !s.known && !s.jumps && j.size > 0 {
		s.up, s.down = j.reach(stat.Mean(s.Values, nil), r)
	}
	return s
}

// reach returns how far a jump takes a value up and down. Jumps are relative to their upper end,
// but do not reach above the largest value of the run.
func (j jumps) reach(value float64, r metric.Metric) (up, down float64) {
	switch {
	case r.Signed:
		return j.size, j.size
	case j.size < 1: // otherwise a jump begins at zero, and may begin at this value
		return min(value/(1-j.size), max(j.most, value)) - value, value * j.size
	}
	return j.most - value, value
}

// plain reports whether nothing but noise is known, so that Student's t decides.
func (s Side) plain() bool { return !s.known && !s.jumps && s.up == 0 && s.down == 0 }

// Mean returns the mean of the values with its interval. If theory leaves the outcome to chance,
// the interval follows from where the values lie between the least and the most that trials can
// carry. If the values themselves jump, the same interval is used where it is wider than Student's
// t. If only other trials of the run jump, it is widened by how often these trials can have missed
// a jump. For a percentile it is that of all trials' transactions together, without an interval if
// they are too few.
func (s Side) Mean(confidence float64) Interval {
	in := Mean(s.Values, confidence)
	if s.pooled() {
		in = percentile(s.latencies, s.quantile, confidence)
	}
	if s.rank != "" {
		return Interval{Mean: in.Mean, N: in.N}
	}
	if !in.Known {
		return in
	}
	switch width := s.most - s.least; {
	case s.known:
		in.Low, in.High = s.share(width, confidence)
	case s.jumps:
		low, high := s.share(width, confidence)
		in.Low, in.High = min(in.Low, low), max(in.High, high)
	default:
		missed := Missed(len(s.Values), (1+confidence)/2)
		in.Low, in.High = in.Low-missed*s.down, in.High+missed*s.up
	}
	in.Half = (in.High - in.Low) / 2
	if !s.signed {
		in.Low = max(in.Low, 0)
	}
	if s.possible > 0 {
		in.High = min(in.High, s.possible)
	}
	return in
}

// Estimate fills in the estimate of the response from Mean.
func (s Side) Estimate(e *record.ResponseEstimate, confidence float64) {
	s.Mean(confidence).Estimate(e, confidence)
	e.Rank = s.rank
}

// share returns the interval of the mean that follows from where values lie between least and most;
// width is the distance between these.
func (s Side) share(width, confidence float64) (low, high float64) {
	sum := lists.Sum(s.Values, func(v float64) float64 { return (v - s.least) / width })
	low, high = Share(sum, len(s.Values), confidence)
	return s.least + low*width, s.least + high*width
}
