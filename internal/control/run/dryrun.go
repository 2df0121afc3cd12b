package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
)

// dryRun applies and reverts the settings of every level once and tries the congestion
// control of its flows, so that what a kernel refuses fails before the first trial. The
// error names the treatment.
func (c *conductor) dryRun(ctx context.Context) error {
	type level struct{ factor, name string }
	seen := map[level]bool{}
	asked := map[string]map[string]bool{} // congestion controls, by kernel
	for i := range c.plan.Treatments {
		t := &c.plan.Treatments[i]
		fresh := i == 0
		for factor, name := range t.Levels {
			fresh = fresh || !seen[level{factor, name}]
			seen[level{factor, name}] = true
		}
		if !fresh {
			continue
		}
		if err := c.dryRunOne(ctx, t, asked); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("treatment %q cannot be set up: %w", t.Name, err)
		}
	}
	return nil
}

func (c *conductor) dryRunOne(ctx context.Context, t *study.Treatment, asked map[string]map[string]bool) (err error) {
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
	asked map[string]map[string]bool) error {
	requests := map[string][]message.FlowRequest{}
	for _, f := range t.Flows {
		name := f.CongestionControl
		if name == "" {
			continue // no flow over TCP
		}
		if asked[name] == nil {
			asked[name] = map[string]bool{}
		}
		for _, host := range []string{f.Opener, f.Acceptor} {
			kernel := "" // all virtual hosts have this machine's
			if h, _ := c.study.Topology.Host(host); len(h.Via) > 0 {
				kernel = host
			}
			if !asked[name][kernel] {
				asked[name][kernel] = true
				requests[host] = append(requests[host],
					message.FlowRequest{ID: name, Spec: flow.Spec{CongestionControl: name}})
			}
		}
	}
	defer trial.Group{Bus: c.bus, Nodes: slices.Sorted(maps.Keys(requests))}.Close(ctx)
	replies, err := bus.Ask(ctx, c.bus, message.Listen, requests)
	for host, listening := range replies {
		for _, l := range listening {
			if l.Error != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", host, l.Error))
			}
		}
	}
	return err
}
