package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"linerate/internal/host/counters"
	"linerate/internal/host/traffic"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/syntax"
)

const (
	// settle is how long after the senders' stop the last counts are taken.
	settle = 5e6 // ns
	// Around an edge a host does nothing but count, from ahead of it until after
	// it, when the senders are still at work: many hosts may share the machine, and
	// what one of them reads beside would delay the counts of the others.
	ahead, after = 50e6, 15e6 // ns
)

// window carries out one trial on this host: senders start and stop, and
// counters are read at the window's two edges and in between, each at its
// scheduled instant on this host's own clock, whatever the bus is doing. It ends
// early when the trial is closed meanwhile, as it is when it was late on another
// host, and when the machine was so busy that half of the window had passed before
// its begin could be read.
func (a *agent) window(ctx context.Context, r message.WindowRequest) (message.WindowReply, error) {
	if now := sched.Now(); now > r.StartNs {
		return message.WindowReply{LateNs: now - r.StartNs}, nil
	}
	engine := a.trial()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-engine.Closed():
			cancel(errClosed)
		case <-ctx.Done():
		}
	}()
	engine.Start(r)
	a.startAttacks(r)
	var reply message.WindowReply
	var err error
	sched.WithRealtime(func() { reply, err = a.observe(ctx, engine, r) })
	if why := cmp.Or(a.bgp.Broken(), a.services.Broken()); err == nil && why != "" {
		err = errors.New(why) // what the flows went by, or to, has changed
	}
	return reply, a.broken(err)
}

var errClosed = errors.New("the trial was closed before its window's end")

// observe takes the readings of a window.
func (a *agent) observe(ctx context.Context, engine *traffic.Engine, r message.WindowRequest) (
	message.WindowReply, error) {
	arrivals, blind := a.watch(r)
	defer arrivals.Close()
	carriers, uncertain := a.reader.WatchCarriers()
	defer func() { _, _ = carriers.Close(r.BeginNs, r.EndNs) }() // of a window that ends early
	happened := a.happen(ctx, r.Events)
	var reply message.WindowReply
	h := &reply.Reading
	h.Host = a.node
	if err := looking(ctx, r.BeginNs-ahead, arrivals); err != nil {
		return message.WindowReply{}, err
	}
	engine.GeneratorCPU() // the traffic's CPU time is counted from here
	machine := a.reader.Machine
	if r.Brief {
		machine = a.reader.CPU
	}
	machine(&h.Begin)
	scheduled(h)
	if !r.Brief {
		h.Before = a.tables()
	}
	load, log := a.watchMachine(r)
	defer log.Close() // of a window that ends early
	if load != nil && load.Missing != "" && r.SampleNs > 0 {
		h.Begin.Missing = append(h.Begin.Missing, "load: "+load.Missing)
	}
	if err := looking(ctx, r.BeginNs, arrivals); err != nil {
		return message.WindowReply{}, err
	}
	reply.BeginFlows = a.edge(engine, r.BeginNs, &h.Begin)
	if late := h.Begin.BeganNs - r.BeginNs; late > (r.EndNs-r.BeginNs)/2 {
		return message.WindowReply{LateNs: late}, nil // too little of the window is left
	}
	read := a.meter()
	var kept *latest
	if r.KeepLatest {
		kept = a.keepLatest(engine, read, reply)
	}
	err := a.inside(ctx, r, func(at int64) {
		kept.look(at)
		s := a.sample(engine)
		load.Enter(&s)
		s.EndedNs = sched.Now()
		h.Series = append(h.Series, s)
		log.Look()
		arrivals.Look()
	}, arrivals)
	if short, is := errors.AsType[cutError](err); is {
		r.EndNs, r.StopNs = short.EndNs, short.StopNs
		engine.Shorten(r.EndNs, r.StopNs)
		a.shortenAttacks(r.EndNs, r.StopNs)
		err = looking(ctx, r.EndNs, arrivals)
	}
	if err != nil {
		return message.WindowReply{}, err
	}
	reply.EndFlows = a.edge(engine, r.EndNs, &h.End)
	reply.Latest = kept.end(reply.EndFlows)
	read(h)
	arrivals.Enter(h)
	h.CarrierLosses, err = carriers.Close(r.BeginNs, r.EndNs)
	uncertain = errors.Join(uncertain, err)
	if err := sleepUntil(ctx, r.EndNs+after); err != nil {
		return message.WindowReply{}, err
	}
	h.GeneratorCPU = engine.GeneratorCPU()
	machine(&h.End)
	h.CPUBusy = busy(h.Begin.CPU, h.End.CPU)
	log.Look()
	h.Log = log.Close()
	snapshot, err := a.snapshot(r)
	if err != nil {
		return message.WindowReply{}, err
	}
	if blind != "" {
		snapshot.Missing = append(snapshot.Missing, blind)
	}
	if uncertain != nil {
		snapshot.Missing = append(snapshot.Missing, "carrier: "+uncertain.Error())
	}
	h.Snapshot = snapshot
	if err := sleepUntil(ctx, r.StopNs+settle); err != nil {
		return message.WindowReply{}, err
	}
	reply.FinalFlows = engine.Read()
	reply.Events = happened()
	reply.Attacks = a.attacked(ctx, r.StopNs)
	h.Snapshot.Missing = append(h.Snapshot.Missing, syntax.Prune(&reply)...)
	return reply, nil
}

