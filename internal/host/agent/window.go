package agent

import (
	"context"
	"errors"

	"linerate/internal/host/traffic"
	"linerate/internal/kernel"
	"linerate/internal/model/record"
)

// settle is how long after the senders' stop the last counts are taken.
const settle = 5e6 // ns

// window carries out one trial on this host: senders start and stop, and
// counters are read at the window's two edges and in between, each at its
// scheduled instant on this host's own clock, whatever the bus is doing. It ends
// early when the trial is closed meanwhile: it was late on another host.
func (a *agent) window(ctx context.Context, r record.WindowRequest) (record.WindowReply, error) {
	if now := kernel.Now(); now > r.StartNs {
		return record.WindowReply{LateNs: now - r.StartNs}, nil
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
	engine.Start(r.StartNs, r.StopNs)
	var reply record.WindowReply
	var err error
	kernel.Urgently(func() { reply, err = a.observe(ctx, engine, r) })
	return reply, err
}

var errClosed = errors.New("the trial was closed before its window's end")

// observe takes the readings of a window.
func (a *agent) observe(ctx context.Context, engine *traffic.Engine, r record.WindowRequest) (record.WindowReply, error) {
	if err := sleepUntil(ctx, r.BeginNs); err != nil {
		return record.WindowReply{}, err
	}
	engine.GeneratorCPU() // the traffic's CPU time is counted from here
	var reply record.WindowReply
	h := &reply.Reading
	h.Host = a.node
	h.Begin, reply.BeginFlows = a.edge(engine, r.BeginNs)
	read := a.meter()
	h.Before = a.tables()
	for at := r.BeginNs + r.SampleNs; r.SampleNs > 0 && at < r.EndNs; at += r.SampleNs {
		if err := sleepUntil(ctx, at); err != nil {
			return record.WindowReply{}, err
		}
		h.Series = append(h.Series, a.sample(engine))
	}
	if err := sleepUntil(ctx, r.EndNs); err != nil {
		return record.WindowReply{}, err
	}
	h.End, reply.EndFlows = a.edge(engine, r.EndNs)
	h.GeneratorCPU = engine.GeneratorCPU()
	read(h)
	h.CPUBusy = busy(h.Begin.CPU, h.End.CPU)
	snapshot, err := a.snapshot(r)
	if err != nil {
		return record.WindowReply{}, err
	}
	h.Snapshot = snapshot
	if err := sleepUntil(ctx, r.StopNs+settle); err != nil {
		return record.WindowReply{}, err
	}
	reply.FinalFlows = engine.Read()
	return reply, nil
}

// sample reads the little that is read inside the window, what goodput is made
// of first.
func (a *agent) sample(engine *traffic.Engine) record.Sample {
	began := kernel.Now()
	s := record.Sample{AtNs: began, BeganNs: began, Flows: engine.Light()}
	s.Ports, s.Qdiscs = a.reader.Light()
	s.EndedNs = kernel.Now()
	return s
}

// edge reads everything at one edge of the window, what matters most first.
func (a *agent) edge(engine *traffic.Engine, scheduled int64) (record.Reading, []record.FlowEnd) {
	began := kernel.Now()
	flows := engine.Read()
	reading := a.reader.Read()
	reading.ScheduledNs, reading.BeganNs, reading.EndedNs = scheduled, began, kernel.Now()
	return reading, flows
}

// busy is the share of all CPUs that was not idle between two readings.
func busy(begin, end []record.CPUTimes) float64 {
	for _, e := range end {
		for _, b := range begin {
			if e.CPU != -1 || b.CPU != -1 {
				continue
			}
			used := e.User + e.System + e.IRQ + e.SoftIRQ + e.Steal - b.User - b.System - b.IRQ - b.SoftIRQ - b.Steal
			if all := used + e.Idle - b.Idle; all > 0 {
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
		now := kernel.Now()
		if now >= instant {
			return nil
		}
		kernel.SleepUntil(min(instant, now+slice))
	}
}
