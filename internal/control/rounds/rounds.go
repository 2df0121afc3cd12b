// Package rounds conducts measurements between many hosts: it reaches their agents, has them measure the
// pairs of a plan (package model/mesh) round by round, each round in one common window as package
// trial does, and saves each round as a trial of a run. A host that is lost is left out from then on.
// It changes no settings.
package rounds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/control/reach"
	"linerate/internal/model/flow"
	"linerate/internal/model/mesh"
	"linerate/internal/model/message"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/version"
)

// Host is a host of a plan, by its Name, and how it is reached.
type Host struct {
	reach.Host
	// Address is where it is measured; zero: one of those that its agent reports (see choose).
	Address netip.Addr
}

// Defaults of Options. Half a second is longer than slow start takes on a path of a datacentre. In a
// second, the edges of a window, which are read within a millisecond, are a thousandth of it.
const (
	DefaultWarmup   = 500 * time.Millisecond
	DefaultDuration = time.Second
)

// Options of a mesh. Duration and Warmup are those of every round. Every other field may be zero.
type Options struct {
	Duration, Warmup time.Duration
	// Flows are the protocol, the streams of each pair, and other options. Pacing follows from the
	// plan's share.
	Flows flow.Spec
	// Fabric has the switches and links between the hosts; nil: they are not known. Of a resumed mesh it is
	// that of the run.
	Fabric *topology.Topology
	// RunName is the name that the user gives to the run, and Again the command that repeats it.
	RunName, Again string
	// Self starts the agent of this host (reach.Options).
	Self func(node string, access message.Access) net.Conn
	// Progress is called before and after each round; nil: not called.
	Progress func(Progress)
	// Say is called with a line that a user should read meanwhile; nil: it is not called.
	Say func(string)

	// of tests; zero: as documented
	limit, connect time.Duration // see patience and connectTimeout
	clock          clock
}

// Progress is the state of a mesh.
type Progress struct {
	Run         string // ID; empty: it is not kept
	Phase       string // what is being done
	Done, Total int    // rounds
	Remaining   time.Duration
	Lost        int // hosts
}

const (
	// patience bounds the answer of an agent, beyond the time that a request takes.
	patience = 10 * time.Second
	// connectTimeout bounds each attempt to connect a pair. It is longer than ARP tries (3 s).
	connectTimeout = 5 * time.Second
	// attempts is how often a round is tried whose schedule could not be kept, or which failed for a
	// reason that no host can be blamed for.
	attempts = 5
	// Overhead is what a round takes besides its window, until it is known.
	Overhead = 300 * time.Millisecond
)

// ErrTooFew means that fewer than two hosts were left.
var ErrTooFew = errors.New("fewer than two hosts are left")

// conductor is the state of a mesh that is being measured. Hosts are addressed by their place in the
// plan.
type conductor struct {
	options Options
	store   notebook.Store // nil: it is not kept
	run     *record.Run
	plan    *mesh.Plan // that of the run, with the rates that agents report
	hosts   []Host
	reached *reach.Hosts
	agents  []*reach.Reached // nil: lost, or not reached
	places  []place

	finished      map[int]bool // rounds, by number from 1
	began         time.Time
	elapsedBefore float64       // seconds, before the run was resumed
	lead          int           // see trial.Group.Measure
	took          time.Duration // all rounds that were made
	made          int
}

// New measures a plan from its first round. hosts has its hosts, in its order. store may be nil: the
// run is not kept. The run that is returned is concluded from the rounds made, also if err says that
// it was interrupted; nil: it was not begun.
func New(ctx context.Context, plan *mesh.Plan, hosts []Host, store notebook.Store, o Options) (*record.Run, error) {
	if err := check(plan, hosts, o); err != nil {
		return nil, err
	}
	c := prepare(plan, hosts, store, o)
	c.run = c.header()
	if store != nil {
		if err := store.Begin(ctx, c.run); err != nil {
			return nil, err
		}
	}
	return c.conduct(ctx)
}

// Resume continues an interrupted mesh with the rounds that are missing. Hosts that were lost are
// reached again. Of o, only what is not measured with counts.
func Resume(ctx context.Context, store notebook.Store, id string, o Options) (*record.Run, error) {
	saved, err := store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if saved.Mesh == nil {
		return nil, fmt.Errorf("run %s is not a mesh", id)
	}
	if _, _, err := restore(saved, o); err != nil {
		return nil, err
	}
	if saved, err = store.Resume(ctx, id, false); err != nil {
		return nil, err
	}
	hosts, o, err := restore(saved, o)
	if err != nil {
		return nil, err
	}
	c := prepare(&saved.Mesh.Plan, hosts, store, o)
	c.run, c.elapsedBefore = saved, saved.DurationS
	c.run.Mesh.Lost = nil
	c.plan = &c.run.Mesh.Plan
	for _, t := range saved.Trials {
		c.finished[t.Order] = true
	}
	return c.conduct(ctx)
}

func prepare(plan *mesh.Plan, hosts []Host, store notebook.Store, o Options) *conductor {
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.clock == nil {
		o.clock = machineClock{}
	}
	o.limit, o.connect = cmp.Or(o.limit, patience), cmp.Or(o.connect, connectTimeout)
	copied := *plan
	copied.Hosts = slices.Clone(plan.Hosts)
	return &conductor{options: o, store: store, plan: &copied, hosts: hosts, finished: map[int]bool{},
		agents: make([]*reach.Reached, len(hosts)), places: make([]place, len(hosts))}
}

