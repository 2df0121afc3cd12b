package run

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/internal/kernel"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// What a trial's lead is made of.
const (
	leadAlways  = 40 * time.Millisecond
	leadPerNode = time.Millisecond
	leadTrips   = 3 // halves of the slowest node's round trip
)

// leadOf is how far ahead a trial is scheduled: time for the requests to reach
// every agent, also over a long way. It is doubled each time it proved short.
func leadOf(offsets map[string]record.Clock, attempt int) time.Duration {
	var slowest time.Duration
	for _, c := range offsets {
		slowest = max(slowest, time.Duration(c.UncertaintyNs)) // half a round trip
	}
	return (leadAlways + time.Duration(len(offsets))*leadPerNode + leadTrips*slowest) << attempt
}

// lateError says that a trial's schedule reached a node after the trial was to
// start there.
type lateError struct {
	node string
	by   time.Duration
}

func (e lateError) Error() string {
	return fmt.Sprintf("%s: the trial was to start %.1f ms before its request came", e.node, e.by.Seconds()*1e3)
}

// tail is how long senders go on after the window, so that its end is read
// under the same load as its beginning on hosts whose clocks differ a little.
const tail = 30 * time.Millisecond

// lockTime is for how long a Linux host keeps a neighbour entry that it has just
// learnt against different news (net/ipv4/arp.c: neigh/default/locktime, 1 s).
const lockTime = 1050 * time.Millisecond

// drainTimeout bounds the wait for empty queues before a trial.
const drainTimeout = time.Second

// trial sets a treatment up afresh, lets it run, and takes it down again. A
// lateError can be helped by a further attempt.
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
		c.close(after, c.lab.Nodes())
		c.broken = c.revert(after, marks)
		err = errors.Join(err, c.broken)
	}()
	if err != nil {
		return result, err
	}
	result.Settings = applied
	flows, err := c.open(ctx, t)
	if err != nil {
		return result, err
	}
	if err := c.age(ctx, t); err != nil {
		return result, err
	}
	replies, offsets, err := c.measure(ctx, t, flows, c.lab.Nodes(), attempt)
	if err != nil {
		return result, err
	}
	c.assemble(&result, t, flows, replies, offsets)
	return result, nil
}

