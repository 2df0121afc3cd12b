package stats

import (
	"math/rand/v2"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
)

// twoHosts are what the plans have in common.
const twoHosts = `
study: two
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 1gbit}]
workload: {flows: [{from: a, to: b}]}
`

// trialsOf are the trials of a plan's blocks; goodput has that of one.
func trialsOf(p *study.Plan, blocks int, goodput func() float64) (trials []record.Trial) {
	for block := range blocks {
		for _, t := range p.Treatments {
			trials = append(trials, record.Trial{Treatment: t.Name, Levels: t.Levels, Block: block + 1,
				GoodputBps: goodput()})
		}
	}
	return trials
}

func planOf(t *testing.T, text string, parts ...string) *study.Plan {
	t.Helper()
	s, err := study.Parse("study.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(s, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestComparisonsOfPlans: a plan counts the comparisons that Effects makes of its trials.
func TestComparisonsOfPlans(t *testing.T) {
	const factors = `
factors:
  fix:
    ablate: both
    levels:
      none: {}
      both: {settings: [{host: a, sysctl: {net.ipv4.tcp_sack: 0, net.ipv4.tcp_ecn: 1}}]}
      window: {against: none, workload: {window: 64KiB}}
      small: {against: window, workload: {window: 32KiB}}
  streams: {levels: {"1": {}, "2": {workload: {streams: 2}}, "4": {workload: {streams: 4}}}}
  direction: {role: condition, levels: {writes: {}, reads: {workload: {direction: read}}}}
`
	const parts = `
design:
  parts:
    fixes: {levels: {fix: [none, both, small], direction: [writes]}}
    crossed: {levels: {fix: [both], streams: ["2", "4"]}, on_demand: true}
    each: {one_by_one: [fix, streams], on_demand: true}
`
	check := func(p *study.Plan, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		run := &record.Run{Confidence: 0.95, Factors: p.Factors(), Trials: trialsOf(p, 1, func() float64 { return 1 })}
		run.Design.Partial = len(p.Study.Design.Parts) > 0
		levels, treatments := Of(run).Effects()
		if got := p.Comparisons(); got != len(levels)+len(treatments) {
			t.Errorf(
				"%d treatments of parts %v: the plan counts %d comparisons, and its run has %d of levels and %d of "+
					"treatments",
				len(p.Treatments), p.Parts, got, len(levels), len(treatments))
		}
	}
	whole := planOf(t, twoHosts+factors)
	check(whole, nil)
	check(whole.Only([]string{"small", "writes"}))
	check(whole.Only([]string{"both", "2"}))
	for _, asked := range [][]string{nil, {"crossed"}, {"each"}, {"fixes", "crossed"}, {"all"}} {
		check(planOf(t, twoHosts+factors+parts, asked...), nil)
	}
}

// TestUntilCovers: runs that end when their interval is narrow enough cover the truth in 93
// of 100 cases, although they end the sooner the more alike their trials are by chance. A
// single comparison at a scatter of 3 % is the worst case: with more of them no interval
// decides alone, and with less scatter the first ones are narrow enough for good reasons.
func TestUntilCovers(t *testing.T) {
	const runs, until, scatter = 2500, 0.02, 0.03
	p := planOf(t, twoHosts+"factors: {f: {levels: {slow: {}, fast: {}}}}\ndesign: {until: 2%}\n")
	rng := rand.New(rand.NewPCG(14, 2))
	covered := 0
	for range runs {
		run := &record.Run{Confidence: 0.95, Margin: 0.02, Factors: p.Factors(),
			Trials: trialsOf(p, 40, func() float64 { return 1e9 * (1 + scatter*rng.NormFloat64()) })}
		all := run.Trials
		for n := p.Blocks(); n <= 40; n++ {
			run.Trials = all[:n*len(p.Treatments)]
			if effects, _ := Of(run).Effects(); Narrow(&effects[0], nil, until) || n == 40 {
				if effects[0].Ratio.Low <= 1 && effects[0].Ratio.High >= 1 {
					covered++
				}
				break
			}
		}
	}
	// The share is 93.2 % with eight blocks at first and 91.5 % with four (20,000 runs
	// each); two standard errors are a point.
	if share := float64(covered) / runs; share < 0.923 {
		t.Errorf("%.1f %% of the runs cover the truth when they end, want 93 %%", 100*share)
	}
}
