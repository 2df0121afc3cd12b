package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/hub"
	"linerate/internal/control/lab"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
)

// dryRun applies and reverts the settings of every level once and tries the congestion
// control of its flows, so that what a kernel refuses fails before the first trial. The
// error names the treatment. Treatments that need what a kernel lacks are left out, as long
// as the others answer what the study asks and no trial was made.
func (c *conductor) dryRun(ctx context.Context) (left []record.LeftOut, err error) {
	type level struct{ factor, name string }
	seen := map[level]bool{}
	var lacks []error
	asked := map[string]map[string]error{} // congestion controls, by kernel
	for i := range c.plan.Treatments {
		t := &c.plan.Treatments[i]
		fresh := i == 0
		for factor, name := range t.Levels {
			fresh = fresh || !seen[level{factor, name}]
		}
		if !fresh {
			continue
		}
		err := c.dryRunOne(ctx, t, asked)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			failed := fmt.Errorf("treatment %q cannot be set up: %w", t.Name, err)
			if !errors.Is(err, message.Unsupported) || len(c.run.Trials) > 0 {
				return nil, failed
			}
			left, lacks = append(left, record.LeftOut{Treatment: t.Name, Why: plain.Line(err.Error())}), append(lacks,
				failed)
			continue // its levels are not seen: other treatments with them are tried
		}
		for factor, name := range t.Levels {
			seen[level{factor, name}] = true
		}
	}
	if !c.plan.Without(left).Answers(c.plan) {
		return nil, fmt.Errorf("%w\nNothing was measured: the other treatments do not answer what the study asks",
			errors.Join(lacks...))
	}
	return left, nil
}

// leaveOut removes treatments from the plan, before the first trial.
func (c *conductor) leaveOut(ctx context.Context, left []record.LeftOut) error {
	if len(left) == 0 {
		return nil
	}
	c.plan, c.design.LeftOut = c.plan.Without(left), append(c.design.LeftOut, left...)
	c.run.Factors, c.run.Design = c.plan.Factors(), c.design
	return c.store.Describe(ctx, c.run)
}

// LeftOut returns the treatments that a run of a plan would leave out on this machine, because its kernel
// lacks what they need. If a treatment needs what some kernels do not have (qdiscs, congestion controls,
// kinds of devices), it makes the plan's lab for a moment. It judges no plan that executes programs, as
// those with real hosts do. The error says why the lab or the settings cannot be made.
func LeftOut(ctx context.Context, plan *study.Plan) (left []record.LeftOut, err error) {
	// Programs of a file are executed only with the user's permission, for which check does not ask.
	if !needy(plan) || len(plan.Commands()) > 0 || MissingTools(plan) != nil {
		return nil, nil
	}
	c, err := prepare(plan, nil, Options{})
	if err != nil {
		return nil, err
	}
	c.run = c.header()
	if c.bus, err = hub.Start(); err != nil {
		return nil, err
	}
	defer c.bus.Close()
	c.lab, err = lab.Up(ctx, &plan.Study.Topology, c.bus, lab.Options{Treatments: topologies(plan)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.lab.Down()) }()
	return c.dryRun(ctx)
}

// needy reports whether a plan needs what some kernels lack.
func needy(plan *study.Plan) bool {
	needs := false
	for _, h := range plan.Study.Topology.Hosts {
		for _, i := range h.Interfaces {
			_, is := i.Shape(i.Name)
			needs = needs || is
		}
	}
	for _, t := range plan.Treatments {
		for _, s := range t.Settings {
			needs = needs || s.Qdisc != nil
		}
		for _, f := range t.Flows {
			needs = needs || !slices.Contains([]string{"", "cubic", "reno"}, f.CongestionControl)
		}
	}
	return needs
}

func (c *conductor) dryRunOne(ctx context.Context, t *study.Treatment, asked map[string]map[string]error) (err error) {
	settings, err := c.lab.Resolve(t.Settings)
	if err != nil {
		return err
	}
	events, err := c.lab.Resolve(eventSettings(t.Workload.Events))
	if err != nil {
		return err
	}
	at := marks{}
	defer func() { err = errors.Join(err, c.revert(ctx, t, at)) }()
	for _, settings := range [][]setting.Setting{settings, events} {
		if err := c.hold(ctx, c.over(t), settings, at); err != nil {
			return err
		}
		if _, err := c.apply(ctx, settings, nil, at); err != nil {
			return err
		}
	}
	return c.probeCongestionControl(ctx, t, asked)
}

// revertTimeout bounds how long reverting settings may take: with very many addresses
// the kernel may be busy for minutes.
func revertTimeout(settings []setting.Setting) time.Duration {
	d := 30 * time.Second
	for _, s := range settings {
		if s.Address != nil {
			d += time.Duration(s.Address.Number()) * 10 * time.Millisecond
		}
	}
	return d
}

// probeCongestionControl sets the flows' congestion control on sockets of their hosts
// (TCP_CONGESTION, tcp(7)): only that shows whether a kernel can load the module. Each
// kernel is asked once.
func (c *conductor) probeCongestionControl(ctx context.Context, t *study.Treatment,
	asked map[string]map[string]error) (err error) {
	requests := map[string][]message.FlowRequest{}
	kernels := map[string]string{} // of each host that is sent a request
	for _, f := range t.Flows {
		name := f.CongestionControl
		if name == "" {
			continue // no flow over TCP
		}
		if asked[name] == nil {
			asked[name] = map[string]error{}
		}
		for _, host := range []string{f.Opener, f.Acceptor} {
			kernel := "" // all virtual hosts have this machine's
			if h, _ := c.study.Topology.Host(host); len(h.Via) > 0 {
				kernel = host
			}
			known, is := asked[name][kernel]
			if err = errors.Join(err, known); !is {
				asked[name][kernel], kernels[host] = nil, kernel
				requests[host] = append(requests[host],
					message.FlowRequest{ID: name, Spec: flow.Spec{CongestionControl: name}})
			}
		}
	}
	defer trial.Group{Bus: c.bus, Nodes: slices.Sorted(maps.Keys(requests))}.Close(ctx)
	replies, failed := bus.Ask(ctx, c.bus, message.Listen, requests)
	for host, listening := range replies {
		for _, l := range listening {
			if l.Error != nil {
				asked[l.ID][kernels[host]] = fmt.Errorf("%s: %w", host, l.Error)
				err = errors.Join(err, asked[l.ID][kernels[host]])
			}
		}
	}
	return errors.Join(err, failed)
}
