package run

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// lockTime is for how long a Linux host keeps a neighbour entry that it has just
// learnt against different news (net/ipv4/arp.c: neigh/default/locktime, 1 s).
const lockTime = 1050 * time.Millisecond

// drainTimeout bounds the wait for empty queues before a trial.
const drainTimeout = time.Second

// trial sets a treatment up, measures it, and reverts it. A further attempt can help
// against a trial.LateError.
func (c *conductor) trial(ctx context.Context, t *study.Treatment, attempt int) (result record.Trial, err error) {
	result = record.Trial{
		Treatment:     t.Name,
		Levels:        t.Levels,
		Started:       time.Now(),
		Unreachable:   t.Unreachable,
		AccountSender: t.Workload.Accounting == study.AccountSender,
	}
	// A trial before this one may have taken links down, and routes with them.
	if err := c.awaitLinks(ctx, ""); err != nil {
		return result, err
	}
	took, err := c.lab.Converge(ctx)
	if err != nil {
		return result, err
	}
	result.ConvergedS = took.Seconds()
	if err := c.lab.StartServices(ctx, t.Bodies()); err != nil {
		return result, err
	}
	applied, at, err := c.setUp(ctx, t)
	defer func() { err = errors.Join(err, c.revert(ctx, t, at)) }()
	if err != nil {
		return result, err
	}
	result.Settings = applied
	if t.Workload.LossFree != nil {
		return c.lossFree(ctx, t, result)
	}
	err = c.window(ctx, t, trial.Planned(t.Flows, &c.study.Topology), time.Duration(t.Workload.Duration),
		&result, attempt)
	return result, err
}

// window opens flows on hosts that are set up, measures them in a window, and
// enters what was read.
func (c *conductor) window(ctx context.Context, t *study.Treatment, flows []*trial.Flow, duration time.Duration,
	result *record.Trial, attempt int) error {
	group := c.group()
	group.Accepting = func(ctx context.Context, flows []*trial.Flow) error { return c.choosePorts(ctx, t, flows) }
	opening := c.opening(ctx, t)
	began := time.Now()
	if err := group.Open(ctx, flows, time.Duration(t.Workload.ConnectTimeout)); err != nil {
		return err
	}
	if opening != nil {
		opening.TookS = time.Since(began).Seconds()
	}
	if err := c.ageNeighbours(ctx, t); err != nil {
		return err
	}
	w := trial.Window{
		Warmup: time.Duration(t.Workload.Warmup), Duration: duration, Interval: time.Duration(t.Workload.Interval),
		Machines: c.machines(),
	}
	w.Lookups, w.Sysctls = routeQuestions(c.over(t), t, flows)
	var err error
	if w.Events, err = c.events(t); err != nil {
		return err
	}
	traces, err := c.predictPaths(ctx, t, flows, &w)
	if err != nil {
		return err
	}
	watches := c.watch(ctx, t, &w)
	defer watches.readings(0, 0)
	if err := c.prepareAttacks(ctx, t, flows); err != nil {
		return err
	}
	readings, err := group.Measure(ctx, w, attempt)
	if err != nil {
		return err
	}
	if opening != nil {
		opening.After, result.Opening = c.memory(ctx, t), opening
	}
	result.Attacks = attacked(t, flows, readings.Replies)
	switches := watches.readings(readings.BeginNs, readings.BeginNs+int64(readings.Duration))
	programs, err := group.Programs(ctx, flows, w.Warmup+w.Duration)
	if err != nil {
		return err
	}
	*result, err = trial.Assemble(*result, flows, readings, trial.Context{
		Nodes: c.lab.Nodes(), Planned: &c.study.Topology, Programs: programs, Switches: switches,
		Network: network{c.networks[t.Name], t.Flows, traces},
	})
	return err
}

// manyConnections are so many that their number shows in the memory of a machine.
const manyConnections = 1000

// opening is what is known before a treatment's connections are opened; nil: they are few.
func (c *conductor) opening(ctx context.Context, t *study.Treatment) *record.Opening {
	n := lists.Sum(t.Flows, func(f study.PlannedFlow) int { return f.Connections })
	if n < manyConnections {
		return nil
	}
	return &record.Opening{Before: c.memory(ctx, t)}
}

// memory is the kernel's on the machines of a treatment's flows; hosts of the lab are on one.
func (c *conductor) memory(ctx context.Context, t *study.Treatment) (list []record.HostMemory) {
	asked := map[string]bool{}
	for _, f := range t.Flows {
		for _, host := range []string{f.Opener, f.Acceptor} {
			machine := host
			if !c.study.Topology.Real(host) {
				machine = ""
			}
			if asked[machine] {
				continue
			}
			asked[machine] = true
			// otherwise it is not known
			if m, err := bus.Call(ctx, c.bus, host, message.Memory, struct{}{}); err == nil {
				list = append(list, record.HostMemory{Host: host, KernelMemory: m})
			}
		}
	}
	return list
}

