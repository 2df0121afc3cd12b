package audit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
)

// mostBlocks is where a run ends that does not settle: half of what package run allows.
const mostBlocks = 32

// narrow is what runs ask for that go on until they know.
const narrow = 0.02

// untilNarrow simulates a run that ends at the first block, from the one given, after which
// all intervals are as narrow as asked.
func untilNarrow(r row, first int, random *rand.Rand) tally {
	s := r.trials(random, design{mostBlocks, r.comparisons, r.responses})
	s.run.Design.Until = narrow
	all := s.run.Trials
	for n := first; n <= mostBlocks; n++ {
		s.run.Trials = all[:n*(r.comparisons+1)]
		conclude.Conclude(s.run)
		if conclude.Wide(s.run) == 0 {
			t := s.judge()
			t.settled = 1
			return t
		}
	}
	return tally{runs: 1}
}

// more is a network whose levels carry so much more than the baseline, in normal noise.
func more(by float64) network {
	return network{name: fmt.Sprintf("normal, 2 %%; levels %+.0f %%", 100*by),
		laws: []law{steady(1, 0.02), steady(1+by, 0.02)}, limit: 2}
}

// besidePlain simulates a run, and counts what plainVerdict finds in the same trials.
func besidePlain(r row, blocks int, random *rand.Rand) tally {
	s := r.simulate(random, design{blocks, r.comparisons, r.responses})
	t := s.judge()
	values := s.truth[0].values
	confidence := math.Pow(s.run.Confidence, 1/float64(r.comparisons))
	for level := range r.comparisons {
		logs := make([]float64, blocks)
		for b := range logs {
			logs[b] = math.Log(values[level+1][b].value / values[0][b].value)
		}
		t.before += one(plainVerdict(logs, confidence, s.run.Margin) == record.Improves)
	}
	return t
}

// plainVerdict is what Student's t says of paired log-ratios: the reference for the power
// in normal noise, for which nothing is more powerful.
func plainVerdict(logs []float64, confidence, margin float64) string {
	mean, sd := stat.MeanStdDev(logs, nil)
	n := float64(len(logs))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.5+confidence/2) * sd / math.Sqrt(n)
	switch low, high := math.Exp(mean-half), math.Exp(mean+half); {
	case low >= 1-margin && high <= 1+margin:
		return record.NoDifference
	case low > 1:
		return record.Improves
	case high < 1:
		return record.Worsens
	}
	return record.Inconclusive
}
