package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/control/trial"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/science/bufferbloat"
)

// idleWarmup is how long the probe asks before its idle window begins.
const idleWarmup = 200 * time.Millisecond

// Requests returns how many requests the flows make in the window at their pace or, with
// Latency, the probe at its pace; 0: there is no pace.
func (o *Options) Requests() int64 {
	pace := o.Flows.Pace * float64(o.Flows.Streams)
	if o.Latency {
		pace = study.ProbeOptions("", o.Duration, 0).Pace
	}
	return int64(pace * o.Duration.Seconds())
}

// idleWindow is how long the probe is alone: long enough for its p99 (study.ProbeOptions),
// and no longer than a third of the measurement.
func (s *session) idleWindow() time.Duration {
	const least, most = 2 * time.Second, 5 * time.Second
	return idleWarmup + min(max(s.options.Duration/3, least), most)
}

// probe is a flow of requests at a steady pace, on the first flow's path. Alone it asks more
// often than beside the flows where its window is shorter: p99 takes as many requests there.
func (s *session) probe() *trial.Flow {
	window := s.options.Duration
	if s.idle {
		window = s.idleWindow() - idleWarmup
	}
	at := placeOf(s.servers, s.sources, nil, 0, 0)
	f := &trial.Flow{Cookie: greeting.NewCookie(), Accepted: at.destination, Probe: true}
	f.PlannedFlow = study.PlannedFlow{
		ID: "p1", Opener: record.NodeClient, Acceptor: record.NodeServer,
		Source: at.source, Destination: at.destination.Addr(), OpenerSends: true,
		Spec: study.ProbeOptions(s.options.Flows.CongestionControl, window, 0),
	}
	return f
}

// latency measures the probe alone, and then beside the flows.
func (s *session) latency(ctx context.Context) error {
	s.idle = true
	idlePerS := s.probe().Pace
	alone, _, err := s.measureFlows(ctx, func() []*trial.Flow { return []*trial.Flow{s.probe()} })
	s.idle = false
	if err != nil {
		return err
	}
	idle, err := answers(alone.Flows)
	if err != nil {
		return err
	}
	if len(s.options.Modes) > 0 {
		s.options.Flows.Mode = s.options.Modes[0]
	}
	t, readings, err := s.measureFlows(ctx, s.planned)
	if err != nil {
		return err
	}
	var loaded *record.Distribution
	var flows []record.Flow
	for _, f := range t.Flows {
		switch {
		case !f.Probe:
			flows = append(flows, f)
		case f.Transactions != nil:
			loaded = f.Transactions.Latency
		}
	}
	t.Bufferbloat = bufferbloat.Judge(idle, loaded, flows, t.Hosts)
	t.Bufferbloat.ProbePerS, t.Bufferbloat.IdleProbePerS, t.Bufferbloat.IdleS = s.probe().Pace, idlePerS,
		alone.WindowS
	return s.finish(t, readings)
}

// answers is how long the idle probe's took.
func answers(flows []record.Flow) (*record.Distribution, error) {
	for _, f := range flows {
		switch {
		case f.Error != "":
			return nil, fmt.Errorf("the probe of latency: %s", f.Error)
		case f.Transactions != nil && f.Transactions.Latency != nil:
			return f.Transactions.Latency, nil
		}
	}
	return nil, errors.New("the latency probe got no answer without other traffic")
}