// group is all nodes of the lab.
func (c *conductor) group() trial.Group { return trial.Group{Bus: c.bus, Nodes: c.lab.Nodes()} }

// setUp applies a treatment's settings and flushes the neighbour tables. The marks say
// what to revert to.
func (c *conductor) setUp(ctx context.Context, t *study.Treatment) ([]record.Applied, marks, error) {
	settings, err := c.lab.Resolve(t.Settings)
	if err != nil {
		return nil, nil, err
	}
	// What is left of the trial before would delay one interface's ARP and not
	// another's, and so decide who answers first.
	if err := c.drain(ctx); err != nil {
		return nil, nil, err
	}
	if err := c.flush(ctx, c.over(t), c.lab.Hosts()); err != nil {
		return nil, nil, err
	}
	at := marks{}
	if err := c.hold(ctx, c.over(t), settings, at); err != nil {
		return nil, at, err
	}
	applied, err := c.apply(ctx, settings, t.Workload.Events, at)
	if err == nil {
		err = c.hold(ctx, c.over(t), eventSettings(t.Workload.Events), at)
	}
	if err == nil {
		err = c.awaitLinks(ctx, t.Name)
	}
	if err == nil {
		err = c.flush(ctx, c.over(t), c.lab.Hosts())
	}
	return applied, at, err
}

// events are what is to happen in the treatment's window, in order of time.
func (c *conductor) events(t *study.Treatment) ([]trial.Event, error) {
	var list []trial.Event
	for _, e := range t.Workload.Events {
		event := trial.Event{
			Node: e.Host, At: time.Duration(e.At), What: e.What(),
			EventRequest: message.EventRequest{Stop: e.Stop, AllowMachine: c.options.AllowMachine},
		}
		if e.Stop == "" {
			settings, err := c.lab.Resolve([]setting.Setting{e.Setting})
			if err != nil {
				return nil, err
			}
			event.Settings = settings
		}
		list = append(list, event)
	}
	slices.SortStableFunc(list, func(a, b trial.Event) int { return cmp.Compare(a.At, b.At) })
	return list, nil
}

// revert ends the trial and reverts what its treatment has changed, also after Ctrl-C: the
// next one begins with the same state.
func (c *conductor) revert(ctx context.Context, t *study.Treatment, to marks) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revertTimeout(t.Settings))
	defer cancel()
	c.group().Close(ctx)
	c.broken = bus.EachNode(slices.Sorted(maps.Keys(to)), func(host string) error {
		_, err := bus.Call(ctx, c.bus, host, message.Revert, message.Mark{Mark: to[host]})
		return err
	})
	return c.broken
}

// flush deletes the hosts' neighbour entries for addresses of the topology; a real host
// keeps its others.
func (c *conductor) flush(ctx context.Context, over *topology.Topology, hosts []string) error {
	var addresses []netip.Addr
	for _, h := range over.Hosts {
		for _, a := range h.Addresses() {
			addresses = append(addresses, lists.Map(a.Prefixes(), netip.Prefix.Addr)...)
		}
	}
	return bus.EachNode(hosts, func(name string) error {
		h, _ := over.Host(name)
		var request message.FlushRequest
		if len(h.Via) > 0 {
			request.Addresses = addresses
		} else {
			for _, p := range h.Interfaces {
				request.Interfaces = append(request.Interfaces, p.Name)
			}
		}
		_, err := bus.Call(ctx, c.bus, name, message.Flush, request)
		return err
	})
}

// ageNeighbours lets the named hosts forget their neighbours once the others can no
// longer refuse different news about them, as happens when entries age out on a
// host that was idle.
func (c *conductor) ageNeighbours(ctx context.Context, t *study.Treatment) error {
	hosts := t.Workload.AgeNeighbours
	if len(hosts) == 0 {
		return nil
	}
	select {
	case <-time.After(lockTime):
		return c.flush(ctx, c.over(t), hosts)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// routeQuestions are what each host is asked about its routing at the end: how the
// packets of its flows leave; and the sysctls that the treatment sets.
func routeQuestions(over *topology.Topology, t *study.Treatment, flows []*trial.Flow) (
	map[string][]netstate.RouteLookup, map[string][]string) {
	lookups, sysctls := map[string][]netstate.RouteLookup{}, map[string][]string{}
	ask := func(host string, from, to netip.Addr) {
		q := netstate.RouteLookup{Source: from.String(), Destination: to.String()}
		if !slices.Contains(lookups[host], q) {
			lookups[host] = append(lookups[host], q)
		}
	}
	for _, f := range flows {
		from, to := f.Ends(over)
		ask(f.Sender(), from, to)
		ask(f.Receiver(), to, from)
	}
	for _, s := range t.Settings {
		for _, k := range s.Sysctl {
			sysctls[s.Host] = append(sysctls[s.Host], k.Key)
		}
	}
	return lookups, sysctls
}