// scheduled reads on which CPUs this process may run, if not on all, and its nice value.
func scheduled(h *netstate.HostReading) {
	h.Nice = sched.Nice()
	allowed := sched.AllowedCPUs()
	online := []int{}
	all := true
	for _, c := range h.Begin.CPU {
		switch {
		case c.CPU < 0:
		case slices.Contains(allowed, c.CPU):
			online = append(online, c.CPU)
		default:
			all = false
		}
	}
	if !all && len(online) > 0 {
		h.AllowedCPUs = online
	}
}

// cutError ends the waits inside a window: it is to end at other instants.
type cutError struct{ message.CutRequest }

func (cutError) Error() string { return "the window was cut short" }

// watchMachine prepares what is read of the machine inside a window: nothing (nil), unless it
// is asked for.
func (a *agent) watchMachine(r message.WindowRequest) (*counters.Load, *counters.Log) {
	if !r.Machine {
		return nil, nil
	}
	return a.reader.WatchLoad(time.Duration(r.SampleNs), time.Duration(r.EndNs-r.BeginNs)), counters.WatchLog()
}

// inside calls sample at each interval until the window ends, or a cutError says that it is to
// end earlier.
func (a *agent) inside(ctx context.Context, r message.WindowRequest, sample func(at int64),
	arrivals *counters.Arrivals) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	a.cuttable(func(to message.CutRequest) error {
		if now := sched.Now(); to.EndNs <= max(now, r.BeginNs) || to.EndNs >= r.EndNs || to.StopNs < to.EndNs ||
			to.StopNs > r.StopNs {
			return errors.New("the window cannot end then")
		}
		end(cutError{to})
		return nil
	})
	defer a.cuttable(nil)
	for at := r.BeginNs; r.SampleNs > 0 && r.SampleNs < r.EndNs-at; {
		at += r.SampleNs
		if err := looking(ctx, at, arrivals); err != nil {
			return err
		}
		sample(at)
	}
	return looking(ctx, r.EndNs, arrivals)
}

// cuttable says how the window that is open is ended early; nil: none is open.
func (a *agent) cuttable(by func(message.CutRequest) error) {
	a.engineMu.Lock()
	defer a.engineMu.Unlock()
	a.cutWindow = by
}

func (a *agent) cut(_ context.Context, r message.CutRequest) (struct{}, error) {
	a.engineMu.Lock()
	cutWindow := a.cutWindow
	a.engineMu.Unlock()
	if cutWindow == nil {
		return struct{}{}, errors.New("no window is open")
	}
	return struct{}{}, cutWindow(r)
}

// sample reads the little that is read inside the window, what goodput is made
// of first.
func (a *agent) sample(engine *traffic.Engine) netstate.Sample {
	began := sched.Now()
	s := netstate.Sample{AtNs: began, BeganNs: began, Flows: engine.Light()}
	var counts netstate.Reading // what cannot be read now is nil, and missed at the edges
	a.reader.Counts(&counts)
	s.Interfaces, s.Qdiscs = counts.Interfaces, counts.Qdiscs
	s.EndedNs = sched.Now()
	return s
}

// edge counts at one edge of the window, what matters most first.
func (a *agent) edge(engine *traffic.Engine, scheduled int64, into *netstate.Reading) []message.FlowEnd {
	into.ScheduledNs, into.BeganNs = scheduled, sched.Now()
	flows := engine.Read()
	a.reader.Counts(into)
	into.EndedNs = sched.Now()
	return flows
}

// busy is the share of all CPUs that was not idle between two readings.
func busy(begin, end []netstate.CPUTimes) float64 {
	for _, e := range end {
		for _, b := range begin {
			if e.CPU != -1 || b.CPU != -1 {
				continue
			}
			// By field, because the difference of two sums is not exactly 0 when no field has changed.
			used := e.User - b.User + (e.System - b.System) + (e.IRQ - b.IRQ) + (e.SoftIRQ - b.SoftIRQ) +
				(e.Steal - b.Steal)
			if all := used + (e.Idle - b.Idle); all > 0 {
				return used / all
			}
		}
	}
	return 0
}

// sleepUntil sleeps in slices, so that a trial's or a conductor's end is noticed.
func sleepUntil(ctx context.Context, instant int64) error {
	const slice = 200e6 // ns
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now := sched.Now()
		if now >= instant {
			return nil
		}
		sched.SleepUntil(min(instant, now+slice))
	}
}