// close ends what nodes do for the current trial. A node that is lost needs no
// ending.
func (c *conductor) close(ctx context.Context, nodes []string) {
	_ = c.each(nodes, func(node string) error { return c.bus.Call(ctx, node, "close", struct{}{}, nil) })
}

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
	err = c.each(c.lab.Nodes(), func(node string) error {
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
	err = c.each(hosts, func(host string) error {
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
	return c.each(hosts, func(host string) error {
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
	return c.each(hosts, func(name string) error {
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

// openFlow is one flow of a trial, as planned and as it came about.
type openFlow struct {
	study.PlannedFlow
	accepted netip.AddrPort // the acceptor's address
	opened   netip.AddrPort // the opener's address
	failure  string
}

// apart is the longest that one host's connecting waits for another's.
const apart = 20 * time.Millisecond

// open makes all connections: acceptors listen, openers connect one host after
// another (so that neighbours are asked for one at a time), and acceptors
// confirm.
func (c *conductor) open(ctx context.Context, t *study.Treatment) ([]*openFlow, error) {
	flows := make([]*openFlow, len(t.Flows))
	byID := map[string]*openFlow{}
	accept, connect := map[string][]record.FlowOrder{}, map[string][]record.FlowOrder{}
	for i, planned := range t.Flows {
		f := &openFlow{PlannedFlow: planned}
		flows[i], byID[f.ID] = f, f
		accept[f.Acceptor] = append(accept[f.Acceptor], order(f, !f.OpenerSends, f.Destination))
	}
	var mu sync.Mutex
	err := c.each(names(accept), func(host string) error {
		var listening []record.Listening
		if err := c.bus.Call(ctx, host, "listen", accept[host], &listening); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, l := range listening {
			byID[l.ID].accepted, byID[l.ID].failure = l.Local, l.Error
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, f := range flows {
		if f.failure != "" {
			return nil, fmt.Errorf("%s: %s", f.Acceptor, f.failure)
		}
		o := order(f, f.OpenerSends, f.Source)
		o.Remote = f.accepted
		connect[f.Opener] = append(connect[f.Opener], o)
	}
	timeout := time.Duration(t.Workload.ConnectTimeout)
	err = c.inTurn(names(connect), apart, func(host string) error {
		var opened []record.Opened
		request := record.ConnectRequest{Orders: connect[host], TimeoutNs: int64(timeout)}
		if err := c.bus.Call(ctx, host, "connect", request, &opened); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, o := range opened {
			byID[o.ID].opened, byID[o.ID].failure = o.Local, o.Error
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	unused := map[string][]string{}
	for _, f := range flows {
		if f.failure != "" {
			unused[f.Acceptor] = append(unused[f.Acceptor], f.ID)
		}
	}
	err = c.each(names(accept), func(host string) error {
		var ends []record.FlowEnd
		request := record.ReadyRequest{TimeoutNs: int64(timeout), Unused: unused[host]}
		if err := c.bus.Call(ctx, host, "ready", request, &ends); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, end := range ends {
			if f := byID[end.ID]; f.failure == "" {
				f.failure = end.Error
			}
		}
		return nil
	})
	return flows, err
}

// addresses are where the data comes from and goes to: as connected, or as they
// would have been.
func (f *openFlow) addresses(over *topology.Topology) (from, to netip.Addr) {
	planned := f.PlannedFlow
	if f.opened.IsValid() {
		planned.Source = f.opened.Addr() // what the kernel chose
	}
	return planned.Addresses(over)
}

func order(f *openFlow, sends bool, local netip.Addr) record.FlowOrder {
	return record.FlowOrder{
		ID: f.ID, Sends: sends, Local: local,
		MSS: f.MSS, NoDelay: f.NoDelay, CongestionControl: f.CongestionControl,
		Window: f.Window, RateCap: f.RateCap,
	}
}

// measure schedules the window on every node and waits for what they read. When
// the schedule came too late for one of them, the others' windows are closed
// rather than waited for, and the error is a lateError.
func (c *conductor) measure(ctx context.Context, t *study.Treatment, flows []*openFlow, nodes []string, attempt int) (map[string]record.WindowReply, map[string]record.Clock, error) {
	offsets, err := clocks(ctx, c.bus, nodes)
	if err != nil {
		return nil, nil, err
	}
	w := t.Workload
	start := kernel.Now() + int64(leadOf(offsets, attempt))
	begin := start + int64(w.Warmup)
	end := begin + int64(w.Duration)
	stop := end + int64(tail)
	lookups, sysctls := questions(c.over(t), t, flows)
	replies := map[string]record.WindowReply{}
	var mu sync.Mutex
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(stop-kernel.Now())+30*time.Second, errors.New("no reading within 30 s of the trial's end"))
	defer cancel()
	var late *lateError
	err = c.each(nodes, func(node string) error {
		offset := offsets[node].OffsetNs
		var reply record.WindowReply
		err := c.bus.Call(ctx, node, "window", record.WindowRequest{
			StartNs: start + offset, BeginNs: begin + offset, EndNs: end + offset, StopNs: stop + offset,
			SampleNs: int64(w.Interval), Lookups: lookups[node], Sysctls: sysctls[node],
		}, &reply)
		mu.Lock()
		first := reply.LateNs > 0 && late == nil
		if first {
			late = &lateError{node, time.Duration(reply.LateNs)}
		}
		replies[node] = reply
		mu.Unlock()
		if first {
			c.close(ctx, nodes)
		}
		return err
	})
	if late != nil {
		return nil, nil, *late // which is why the others failed
	}
	return replies, offsets, err
}

// questions are what each host is asked about its routing at the end: how the
// packets of its flows leave; and the sysctls that the treatment sets.
func questions(over *topology.Topology, t *study.Treatment, flows []*openFlow) (map[string][]record.RouteLookup, map[string][]string) {
	lookups, sysctls := map[string][]record.RouteLookup{}, map[string][]string{}
	ask := func(host string, from, to netip.Addr) {
		q := record.RouteLookup{Source: from.String(), Destination: to.String()}
		if !slices.Contains(lookups[host], q) {
			lookups[host] = append(lookups[host], q)
		}
	}
	for _, f := range flows {
		from, to := f.addresses(over)
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

// each asks several nodes at once and joins what went wrong.
func (c *conductor) each(nodes []string, ask func(node string) error) error {
	errs := make([]error, len(nodes))
	var asking sync.WaitGroup
	for i, node := range nodes {
		asking.Go(func() { errs[i] = ask(node) })
	}
	asking.Wait()
	return errors.Join(errs...)
}

// inTurn is each, with a node waiting for the one before it, a moment at most.
func (c *conductor) inTurn(nodes []string, moment time.Duration, ask func(node string) error) error {
	done := make([]chan struct{}, len(nodes))
	for i := range done {
		done[i] = make(chan struct{})
	}
	return c.each(nodes, func(node string) error {
		turn := slices.Index(nodes, node)
		if turn > 0 {
			<-done[turn-1]
		}
		over := sync.OnceFunc(func() { close(done[turn]) })
		defer over()
		defer time.AfterFunc(moment, over).Stop()
		return ask(node)
	})
}

func names[V any](m map[string]V) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
