package run

import (
	"context"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// lossFree makes a trial that is a search: windows at one rate of datagrams after
// another, on hosts that stay set up. It begins at what the flows are capped at, or
// the links carry; where neither is known, as fast as the senders can.
func (c *conductor) lossFree(ctx context.Context, t *study.Treatment, blank record.Trial) (record.Trial, error) {
	paced, capped := 0, 0.0
	for _, f := range t.Flows {
		if f.Protocol == flow.UDP {
			paced, capped = paced+1, capped+float64(f.RateCap) // all have the same
		}
	}
	limit := c.networks[t.Name].limit.Bps
	most := limit
	if capped > 0 && (most == 0 || capped < most) {
		most = capped
	}
	full := time.Duration(t.Workload.Duration)
	remade := 0
	found, made, err := trial.LossFree(*t.Workload.LossFree, most, limit, full,
		func(step trial.Step) (*record.Trial, error) {
			if step.Number > 1 {
				c.group().Close(ctx)
				// What was too much waits in queues yet.
				if err := c.drain(ctx); err != nil {
					return nil, err
				}
			}
			made, err := c.step(ctx, t, blank, step, unit.BitRate(step.Share(paced)))
			remade += made.Repeated
			return &made, err
		})
	if err != nil {
		return blank, err
	}
	made.LossFree, made.Repeated = found, remade
	return *made, nil
}

// step makes one window of a search.
func (c *conductor) step(ctx context.Context, t *study.Treatment, blank record.Trial, step trial.Step,
	pace unit.BitRate) (record.Trial, error) {
	return c.withRetries(ctx, t.Name, func(attempt int) (record.Trial, error) {
		if attempt > 0 {
			c.group().Close(ctx)
		}
		made := blank
		flows := trial.Planned(t.Flows, &c.study.Topology)
		for _, f := range flows {
			if f.Protocol == flow.UDP {
				f.RateCap = pace
			}
		}
		err := c.window(ctx, t, flows, step.Window, &made, attempt)
		return made, err
	})
}

// drain waits for empty queues.
func (c *conductor) drain(ctx context.Context) error {
	return bus.EachNode(c.lab.Nodes(), func(node string) error {
		_, err := bus.Call(ctx, c.bus, node, message.Drain, message.DrainRequest{TimeoutNs: int64(drainTimeout)})
		return err
	})
}
