// Package run conducts a study: it sets treatments up on the hosts of a lab, one after
// another in randomised complete blocks, has the agents measure each in one common
// window, saves each trial at once, and concludes.
//
// What the figures mean is decided in internal/science, and how they are shown in
// internal/show.
package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/hub"
	"linerate/internal/control/lab"
	"linerate/internal/control/notebook"
	"linerate/internal/control/reach"
	"linerate/internal/control/snmp"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/version"
)

// Options of a run beyond what its plan says.
type Options struct {
	// Only and Set are what the plan was made with; they are only recorded.
	Only, Set []string
	// RunName is the name that the user gives to the run (record.Run.Name); empty: none.
	RunName string
	// Seed determines the order of the trials; 0: the study's seed, or a random one.
	Seed uint64
	// StudyFile is the text of the study file, which is stored with the run.
	StudyFile string
	// Published are the tables that the study names.
	Published []record.Published
	// Again is the command that repeats the run, without its seed. For a resumed run, it is
	// what is added to that command.
	Again string
	// Redesign changes the design of a resumed run. A new run has the design of its plan.
	Redesign study.Redesign
	// Reserve is for how many further trials the budget must leave time after the run, as
	// soon as the run has the blocks that a verdict needs.
	Reserve int
	// AllowMachine permits settings that are not confined to a namespace.
	AllowMachine bool
	// Install is for real hosts that do not have linerate.
	Install reach.Install
	// Progress is called before and after each trial.
	Progress func(Progress)
}

// Progress is the state of a run.
type Progress struct {
	Run   string // ID of the run
	Phase string // what is being done: "setting up the lab", or the name of a treatment
	Done  int    // number of finished trials
	Total int
	// Remaining is an estimate of the time left. Fits is the number of blocks, out of Blocks,
	// for which the budget probably has time; 0: for all of them.
	Remaining    time.Duration
	Fits, Blocks int
	// Last is the trial that ended last; nil before the first. Response is the study's first
	// response.
	Last     *record.Trial
	Response string
	Unit     string // unit of the study's result; empty: none
}

// conductor is the state of one run.
type conductor struct {
	study       *study.Study
	plan        *study.Plan
	design      record.Design
	options     Options
	run         *record.Run
	store       notebook.Store
	bus         *bus.Bus
	lab         *lab.Lab
	networks    map[string]*treatmentNetwork // by treatment
	credentials map[string]snmp.Credentials  // by switch
	switches    []*snmp.Switch
	unlinked    map[string][]topology.End // interfaces without a cable, by treatment
	snapshots   map[string]snapshot       // the latest, by host
	learning    sync.WaitGroup            // how often switches refresh their counters
	broken      error                     // a setting could not be reverted
	retryTime   time.Duration             // with trials that were not kept, and with waiting before another attempt
	maxRetrySet *time.Duration            // the user's limit of time spent on retries; nil: none

	elapsedBefore float64 // seconds, spent before the run was resumed
	began         time.Time
	order         int           // of the trial that is being made
	finished      map[int]bool  // trials, by order
	last          *record.Trial // the one that was made last; nil: none was
}

// New carries out a plan from its first trial. The run that it returns is concluded from the
// trials made, also if err says that the run was interrupted. A run that fails before its
// first trial ends is removed from the notebook, unless it has a note.
func New(ctx context.Context, plan *study.Plan, store notebook.Store, o Options) (*record.Run, error) {
	if err := MissingTools(plan); err != nil {
		return nil, err
	}
	c, err := prepare(plan, store, o)
	if err != nil {
		return nil, err
	}
	c.run = c.header()
	if err := store.Begin(ctx, c.run); err != nil {
		return nil, err
	}
	return c.conduct(ctx)
}