func (c *conductor) header() *record.Run {
	o := c.options
	r := &record.Run{
		Schema: record.RunSchema, Name: o.RunName, Study: record.MeshStudy, Seed: c.plan.Seed, Started: time.Now(),
		Status: notebook.Running, Unit: "bit/s", Responses: []string{metric.Goodput.Name},
		Question: fmt.Sprintf("Which of %d hosts are slow?", len(c.plan.Hosts)), Again: o.Again,
		Factors: []record.Factor{}, Treatments: []record.Treatment{}, Effects: []record.Effect{},
		Trust: []record.Check{}, Findings: []record.Finding{}, Trials: []record.Trial{},
		Design:      record.Design{Replicates: 1, Options: named(o)},
		Environment: record.Environment{Version: version.String(), Mode: "real hosts"},
		Mesh:        &record.Mesh{Plan: *c.plan, Fabric: o.Fabric},
	}
	if flow.Of(o.Flows.Protocol).Transactional() {
		r.Responses = []string{metric.LatencyP50.Name}
	}
	r.Mesh.Metric = r.Responses[0]
	r.ID = notebook.ProposeID(r.Study, r.Seed)
	c.plan = &r.Mesh.Plan
	r.Topology = Topology(c.hosts)
	return r
}

// conduct reaches the hosts, makes the rounds that are missing, and concludes.
func (c *conductor) conduct(ctx context.Context) (*record.Run, error) {
	c.began = time.Now()
	err := c.rounds(ctx)
	c.run.DurationS = c.elapsed()
	c.run.Status, c.run.Error = notebook.Complete, ""
	if err != nil {
		c.run.Status = notebook.Interrupted
		if ctx.Err() == nil {
			c.run.Error = err.Error()
		}
	}
	c.conclude()
	if c.store == nil {
		return c.run, err
	}
	if len(c.run.Trials) == 0 && c.run.Error != "" { // a new mesh does the same as resuming it
		after := context.WithoutCancel(ctx)
		return c.run, errors.Join(err, c.store.Finish(after, c.run), c.store.Remove(after, nil, c.run.ID))
	}
	return c.run, errors.Join(err, c.store.Finish(ctx, c.run))
}

func (c *conductor) elapsed() float64 { return c.elapsedBefore + time.Since(c.began).Seconds() }

// rounds makes the rounds that are missing.
func (c *conductor) rounds(ctx context.Context) error {
	if _, _, left := c.next(); !left {
		return nil
	}
	c.progress("reaching hosts")
	if err := c.open(ctx); err != nil {
		return err
	}
	defer c.reached.Close()
	if err := c.place(ctx); err != nil {
		return err
	}
	if err := c.describe(ctx); err != nil {
		return err
	}
	for {
		order, pairs, left := c.next()
		if !left {
			if more, err := c.again(ctx); err != nil || !more {
				return err
			}
			continue
		}
		if err := c.awaitHours(ctx); err != nil {
			return err
		}
		c.progress("measuring")
		began := time.Now()
		t, err := c.round(ctx, order, pairs)
		if err != nil {
			return err
		}
		c.took, c.made = c.took+time.Since(began), c.made+1
		if err := c.save(ctx, order, t); err != nil {
			return err
		}
		c.progress("measuring")
	}
}

// next returns the first round that is missing.
func (c *conductor) next() (order int, pairs []mesh.Pair, left bool) {
	for i, pairs := range slices.Concat(c.plan.Rounds, c.run.Mesh.Again) {
		if !c.finished[i+1] {
			return i + 1, pairs, true
		}
	}
	return 0, nil, false
}

// save keeps a round. One without pairs, whose hosts are lost, is left out, so that a resumed run makes
// it.
func (c *conductor) save(ctx context.Context, order int, t record.Trial) error {
	c.finished[order] = true
	if len(t.Flows) == 0 {
		return nil
	}
	t.Block, t.Order, t.ElapsedS = 1, order, c.elapsed()
	c.run.Trials = append(c.run.Trials, t)
	slices.SortFunc(c.run.Trials, func(a, b record.Trial) int { return a.Order - b.Order })
	if c.store == nil {
		return nil
	}
	return c.store.SaveTrial(ctx, c.run.ID, t)
}

// describe saves what is known besides the rounds, so that a run that is killed keeps it.
func (c *conductor) describe(ctx context.Context) error {
	if c.store == nil {
		return nil
	}
	return c.store.Describe(ctx, c.run)
}

// roundTime returns how long a round takes.
func (c *conductor) roundTime() time.Duration {
	if c.made == 0 {
		return c.options.Warmup + c.options.Duration + Overhead
	}
	return c.took / time.Duration(c.made)
}

func (c *conductor) progress(phase string) {
	total := len(c.plan.Rounds) + len(c.run.Mesh.Again)
	left := total - len(c.finished)
	c.options.Progress(Progress{Run: c.run.ID, Phase: phase, Done: total - left, Total: total,
		Remaining: time.Duration(left) * c.roundTime(), Lost: len(c.run.Mesh.Lost)})
}
