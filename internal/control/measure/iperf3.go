package measure

import (
	"context"
	"errors"
	"io"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
)

// With an iperf3 server at the other end there is one agent, this host's, and one
// window, its own. The server's results are added to the document.

// Iperf3Port is the port on which an iperf3 server listens by default.
const Iperf3Port = "5201"

// Iperf3 are the options for an iperf3 server.
type Iperf3 struct {
	// Login is for a server that requires a user; nil: it requires none.
	Login *message.Iperf3Login
}

// serverPause is how long a server may take to be ready for the next test.
const serverPause = 300 * time.Millisecond

// conductIperf3 is Conduct with an iperf3 server.
func conductIperf3(ctx context.Context, local io.ReadWriteCloser, o Options) (*record.Measure, error) {
	b, err := bus.Start()
	if err != nil {
		return nil, errors.Join(err, local.Close())
	}
	defer b.Close()
	s := &session{options: o, sources: o.Sources}
	s.group = trial.Group{Bus: b, Nodes: []string{record.NodeClient}}
	if err := s.attach(ctx, map[string]io.ReadWriteCloser{record.NodeClient: local}); err != nil {
		return nil, err
	}
	return s.measure(ctx)
}

// iperf3Trial is one test with the server.
func (s *session) iperf3Trial(ctx context.Context) (*record.Measure, error) {
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		s.group.Close(after)
	}()
	order, err := s.iperf3Order()
	if err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		made := record.Trial{Order: 1, Started: time.Now()}
		var opened message.Iperf3Opened
		if err := s.group.Bus.Call(ctx, record.NodeClient, "iperf3", order, &opened); err != nil {
			return nil, bus.Local(err, record.NodeClient)
		}
		s.server = opened.Server
		flows := s.iperf3Flows(order, opened)
		readings, err := s.window(ctx, flows, attempt)
		if _, late := errors.AsType[trial.LateError](err); late && attempt+1 < attempts {
			s.group.Close(ctx)
			time.Sleep(serverPause)
			continue
		}
		if err != nil {
			return nil, bus.Local(err, record.NodeClient)
		}
		var closed message.Iperf3Closed
		if err := s.group.Bus.Call(ctx, record.NodeClient, "iperf3-end", struct{}{}, &closed); err != nil {
			return nil, bus.Local(err, record.NodeClient)
		}
		made, err = trial.Assemble(made, flows, readings, trial.Context{
			Nodes: s.group.Nodes, Network: s.network(),
			Peer: &trial.Peer{Mode: "iperf3", Counts: closed.Counts, CongestionControl: closed.CongestionControl},
		})
		if err != nil {
			return nil, err
		}
		return s.iperf3Document(&made, readings, closed)
	}
}

// iperf3Order is what this host's agent is asked for.
func (s *session) iperf3Order() (message.Iperf3Request, error) {
	o := s.options
	at, err := completeWith(o.Addresses[0], Iperf3Port)
	if err != nil {
		return message.Iperf3Request{}, err
	}
	order := message.Iperf3Request{
		Server: at, WarmupNs: int64(o.Warmup), DurationNs: int64(o.Duration), TimeoutNs: int64(connectTimeout), Login: o.Iperf3.Login,
		Flow: message.FlowRequest{Spec: o.Flows, Local: o.source(0)},
	}
	if o.Flows.Direction != flow.Read {
		order.Writes = o.Flows.Streams
	}
	if o.Flows.Direction != flow.Write {
		order.Reads = o.Flows.Streams
	}
	return order, nil
}

// iperf3Flows are the flows as they were opened: those to the server first.
func (s *session) iperf3Flows(order message.Iperf3Request, opened message.Iperf3Opened) []*trial.Flow {
	var flows []*trial.Flow
	for i, o := range opened.Flows {
		flows = append(flows, &trial.Flow{
			Accepted: o.Remote, Opened: o.Local,
			PlannedFlow: study.PlannedFlow{
				ID: o.ID, Opener: record.NodeClient, Acceptor: record.NodeServer,
				Source: s.options.source(0), Destination: o.Remote.Addr(), OpenerSends: i < order.Writes, Spec: s.options.Flows,
			},
		})
	}
	return flows
}