func prepare(plan *study.Plan, store notebook.Store, o Options) (*conductor, error) {
	s := plan.Study
	allowed, err := maxRetryFromEnv()
	if err != nil {
		return nil, err
	}
	if o.Seed == 0 {
		o.Seed = s.Design.Seed
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1e6) + 1 // short enough to be typed again
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return &conductor{
		study: s, plan: plan, options: o, store: store,
		design: record.Design{
			Replicates: plan.Blocks(), Until: float64(s.Design.Until), BudgetS: s.Design.Budget.Seconds(),
			Only: o.Only, Set: o.Set, Parts: plan.Parts, Partial: len(s.Design.Parts) > 0,
			Pairs: s.PairsOfHosts,
		},
		networks: map[string]*treatmentNetwork{}, unlinked: map[string][]topology.End{}, finished: map[int]bool{},
		maxRetrySet: allowed,
	}, nil
}

func (c *conductor) header() *record.Run {
	r := &record.Run{
		Schema: record.RunSchema, Name: c.options.RunName, Study: c.study.Name, Question: c.study.Question,
		Seed: c.options.Seed, Started: time.Now(), Status: notebook.Running,
		Unit: c.study.Unit, Responses: c.study.Responses, Factors: c.plan.Factors(), Topology: c.study.Topology,
		Design: c.design, Confidence: study.Confidence, Margin: float64(c.study.Design.Margin),
		StudyFile: c.study.File, Published: c.options.Published, Environment: record.Environment{
			Version: version.String()},
	}
	if c.options.StudyFile != "" {
		r.StudyFile = c.options.StudyFile
	}
	r.ID = notebook.ProposeID(r.Study, r.Seed)
	r.Again = fmt.Sprintf("%s --seed %d", c.options.Again, r.Seed)
	return r
}

// conduct makes the lab and the trials that are missing, and concludes.
func (c *conductor) conduct(ctx context.Context) (*record.Run, error) {
	c.began = time.Now()
	status, err := c.trials(ctx)
	return c.run, errors.Join(err, c.finish(ctx, status, err))
}

// finish saves what became of the run. One that failed before its first trial ended is
// removed, unless it has a note: a new run does the same as resuming it.
func (c *conductor) finish(ctx context.Context, status string, err error) error {
	c.run.DurationS = c.elapsed()
	c.run.Status, c.run.Error = status, ""
	if err != nil && ctx.Err() == nil {
		c.run.Error = err.Error()
	}
	if len(c.run.Trials) > 0 {
		conclude.Conclude(c.run)
	}
	if err := c.store.Finish(ctx, c.run); err != nil || c.run.Error == "" || len(c.run.Trials) > 0 {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	notes, err := c.store.Notes(ctx, c.run.ID)
	if err == nil && len(notes) == 0 {
		err = c.store.Remove(ctx, nil, c.run.ID)
	}
	if errors.Is(err, notebook.ErrHeld) || errors.Is(err, notebook.ErrNotFound) {
		return nil // another process has resumed or removed it
	}
	return err
}

// trials returns the run's status: as ended says, or interrupted.
func (c *conductor) trials(ctx context.Context) (status string, err error) {
	if status := c.ended(c.nextBlock()); status != "" {
		return status, nil // and needs no lab
	}
	if err := c.attacksPermitted(); err != nil {
		return notebook.Interrupted, err
	}
	if err := c.readCredentials(); err != nil {
		return notebook.Interrupted, err
	}
	c.progress("making the lab")
	b, err := hub.Start()
	if err != nil {
		return notebook.Interrupted, err
	}
	defer b.Close()
	c.bus = b
	c.lab, err = lab.Up(ctx, &c.study.Topology, b, lab.Options{AllowMachine: c.options.AllowMachine,
		Install: c.options.Install, Treatments: topologies(c.plan)})
	if err != nil {
		return notebook.Interrupted, err
	}
	defer func() { err = errors.Join(err, c.lab.Down()) }()
	c.findLimits()
	c.environment()
	c.takeSnapshots(ctx, false)
	if err := c.store.Describe(ctx, c.run); err != nil {
		return notebook.Interrupted, err
	}
	if err := c.missingTools(ctx); err != nil {
		return notebook.Interrupted, err
	}
	if err := c.missingDaemon(); err != nil {
		return notebook.Interrupted, err
	}
	defer c.closeSwitches()
	if err := c.findPorts(ctx); err != nil {
		return notebook.Interrupted, err
	}
	c.progress("checking the settings of every level")
	left, err := c.dryRun(ctx)
	if err == nil {
		err = c.leaveOut(ctx, left)
	}
	if err != nil {
		return notebook.Interrupted, err
	}
	for {
		block := c.nextBlock()
		if status := c.ended(block); status != "" {
			c.takeSnapshots(ctx, true)
			return status, nil
		}
		for place, index := range c.plan.Order(block, c.run.Seed) {
			order := (block-1)*len(c.plan.Treatments) + place + 1
			if c.finished[order] {
				continue
			}
			if err := c.makeTrial(ctx, &c.plan.Treatments[index], block, order); err != nil {
				return notebook.Interrupted, err
			}
		}
	}
}

// makeTrial makes one trial and saves it.
func (c *conductor) makeTrial(ctx context.Context, t *study.Treatment, block, order int) error {
	c.progress(t.Name)
	c.order = order
	trial, err := c.withRetries(ctx, t.Name, func(attempt int) (record.Trial, error) {
		return c.trial(ctx, t, attempt)
	})
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("trial %d (%s): %w", order, t.Name, err)
	}
	trial.Block, trial.Order, trial.ElapsedS = block, order, c.elapsed()
	if err := c.store.SaveTrial(ctx, c.run.ID, trial); err != nil {
		return err
	}
	c.run.Trials = append(c.run.Trials, trial)
	slices.SortFunc(c.run.Trials, func(a, b record.Trial) int { return a.Order - b.Order })
	c.finished[order] = true
	c.last = &trial
	c.progress(t.Name)
	return nil
}

