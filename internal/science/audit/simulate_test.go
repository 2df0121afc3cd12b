package audit

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// design is how many blocks a run has, how many levels it compares with the baseline, and
// by how many responses.
type design struct{ blocks, comparisons, responses int }

// responses are what runs are judged by, the first ones first.
var responses = []string{metric.Goodput.Name, metric.Transactions.Name, "latency_mean"}

// measured is a response's part of a run: the trials by treatment and block, and the truth.
type measured struct {
	values [][]outcome
	means  []float64
}

// simulated is a run with its truth in each response.
type simulated struct {
	run   *record.Run
	truth []measured
	laws  []law // by treatment
}

// simulate makes a run of the network and concludes it.
func (w network) simulate(r *rand.Rand, d design) simulated {
	s := w.trials(r, d)
	conclude.Conclude(s.run)
	return s
}

// trials makes a run of the network, with nothing concluded.
func (w network) trials(r *rand.Rand, d design) simulated {
	var names []string
	var s simulated
	for t := range d.comparisons + 1 {
		names, s.laws = append(names, fmt.Sprint(t)), append(s.laws, w.law(t))
	}
	for range max(1, d.responses) {
		var m measured
		m.values, m.means = w.values(r, d.comparisons+1, d.blocks)
		s.truth = append(s.truth, m)
	}
	s.run = sciencetest.Levels("bit/s", w.limit*rate, nil, names, func(_, _ string, _ int) float64 {
		return 0
	}, d.blocks)
	s.run.Responses = responses[:max(1, d.responses)]
	if i := slices.IndexFunc(s.laws, func(l law) bool { return l.links != nil }); i >= 0 {
		s.run.Topology = *fabric(s.laws[i].links)
	}
	for i := range s.run.Trials {
		t, at := &s.run.Trials[i], i%(d.comparisons+1)
		for k, m := range s.truth {
			o := m.values[at][t.Block-1]
			switch responses[k] {
			case metric.Goodput.Name:
				s.laws[at].goodput(t, o)
			case metric.Transactions.Name:
				t.TransactionsPerS = o.value
				t.Flows = append(t.Flows, record.Flow{Protocol: "rr", Connected: true, Alive: true,
					GoodputBps: o.value})
			default:
				t.Latency = &record.Distribution{Count: 1e5, MeanUs: o.value}
			}
		}
	}
	return s
}

// goodput gives a trial an outcome, with its flows where these go over known links.
func (l law) goodput(t *record.Trial, o outcome) {
	if o.on != nil {
		made := sciencetest.Hashed(t.Treatment, len(l.links), l.ports, o.on...)
		for i := range made.Flows {
			made.Flows[i].GoodputBps *= o.value * link / made.GoodputBps
		}
		t.Flows, t.LimitBps = made.Flows, made.LimitBps
	}
	t.GoodputBps = o.value * link
}

var fabrics sync.Map // topologies, by weights

// fabric is two servers on links of such weights.
func fabric(weights []int) *topology.Topology {
	key := fmt.Sprint(weights)
	if made, ok := fabrics.Load(key); ok {
		return made.(*topology.Topology)
	}
	f := sciencetest.Fabric(len(weights), "1")
	for _, h := range f.Hosts {
		if len(h.Routes) > 1 {
			continue // a spine
		}
		for i, w := range weights {
			h.Routes[0].Nexthops[i].Weight = w
		}
	}
	made, _ := fabrics.LoadOrStore(key, &f)
	return made.(*topology.Topology)
}

// each runs one simulation after the other on all processors. Each has a random source of
// its own, so that what follows does not depend on their order.
func each(name string, runs int, one func(*rand.Rand) tally) tally {
	h := fnv.New64()
	h.Write([]byte(name))
	seed := h.Sum64()
	var sum tally
	var mutex sync.Mutex
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			var mine tally
			for i := w; i < runs; i += workers {
				mine.add(one(rand.New(rand.NewPCG(seed, uint64(i)))))
			}
			mutex.Lock()
			defer mutex.Unlock()
			sum.add(mine)
		})
	}
	wait.Wait()
	return sum
}

// tally counts what runs said.
type tally struct {
	blocks                    int // of each run
	runs, treatments, effects int

	covered    int // treatments whose interval holds the mean
	stated     int // treatments whose interval holds a mean that the trials can show
	together   int // runs all of whose effects' intervals hold
	described  int // runs all of whose effects' intervals hold means that the trials can show
	direction  int // runs with an effect in a direction that it does not have
	indistinct int // runs with "no difference" where there is one
	overlooked int // runs with "no difference" where the trials can show one
	undecided  int // effects without a verdict
	found      int // effects in the direction that they have
	before     int // the same by the plain method
	fix        int // runs that recommend a level or call it a fix, where it does not improve
	reaching   int // treatments that are said to reach the limit, and don't
	settled    int // runs that ended by themselves, of those that go on until they do
}

