package run

import (
	"fmt"
	"testing"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// twoLevels is a study of two treatments; a block is planned to take 5.6 s.
const twoLevels = `
study: two
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 1gbit}]
workload: {flows: [{from: a, to: b}]}
factors: {f: {levels: {slow: {}, fast: {}}}}
design: {replicates: 3, until: 10%, budget: 60s, seed: 5}
`

func planOf(t *testing.T, text string) *study.Plan {
	t.Helper()
	s, err := study.Parse("two.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// ready is a conductor that nothing has been asked of, whatever the environment says.
func ready(t *testing.T, plan *study.Plan, o Options) *conductor {
	t.Helper()
	t.Setenv(maxRetryTimeVariable, "")
	c, err := prepare(plan, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fresh is the conductor of a new run.
func fresh(t *testing.T, d record.Design) *conductor {
	t.Helper()
	c := ready(t, planOf(t, twoLevels), Options{})
	c.design = d
	c.run = c.header()
	return c
}

// trialsOf are those of some blocks; spread is how far their ratios differ.
func trialsOf(plan *study.Plan, blocks int, spread float64) []record.Trial {
	var list []record.Trial
	for block := 1; block <= blocks; block++ {
		for i, tr := range plan.Treatments {
			goodput := 1e6 * float64(i+1)
			if block%2 == 0 && i == 1 {
				goodput *= 1 + spread
			}
			list = append(list, record.Trial{Treatment: tr.Name, Levels: tr.Levels, Block: block, Order: len(list) + 1,
				GoodputBps: goodput})
		}
	}
	return list
}

// have gives a conductor trials that took so many seconds each.
func (c *conductor) have(trials []record.Trial, each float64) *conductor {
	c.run.Trials = trials
	for _, t := range trials {
		c.finished[t.Order] = true
	}
	c.elapsedBefore = each * float64(len(trials))
	return c
}

func TestEnough(t *testing.T) {
	const steady, wild = 0.001, 0.9
	for _, c := range []struct {
		name    string
		design  record.Design
		trials  int // finished
		spread  float64
		each    float64 // seconds of a trial
		want    string  // status; empty: go on
		reserve int     // trials
	}{
		{"nothing yet", record.Design{Replicates: 3}, 0, steady, 0, "", 0},
		{"a block missing", record.Design{Replicates: 3}, 4, steady, 1, "", 0},
		{"all blocks", record.Design{Replicates: 3}, 6, wild, 1, notebook.Complete, 0},
		{"narrow", record.Design{Replicates: 4, Until: 0.1}, 8, steady, 1, notebook.Complete, 0},
		{"wide", record.Design{Replicates: 3, Until: 0.1}, 6, wild, 1, "", 0},
		{"narrow within a block", record.Design{Replicates: 3, Until: 0.1}, 7, steady, 1, "", 0},
		{"wide after all blocks that there may be", record.Design{Replicates: 3, Until: 0.001}, 2 * maxBlocks, wild, 1,
			record.StatusBlocks, 0},
		{"narrow after all blocks that there may be", record.Design{Replicates: 3, Until: 0.1}, 2 * maxBlocks, steady,
			1, notebook.Complete, 0},
		{"more blocks were asked for", record.Design{Replicates: 100, Until: 0.001}, 2 * maxBlocks, wild, 1, "", 0},
		{"the next block fits the budget", record.Design{Replicates: 9, BudgetS: 8.5}, 6, wild, 1, "", 0},
		{"the next block does not fit", record.Design{Replicates: 9, BudgetS: 7.5}, 6, wild, 1, record.StatusBudget, 0},
		{"what is left of the block fits", record.Design{Replicates: 9, BudgetS: 8.5}, 7, wild, 1, "", 0},
		{"wide, and the next block does not fit", record.Design{Replicates: 3, Until: 0.1, BudgetS: 7.5}, 6, wild, 1,
			record.StatusBudget, 0},
		{"all done, in whatever time", record.Design{Replicates: 3, BudgetS: 7.5}, 6, wild, 9, notebook.Complete, 0},
		{"the first block, whatever it takes", record.Design{Replicates: 3, BudgetS: 1}, 0, wild, 0, "", 0},
		{"verdicts before what is reserved", record.Design{Replicates: 9, BudgetS: 10.5}, 6, wild, 1, "", 4},
		{"what is reserved before more blocks", record.Design{Replicates: 9, BudgetS: 10.5}, 8, wild, 1,
			record.StatusBudget, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := fresh(t, c.design)
			run.options.Reserve = c.reserve
			run.have(trialsOf(run.plan, c.trials, c.spread)[:c.trials], c.each)
			if status := run.ended(run.nextBlock()); status != c.want {
				t.Errorf("status %q, want %q", status, c.want)
			}
		})
	}
}

// TestFitting: a plan promises the blocks that the run makes if trials take as long as planned,
// with and without time for what follows.
func TestFitting(t *testing.T) {
	for _, reserve := range []int{0, 3, 8} {
		for _, half := range []int{1, 7, 9, 13, 17, 40} { // blocks
			plan := planOf(t, twoLevels)
			plan.Study.Design.Until, plan.Study.Design.Replicates = 0, 9
			plan.Study.Design.Budget = unit.Duration(plan.Time(half) / 2)
			each := (plan.BlockTime() / 2).Seconds()
			made := 0
			for {
				c := fresh(t, record.Design{Replicates: plan.Blocks(), BudgetS: plan.Study.Design.Budget.Seconds()})
				c.options.Reserve = reserve
				c.have(trialsOf(c.plan, made, 0)[:2*made], each)
				if c.ended(c.nextBlock()) != "" {
					break
				}
				made++
			}
			if got := Fitting(plan, reserve); got != made {
				t.Errorf("%d trials reserved, time for %d half blocks: %d promised, %d made", reserve, half, got, made)
			}
		}
	}
}

// TestPace: before a trial was made as planned, afterwards as it was; pauses do
// not count.
func TestPace(t *testing.T) {
	c := fresh(t, record.Design{Replicates: 3})
	if got, want := c.trialTime(), c.plan.BlockTime()/2; got != want {
		t.Errorf("planned %v, want %v", got, want)
	}
	if got, want := c.remaining(1), c.plan.BlockTime(); got != want {
		t.Errorf("a block is planned to take %v, want %v", got, want)
	}
	c.have(trialsOf(c.plan, 2, 0)[:3], 2)
	if got := c.trialTime(); got != 2*time.Second {
		t.Errorf("trials of 2 s give a pace of %v", got)
	}
	c.retryTime = 3 * time.Second
	if got := c.trialTime(); got != time.Second {
		t.Errorf("6 s for 3 trials and 3 s of them lost give a pace of %v", got)
	}
	c.retryTime = 0
	for block, want := range map[int]time.Duration{1: 0, 2: 2 * time.Second, 3: 4 * time.Second} {
		if got := c.remaining(block); got != want {
			t.Errorf("block %d: %v left, want %v", block, got, want)
		}
	}
	if next := c.nextBlock(); next != 2 {
		t.Errorf("block %d is next", next)
	}
	if spent := c.elapsed(); spent != 6 {
		t.Errorf("%g s spent before it is carried on", spent)
	}
	c.began = time.Now().Add(-time.Minute)
	if spent := c.elapsed(); spent < 66 || spent > 66+60 {
		t.Errorf("%g s spent, want 6 and a minute", spent)
	}
}

// TestPrepare: what is not asked for is as the study says, or drawn; with until there are
// no fewer blocks than it needs.
func TestPrepare(t *testing.T) {
	c := ready(t, planOf(t, twoLevels), Options{Only: []string{"fast"}, Set: []string{"a=b"}})
	want := record.Design{Replicates: study.LeastUntil, Until: 0.1, BudgetS: 60}
	if d := c.design; d.Replicates != want.Replicates || d.Until != want.Until || d.BudgetS != want.BudgetS ||
		d.Only[0] != "fast" || d.Set[0] != "a=b" {
		t.Errorf("design %+v, want %+v", d, want)
	}
	if c.options.Seed != 5 {
		t.Errorf("seed %d, want the study's", c.options.Seed)
	}
	c.options.Progress(Progress{}) // is there
	if c := ready(t, planOf(t, twoLevels), Options{Seed: 9}); c.options.Seed != 9 {
		t.Errorf("seed %d, want the one asked for", c.options.Seed)
	}
	drawn := map[uint64]bool{}
	for range 20 {
		plan := planOf(t, twoLevels)
		plan.Study.Design.Seed = 0
		seed := ready(t, plan, Options{}).options.Seed
		if seed == 0 || seed > 1e6 {
			t.Errorf("drew seed %d, want 1 to 1000000", seed)
		}
		drawn[seed] = true
	}
	if len(drawn) < 10 {
		t.Errorf("drew only %d seeds", len(drawn))
	}
	run := ready(t, planOf(t, twoLevels), Options{Seed: 9, Again: "linerate run two.yaml"})
	if h := run.header(); h.Again != "linerate run two.yaml --seed 9" || h.ID != "two-9" ||
		h.Status != notebook.Running || fmt.Sprint(h.Design) != fmt.Sprint(want) {
		t.Errorf("header %+v", h)
	}
}
