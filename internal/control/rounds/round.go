package rounds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/mesh"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// closeTimeout bounds the closing of a round's flows.
const closeTimeout = 3 * time.Second

// nodeOf is the node that an error of a request or a late window is about; empty: it names none.
func nodeOf(err error) string {
	if late, is := errors.AsType[trial.LateError](err); is {
		return late.Node
	}
	if e, is := errors.AsType[*bus.Error](err); is {
		return e.Node
	}
	return ""
}

// round measures the pairs of a round whose hosts are there. If its flows cannot be opened because a
// host is lost, it begins again without that host. A trial without flows means that there was no pair.
func (c *conductor) round(ctx context.Context, order int, pairs []mesh.Pair) (record.Trial, error) {
	for attempt := 1; ; {
		if err := c.enough(); err != nil {
			return record.Trial{}, err
		}
		pairs = lists.Where(pairs, func(p mesh.Pair) bool { return c.agents[p[0]] != nil && c.agents[p[1]] != nil })
		if len(pairs) == 0 {
			return record.Trial{}, nil
		}
		t, failed, err := c.measure(ctx, pairs)
		switch {
		case ctx.Err() != nil:
			return t, context.Cause(ctx)
		case err == nil:
			again, err := c.without(ctx, order, pairs, failed)
			if !again || err != nil {
				return t, err
			}
		case c.blame(ctx, order, hostsOf(pairs), all(err), attempt >= attempts):
			if err := c.describe(ctx); err != nil {
				return t, err
			}
		case attempt >= attempts:
			return t, fmt.Errorf("round %d: %w", order, err)
		default:
			attempt++
		}
	}
}

// mostLead is how often the lead of rounds is doubled (trial.Group.Measure).
const mostLead = 4

// without goes on after a round in which hosts have no reading: those that were only late are kept, and
// the round is made again, with a longer lead from then on, unless that is long already.
func (c *conductor) without(ctx context.Context, order int, pairs []mesh.Pair, failed map[string]error) (
	again bool, _ error) {
	if len(failed) == 0 {
		return false, nil
	}
	late, why := 0, []error(nil)
	for _, err := range failed {
		if _, is := errors.AsType[trial.LateError](err); is {
			late++
		} else {
			why = append(why, err)
		}
	}
	if len(why) > 0 {
		c.blame(ctx, order, hostsOf(pairs), why, true)
		if err := c.describe(ctx); err != nil {
			return false, err
		}
	}
	if late > 0 && c.lead < mostLead {
		c.lead++
		return true, nil
	}
	if late > 0 {
		c.options.Say(fmt.Sprintf("round %d: %s too busy to keep its schedule, so that %s not measured", order,
			unit.Plural(late, "host"), map[bool]string{true: "its pairs are", false: "their pairs are"}[late == 1]))
	}
	return false, nil
}

// hostsOf are the hosts of pairs, in the order of the plan.
func hostsOf(pairs []mesh.Pair) []int {
	list := lists.Flat(pairs, func(p mesh.Pair) []int { return p[:] })
	slices.Sort(list)
	return slices.Compact(list)
}

// measure opens the flows of pairs, measures them in a window, and closes them. failed has, by node, why
// a host has no reading: its pairs are not in the trial.
func (c *conductor) measure(ctx context.Context, pairs []mesh.Pair) (t record.Trial, failed map[string]error, _ error) {
	hosts := hostsOf(pairs)
	group := trial.Group{Bus: c.reached.Bus(), Nodes: lists.Map(hosts, node), Apart: true, Limit: c.options.limit}
	defer func() {
		after, cancel := patient(ctx, closeTimeout)
		defer cancel()
		group.Close(after)
	}()
	t = record.Trial{Treatment: roundName, Levels: map[string]string{}, Started: time.Now(),
		WarmupS: c.options.Warmup.Seconds()}
	flows := c.flows(pairs)
	if err := group.Open(ctx, flows, c.options.connect); err != nil {
		return t, nil, err
	}
	readings, err := group.Measure(ctx, trial.Window{Warmup: c.options.Warmup, Duration: c.options.Duration,
		Brief: true}, c.lead)
	if err != nil {
		return t, nil, err
	}
	nodes := lists.Where(group.Nodes, func(node string) bool { return readings.Failed[node] == nil })
	there := func(p mesh.Pair) bool {
		return readings.Failed[node(p[0])] == nil && readings.Failed[node(p[1])] == nil
	}
	streams := max(1, c.options.Flows.Streams)
	var read []*trial.Flow
	var rates []float64
	for k, rate := range c.shares(pairs) {
		if there(pairs[k]) {
			read, rates = append(read, flows[k*streams:(k+1)*streams]...), append(rates, rate)
		}
	}
	t, err = trial.Assemble(t, read, readings, trial.Context{Nodes: nodes, Network: unknown{}})
	if err != nil {
		return t, nil, err
	}
	return c.compact(t, lists.Where(pairs, there), rates), readings.Failed, nil
}

// roundName is the treatment of a round.
const roundName = "round"

// flowID is the ID of a pair's flow, of which there are several with --streams.
func flowID(pair, stream int) string {
	return "p" + strconv.Itoa(pair+1) + "." + strconv.Itoa(stream+1)
}

// flows are the flows of pairs, in their order.
func (c *conductor) flows(pairs []mesh.Pair) (list []*trial.Flow) {
	rates := c.shares(pairs)
	streams := max(1, c.options.Flows.Streams)
	for k, p := range pairs {
		spec := c.options.Flows
		spec.Streams, spec.Direction = 0, ""
		if share := c.plan.Share; share > 0 && rates[k] > 0 && !c.options.latency() {
			spec.RateCap = unit.BitRate(share * rates[k] / float64(streams))
		}
		for s := range streams {
			list = append(list, &trial.Flow{PlannedFlow: study.PlannedFlow{ID: flowID(k, s),
				Opener: node(p[0]), Acceptor: node(p[1]), Source: c.places[p[0]].address,
				Destination: c.places[p[1]].address, OpenerSends: true, Spec: spec}})
		}
	}
	return list
}

// shares returns for each pair the rate of the slower interface, of which each of the tests that use it
// in the same direction has an equal part; 0: not known.
func (c *conductor) shares(pairs []mesh.Pair) []float64 {
	sending, receiving := map[int]float64{}, map[int]float64{}
	for _, p := range pairs {
		sending[p[0]]++
		receiving[p[1]]++
	}
	return lists.Map(pairs, func(p mesh.Pair) float64 {
		return unit.LeastSet(c.places[p[0]].rateBps/sending[p[0]], c.places[p[1]].rateBps/receiving[p[1]])
	})
}

// latency reports whether requests are measured.
func (o Options) latency() bool { return flow.Of(o.Flows.Protocol).Transactional() }

// unknown is a network of which nothing is known but its ends.
type unknown struct{}

func (unknown) Paths(flows []*trial.Flow, _ []record.Flow, _ []netstate.HostReading) trial.Paths {
	return trial.Paths{Flows: make([]trial.Path, len(flows))}
}

func (unknown) Limits([]record.Flow, []netstate.HostReading, trial.Paths) trial.Limits {
	return trial.Limits{}
}