func (t *tally) add(o tally) {
	t.runs, t.treatments, t.effects = t.runs+o.runs, t.treatments+o.treatments, t.effects+o.effects
	t.covered, t.stated = t.covered+o.covered, t.stated+o.stated
	t.together, t.described = t.together+o.together, t.described+o.described
	t.direction, t.indistinct, t.overlooked = t.direction+o.direction, t.indistinct+o.indistinct, t.overlooked+
		o.overlooked
	t.undecided, t.found, t.before = t.undecided+o.undecided, t.found+o.found, t.before+o.before
	t.fix, t.reaching, t.settled = t.fix+o.fix, t.reaching+o.reaching, t.settled+o.settled
}

// holds reports whether an interval has a value in it, but for rounding.
func holds(low, high, value float64) bool {
	const rounding = 1e-9
	return low <= value+rounding*max(1, value) && high >= value-rounding*max(1, value)
}

// judge compares what a run says with the truth.
func (s simulated) judge() tally {
	t := tally{runs: 1}
	s.judgeTreatments(&t)
	s.judgeEffects(&t)
	s.judgeCandidates(&t)
	return t
}

func (s simulated) judgeTreatments(t *tally) {
	for i, treatment := range s.run.Treatments {
		for k, e := range treatment.Responses {
			unit := scale(e.Response)
			hold := func(mean float64) bool { return e.Confidence == 0 || holds(e.Low/unit, e.High/unit, mean) }
			t.treatments++
			t.covered += one(hold(s.truth[k].means[i]))
			t.stated += one(slices.ContainsFunc(s.shown(k, i), hold))
		}
	}
}

// shown are the means of a treatment that the trials of the run can show.
func (s simulated) shown(response, treatment int) []float64 {
	means := s.laws[treatment].shown(s.run.Conclusion.Missed)
	if mean := s.laws[treatment].mean(); mean > 0 {
		for i := range means { // the blocks shift all modes alike
			means[i] *= s.truth[response].means[treatment] / mean
		}
	}
	return means
}

func (s simulated) judgeEffects(t *tally) {
	together, described, direction, indistinct, overlooked := true, true, false, false, false
	for i, lead := range s.run.Effects {
		for k, e := range append([]record.Effect{lead}, lead.Beside...) {
			base, level := s.truth[k].means[0], s.truth[k].means[i+1]
			alike := func(base, level float64) bool { return math.Abs(level-base) <= s.run.Margin*base }
			shown := func(is func(base, level float64) bool) bool {
				return slices.ContainsFunc(s.shown(k, 0), func(b float64) bool {
					return slices.ContainsFunc(s.shown(k, i+1), func(l float64) bool { return is(b, l) })
				})
			}
			hold := func(base, level float64) bool { return intervalHolds(e, base, level) }
			t.effects++
			together, described = together && hold(base, level), described && shown(hold)
			switch e.Verdict {
			case record.Inconclusive:
				t.undecided++
			case record.NoDifference:
				indistinct = indistinct || !alike(base, level)
				overlooked = overlooked || !shown(alike)
			case verdictOn(e.Response, base, level):
				t.found++
			default:
				direction = true
			}
		}
	}
	t.together, t.described = one(together), one(described)
	t.direction, t.indistinct, t.overlooked = one(direction), one(indistinct), one(overlooked)
}

func (s simulated) judgeCandidates(t *tally) {
	fix := false
	for _, condition := range s.run.Conclusion.Conditions {
		base := s.truth[0].means[0]
		for i, c := range append([]record.Candidate{*condition.Baseline}, condition.Candidates...) {
			mean := s.truth[0].means[i]
			fix = fix || (c.Fix || c.Best) && mean <= base
			t.reaching += one(c.Reaches && mean*link < 0.98*c.LimitBps)
		}
	}
	t.fix = one(fix)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// scale is how much of a response's unit one is.
func scale(response string) float64 {
	if response == metric.Goodput.Name || response == "" {
		return link
	}
	return 1
}

// verdictOn is the direction that a level has; none: it is as the baseline.
func verdictOn(response string, base, level float64) string {
	r, _ := metric.Find(response)
	switch {
	case level == base:
		return record.NoDifference
	case level > base != r.Lower:
		return record.Improves
	}
	return record.Worsens
}

// intervalHolds reports whether an effect's interval has the truth in it. One that is
// unknown claims nothing.
func intervalHolds(e record.Effect, base, level float64) bool {
	switch {
	case e.Difference != nil:
		s := scale(e.Response)
		return unknown(*e.Difference) || holds(e.Difference.Low/s, e.Difference.High/s, level-base)
	case e.Ratio.None || base == 0:
		return true
	}
	return unknown(e.Ratio) || holds(e.Ratio.Low, e.Ratio.High, level/base)
}

func unknown(size record.EffectSize) bool { return size.Low == 0 && size.High == 0 && size.Mean != 0 }