func (c *conductor) progress(phase string) {
	n := len(c.plan.Treatments)
	total := max(c.design.Replicates*n, (len(c.run.Trials)+n-1)/n*n)
	done := len(c.run.Trials)
	remaining, fits := time.Duration(total-done)*c.trialTime(), 0
	if budget := c.design.BudgetS; budget > 0 {
		left := time.Duration(max(0, budget-c.elapsed()) * float64(time.Second))
		fit := fitting(total/n, func(block int) bool {
			return affordable(block, c.elapsed()+(time.Duration(block*n-done)*c.trialTime()+c.kept(block)).Seconds(),
				budget)
		})
		if fit < total/n || left < remaining {
			fits, remaining = fit, min(left, remaining)
		}
	}
	c.options.Progress(Progress{Run: c.run.ID, Phase: phase, Done: done, Total: total, Remaining: remaining, Fits: fits,
		Blocks: total / n,
		Last:   c.last, Response: c.study.Responses[0], Unit: c.run.Unit})
}

func (c *conductor) environment() {
	c.run.Environment.Version = version.String() // of a resumed run, the last that made trials
	c.run.Environment.Mode, c.run.Environment.ImpairedBy = c.lab.Mode(), c.lab.ImpairedBy()
	c.run.Environment.Hosts = nil
	c.run.Environment.Routing, c.run.Environment.Services = c.lab.Routing(), c.lab.Services()
	var used []string
	for _, t := range c.plan.Treatments {
		for _, f := range t.Flows {
			if f.CongestionControl != "" && !slices.Contains(used, f.CongestionControl) {
				used = append(used, f.CongestionControl)
			}
		}
	}
	for _, node := range c.lab.Nodes() {
		e := c.lab.Hello(node).Environment
		if _, host := c.study.Topology.Host(node); host {
			e.CongestionControl = strings.Join(used, ", ")
		}
		c.run.Environment.Hosts = append(c.run.Environment.Hosts, e)
	}
}
