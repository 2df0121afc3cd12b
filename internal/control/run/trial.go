package run

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/internal/control/conduct"
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

// trial sets a treatment up afresh, lets it run, and takes it down again. A
// conduct.LateError can be helped by a further attempt.
func (c *conductor) trial(ctx context.Context, t *study.Treatment, attempt int) (result record.Trial, err error) {
	result = record.Trial{
		Treatment:     t.Name,
		Levels:        t.Levels,
		Started:       time.Now(),
		Unreachable:   t.Unreachable,
		AccountSender: t.Workload.Accounting == study.AccountSender,
	}
	applied, marks, err := c.setUp(ctx, t)
	defer func() {
		// The next trial starts from the same ground, also after Ctrl-C.
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		c.group().Close(after)
		c.broken = c.revert(after, marks)
		err = errors.Join(err, c.broken)
	}()
	if err != nil {
		return result, err
	}
	result.Settings = applied
	flows := conduct.Planned(t.Flows)
	if err := c.group().Open(ctx, flows, time.Duration(t.Workload.ConnectTimeout)); err != nil {
		return result, err
	}
	if err := c.age(ctx, t); err != nil {
		return result, err
	}
	w := conduct.Window{
		Warmup: time.Duration(t.Workload.Warmup), Duration: time.Duration(t.Workload.Duration), Interval: time.Duration(t.Workload.Interval),
	}
	w.Lookups, w.Sysctls = questions(c.over(t), t, flows)
	readings, err := c.group().Measure(ctx, w, attempt)
	if err != nil {
		return result, err
	}
	c.assemble(&result, t, flows, readings)
	return result, nil
}

// group is all nodes of the lab.
func (c *conductor) group() conduct.Group { return conduct.Group{Bus: c.bus, Nodes: c.lab.Nodes()} }

// setUp applies a treatment's settings and makes every host forget whom it
// knows. The marks say what to revert to.
func (c *conductor) setUp(ctx context.Context, t *study.Treatment) ([]record.Applied, map[string]int, error) {
	settings, err := c.lab.Resolve(t.Settings)
	if err != nil {
		return nil, nil, err
	}
	byHost := map[string][]setting.Setting{}
	var hosts []string
	for _, s := range settings {
		if byHost[s.Host] == nil {
			hosts = append(hosts, s.Host)
		}
		byHost[s.Host] = append(byHost[s.Host], s)
	}
	// What is left of the trial before would delay one port's ARP and not
	// another's, and so decide who answers first.
	err = conduct.Each(c.lab.Nodes(), func(node string) error {
		return c.bus.Call(ctx, node, "drain", record.DrainRequest{TimeoutNs: int64(drainTimeout)}, nil)
	})
	if err != nil {
		return nil, nil, err
	}
	if err := c.flush(ctx, c.over(t), c.lab.Hosts()); err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	var applied []record.Applied
	marks := map[string]int{}
	err = conduct.Each(hosts, func(host string) error {
		var reply record.ApplyReply
		request := record.ApplyRequest{Settings: byHost[host], AllowMachine: c.options.AllowMachine}
		if err := c.bus.Call(ctx, host, "apply", request, &reply); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		marks[host] = reply.Mark
		applied = append(applied, reply.Applied...)
		return nil
	})
	if err == nil {
		err = c.flush(ctx, c.over(t), c.lab.Hosts())
	}
	slices.SortStableFunc(applied, func(a, b record.Applied) int {
		return slices.Index(hosts, a.Host) - slices.Index(hosts, b.Host)
	})
	return applied, marks, err
}

func (c *conductor) revert(ctx context.Context, marks map[string]int) error {
	var hosts []string
	for host := range marks {
		hosts = append(hosts, host)
	}
	return conduct.Each(hosts, func(host string) error {
		return c.bus.Call(ctx, host, "revert", record.RevertRequest{Mark: marks[host]}, nil)
	})
}

// flush makes hosts forget the neighbours that the topology knows; a real host
// keeps what it knows of everybody else.
func (c *conductor) flush(ctx context.Context, over *topology.Topology, hosts []string) error {
	var addresses []netip.Addr
	for _, h := range over.Hosts {
		for _, p := range h.Ports {
			for _, a := range p.Addresses {
				for _, prefix := range a.Prefixes() {
					addresses = append(addresses, prefix.Addr())
				}
			}
		}
	}
	return conduct.Each(hosts, func(name string) error {
		h, _ := over.Host(name)
		var request record.FlushRequest
		if len(h.Via) > 0 {
			request.Addresses = addresses
		} else {
			for _, p := range h.Ports {
				request.Ports = append(request.Ports, p.Name)
			}
		}
		return c.bus.Call(ctx, name, "flush", request, nil)
	})
}

// age lets the named hosts forget their neighbours once the others can no
// longer refuse different news about them, as happens when entries age out on a
// host that was idle.
func (c *conductor) age(ctx context.Context, t *study.Treatment) error {
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

// questions are what each host is asked about its routing at the end: how the
// packets of its flows leave; and the sysctls that the treatment sets.
func questions(over *topology.Topology, t *study.Treatment, flows []*conduct.Flow) (map[string][]record.RouteLookup, map[string][]string) {
	lookups, sysctls := map[string][]record.RouteLookup{}, map[string][]string{}
	ask := func(host string, from, to netip.Addr) {
		q := record.RouteLookup{Source: from.String(), Destination: to.String()}
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
