package audit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/stats"
)

// requests is a network whose trials time this many requests, those of the baseline and
// those of the levels. A part of them takes ten times as long.
type requests struct {
	baseline, level int
	sigma, slow     float64
}

// p99 is the 99th percentile of the time of a request, in µs: with slow requests, it is
// among these.
func (q requests) p99() float64 {
	if q.slow > 0 {
		return 1000 * math.Exp(q.sigma*distuv.UnitNormal.Quantile(1-0.01/q.slow))
	}
	return 100 * math.Exp(q.sigma*distuv.UnitNormal.Quantile(0.99))
}

// timed is what a trial times. Trials differ by 2 %.
func (q requests) timed(r *rand.Rand, n int) *record.Distribution {
	h, typical := stats.NewHistogram(), 100e3*(1+0.02*r.NormFloat64())
	for range n {
		ns := typical * math.Exp(q.sigma*r.NormFloat64())
		if r.Float64() < q.slow {
			ns *= 10
		}
		stats.Record(h, int64(ns))
	}
	d, err := stats.Distribution(h)
	if err != nil {
		panic(err)
	}
	return d
}

// row is that of a table.
func (q requests) row(name string, comparisons int) row {
	name = fmt.Sprintf("p99 of %d requests, %s", q.baseline, name)
	if q.level != q.baseline {
		name += fmt.Sprintf("; levels of %d", q.level)
	}
	l := law{modes: []mode{{1, q.p99()}}}
	return row{network{name: name, laws: []law{l, l}, requests: &q}, comparisons, 1}
}

// percentiles simulates a run that is judged by the percentile.
func percentiles(r row, blocks int, random *rand.Rand) tally {
	var s simulated
	var names []string
	for t := range r.comparisons + 1 {
		s.laws, names = append(s.laws, r.law(t)), append(names, fmt.Sprint(t))
	}
	s.truth = []measured{{means: make([]float64, len(names))}}
	for t := range names {
		s.truth[0].means[t] = r.requests.p99()
	}
	s.run = sciencetest.Levels("bit/s", 0, nil, names, func(_, _ string, _ int) float64 { return 0 }, blocks)
	s.run.Responses = []string{metric.LatencyP99.Name}
	for i := range s.run.Trials {
		n := r.requests.level
		if i%len(names) == 0 {
			n = r.requests.baseline
		}
		s.run.Trials[i].Latency = r.requests.timed(random, n)
	}
	conclude.Conclude(s.run)
	return s.judge()
}
